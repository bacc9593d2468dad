//! A run as a binary glTF file with animation, which common viewers open.

use std::error::Error;
use std::path::Path;

use force_elements::nalgebra::{Point3, UnitQuaternion, Vector3};
use force_elements::{BodyIndex, Canvas, DynamicsView, Mark, Meaning, Pose};
use gltf::binary::{Glb, Header};
use gltf::json::accessor::{ComponentType, GenericComponentType, Type};
use gltf::json::animation::{Channel, Interpolation, Property, Sampler, Target};
use gltf::json::material::{PbrBaseColorFactor, PbrMetallicRoughness, StrengthFactor};
use gltf::json::mesh::{Primitive, Semantic};
use gltf::json::scene::UnitQuaternion as Quaternion;
use gltf::json::validation::Checked::Valid;
use gltf::json::validation::USize64;
use gltf::json::{
    Accessor, Animation, Buffer, Extras, Index, Material, Mesh, Node, Root, Scene, Value, buffer,
};

/// The placement of an object in a frame: position, orientation, scale.
type Placed = ([f32; 3], [f32; 4], [f32; 3]);

/// A moving object: its mesh, and its placements in all frames so far. Its size is zero in frames in which it does not
/// exist.
struct Track {
    mesh: Index<Mesh>,
    frames: Vec<Placed>,
}

const NOWHERE: Placed = ([0.0; 3], [0.0, 0.0, 0.0, 1.0], [0.0; 3]);
/// Half the width of a cable and of an arrow \[m\].
const THICKNESS: [f64; 2] = [0.012, 0.008];
/// A shape of size one, centered in its frame.
#[allow(dead_code, reason = "an example has one of them")]
#[derive(Debug, Clone, Copy)]
pub(crate) enum Still {
    /// With halves of its sides of one.
    Box,
    /// Around z, with a radius of one and half a length of one.
    Tube,
}

/// A file in the making.
pub(crate) struct Recording {
    root: Root,
    bytes: Vec<u8>,
    times: Vec<f32>,
    bodies: Vec<(BodyIndex, [f64; 3], Track)>,
    /// Pieces of cable, and arrows.
    rods: [(Index<Mesh>, Vec<Track>); 2],
    still: Vec<Node>,
    /// How many rods of each kind the present frame has.
    drawn: [usize; 2],
    /// The length of an arrow for each newton \[m\].
    per_newton: f64,
}

#[expect(clippy::cast_possible_truncation, reason = "the format's numbers")]
fn single<const N: usize>(numbers: [f64; N]) -> [f32; N] {
    numbers.map(|number| number as f32)
}

fn placed(place: Vector3<f64>, turn: UnitQuaternion<f64>, scale: [f64; 3]) -> Placed {
    (single(place.into()), single(turn.coords.into()), single(scale))
}

impl Recording {
    /// A file without frames, in which arrows have this length for each newton \[m\].
    pub(crate) fn new(per_newton: f64) -> Self {
        let mut root = Root::default();
        let mut bytes = Vec::new();
        let long = solid([[-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]]);
        let rod =
            |root: &mut Root, bytes: &mut Vec<u8>, color| (add_mesh(root, bytes, &long, color), Vec::new());
        let cable = rod(&mut root, &mut bytes, [0.1, 0.25, 0.6]);
        let arrow = rod(&mut root, &mut bytes, [0.75, 0.12, 0.08]);
        let (times, bodies, still) = (Vec::new(), Vec::new(), Vec::new());
        Self { root, bytes, times, bodies, rods: [cable, arrow], still, drawn: [0; 2], per_newton }
    }

    /// Shows a body as a box with these halves of its sides \[m\].
    pub(crate) fn add_box(&mut self, body: BodyIndex, half_sides: [f64; 3]) {
        let cube = solid([[-1.0; 3], [1.0; 3]]);
        let mesh = add_mesh(&mut self.root, &mut self.bytes, &cube, [0.55, 0.55, 0.58]);
        self.bodies.push((body, half_sides, Track { mesh, frames: Vec::new() }));
    }

    /// Shows what does not move: a shape of size one, scaled along the axes of a frame \[m\].
    pub(crate) fn add_still(&mut self, shape: Still, X_GS: &Pose<f64>, scale: [f64; 3]) {
        let shape = match shape {
            Still::Box => solid([[-1.0; 3], [1.0; 3]]),
            Still::Tube => tube(),
        };
        let mesh = add_mesh(&mut self.root, &mut self.bytes, &shape, [0.8, 0.75, 0.6]);
        let turn = UnitQuaternion::from_rotation_matrix(&X_GS.rotation);
        let (place, turn, scale) = placed(X_GS.translation.vector, turn, scale);
        self.still.push(Node {
            mesh: Some(mesh),
            translation: Some(place),
            rotation: Some(Quaternion(turn)),
            scale: Some(scale),
            ..Node::default()
        });
    }

