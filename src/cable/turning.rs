//! The normal curvature of a geodesic, integrated along it: the angle by which a contact turns the cable.

use nalgebra::{Point3, Vector3};

use super::ceil;
use super::wrappable::Wrappable;
use crate::math::Real;

/// Nodes and weights of Gauss and Legendre's quadrature with eight points on −1 to 1, its positive half.
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Quadrature over panels as long as the surface's smallest feature, at most 4096 of them.
///
/// A geodesic is followed from node to node, so that the cost is that of the geodesic and of eight evaluations per
/// panel.
pub(super) fn integrate<T: Real, S: Wrappable<T> + ?Sized>(
    surface: &S,
    p: &Point3<T>,
    direction: &Vector3<T>,
    length: T,
    accuracy: T,
) -> T {
    let panels = ceil((length.abs() / surface.size()).min(T::lit(4096.0))).max(T::one());
    let half = T::lit(0.5) * length / panels;
    let (mut point, mut tangent) = (*p, *direction);
    let mut sum = T::zero();
    let mut panel = T::zero();
    while panel < panels {
        let mut reached = -T::one();
        let before = GAUSS.iter().rev().map(|&(node, weight)| (-node, weight));
        for (node, weight) in before.chain(GAUSS).chain([(1.0, 0.0)]) {
            let node = T::lit(node);
            let end = surface.geodesic(&point, &tangent, half * (node - reached), accuracy).end;
            (point, tangent, reached) = (end.point, end.tangent, node);
            sum += T::lit(weight) * end.curvature;
        }
        panel += T::one();
    }
    sum * half
}
