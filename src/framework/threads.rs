//! Work on several threads, by calls through `dyn`: the code for a job of a thread pool is compiled once, not for every
//! kind. Without the feature `rayon` there is one thread.

/// The number of threads.
pub(super) fn count() -> usize {
    #[cfg(feature = "rayon")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "rayon"))]
    1
}

/// Runs both, the second on another thread if one is free.
///
/// Allocates nothing on a thread of the pool.
pub(super) fn join(first: &mut (dyn FnMut() + Send), second: &mut (dyn FnMut() + Send)) {
    #[cfg(feature = "rayon")]
    rayon::join(first, second);
    #[cfg(not(feature = "rayon"))]
    {
        first();
        second();
    }
}

/// Calls `work` for parts of consecutive items, starting at the place `first`, on this number of threads, and merges the
/// results. The parts are of nearly equal length, and are merged in their order.
pub(super) fn halve<I: Send, V: Default + Send>(
    first: usize,
    items: &mut [I],
    parts: usize,
    work: &(impl Fn(usize, &mut [I]) -> V + Sync),
    merge: fn(V, V) -> V,
) -> V {
    if parts < 2 {
        return work(first, items);
    }
    let (earlier, later) = (parts - parts / 2, parts / 2);
    let middle = items.len() * earlier / parts;
    let (before, after) = items.split_at_mut(middle);
    let (mut of_before, mut of_after) = (V::default(), V::default());
    join(&mut || of_before = halve(first, before, earlier, work, merge), &mut || {
        of_after = halve(first + middle, after, later, work, merge);
    });
    merge(of_before, of_after)
}
