//! Cables with friction, sticking and slipping after some commits, on the drums of winches too.

use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{CableSpring, Error, Real};

use super::cable::{Laid, Plan};
use super::{Kind, pick, spread, toss};

#[derive(Debug)]
pub struct AnyCapstan;

impl Subject for AnyCapstan {
    type Element<T: Real> = CableSpring<T>;

    fn scene<T: Real>(deal: &mut Numbers) -> Result<Scene<T, CableSpring<T>>, Error> {
        let plan = Plan::draw(deal).with_fixed_points();
        let mut laid = Laid::draw(&plan, deal)?;
        let elastic = laid.law(deal);
        let friction: Vec<_> = (0..laid.path.obstacles().len())
            .map(|_| match pick(deal, 5) {
                0 => T::zero(),
                // Never slips. The squares of ratios of 1e200, which lesser ones have, overflow in dual numbers.
                1 => T::lit(1e6),
                _ => spread(deal, 0.01, 0.5),
            })
            .collect();
        let element =
            laid.system.add(CableSpring::new(laid.path.clone(), elastic)?.with_friction(friction)?)?;
        let mut state = laid.system.default_state();
        let speed = spread(deal, 1e-2, 2.0);
        laid.set_coordinate(&mut state, deal)?;
        let commits = pick(deal, 4) * if laid.drums.is_empty() { 1 } else { 4 };
        // The places change before the first commit, or after the last.
        let displaced_at = if toss(deal, 0.5) { 0 } else { commits };
        let mut angle = 0.0;
        for commit in 0..=commits {
            if commit == displaced_at {
                laid.system.update_parameters(&mut state, element, |p| plan.displace(&mut p.places, deal))?;
            }
            let turn = spread(deal, 1e-5, 0.01);
            laid.scatter(&mut state, turn, speed, deal)?;
            angle += deal.between::<f64>(-0.2, 0.8);
            laid.wind(&mut state, angle)?;
            if commit < commits {
                laid.system.realize_dynamics(&mut state)?;
                laid.system.accept_step(&mut state)?;
            }
        }
        Ok(Scene { system: laid.system, state, element })
    }
}

impl Kind for AnyCapstan {
    const NAME: &'static str = "cable with friction";

    /// Marks that come to the ends of their arcs, and where the next search starts.
    fn is_quiet(_: usize) -> bool {
        true
    }

    fn tension(scene: &Scene<f64, CableSpring<f64>>) -> Result<f64, Error> {
        let at = scene.system.dynamics_view(&scene.state)?.of(scene.element);
        Ok(at.dynamics.tensions.iter().fold(0.0, |most, tension| tension.max(most)))
    }

    fn marks(seed: u64, scene: &Scene<f64, CableSpring<f64>>) -> Result<Vec<&'static str>, Error> {
        let at = scene.system.dynamics_view(&scene.state)?.of(scene.element);
        let mut marks = Plan::draw(&mut Numbers::new(seed)).with_fixed_points().marks(&at.position.path);
        let strands = &at.position.strands.all;
        marks.push(if strands.len() > 1 { "several strands" } else { "one strand" });
        if strands.iter().any(|strand| strand.is_wound) {
            marks.push("wound");
        }
        let slacks = strands.iter().filter(|strand| strand.elongation == 0.0).count();
        if slacks > 0 && slacks < strands.len() {
            marks.push("slack in part");
        }
        let is_damped = at.parameters.law.dissipation > 0.0;
        marks.push(if is_damped { "damped" } else { "undamped" });
        Ok(marks)
    }
}