    /// Adds a frame.
    pub(crate) fn expose(&mut self, dynamics: &DynamicsView<'_, f64>) {
        self.times.push(single([dynamics.time()])[0]);
        for (body, half_sides, track) in &mut self.bodies {
            let X_GB = dynamics.pose(*body);
            let turn = UnitQuaternion::from_rotation_matrix(&X_GB.rotation);
            track.frames.push(placed(X_GB.translation.vector, turn, *half_sides));
        }
        self.drawn = [0; 2];
        dynamics.draw(self);
        for (_, tracks) in &mut self.rods {
            for track in tracks {
                track.frames.resize(self.times.len(), NOWHERE);
            }
        }
    }

    fn rod(&mut self, kind: usize, from: Point3<f64>, along: Vector3<f64>) {
        let (mesh, tracks) = &mut self.rods[kind];
        if self.drawn[kind] == tracks.len() {
            tracks.push(Track { mesh: *mesh, frames: vec![NOWHERE; self.times.len() - 1] });
        }
        let half_turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
        let turn = UnitQuaternion::rotation_between(&Vector3::z(), &along).unwrap_or(half_turn);
        let thickness = THICKNESS[kind];
        let piece = placed(from.coords, turn, [thickness, thickness, along.norm()]);
        tracks[self.drawn[kind]].frames.push(piece);
        self.drawn[kind] += 1;
    }

    /// Writes the file; returns its length in bytes.
    pub(crate) fn write(self, path: &Path) -> Result<usize, Box<dyn Error>> {
        let Self { mut root, mut bytes, times, bodies, rods, still, .. } = self;
        let end = times.last().copied().unwrap_or(0.0);
        let range = Some((vec![0.0], vec![end]));
        let input = add_numbers(&mut root, &mut bytes, Type::Scalar, times.iter().map(|time| [*time]), range);
        let mut nodes: Vec<_> = still.into_iter().map(|node| root.push(node)).collect();
        let mut animation = Animation {
            channels: Vec::new(),
            samplers: Vec::new(),
            extensions: None,
            extras: Extras::default(),
        };
        let tracks = bodies
            .into_iter()
            .map(|(_, _, track)| track)
            .chain(rods.into_iter().flat_map(|(_, tracks)| tracks));
        for Track { mesh, frames } in tracks {
            let node = root.push(Node { mesh: Some(mesh), ..Node::default() });
            nodes.push(node);
            let places =
                add_numbers(&mut root, &mut bytes, Type::Vec3, frames.iter().map(|frame| frame.0), None);
            let turns =
                add_numbers(&mut root, &mut bytes, Type::Vec4, frames.iter().map(|frame| frame.1), None);
            let scales =
                add_numbers(&mut root, &mut bytes, Type::Vec3, frames.iter().map(|frame| frame.2), None);
            let outputs =
                [(Property::Translation, places), (Property::Rotation, turns), (Property::Scale, scales)];
            for (path, output) in outputs {
                let sampler = Index::push(
                    &mut animation.samplers,
                    Sampler {
                        input,
                        interpolation: Valid(Interpolation::Step),
                        output,
                        extensions: None,
                        extras: Extras::default(),
                    },
                );
                let target = Target { node, path: Valid(path), extensions: None, extras: Extras::default() };
                animation.channels.push(Channel {
                    sampler,
                    target,
                    extensions: None,
                    extras: Extras::default(),
                });
            }
        }
        root.push(animation);
        // In glTF the y axis is up.
        let upright = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), -std::f64::consts::FRAC_PI_2);
        let upright = Some(Quaternion(single(upright.coords.into())));
        let scene = root.push(Node { children: Some(nodes), rotation: upright, ..Node::default() });
        root.scene =
            Some(root.push(Scene { nodes: vec![scene], extensions: None, extras: Extras::default() }));
        root.buffers.push(Buffer {
            byte_length: USize64::from(bytes.len()),
            uri: None,
            extensions: None,
            extras: Extras::default(),
        });
        let json = root.to_vec()?;
        let header = Header { magic: *b"glTF", version: 2, length: 0 };
        let file = Glb { header, json: json.into(), bin: Some(bytes.into()) }.to_vec()?;
        std::fs::write(path, &file)?;
        Ok(file.len())
    }
}

