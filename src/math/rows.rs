//! Rows of equal length in one vector.

use alloc::vec::Vec;

/// Rows of equal length, one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Rows<V>(Vec<V>);

impl<V: Copy> Rows<V> {
    /// As many rows like this one.
    pub(crate) fn repeat(row: &[V], count: usize) -> Self {
        Self(row.repeat(count))
    }

    /// Replaces a row.
    pub(crate) fn write(&mut self, index: usize, row: &[V]) {
        self.0[index * row.len()..][..row.len()].copy_from_slice(row);
    }

    /// Copies a row to this one.
    pub(crate) fn read(&self, index: usize, row: &mut [V]) {
        row.copy_from_slice(&self.0[index * row.len()..][..row.len()]);
    }
}
