//! A force that is a function of one displacement, with its energy.

use alloc::sync::Arc;
use core::fmt;

use super::table::Table;
use crate::math::{InvalidValue, Real};

/// A force `φ(x)` against a displacement or an angle, with its energy `∫ φ dx`, from a table or a function.
///
/// # Tables
///
/// A piecewise cubic passes through every point of the table and has a continuous slope. Between two points it rises if they
/// rise and falls if they fall, so that it has no more wiggles than the table; noise of a measurement remains, and is better
/// [fitted](crate::guide::suspensions#a-bushing-with-measured-curves) before. Outside the table it continues along its end slopes.
/// The energy is its integral from `x = 0`, exact to roundoff. Where the force falls, the bushing alone is not stable, and the
/// energy may be negative.
///
/// # Functions
///
/// A [function](Self::function) of one's own returns energy, force and slope together. Nothing requires that they fit, or
/// that the force rises: a force that is not the derivative of its energy breaks the energy balance, and a wrong slope
/// the linearization. [`testing::gradient`](crate::testing::gradient) detects the one and
/// [`testing::linearization`](crate::testing::linearization) the other, in a bushing that has it.
///
/// # Source
///
/// F. N. Fritsch, J. Butland, *A method for constructing local monotone piecewise cubic interpolants*, SIAM Journal on
/// Scientific and Statistical Computing 5 (1984) 300–304.
///
/// # Example: a stop that stiffens
///
/// ```
/// use force_elements::spatial_bushing::{Curve, CurvePoint};
///
/// let stop = Curve::new(&[(-0.02, -400.0), (-0.01, 0.0), (0.01, 0.0), (0.02, 400.0)])?;
/// assert_eq!(stop.at(0.0).force, 0.0);
/// assert_eq!(stop.at(0.02).force, 400.0);
/// assert!(stop.at(0.02).energy > 0.0);
///
/// let rubber = Curve::function(|x: f64| CurvePoint {
///     energy: 500.0 * x.powi(2) + 1e6 * x.powi(4),
///     force: 1000.0 * x + 4e6 * x.powi(3),
///     slope: 1000.0 + 12e6 * x.powi(2),
/// });
/// assert!((rubber.at(0.02).force - 52.0).abs() < 1e-12);
/// # Ok::<(), force_elements::InvalidValue>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Curve<T: Real>(Form<T>);

/// A [`Curve`] at one displacement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint<T: Real> {
    /// The energy stored \[J\].
    pub energy: T,
    /// The force `φ`, the derivative of the energy \[N or N·m\].
    pub force: T,
    /// The derivative of the force \[N/m or N·m/rad\].
    pub slope: T,
}

#[derive(Debug, Clone, PartialEq)]
enum Form<T: Real> {
    Table(Table<T>),
    Function(Function<T>),
}

#[derive(Clone)]
struct Function<T: Real>(Arc<dyn Fn(T) -> CurvePoint<T> + Send + Sync>);

impl<T: Real> fmt::Debug for Function<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

/// Functions are equal if they are one.
impl<T: Real> PartialEq for Function<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: Real> Curve<T> {
    /// The curve through these points `(x, φ)`, in order.
    ///
    /// # Errors
    /// [`InvalidValue`] for fewer than two points, a number that is not finite, or displacements that do not increase.
    pub fn new(points: &[(T, T)]) -> Result<Self, InvalidValue> {
        Ok(Self(Form::Table(Table::new(points)?)))
    }

    /// A function of one's own.
    ///
    /// An evaluation of the bushing returns [`ElementError::NonFiniteForce`](crate::ElementError::NonFiniteForce) if its
    /// force or energy is not finite.
    pub fn function(law: impl Fn(T) -> CurvePoint<T> + Send + Sync + 'static) -> Self {
        Self(Form::Function(Function(Arc::new(law))))
    }

    /// Energy, force and slope.
    #[inline]
    pub fn at(&self, x: T) -> CurvePoint<T> {
        match &self.0 {
            Form::Table(table) => table.at(x),
            Form::Function(Function(law)) => law(x),
        }
    }

    /// The largest slope of a table; the magnitude of that of a function here.
    pub(super) fn steepest(&self, x: T) -> T {
        match &self.0 {
            Form::Table(table) => table.steepest(),
            Form::Function(Function(law)) => law(x).slope.abs(),
        }
    }

    /// The same in another scalar; `None` of a function, which is bound to its own.
    pub fn cast<U: Real>(&self) -> Option<Curve<U>> {
        match &self.0 {
            Form::Table(table) => Some(Curve(Form::Table(table.cast()))),
            Form::Function(_) => None,
        }
    }
}
