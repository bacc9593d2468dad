use std::error::Error;

use force_elements::simulation::DormandPrince;

#[path = "scenes/swinging_cable.rs"]
mod swinging_cable;

use swinging_cable::SwingingCable;

fn main() -> Result<(), Box<dyn Error>> {
    for dissipation in [0.0, 0.3] {
        let scene = SwingingCable::new(dissipation)?;
        for digits in 4..=9 {
            let run = scene.run(&mut DormandPrince::new(0.1_f64.powi(digits)))?;
            let s = run.statistics;
            println!("{dissipation} 1e-{digits} {} {} {} | td {} lo {} slack {} | mech {:.1e} total {:.1e} of {:.1} lost {:.6} int {:.1e}",
                s.steps, s.rejected, s.evaluations, run.count(|s| s.in_contact), run.count(|s| !s.in_contact), run.count(|s| s.stretch == 0.0),
                run.change(|s| s.mechanical()), run.change(|s| s.total()), run.turned_over(), run.samples.last().map_or(0.0,|s| s.dissipated),
                run.samples.last().map_or(0.0,|s| s.dissipated) - run.loss());
            if digits == 8 {
                for k in 0..2 { for a in 0..3 {
                    let it = || run.samples.iter().map(|s| s.eyes()[k][a]);
                    print!("eye{k}[{a}] {:.2}..{:.2}  ", it().fold(9.0, f64::min), it().fold(-9.0, f64::max));
                } println!(); }
                println!("tension max {:.1}, angle max {:.2}, contact share {:.2}", run.samples.iter().map(|s| s.tension).fold(0.0, f64::max),
                    run.samples.iter().flat_map(|s| s.poses).map(|p| p.rotation.angle()).fold(0.0, f64::max),
                    run.samples.windows(2).filter(|w| w[0].in_contact).map(|w| w[1].time-w[0].time).sum::<f64>()/20.0);
            }
        }
    }
    Ok(())
}
