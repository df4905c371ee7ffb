//! Tasks that are awaited together.

use std::rc::Rc;

use trackbed_substrate::{Task, spawn_named};

use crate::phone::Phone;

/// Runs `work` with every phone at once, each in its own task; returns the results in order.
pub(crate) async fn for_each<F>(
    phones: impl IntoIterator<Item = Rc<Phone>>,
    mut work: impl FnMut(Rc<Phone>) -> F,
) -> Vec<F::Output>
where
    F: Future<Output: 'static> + 'static,
{
    let named = |phone: Rc<Phone>| spawn_named(format!("phone {}", phone.number), work(phone));
    join(phones.into_iter().map(named).collect()).await
}

/// Awaits the tasks one after the other.
pub(crate) async fn join<T>(tasks: Vec<Task<T>>) -> Vec<T> {
    let mut results = Vec::with_capacity(tasks.len());
    for task in tasks {
        results.push(task.await);
    }
    results
}
