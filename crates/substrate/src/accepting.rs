//! The loop of whatever listens for streams.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use crate::executor::{sleep, yield_now};
use crate::socket::{TcpListener, TcpStream};

/// Hands each connection that `listener` accepts to `take`, for as long as the future is polled.
///
/// A machine that has no descriptor or no memory for another connection (accept(2): EMFILE, ENFILE,
/// ENOBUFS, ENOMEM) is no end: `refused` is told why, may end a connection to make room, and says whether
/// it has. If it has not, or the next attempt fails too, there is a pause of 100 ms.
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
                    // The one that has to go goes.
                    true => yield_now().await,
                    false => sleep(PAUSE).await,
                }
            }
        }
    }
}

/// Between two attempts to accept on an exhausted machine.
const PAUSE: Duration = Duration::from_millis(100);
