//! Waiting no longer than until a point in time.

use std::future::Future;
use std::pin::pin;

use futures_util::future::{Either, select};
use trackbed_core::Time;
use trackbed_substrate::sleep_until;

/// The output of `future`, or `None` if it has none by `deadline`; the future is then dropped. An
/// output that comes at the very deadline counts.
pub(crate) async fn before<F: Future>(deadline: Time, future: F) -> Option<F::Output> {
    match select(pin!(future), sleep_until(deadline)).await {
        Either::Left((output, _)) => Some(output),
        Either::Right(_) => None,
    }
}
