//! Meshes from files.
#![cfg(feature = "mesh-files")]

use std::fmt::Write as _;
use std::io::Cursor;
use std::path::Path;

use force_elements::Error;
use force_elements::contact::{FaceList, MeshFault, TriangleMesh};
use force_elements::nalgebra::Vector3;

#[test]
fn obj_files_keep_every_bit_and_every_face() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/meshes");
    for (name, faces) in [("sphere_512", 512), ("sphere_2048", 2048), ("brick", 572), ("cylinder", 1020)] {
        let text = std::fs::read(folder.join(format!("{name}.obj"))).expect("a readable file");
        let list = FaceList::<f64>::read_obj(text.as_slice()).expect("an OBJ file");
        let mesh = list.closed().expect("closed");
        assert_eq!(mesh.face_count(), faces, "{name}");
    }
    let text = "o two\nv 0.1 0.2 0.30000000000000004\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
    let list = FaceList::<f64>::read_obj(text.as_bytes()).expect("an OBJ file");
    assert_eq!(list.vertices[0].z, 0.300_000_000_000_000_04);
    assert_eq!(list.faces.len(), 2, "a quadrilateral is two triangles");
    assert!(matches!(list.faults()[..], [MeshFault::OpenEdge { .. }, ..]));
}

#[test]
fn stl_files_are_welded() {
    let brick = TriangleMesh::<f64>::brick(Vector3::new(0.5, 0.25, 1.0), [2, 1, 3]).expect("valid");
    let mut text = String::from("solid brick\n");
    for face in brick.faces() {
        text.push_str("facet normal 0 0 0\nouter loop\n");
        for corner in face {
            let v = brick.vertices()[*corner as usize];
            writeln!(text, "vertex {} {} {}", v.x, v.y, v.z).expect("a string grows");
        }
        text.push_str("endloop\nendfacet\n");
    }
    text.push_str("endsolid brick\n");
    let mesh = FaceList::<f64>::read_stl(Cursor::new(text)).expect("an STL file").closed().expect("closed");
    assert_eq!(mesh.face_count(), brick.face_count());
    // STL numbers have 24 bits.
    let volume = mesh.volume().expect("closed");
    assert!((volume - 1.0).abs() < 1e-6, "{volume}");
}

#[test]
fn what_is_no_mesh_is_refused() {
    let error = FaceList::<f64>::read_obj("v 0 0 zero\n".as_bytes()).expect_err("not a number");
    assert!(matches!(error, Error::MeshFile { .. }), "{error}");
    let error = FaceList::<f64>::read_stl(Cursor::new("solid nothing\nfacet")).expect_err("cut short");
    assert!(matches!(error, Error::MeshFile { .. }), "{error}");
    let empty = FaceList::<f64>::read_obj("".as_bytes()).expect("an empty file is an OBJ file");
    assert_eq!(empty.closed().expect_err("no faces"), Error::Mesh { fault: MeshFault::Empty });
}
