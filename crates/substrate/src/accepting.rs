//! The accept loop of stream listeners.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use crate::executor::{sleep, yield_now};
use crate::socket::{TcpListener, TcpStream};

/// Passes each accepted connection of `listener` to `take`, while the future is polled.
///
/// A lack of descriptors or memory (accept(2): EMFILE, ENFILE, ENOBUFS, ENOMEM) does not end the
/// loop: `refused` gets the error, may end a connection to make room, and returns whether it did.
/// If not, or if the next attempt fails too, the loop pauses for 100 ms.
pub async fn accept_each(
    listener: &dyn TcpListener,
    mut take: impl FnMut(Box<dyn TcpStream>),
    mut refused: impl FnMut(&io::Error) -> bool,
) -> Infallible {
    let mut failures = 0_u32;
    loop {
        match listener.accept().await {
            Ok(stream) => {
                failures = 0;
                take(stream);
            }
            Err(why) => {
                failures = failures.saturating_add(1);
                let has_room = refused(&why);
                match has_room && failures == 1 {
                    // The chosen connection ends.
                    true => yield_now().await,
                    false => sleep(PAUSE).await,
                }
            }
        }
    }
}

/// Between two attempts to accept on an exhausted machine.
const PAUSE: Duration = Duration::from_millis(100);
