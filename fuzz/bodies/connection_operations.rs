//! Any sequence of what a client may do with connections of any protocol over a faulty link: answers are
//! whole and right or fail, nothing panics or stalls, and a client is served afterwards.

use std::rc::Rc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use trackbed_connection::{Connection, Dialer, Error, Request, body};
use trackbed_protocols::{ServerLimits, registry};
use trackbed_substrate::{before, now};

use super::server_words::{SERVER, serve};

/// One input: the protocol, the losses, then two bytes an operation, what to do and how much.
pub fn run(data: &[u8]) {
    let Some((&[which, lost], operations)) = data.split_first_chunk() else { return };
    let protocol = registry()[usize::from(which) % registry().len()];
    serve(protocol, ServerLimits::default(), lost, async |_: &_, _: &_, dialer: &dyn Dialer| {
        operate(dialer, operations).await;
    });
}

async fn operate(dialer: &dyn Dialer, operations: &[u8]) {
    let mut connection: Option<Rc<dyn Connection>> = None;
    let mut exchanges = FuturesUnordered::new();
    for operation in operations.chunks_exact(2).take(40) {
        let (what, amount) = (operation[0], u64::from(operation[1]));
        let by = now() + Duration::from_millis(amount);
        match (what % 8, &connection) {
            (0, _) | (_, None) => {
                connection = before(by, dialer.connect(SERVER)).await.and_then(Result::ok);
            }
            (1..=3, Some(open)) => {
                exchanges.push(exchange(Rc::clone(open), what, (amount << (what >> 5)) as usize));
            }
            (4 | 5, _) => drop(before(by, exchanges.next()).await),
            (6, _) => exchanges.clear(),
            (_, Some(open)) => drop(before(by, open.close()).await),
        }
    }
}

async fn exchange(connection: Rc<dyn Connection>, what: u8, len: usize) -> Result<(), Error> {
    let response = connection.exchange(Request::new("/", body::full(vec![what; len]))).await?;
    let content = body::collect(response.body, len + 1).await?;
    assert!(content == vec![what; len], "the answer is what was sent");
    Ok(())
}
