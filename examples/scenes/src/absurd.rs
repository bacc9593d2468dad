//! Surfaces of absurd sizes, and one that is wrong in everything.

use force_elements::Real;
use force_elements::cable::Wrappable;
use force_elements::nalgebra::{Matrix3, Point3, Vector2, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, HeightMap, Sphere, Torus};

use crate::cables::{Dice, Pebble};

/// Numbers that arithmetic stumbles over, and some ordinary ones between.
pub const NUMBERS: [f64; 21] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -3.0,
    1e-9,
    -1e-9,
    1e-30,
    1e-76,
    1e-160,
    5e-324,
    1e30,
    -1e30,
    1e160,
    1e300,
    f64::MAX,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

pub fn index(dice: &mut Dice, count: u64) -> usize {
    usize::try_from(dice.below(count)).expect("small")
}

pub fn number<T: Real>(dice: &mut Dice) -> T {
    T::lit(NUMBERS[index(dice, 21)])
}

/// Now and then nasty, else ordinary.
pub fn seldom<T: Real>(dice: &mut Dice, ordinary: f64) -> T {
    if dice.below(4) == 0 { number(dice) } else { T::lit(ordinary) }
}

pub fn vector<T: Real>(dice: &mut Dice) -> Vector3<T> {
    Vector3::from_fn(|_, _| if dice.below(2) == 0 { number(dice) } else { T::lit(dice.between(-2.0, 2.0)) })
}

/// A surface of the user's own that is as wrong as can be.
#[derive(Debug)]
pub struct Garbage(pub u64);

impl<T: Real> Wrappable<T> for Garbage {
    fn value(&self, p: &Point3<T>) -> T {
        if self.0.is_multiple_of(3) { number(&mut Dice::new(self.0)) } else { p.coords.norm() - T::one() }
    }
    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        if self.0 % 3 == 1 { vector(&mut Dice::new(self.0)) } else { p.coords }
    }
    fn hessian(&self, _: &Point3<T>) -> Matrix3<T> {
        let mut dice = Dice::new(self.0);
        if self.0.is_multiple_of(2) {
            Matrix3::from_fn(|_, _| number(&mut dice))
        } else {
            Matrix3::identity()
        }
    }
    fn size(&self) -> T {
        number(&mut Dice::new(self.0 + 1))
    }
}

/// A surface of any kind and any size that its constructor accepts.
pub fn surface<T: Real>(dice: &mut Dice) -> Option<Box<dyn Wrappable<T>>> {
    let ordinary = dice.between(0.2, 1.5);
    let mut size = || seldom::<T>(dice, ordinary);
    let (a, b, c) = (size(), size(), size());
    Some(match dice.below(7) {
        0 => Box::new(Sphere::new(a).ok()?),
        1 => Box::new(Cylinder::new(a).ok()?),
        2 => Box::new(Ellipsoid::new(Vector3::new(a, b, c)).ok()?),
        3 => Box::new(Torus::new(a * T::lit(2.0), b).ok()?),
        4 => {
            let heights: Vec<T> = (0..20).map(|_| seldom(dice, 0.3)).collect();
            let corner = Vector2::new(seldom(dice, -1.0), seldom(dice, -1.0));
            let columns = [4, 5, 0, 1, 7, usize::MAX][index(dice, 6)];
            Box::new(HeightMap::new(corner, Vector2::new(a, b), columns, &heights).ok()?)
        }
        5 => Box::new(Pebble { radius: ordinary }),
        _ => Box::new(Garbage(dice.below(1000))),
    })
}
