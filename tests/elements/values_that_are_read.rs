//! Parameters and memory read by serde pass the checks of those that are written to a state.

use force_elements::variables::Slot;
use force_elements::{
    Variables, cable_spring, coordinate_spring_damper_ext, elastic_foundation, exponential_spring,
    hertz_contact, linear_bushing, spatial_bushing,
};

/// The value with one of its numbers replaced; `None` beyond the last.
fn with_number<V: Variables<f64>>(value: &V, place: usize, replacement: f64) -> Option<V> {
    let (mut changed, mut next, mut is_found) = (value.clone(), 0, false);
    changed.visit_mut(&mut |entry| {
        if let Slot::Number(number) = entry.value {
            if next == place {
                (*number, is_found) = (replacement, true);
            }
            next += 1;
        }
    });
    is_found.then_some(changed)
}

/// Reads values with each number replaced by several, and expects those to be refused that validation refuses.
macro_rules! check {
    ($($Type:ty = $value:expr;)*) => {
        $({
            let value: $Type = $value;
            let mut refusals = 0;
            for replacement in [-1.0, 0.0, 0.5, 3.0, 1e10] {
                let mut place = 0;
                while let Some(changed) = with_number(&value, place, replacement) {
                    let text = serde_json::to_string(&changed).expect("numbers");
                    let read: Result<$Type, _> = serde_json::from_str(&text);
                    let name = stringify!($Type);
                    match changed.validate() {
                        Ok(()) => assert_eq!(read.expect("valid"), changed, "{name}: {text}"),
                        Err(error) => {
                            assert!(read.is_err(), "{name}: {error}: {text}");
                            refusals += 1;
                        }
                    }
                    place += 1;
                }
            }
            assert!(refusals > 0, "{}", stringify!($Type));
        })*
    };
}

#[test]
fn what_validation_refuses_is_refused_when_it_is_read() {
    let mut turn = spatial_bushing::Discrete { accepted: true, ..Default::default() };
    turn.quaternion.w = 1.0;
    check! {
        exponential_spring::Parameters<f64> = exponential_spring::Parameters::default();
        exponential_spring::Discrete<f64> = exponential_spring::Discrete::default();
        coordinate_spring_damper_ext::Parameters<f64> = coordinate_spring_damper_ext::Parameters::default();
        coordinate_spring_damper_ext::Discrete<f64> = coordinate_spring_damper_ext::Discrete::default();
        linear_bushing::Parameters<f64> = linear_bushing::Parameters::default();
        linear_bushing::Discrete<f64> = linear_bushing::Discrete::default();
        spatial_bushing::Parameters<f64> = spatial_bushing::Parameters::default();
        spatial_bushing::Discrete<f64> = turn;
        hertz_contact::Parameters<f64> = hertz_contact::Parameters::default();
        elastic_foundation::Parameters<f64> = elastic_foundation::Parameters::default();
        elastic_foundation::Anchor<f64> = elastic_foundation::Anchor::default();
        cable_spring::Parameters<f64> = cable_spring::Parameters::default();
        cable_spring::StateParameters<f64> = cable_spring::StateParameters { friction: vec![0.2], ..Default::default() };
    }
    // More anchors than places.
    let anchors = r#"{"room":1,"taken":[null,null]}"#;
    assert!(serde_json::from_str::<elastic_foundation::Anchors<f64>>(anchors).is_err());
}
