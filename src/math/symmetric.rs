//! Symmetric matrices of six axes.

use nalgebra::{Matrix3, Matrix6, Vector6};

use super::check::{InvalidValue, Requirement, finite, that};
use super::{Real, checked_when_read};

/// A symmetric, positive semidefinite 6×6 matrix, such as the stiffness or damping of six coupled axes: rotations
/// first.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct Symmetric6<T: Real> {
    /// Row by row from the diagonal to the right: `00, 01, …, 05, 11, …, 55`.
    entries: [T; 21],
}

checked_when_read!(Symmetric6);

/// Row and column of every entry, in order.
pub(crate) fn places() -> impl Iterator<Item = (usize, usize)> {
    (0..6).flat_map(|row| (row..6).map(move |column| (row, column)))
}

impl<T: Real> Symmetric6<T> {
    /// The number of entries on and above the diagonal.
    pub(crate) const ENTRIES: usize = 21;

    /// The zero matrix.
    pub fn zeros() -> Self {
        Self { entries: [T::zero(); 21] }
    }

    /// A diagonal matrix: axes that are not coupled.
    pub fn from_diagonal(diagonal: &Vector6<T>) -> Self {
        Self::from_upper(&Matrix6::from_diagonal(diagonal))
    }

    /// A matrix that is symmetric to roundoff.
    ///
    /// # Errors
    /// [`InvalidValue`] for a matrix that is not positive semidefinite ([`validate`](Self::validate)), or an entry that
    /// differs from the one across the diagonal by more than a millionth (64 units of roundoff, if that is more) of the
    /// geometric mean of the two diagonal entries.
    pub fn from_matrix(matrix: &Matrix6<T>) -> Result<Self, InvalidValue> {
        let mean = (matrix + matrix.transpose()) * T::lit(0.5);
        let symmetric = Self::from_upper(&mean);
        symmetric.validate()?;
        for (row, column) in places() {
            let off = (matrix[(row, column)] - matrix[(column, row)]).abs();
            let size = mean[(row, row)].sqrt() * mean[(column, column)].sqrt();
            require(off <= Self::tolerance() * size, matrix[(row, column)])?;
        }
        Ok(symmetric)
    }

    fn from_upper(matrix: &Matrix6<T>) -> Self {
        let mut entries = [T::zero(); 21];
        for (entry, place) in entries.iter_mut().zip(places()) {
            *entry = matrix[place];
        }
        Self { entries }
    }

    /// The whole matrix.
    #[inline]
    pub fn matrix(&self) -> Matrix6<T> {
        let mut matrix = Matrix6::zeros();
        for (entry, (row, column)) in self.entries.iter().zip(places()) {
            matrix[(row, column)] = *entry;
            matrix[(column, row)] = *entry;
        }
        matrix
    }

    /// The quarters of rotations, of rotations (rows) with translations, and of translations.
    #[inline]
    pub(crate) fn quarters(&self) -> [Matrix3<T>; 3] {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = self.entries;
        [
            Matrix3::new(a, b, c, b, g, h, c, h, l),
            Matrix3::new(d, e, f, i, j, k, m, n, o),
            Matrix3::new(p, q, r, q, s, t, r, t, u),
        ]
    }

    /// The product with a vector.
    #[inline]
    pub fn times(&self, v: &Vector6<T>) -> Vector6<T> {
        let mut product = Vector6::zeros();
        let mut entries = self.entries.iter();
        for row in 0..6 {
            for (column, entry) in (row..6).zip(&mut entries) {
                product[row] += *entry * v[column];
                if column > row {
                    product[column] += *entry * v[row];
                }
            }
        }
        product
    }

    /// The same in another scalar.
    pub fn cast<U: Real>(&self) -> Symmetric6<U> {
        self.map(T::cast)
    }

    /// The same of other numbers.
    pub(crate) fn map<U: Real>(&self, of: impl FnMut(T) -> U) -> Symmetric6<U> {
        Symmetric6 { entries: self.entries.map(of) }
    }

    /// The entries on and above the diagonal, row by row.
    pub fn entries(&self) -> &[T; 21] {
        &self.entries
    }

    /// Likewise, to write. What was written is checked by [`validate`](Self::validate).
    pub fn entries_mut(&mut self) -> &mut [T; 21] {
        &mut self.entries
    }

    /// A millionth, so that a matrix rounded to single precision passes, or 64 units of roundoff if that is more.
    fn tolerance() -> T {
        T::lit(1e-6).max(T::default_epsilon() * T::lit(64.0))
    }

