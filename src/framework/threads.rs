//! Work on several threads, by calls through `dyn`: what a thread pool needs for a job is compiled once, not for every kind.
//! Without the feature `rayon` there is one thread.

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
    (first(), second());
}

/// Calls `visit` once for each item.
#[cfg(feature = "rayon")]
pub(super) fn each<I: Send>(items: &mut [I], visit: &(impl Fn(&mut I) + Sync)) {
    if let [item] = items {
        return visit(item);
    }
    let (before, after) = items.split_at_mut(items.len() / 2);
    if !after.is_empty() {
        join(&mut || each(before, visit), &mut || each(after, visit));
    }
}