impl Canvas for Recording {
    fn line(&mut self, mark: Mark, from: Point3<f64>, to: Point3<f64>) {
        if mark.meaning == Meaning::Cable {
            self.rod(0, from, to - from);
        }
    }

    fn point(&mut self, _: Mark, _: Point3<f64>) {}

    fn frame(&mut self, _: Mark, _: &Pose<f64>) {}

    fn arrow(&mut self, mark: Mark, from: Point3<f64>, vector: Vector3<f64>) {
        if matches!(mark.meaning, Meaning::Force(body) if body != BodyIndex::GROUND) {
            self.rod(1, from, vector * self.per_newton);
        }
    }
}

/// Corners of triangles, three for each.
type Triangles = Vec<[f32; 3]>;

/// A box between two opposite corners.
fn solid(corners: [[f32; 3]; 2]) -> Triangles {
    let mut triangles = Vec::new();
    for axis in 0..3 {
        for side in 0..2 {
            let corner = |u: usize, v: usize| {
                let mut p = [0.0; 3];
                (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) =
                    (corners[side][axis], corners[u][(axis + 1) % 3], corners[v][(axis + 2) % 3]);
                p
            };
            // Counterclockwise as seen from outside.
            let (one, other) = if side == 1 { ((1, 0), (0, 1)) } else { ((0, 1), (1, 0)) };
            for (u, v) in [(0, 0), one, (1, 1), (0, 0), (1, 1), other] {
                triangles.push(corner(u, v));
            }
        }
    }
    triangles
}

/// A tube of radius 1 around z from −1 to 1, without ends.
fn tube() -> Triangles {
    let at = |k: u16, z: f32| {
        let (sine, cosine) = (f32::from(k) * std::f32::consts::TAU / 64.0).sin_cos();
        [cosine, sine, z]
    };
    let side = |k| [at(k, -1.0), at(k + 1, -1.0), at(k + 1, 1.0), at(k, -1.0), at(k + 1, 1.0), at(k, 1.0)];
    (0..64).flat_map(side).collect()
}

fn add_mesh(root: &mut Root, bytes: &mut Vec<u8>, triangles: &Triangles, [r, g, b]: [f32; 3]) -> Index<Mesh> {
    let range = [f32::min, f32::max].map(|of| {
        (0..3).map(|axis| triangles.iter().map(|p| p[axis]).reduce(of).unwrap_or(0.0)).collect::<Vec<_>>()
    });
    let [least, greatest] = range;
    let positions = add_numbers(root, bytes, Type::Vec3, triangles.iter().copied(), Some((least, greatest)));
    let material = root.push(Material {
        pbr_metallic_roughness: PbrMetallicRoughness {
            base_color_factor: PbrBaseColorFactor([r, g, b, 1.0]),
            metallic_factor: StrengthFactor(0.0),
            ..PbrMetallicRoughness::default()
        },
        double_sided: true,
        ..Material::default()
    });
    let primitive = Primitive {
        attributes: [(Valid(Semantic::Positions), positions)].into(),
        extensions: None,
        extras: Extras::default(),
        indices: None,
        material: Some(material),
        mode: Valid(gltf::json::mesh::Mode::Triangles),
        targets: None,
    };
    root.push(Mesh {
        extensions: None,
        extras: Extras::default(),
        primitives: vec![primitive],
        weights: None,
    })
}

/// Adds numbers to the buffer, with their least and greatest values where the format wants them.
fn add_numbers<const N: usize>(
    root: &mut Root,
    bytes: &mut Vec<u8>,
    type_: Type,
    values: impl ExactSizeIterator<Item = [f32; N]>,
    range: Option<(Vec<f32>, Vec<f32>)>,
) -> Index<Accessor> {
    let (start, count) = (bytes.len(), values.len());
    bytes.extend(values.flatten().flat_map(f32::to_le_bytes));
    let view = root.push(buffer::View {
        buffer: Index::new(0),
        byte_length: USize64::from(bytes.len() - start),
        byte_offset: Some(USize64::from(start)),
        byte_stride: None,
        target: None,
        extensions: None,
        extras: Extras::default(),
    });
    let (min, max) = range.map(|(min, max)| (Value::from(min), Value::from(max))).unzip();
    root.push(Accessor {
        buffer_view: Some(view),
        byte_offset: None,
        count: USize64::from(count),
        component_type: Valid(GenericComponentType(ComponentType::F32)),
        extensions: None,
        extras: Extras::default(),
        type_: Valid(type_),
        min,
        max,
        normalized: false,
        sparse: None,
    })
}
