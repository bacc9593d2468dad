//! Integrals along a geodesic. The integral of the normal curvature is the angle by which a contact turns the cable.
//!
//! R. Piessens, E. de Doncker-Kapenga, C. W. Überhuber, D. K. Kahaner, *QUADPACK* (1983): Gauss' and Kronrod's
//! rules with the estimate of their error.

use nalgebra::{Point3, Vector3};

use crate::cable::{GeodesicEnd, Jacobi, Wrappable};
use crate::math::Real;

/// Kronrod's rule of fifteen nodes on −1 to 1, its half from 1 to 0: nodes, weights, and the weights of Gauss'
/// rule of seven that it contains.
const RULE: [(f64, f64, f64); 8] = [
    (0.991_455_371_120_812_6, 0.022_935_322_010_529_22, 0.0),
    (0.949_107_912_342_758_5, 0.063_092_092_629_978_55, 0.129_484_966_168_869_7),
    (0.864_864_423_359_769_1, 0.104_790_010_322_250_2, 0.0),
    (0.741_531_185_599_394_4, 0.140_653_259_715_525_9, 0.279_705_391_489_276_7),
    (0.586_087_235_467_691_1, 0.169_004_726_639_267_9, 0.0),
    (0.405_845_151_377_397_2, 0.190_350_578_064_785_4, 0.381_830_050_505_118_9),
    (0.207_784_955_007_898_5, 0.204_432_940_075_298_9, 0.0),
    (0.0, 0.209_482_141_084_727_8, 0.417_959_183_673_469_4),
];

/// The accuracy of the integral over one panel \[rad\].
const ACCURACY: f64 = 1e-12;

/// Quadrature over panels that are halved until it is accurate.
///
/// A geodesic is followed from node to node, so that the cost is that of the geodesic and of some fifteen evaluations per
/// panel. On a surface that has flat parts, panels end where a part ends, since the curvature jumps there.
pub(crate) fn integrate<T: Real, S: Wrappable<T> + ?Sized, const N: usize>(
    surface: &S,
    p: &Point3<T>,
    direction: &Vector3<T>,
    length: T,
    accuracy: T,
    integrand: impl Fn(&GeodesicEnd<T>, &Jacobi<T>) -> [T; N],
) -> [T; N] {
    // Panels no smaller than this are halved: a jump of curvature cannot stall the integration.
    const LEAST: f64 = 1e-3;
    let allowed = T::lit(ACCURACY).max(T::default_epsilon() * T::lit(64.0));
    let sign = if length < T::zero() { -T::one() } else { T::one() };
    let total = length.abs();
    let mut from = (*p, *direction, Jacobi::at_start());
    let mut sum = [T::zero(); N];
    let mut covered = T::zero();
    let mut panel = total;
    let mut was_at_end = false;
    while covered < total {
        let rest = total - covered;
        let mut left = rest;
        if surface.has_flats() {
            let at = surface.end(&surface.retract(&from.0), &(from.1 * sign));
            let part = surface.smooth_reach(&at.point, &at.tangent, &Vector3::zeros());
            // However close the end of a part is, the next panel begins beyond it. If no part is longer than that, panels
            // end as on other surfaces.
            let least = T::negligible() * surface.size();
            let is_at_end = part <= least;
            if !(is_at_end && was_at_end) {
                left = left.min(part.max(least));
            }
            was_at_end = is_at_end;
        }
        let whole = panel < left;
        let half = T::lit(0.5) * sign * if whole { panel } else { left };
        let ((mut at, mut along, mut jacobi), mut reached) = (from, -T::one());
        let (mut kronrod, mut gauss) = ([T::zero(); N], [T::zero(); N]);
        let first = RULE.iter().map(|&(node, fine, coarse)| (-node, fine, coarse));
        let second = RULE.iter().rev().skip(1).copied();
        for (node, fine, coarse) in first.chain(second).chain([(1.0, 0.0, 0.0)]) {
            let node = T::lit(node);
            let step = surface.geodesic(&at, &along, half * (node - reached), accuracy, usize::MAX);
            (at, along, reached) = (step.end.point, step.end.tangent, node);
            jacobi = jacobi.then(&step.jacobi);
            for (i, value) in integrand(&step.end, &jacobi).into_iter().enumerate() {
                kronrod[i] += T::lit(fine) * value;
                gauss[i] += T::lit(coarse) * value;
            }
        }
        let off = kronrod.iter().zip(&gauss).fold(T::zero(), |most, (&a, &b)| most.max((a - b).abs()));
        let doubt = T::lit(200.0) * (off * half).abs();
        if doubt * doubt.sqrt() > allowed && half.abs() > T::lit(LEAST) * surface.size() {
            panel = half.abs();
            continue;
        }
        for (sum, value) in sum.iter_mut().zip(kronrod) {
            *sum += value * half;
        }
        from = (at, along, jacobi);
        covered = if whole { covered + panel } else { total - (rest - left) };
        panel += panel;
    }
    sum
}

/// The normal curvature.
pub(crate) fn curvature<T: Real>(end: &GeodesicEnd<T>, _: &Jacobi<T>) -> [T; 1] {
    [end.curvature]
}

/// The integrands of [`Wrappable::turning_by_start`].
pub(crate) fn twisting<T: Real>(end: &GeodesicEnd<T>, jacobi: &Jacobi<T>) -> [T; 2] {
    [end.torsion * jacobi.shift_rate, end.torsion * jacobi.turn_rate]
}
