use force_elements::exponential_spring::{FrictionTransition, Parameters};
use force_elements::nalgebra::Vector3;
use force_elements::simulation::{DormandPrince, SemiImplicitEuler, ImplicitTrapezoidal, Integrator};
use force_elements::SpatialVelocity;
use force_elements_scenes::block::{Block, Contact, Setting, cube_inertia};

fn run(parameters: Parameters<f64>, mus: (f64, f64), push: f64, v: (f64, f64), seconds: f64, mut integrator: impl Integrator<f64>) -> (Vector3<f64>, usize, usize) {
    let setting = Setting { inertia: cube_inertia(), mu_static: mus.0, mu_kinetic: mus.1, ..Setting::default() };
    let mut block = Block::new(setting, Contact::Springs(parameters)).unwrap();
    block.push(push).unwrap();
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(v.0, v.1, 0.0));
    let mut s = block.start(block.resting_pose(), velocity, 1.0).unwrap();
    s.run(&mut integrator, seconds, |_| {}).unwrap();
    (block.position(&s), s.statistics().steps, s.statistics().rejected)
}

fn main() {
    for transition in [FrictionTransition::Settling, FrictionTransition::ReturnMapping] {
        for c in [282.842712474619, 20.0, 0.0] {
            for (mus, push, v) in [((0.7, 0.7), 0.0, (1.0, 0.0)), ((0.7, 0.5), 20.0, (0.0, 0.5)), ((0.7, 0.5), 20.0, (1.0, 0.5))] {
                let p = Parameters { friction_transition: transition, friction_viscosity: c, ..Parameters::default() };
                let secs = 2.0;
                let go = |i: DormandPrince<f64>| run(p, mus, push, v, secs, i);
                let exact = go(DormandPrince::new(1e-9).with_max_step(2e-5));
                println!("{transition:?} c {c} mu {mus:?} push {push} v {v:?}: {:?}", exact.0.as_slice());
                for acc in [1e-4, 1e-5, 1e-6, 1e-7, 1e-8] {
                    let r = go(DormandPrince::new(acc));
                    println!("   DP {acc:e}: off {:.2e}   {} steps {} rejected", (r.0 - exact.0).norm(), r.1, r.2);
                }
                for h in [4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4] {
                    let r = go(DormandPrince::new(1e-2).with_max_step(h).with_force_tolerance(1e9));
                    let e = run(p, mus, push, v, secs, SemiImplicitEuler::new(h));
                    println!("   RK h {h:e}: off {:.2e}  Euler {:.2e}", (r.0 - exact.0).norm(), (e.0 - exact.0).norm());
                }
                let r = run(p, mus, push, v, secs, ImplicitTrapezoidal::new(1e-2).with_accuracy(1e-5));
                println!("   implicit 1e-5: off {:.2e}  {} {}", (r.0 - exact.0).norm(), r.1, r.2);
            }
        }
    }
}
