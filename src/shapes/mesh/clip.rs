//! Integrals of a depth that is linear over a triangle, over the part where the depth is positive.

use crate::math::{Dual, Number, Real};

/// Returns integrals over the part of a triangle that is inside, per area of the whole triangle: of the depth times the
/// function of each corner \[m\], and of the function of each corner, which is 1 there, 0 at the others and linear in
/// between. The depths are those of the corners, positive inside. `None` if no corner is inside.
///
/// They are sums of products of positive numbers, without cancellation. Half the sum of the depths times their integrals
/// is the integral of depth²/2, whose derivative by the depth of a corner is the integral of that corner.
pub(super) fn moments<S: Number>(depths: [S; 3]) -> Option<[[S; 3]; 2]> {
    // A number that is NaN leads to a force that is NaN, and so to an error.
    let is_inside = depths.map(|depth| depth > S::zero() || depth.value().to_f64().is_nan());
    let count = is_inside.iter().filter(|&&inside| inside).count();
    // The corner that differs from the others comes first.
    let first = match count {
        0 => return None,
        3 => return Some(of_whole(depths)),
        _ => is_inside.iter().position(|&inside| inside == (count == 1)).unwrap_or(0),
    };
    let [a, b, c] = [0, 1, 2].map(|place| depths[(first + place) % 3]);
    let in_order = if count == 1 { with_one_inside(a, b, c) } else { with_one_outside(a, b, c) };
    Some(in_order.map(|of| [0, 1, 2].map(|corner| of[(corner + 3 - first) % 3])))
}

fn of_whole<S: Number>(depths: [S; 3]) -> [[S; 3]; 2] {
    let sum = depths[0] + depths[1] + depths[2];
    [depths.map(|depth| (sum + depth) * S::lit(1.0 / 12.0)), [S::lit(1.0 / 3.0); 3]]
}

/// A smaller triangle at corner a.
fn with_one_inside<S: Number>(a: S, b: S, c: S) -> [[S; 3]; 2] {
    let (to_b, to_c) = (a / (a - b), a / (a - c));
    let area = to_b * to_c;
    let rest = (S::lit(1.0) - to_b) + (S::lit(1.0) - to_c);
    let (twelfth, third) = (area * a * S::lit(1.0 / 12.0), area * S::lit(1.0 / 3.0));
    [
        [twelfth * (S::lit(2.0) + rest), twelfth * to_b, twelfth * to_c],
        [third * (S::lit(1.0) + rest), third * to_b, third * to_c],
    ]
}

/// All but a smaller triangle at corner a: the triangles of b, c and the cut from c to a, and of b and the two cuts.
fn with_one_outside<S: Number>(a: S, b: S, c: S) -> [[S; 3]; 2] {
    let one = S::lit(1.0);
    let (from_b, from_c) = (b / (b - a), c / (c - a));
    let (left_b, left_c) = (-a / (b - a), -a / (c - a));
    let sum = b + c;
    let (large, small) = (from_c * S::lit(1.0 / 12.0), from_b * left_c * S::lit(1.0 / 12.0));
    let area = |in_large: S, in_small: S| (large * in_large + small * in_small) * S::lit(4.0);
    [
        [
            large * sum * from_c + small * b * (from_b + from_c),
            large * (sum + b) + small * b * (S::lit(2.0) + left_b),
            large * (sum + c + left_c * sum) + small * b * left_c,
        ],
        [area(from_c, from_b + from_c), area(one, one + left_b), area(one + left_c, left_c)],
    ]
}

