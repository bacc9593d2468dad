//! Differences of what has branches.

/// The displacements that are tried, relative to the number.
const DISPLACEMENTS: [f64; 7] = [1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6];

/// The derivatives of `of` by a number, and how far it was displaced at most, relative to it; `None` if another branch is
/// near.
///
/// `of` returns `None` on another branch than at the number itself: on one branch it is smooth. The displacement is the
/// largest of a list at which all is on one branch. Central differences over it and over half of it are extrapolated, which
/// cancels their error of second order.
///
/// # Errors
/// Those of `of`.
pub fn differences<E>(
    number: f64,
    mut of: impl FnMut(f64) -> Result<Option<Vec<f64>>, E>,
) -> Result<Option<(Vec<f64>, f64)>, E> {
    let mut central = |relative: f64| {
        let [high, low] = [1.0 + relative, 1.0 - relative].map(|factor| number * factor);
        let (Some(above), Some(below)) = (of(high)?, of(low)?) else { return Ok(None) };
        let slopes = above.iter().zip(&below).map(|(above, below)| (above - below) / (high - low));
        Ok(Some(slopes.collect::<Vec<_>>()))
    };
    for relative in DISPLACEMENTS {
        if let (Some(far), Some(near)) = (central(relative)?, central(0.5 * relative)?) {
            let extrapolated = near.iter().zip(&far).map(|(near, far)| (4.0 * near - far) / 3.0);
            return Ok(Some((extrapolated.collect(), relative)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::differences;
    use std::convert::Infallible;

    #[test]
    fn differences_keep_to_one_branch() {
        let of = |kink: f64| {
            move |x: f64| -> Result<_, Infallible> { Ok((x < kink).then(|| vec![x.sin() * 50.0, x.powi(3)])) }
        };
        let Ok(Some((slopes, displacement))) = differences(2.0, of(2.0005)) else {
            panic!("smooth below the kink")
        };
        assert_eq!(displacement, 1e-4);
        // The error of fourth order is 1e-17 of the function, that of rounding 1e-16/1e-4.
        assert!((slopes[0] - 50.0 * f64::cos(2.0)).abs() < 1e-10 && (slopes[1] - 12.0).abs() < 1e-10);
        assert_eq!(differences(2.0, of(2.0 + 1e-7)), Ok(None));
    }
}
