//! Bounds of a mechanism, whose host states inertias of coordinates and links as the page of `Inertias` says.

use force_elements::linear_bushing::Parameters as Mount;
use force_elements::nalgebra::{DMatrix, DVector, Vector6};
use force_elements::{Frame, LinearBushing, Pose};

use super::*;

const STIFFNESS: f64 = 50.0;

/// What the host of a mechanism states: a mass for all bodies, and one for each coordinate.
struct Stated {
    of_body: f64,
    of_coordinates: Vec<f64>,
}

impl Inertias for Stated {
    fn mass(&self, _: BodyIndex) -> f64 {
        self.of_body
    }

    fn inertia(&self, _: BodyIndex) -> Matrix3<f64> {
        Matrix3::from_diagonal_element(1.0)
    }

    fn coordinate_mass(&self, coordinate: CoordinateIndex) -> f64 {
        self.of_coordinates[coordinate.index()]
    }
}

/// The mass matrix of a straight chain of rods of 1 kg and 1 m, by the angles of its joints.
fn chain(rods: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rods, rods, |i, j| {
        let moment = |rod: usize| {
            let [to_i, to_j] = [i, j].map(|joint| f64::from(u32::try_from(rod - joint).expect("few")) + 0.5);
            to_i * to_j + 1.0 / 12.0
        };
        (i.max(j)..rods).map(moment).sum()
    })
}

fn bound(system: &ForceSystem<f64>, stated: &Stated) -> Result<f64, Error> {
    let mut state = system.default_state();
    system.realize_dynamics(&mut state)?;
    Ok(system.stable_step(&state, stated, StepMethod::SymplecticEuler, 0.0)?.length)
}

#[test]
fn masses_of_joints_that_are_loaded_at_once_are_those_of_the_page() -> Result<(), Error> {
    for rods in [1, 2, 3, 6, 20] {
        let mass = chain(rods);
        let compliance = mass.clone().try_inverse().expect("positive");
        let alone = DVector::from_fn(rods, |i, _| compliance[(i, i)].recip());
        let scaled = DMatrix::from_fn(rods, rods, |i, j| (alone[i] * alone[j]).sqrt() * compliance[(i, j)]);
        let largest = scaled.symmetric_eigenvalues().max();

        let mut system = ForceSystem::new();
        for _ in 0..rods {
            let parameters = coordinate::Parameters { stiffness: STIFFNESS, ..Default::default() };
            let joint = CoordinatePair::on(system.add_coordinate());
            system.add(CoordinateSpringDamperExt::new(joint, parameters)?)?;
        }
        let of = |of_coordinates: Vec<f64>| bound(&system, &Stated { of_body: 1.0, of_coordinates });
        // Of symplectic Euler, ωh = 2, at the highest frequency of the chain.
        let exact = 2.0 / (STIFFNESS * compliance.symmetric_eigenvalues().max()).sqrt();
        let together = of(alone.iter().map(|mass| mass / largest).collect())?;
        assert!((0.7 * exact..=exact * (1.0 + 1e-12)).contains(&together), "{rods}: {together} of {exact}");
        if rods > 1 {
            // What each joint has where the others are free, and what it has where they are locked.
            assert!(of(alone.iter().copied().collect())? > 1.04 * exact, "{rods}");
            assert!(of(mass.diagonal().iter().copied().collect())? > 2.0 * exact, "{rods}");
        }
    }
    Ok(())
}

#[test]
fn links_that_move_as_one_divide_their_inertia() -> Result<(), Error> {
    let total = 4.0_f64;
    for links in [1_u32, 2, 7] {
        let mut system = ForceSystem::new();
        let stiffness = Vector6::new(0.0, 0.0, 0.0, 0.0, 0.0, STIFFNESS);
        for _ in 0..links {
            let link = Frame::of(system.add_body());
            let mount = Mount { stiffness, ..Default::default() };
            system.add(LinearBushing::new(Frame::ground(Pose::identity()), link, mount)?)?;
        }
        let of = |of_body| bound(&system, &Stated { of_body, of_coordinates: vec![] });
        let exact = 2.0 * (total / (f64::from(links) * STIFFNESS)).sqrt();
        let divided = of(total / f64::from(links))?;
        assert!((divided - exact).abs() < 1e-12 * exact, "{links}: {divided} of {exact}");
        if links > 1 {
            assert!(of(total)? > 1.4 * exact, "{links}");
        }
    }
    Ok(())
}