/// The integrals of the depth times the function of each corner, with their derivatives by the depths of the corners;
/// `None` if no corner is inside.
#[inline]
pub(crate) fn moments_of_depth<T: Real>(depths: [T; 3]) -> Option<[Dual<T, 3>; 3]> {
    let [a, b, c] = depths;
    let depths = [Dual::variable(a, 0), Dual::variable(b, 1), Dual::variable(c, 2)];
    moments(depths).map(|[of_depth, _]| of_depth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use approx::assert_relative_eq;
    use num_dual::Dual64;

    /// Depths of all signs, some of them equal, some tiny, some zero.
    fn depths() -> impl Iterator<Item = [f64; 3]> {
        let values = [-1e6, -1.0, -0.3, -1e-9, 0.0, 1e-9, 0.2, 0.200_000_1, 1.0, 1e6];
        (0..1000).map(move |i| [values[i % 10], values[i / 10 % 10], values[i / 100]])
    }

    /// The midpoint rule on `n²` small triangles.
    fn by_sampling(d: [f64; 3], n: u32) -> [[f64; 3]; 2] {
        let mut moments = [[0.0; 3]; 2];
        let mut count = 0.0;
        for i in 0..n {
            for j in 0..n - i {
                for (offset, is_there) in [(1.0 / 3.0, true), (2.0 / 3.0, i + j + 1 < n)] {
                    if is_there {
                        let [u, v] = [i, j].map(|k| (f64::from(k) + offset) / f64::from(n));
                        let phi = [1.0 - u - v, u, v];
                        let depth = (0..3).map(|k| phi[k] * d[k]).sum::<f64>();
                        count += 1.0;
                        if depth > 0.0 {
                            (0..3).for_each(|k| moments[0][k] += phi[k] * depth);
                            (0..3).for_each(|k| moments[1][k] += phi[k]);
                        }
                    }
                }
            }
        }
        moments.map(|of| of.map(|m| m / count))
    }

    #[test]
    fn moments_are_those_of_many_small_triangles() {
        for d in depths() {
            let found = moments(d).unwrap_or([[0.0; 3]; 2]);
            let expected = by_sampling(d, 60);
            let scale = d.iter().fold(0.0_f64, |m, &x| m.max(x));
            for k in 0..3 {
                // The rim crosses at most 120 of 3600 triangles, on each of which in or out is a mistake of at most
                // all of its area, and depths there are at most a sixtieth of the difference of the corners.
                assert!((found[1][k] - expected[1][k]).abs() < 0.02, "{d:?}: {found:?}, {expected:?}");
                assert!((found[0][k] - expected[0][k]).abs() <= 1e-3 * scale, "{d:?}: {found:?}");
            }
        }
    }

    #[test]
    fn each_moment_of_depth_is_the_derivative_of_the_energy() {
        for d in depths() {
            for k in 0..3 {
                let mut seeded = d.map(Dual64::from_re);
                seeded[k] = seeded[k].derivative();
                let Some([of_depth, _]) = moments(seeded) else { continue };
                let terms: Vec<_> = (0..3).map(|i| of_depth[i] * seeded[i] * 0.5).collect();
                let slope: f64 = terms.iter().map(|term| term.eps).sum();
                // Terms that cancel, as do within each the derivatives of the parts of a triangle that is cut, which are
                // larger by the ratio of the depths; each of some ten roundings.
                let size: f64 = terms.iter().map(|term| term.eps.abs()).sum();
                let sizes = d.map(f64::abs);
                let deepest = sizes.into_iter().fold(0.0, f64::max);
                let ratio = deepest / sizes.into_iter().filter(|&x| x > 0.0).fold(deepest, f64::min);
                assert!(
                    (slope - of_depth[k].re).abs() <= 10.0 * f64::EPSILON * size * ratio,
                    "{d:?}, {k}: {slope}, {}",
                    of_depth[k].re
                );
            }
        }
    }

    #[test]
    fn moments_are_positive_and_do_not_depend_on_the_order_of_corners() {
        for d in depths() {
            let Some(found) = moments(d) else { continue };
            assert!(found.iter().flatten().all(|&m| m >= 0.0), "{d:?}: {found:?}");
            let swapped = moments([d[1], d[0], d[2]]).expect("as before");
            for (k, l) in [(0, 1), (1, 0), (2, 2)] {
                // Sums of positive products of about ten factors.
                assert_relative_eq!(found[0][k], swapped[0][l], max_relative = 1e-14);
                assert_relative_eq!(found[1][k], swapped[1][l], max_relative = 1e-14);
            }
        }
    }
}
