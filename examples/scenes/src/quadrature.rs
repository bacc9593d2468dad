//! Integrals of sampled functions, by no method that an integrator uses.

use std::iter::zip;

/// How many samples each stretch takes its polynomial from.
const NODES: usize = 6;
/// Gauss–Legendre points and weights on [−1, 1], exact for the degree of those polynomials.
const GAUSS: [(f64, f64); 3] =
    [(-0.774_596_669_241_483_4, 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.774_596_669_241_483_4, 5.0 / 9.0)];

/// The integral of a function from its values at increasing times that need not be evenly spaced:
/// between two samples, that of the polynomial through the six samples around them.
///
/// For a smooth function the error falls with the sixth power of the spacing, which is one more than that
/// of the integrator whose steps the samples are taken at.
pub(crate) fn integral(times: &[f64], values: &[f64]) -> f64 {
    (1..times.len())
        .map(|i| {
            let first = i.saturating_sub(NODES / 2).min(times.len().saturating_sub(NODES));
            let nodes = first..(first + NODES).min(times.len());
            let (half, middle) = (0.5 * (times[i] - times[i - 1]), 0.5 * (times[i] + times[i - 1]));
            let value = |t| interpolate(&times[nodes.clone()], &values[nodes.clone()], t);
            half * GAUSS.iter().map(|(x, weight)| weight * value(middle + half * x)).sum::<f64>()
        })
        .sum()
}

/// Lagrange's polynomial at `t`.
fn interpolate(times: &[f64], values: &[f64], t: f64) -> f64 {
    let weight = |own: f64| {
        let others = times.iter().filter(|&&other| other != own);
        others.map(|other| (t - other) / (own - other)).product::<f64>()
    };
    zip(times, values).map(|(&own, value)| value * weight(own)).sum()
}