    /// Checks that every entry is finite, and that the quadratic form is nowhere negative by more than a millionth (64
    /// units of roundoff, if that is more) of that of the diagonal alone.
    ///
    /// # Errors
    /// For an entry that is not finite or a diagonal entry that is negative; if the matrix is not positive semidefinite, with its
    /// least eigenvalue after scaling to a unit diagonal.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        let mut m = self.matrix();
        self.entries.iter().try_for_each(|&entry| finite("matrix", entry))?;
        let diagonal = m.diagonal();
        diagonal.iter().try_for_each(|&entry| require(entry >= T::zero(), entry))?;
        // Axes have different units: each is scaled by its own diagonal entry. One without has no coupling.
        for (row, column) in places() {
            let size = diagonal[row].sqrt() * diagonal[column].sqrt();
            let entry = m[(row, column)];
            let is_zero = entry == T::zero();
            require(size > T::zero() || is_zero, entry)?;
            let scaled = if is_zero { entry } else { entry / size };
            m[(row, column)] = scaled;
            m[(column, row)] = scaled;
        }
        m.set_diagonal(&Vector6::repeat(T::one() + Self::tolerance()));
        if m.cholesky().is_some() { Ok(()) } else { require(false, m.symmetric_eigenvalues().min()) }
    }
}

fn require<T: Real>(holds: bool, value: T) -> Result<(), InvalidValue> {
    that(holds, "matrix", value, Requirement::PositiveSemidefinite)
}

impl<T: Real> Default for Symmetric6<T> {
    fn default() -> Self {
        Self::zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum of squares is semidefinite, at any scale of its axes; less than one is not.
    #[test]
    fn sums_of_squares_are_accepted_and_what_takes_energy_out_is_refused() {
        let direction =
            |seed: f64| Vector6::from_fn(|i, _| (seed + f64::from(u8::try_from(i).unwrap_or(0)) * 1.7).sin());
        for scale in [1e-12, 1.0, 1e12] {
            let axes = Vector6::new(scale, scale, scale, 1.0, 1.0, 1.0 / scale);
            let squares = |count: u8| {
                (0..count).fold(Matrix6::zeros(), |sum, k| {
                    let v = direction(f64::from(k)).component_mul(&axes);
                    sum + v * v.transpose()
                })
            };
            // One square alone has rank one, six have full rank.
            for count in [1, 2, 6] {
                let matrix = squares(count);
                let symmetric = Symmetric6::from_matrix(&matrix).expect("semidefinite");
                assert!((symmetric.matrix() - matrix).abs().max() <= 1e-15 * matrix.abs().max());
                let v = direction(9.0).component_mul(&axes);
                let taken = squares(2) - v * v.transpose();
                assert!(Symmetric6::from_matrix(&taken).is_err(), "{scale}");
            }
        }
    }

    #[test]
    fn axes_that_are_driven_are_refused() {
        // Also where products of entries underflow or overflow.
        for size in [1e-200, 1.0, 1e200] {
            for driven in 0..64_u8 {
                let sign = |axis: usize| if driven >> axis & 1 == 1 { -size } else { size };
                let mut matrix = Matrix6::from_fn(|i, j| if i == j { sign(i) } else { 0.0 });
                for coupling in [0.0, 0.1 * size] {
                    (matrix[(0, 4)], matrix[(4, 0)]) = (coupling, coupling);
                    assert_eq!(Symmetric6::from_matrix(&matrix).is_ok(), driven == 0, "{matrix}");
                }
                (matrix[(0, 4)], matrix[(4, 0)]) = (1.1 * size, 1.1 * size);
                assert!(Symmetric6::from_matrix(&matrix).is_err(), "{matrix}");
            }
        }
    }

    #[test]
    fn asymmetric_and_infinite_entries_are_refused() {
        let mut matrix = Matrix6::identity();
        matrix[(1, 4)] = 1e-5;
        assert!(Symmetric6::from_matrix(&matrix).is_err());
        matrix[(4, 1)] = 1e-5;
        assert!(Symmetric6::from_matrix(&matrix).is_ok());
        matrix[(2, 2)] = f64::NAN;
        assert!(Symmetric6::from_matrix(&matrix).is_err());
        let mut coupled = Matrix6::<f64>::zeros();
        coupled[(0, 1)] = 1.0;
        coupled[(1, 0)] = 1.0;
        assert!(Symmetric6::from_matrix(&coupled).is_err());
    }
}
