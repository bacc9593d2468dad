use force_elements::exponential_spring::FrictionTransition;
use force_elements_scenes::block::Contact;
use force_elements_scenes::race::{self, SCENES};
#[test]
fn costs() {
    for scene in SCENES {
        for accuracy in [1e-3, 1e-5] {
            let [settling, mapping] =
                [FrictionTransition::Settling, FrictionTransition::ReturnMapping].map(|transition| {
                    let finish = race::run(scene, Contact::springs(transition), accuracy).expect("regular");
                    finish.statistics.evaluations
                });
            println!("{scene:?} {accuracy} {settling} {mapping} {:.3}", mapping as f64 / settling as f64);
        }
    }
}
