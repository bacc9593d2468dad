use force_elements::exponential_spring::FrictionTransition;
use force_elements_scenes::block::Contact;
use force_elements_scenes::race::{self, SCENES};
fn main() {
    for scene in SCENES {
        for acc in [1e-3, 1e-4, 1e-5] {
            for t in [FrictionTransition::Settling, FrictionTransition::ReturnMapping] {
                let f = race::run(scene, Contact::springs(t), acc).unwrap();
                println!("{scene:?} {acc:e} {t:?}: {:?} at {:?}", f.statistics, f.position.as_slice());
            }
        }
    }
}
