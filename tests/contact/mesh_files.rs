//! Meshes from files.

use std::fmt::Write as _;
use std::io::Cursor;
use std::path::Path;

use force_elements::nalgebra::Vector3;
use force_elements::shapes::{FaceList, MeshFault, ShapeError, TriangleMesh};

#[test]
fn obj_files_keep_every_bit_and_every_face() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/meshes");
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
fn obj_faces_may_carry_textures_count_backwards_and_have_many_corners() {
    let plain = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0.5 1.5 0\nv 0 1 0\nf 1 2 3 4 5\n";
    let expected = FaceList::<f64>::read_obj(plain.as_bytes()).expect("an OBJ file");
    assert_eq!(expected.faces, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
    let vertices = plain.split_once('f').expect("a face").0;
    for face in [
        "f -5 -4 -3 -2 -1\n",
        "vt 0 0\nvn 0 0 1\nusemtl none\nf 1/1/1 2/1/1 3//1 4/1 5\r\n",
        "# caf\u{e9}\nf\t1 2  3 4 5 # the last\nl 1 2\np 1\n",
    ] {
        let text = format!("{vertices}{face}");
        assert_eq!(FaceList::<f64>::read_obj(text.as_bytes()).expect("an OBJ file"), expected);
    }
    // The byte order mark of some editors is no part of the first word.
    let marked = FaceList::<f64>::read_obj(format!("\u{feff}{plain}").as_bytes()).expect("an OBJ file");
    assert_eq!(marked, expected);
    for (face, line) in [("f 1 2", 6), ("f 1 2 0", 6), ("f 1 2 -6", 6), ("\nv 1 2", 7), ("f 1 2 three", 6)] {
        let text = format!("{vertices}{face}\n");
        let error = FaceList::<f64>::read_obj(text.as_bytes()).expect_err(face);
        assert!(error.to_string().contains(&format!("line {line} ")), "{error}");
    }
    let beyond = format!("{vertices}f 1 2 6\n");
    let faults = FaceList::<f64>::read_obj(beyond.as_bytes()).expect("an OBJ file").faults();
    assert_eq!(faults, [MeshFault::IndexOutOfRange { face: 0, index: 5, vertex_count: 5 }]);
}

/// Polygons with a notch, a spike, corners on a straight edge, and a bridge to a hole; area and corners of each, counter-clockwise.
#[test]
fn polygons_are_cut_into_triangles_that_cover_them_once() {
    let polygons: [(f64, &[[f64; 2]]); 5] = [
        (3.0, &[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]]),
        (
            9.0,
            &[
                [0.0, 0.0],
                [3.0, 0.0],
                [3.0, 1.0],
                [1.0, 1.0],
                [1.0, 2.0],
                [3.0, 2.0],
                [3.0, 3.0],
                [1.5, 3.2],
                [0.0, 3.0],
            ],
        ),
        (1.0, &[[0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [1.0, 0.25], [1.0, 1.0], [0.5, 1.0], [0.0, 1.0]]),
        (4.5, &[[0.0, 0.0], [2.0, 3.0], [4.0, 0.0], [2.0, 6.0], [2.0, 4.5], [1.9, 4.4]]),
        (
            12.0,
            &[
                [0.0, 0.0],
                [4.0, 0.0],
                [4.0, 4.0],
                [0.0, 4.0],
                [0.0, 0.0],
                [1.0, 1.0],
                [1.0, 3.0],
                [3.0, 3.0],
                [3.0, 1.0],
                [1.0, 1.0],
            ],
        ),
    ];
    let double_area = |corners: &[[f64; 2]]| {
        let next = corners.iter().skip(1).chain(corners.first());
        corners.iter().zip(next).map(|(a, b)| a[0] * b[1] - a[1] * b[0]).sum::<f64>()
    };
    for (area, polygon) in polygons {
        let exact = double_area(polygon);
        for first in 0..polygon.len() {
            let mut text = String::new();
            for corner in polygon.iter().cycle().skip(first).take(polygon.len()) {
                // In a tilted plane.
                writeln!(text, "v {} {} {}", corner[0], 0.8 * corner[1], 0.6 * corner[1])
                    .expect("a string grows");
            }
            text.push('f');
            (1..=polygon.len()).for_each(|corner| write!(text, " {corner}").expect("a string grows"));
            let list = FaceList::<f64>::read_obj(text.as_bytes()).expect("an OBJ file");
            let covered: Vec<f64> = list
                .faces
                .iter()
                .map(|face| double_area(&face.map(|k| list.vertices[k as usize]).map(|p| [p.x, p.y / 0.8])))
                .collect();
            assert!(covered.iter().all(|area| *area > 0.0), "{area} {first}: {covered:?}");
            assert!((covered.iter().sum::<f64>() - exact).abs() < 1e-12, "{area} {first}: {covered:?}");
            assert_eq!(list.faces.len(), polygon.len() - 2);
        }
    }
    for crossed in [
        "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 4\n",
        "v 0 0 0\nf 1 2 3 4\nv 1 0 0\nv 1 1 0\nv 0 1 0\n",
        // Of these the ears can be cut off.
        "v 0 0 0\nv 6 0 0\nv 6 4 0\nv 2 4 0\nv 2 -2 0\nv 3 -2 0\nv 3 3 0\nv 5 3 0\nv 5 1 0\nv 0 1 0\nf 1 2 3 4 5 6 7 8 9 10\n",
        "v 0 0 0\nv 4 0 0\nv 4 3 0\nv 1 3 0\nv 1 1 0\nv 5 1 0\nv 5 2 0\nv 2 2 0\nv 2 4 0\nv 0 4 0\nf 1 2 3 4 5 6 7 8 9 10\n",
    ] {
        let error = FaceList::<f64>::read_obj(crossed.as_bytes()).expect_err("no polygon").to_string();
        assert!(error.contains("simple polygon"), "{error}");
    }
}

#[test]
fn stl_files_have_several_solids_in_any_case_with_or_without_names() {
    let solid = |head: &str, end: &str, x: f64| {
        let facet = |z: f64| {
            format!(
                "facet normal 0 0 1\n outer loop\n vertex {x} 0 {z}\n vertex {} 0 {z}\nvertex {x} 1E0 {z}\n endloop\nendfacet\n",
                x + 1.0
            )
        };
        format!("{head}\r\n{}\n{}{end}\n\n", facet(0.0), facet(1.0))
    };
    let parts = [solid("solid a part", "endsolid a part", 0.0), solid("solid", "endsolid", 5.0)];
    let expected = FaceList::<f64>::read_stl(Cursor::new(parts.concat())).expect("an STL file");
    assert_eq!((expected.faces.len(), expected.vertices.len()), (4, 12));
    assert_eq!(expected.vertices.iter().map(|v| v.x).fold(0.0, f64::max), 6.0);
    let capitals = parts.concat().to_uppercase();
    assert_eq!(FaceList::<f64>::read_stl(Cursor::new(capitals)).expect("an STL file"), expected);
    for rubbish in ["and more\n", "solid cut\nfacet normal 0 0 1\n", "endsolid\n"] {
        let file = [&parts[0], rubbish].concat();
        let error = FaceList::<f64>::read_stl(Cursor::new(file)).expect_err(rubbish);
        assert!(matches!(error, ShapeError::MeshFile { .. }), "{error}");
    }
}

#[test]
fn stl_files_are_welded() {
    let brick = TriangleMesh::<f64>::brick(Vector3::new(0.5, 0.25, 1.0), [2, 1, 3]).expect("valid");
    let mut text = String::from("solid brick\n");
    for triangle in brick.triangles() {
        text.push_str("facet normal 0 0 0\nouter loop\n");
        for v in triangle {
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

    // A binary file, with the header of a text file.
    let mut bytes = format!("{:80}", "solid brick").into_bytes();
    bytes.extend(u32::try_from(brick.face_count()).expect("a few").to_le_bytes());
    for triangle in brick.triangles() {
        let numbers =
            [0.0; 3].into_iter().chain(triangle.iter().flat_map(|corner| [corner.x, corner.y, corner.z]));
        #[expect(clippy::cast_possible_truncation, reason = "STL numbers have 32 bits")]
        bytes.extend(numbers.flat_map(|number| (number as f32).to_le_bytes()));
        bytes.extend([0; 2]);
    }
    for end in [0, 7] {
        let file = [bytes.as_slice(), &vec![b' '; end]].concat();
        let list = FaceList::<f64>::read_stl(Cursor::new(file)).expect("an STL file");
        assert_eq!(
            list.closed().expect("closed").triangles().collect::<Vec<_>>(),
            mesh.triangles().collect::<Vec<_>>()
        );
    }
    // Two files, one after the other.
    let list = FaceList::<f64>::read_stl(Cursor::new([bytes.as_slice(), &bytes, b"    "].concat()));
    let list = list.expect("an STL file");
    assert_eq!(list.faces.len(), 2 * brick.face_count());
    assert!(list.faces.iter().flatten().all(|&corner| (corner as usize) < list.vertices.len()));
}

#[test]
fn what_is_no_mesh_is_refused() {
    let error = FaceList::<f64>::read_obj("v 0 0 zero\n".as_bytes()).expect_err("not a number");
    assert!(matches!(error, ShapeError::MeshFile { .. }), "{error}");
    let error = FaceList::<f64>::read_stl(Cursor::new("solid nothing\nfacet")).expect_err("cut short");
    assert!(matches!(error, ShapeError::MeshFile { .. }), "{error}");
    let empty = FaceList::<f64>::read_obj("".as_bytes()).expect("an empty file is an OBJ file");
    assert_eq!(empty.closed().expect_err("no faces"), ShapeError::Mesh { fault: MeshFault::Empty });
}

#[test]
fn no_file_makes_the_reader_panic() {
    let vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvt 1 0\nvn 0 0 1\n";
    let indices = [
        "0",
        "1",
        "4",
        "5",
        "-1",
        "-4",
        "-5",
        "-9223372036854775808",
        "9223372036854775807",
        "99999999999999999999",
        "1/1/1",
        "1//1",
        "1/-9/1",
        "1/1/-9",
        "1/9/9",
        "1//9223372036854775807",
        "1/9223372036854775807",
        "1/1/1/1",
        "//",
        "x",
        "1.5",
        "",
    ];
    let mut refused = 0;
    for index in indices {
        for face in [
            format!("f 1 2 {index}\n"),
            format!("f {index} {index} {index} {index}\n"),
            format!("f {index}\n"),
        ] {
            for text in [format!("{vertices}{face}"), format!("{face}{vertices}"), format!("v 0 0 0\n{face}")]
            {
                match FaceList::<f64>::read_obj(text.as_bytes()) {
                    Ok(list) => drop(list.closed()),
                    Err(error) => {
                        assert!(matches!(error, ShapeError::MeshFile { .. }), "{error}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 50, "{refused}");
    for text in [
        "v\n",
        "v 1\n",
        "v 1 2\n",
        "v 1e999 0 nan\nf 1 1 1\n",
        "f\n",
        "f 1 2\n",
        "\u{fffd}\n",
        "v 0 0 0 0\nf 1 1 1\n",
        "o\n",
        "g\n",
        "s\n",
    ] {
        let _ = FaceList::<f64>::read_obj(text.as_bytes()).map(|list| list.closed());
    }
    let _ = FaceList::<f64>::read_obj([0xff, 0xfe, b'\n', b'f', b' ', 0x80].as_slice());

    // A binary STL file that claims four billion faces and has one.
    let mut stl = vec![0_u8; 80];
    stl.extend(u32::MAX.to_le_bytes());
    stl.extend([0; 50]);
    let error = FaceList::<f64>::read_stl(Cursor::new(stl)).expect_err("cut short");
    assert!(matches!(error, ShapeError::MeshFile { .. }), "{error}");
    let mut stl = vec![0_u8; 80];
    stl.extend(1_u32.to_le_bytes());
    stl.extend([0xff; 50]);
    let list = FaceList::<f64>::read_stl(Cursor::new(stl)).expect("numbers of some kind");
    assert!(matches!(list.faults()[..], [MeshFault::NonFiniteVertex { .. }, ..]));
    for text in ["", "solid", "solid \n", "solid x\nfacet normal 0 0 0\nouter loop\nvertex nan 0 0\n"] {
        let _ = FaceList::<f64>::read_stl(Cursor::new(text)).map(|list| list.closed());
    }
}
