//! Tasks that are awaited together.

use std::rc::Rc;

use trackbed_core::Event;
use trackbed_substrate::{Task, now, spawn_named};

use crate::contract::Stage;
use crate::phone::Phone;
use crate::warm_up::warm_up;

/// The measured part of a run, after the warm-up: [`for_each`] phone. Nothing if the warm-up failed.
pub(crate) async fn measured<F>(stage: &Stage, work: impl FnMut(Rc<Phone>) -> F) -> Vec<F::Output>
where
    F: Future<Output: 'static> + 'static,
{
    if !warm_up(stage).await {
        return Vec::new();
    }
    stage.log.record(now(), Event::Started);
    let results = for_each(Phone::all(stage, &stage.log), work).await;
    stage.log.record(now(), Event::Finished);
    results
}

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
