//! Accepted messages, forwarded to listeners.
//!
//! A listener asks for the message after those that it has, and is answered as soon as there is
//! one, or after a while that there is none yet. So the server need not call a listener that may be
//! gone, and a lost connection loses nothing.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use futures_channel::oneshot;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Warning {
    /// Its index among all accepted messages, from 0.
    pub number: u64,
    /// The phone that sent it.
    pub phone: u32,
    /// Its number among that phone's messages.
    pub message: u32,
    /// The message.
    pub content: Bytes,
}

impl Warning {
    pub(super) const HEADER_LEN: usize = 16;

    /// The encoded form: the three numbers, big-endian, and the content.
    pub(super) fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(Warning::HEADER_LEN + self.content.len());
        out.put_u64(self.number);
        out.put_u32(self.phone);
        out.put_u32(self.message);
        out.put(self.content.clone());
        out.freeze()
    }

    pub(super) fn decode(bytes: &Bytes) -> Option<Warning> {
        let mut rest = bytes.clone();
        let number = rest.try_get_u64().ok()?;
        let (phone, message) = (rest.try_get_u32().ok()?, rest.try_get_u32().ok()?);
        Some(Warning { number, phone, message, content: rest })
    }
}

/// The last messages that a service has accepted, and the listeners that wait for the next one.
#[derive(Default)]
pub(super) struct Forwarding(RefCell<State>);

#[derive(Default)]
struct State {
    /// The number of the first kept one.
    first: u64,
    kept: VecDeque<Kept>,
    bytes: usize,
    /// The messages seen so far: a retransmitted one is forwarded once.
    known: BTreeSet<(u32, u32)>,
    waiting: Vec<oneshot::Sender<()>>,
}

struct Kept {
    id: (u32, u32),
    encoded: Bytes,
}

impl Forwarding {
    pub(super) fn accept(&self, phone: u32, message: u32, content: Bytes) {
        let mut state = self.0.borrow_mut();
        if !state.known.insert((phone, message)) {
            return;
        }
        let number = state.first + state.kept.len() as u64;
        let encoded = Warning { number, phone, message, content }.encode();
        state.bytes += encoded.len();
        state.kept.push_back(Kept { id: (phone, message), encoded });
        state.forget();
        for waiter in state.waiting.drain(..) {
            // The listener may be gone.
            let _ = waiter.send(());
        }
    }

    /// The encoded message of this number, as soon as it exists; if it was dropped, the first one kept.
    pub(super) async fn wait_for(&self, number: u64) -> Bytes {
        loop {
            let next = {
                let mut state = self.0.borrow_mut();
                let place = number.saturating_sub(state.first) as usize;
                if let Some(kept) = state.kept.get(place) {
                    return kept.encoded.clone();
                }
                let (waiter, next) = oneshot::channel();
                state.waiting.retain(|waiting| !waiting.is_canceled());
                state.waiting.push(waiter);
                next
            };
            // A sender is dropped only when it has sent.
            let _ = next.await;
        }
    }
}

impl State {
    fn forget(&mut self) {
        while self.kept.len() > KEPT_MAX || self.bytes > KEPT_BYTES_MAX {
            let Some(oldest) = self.kept.pop_front() else { return };
            self.known.remove(&oldest.id);
            self.bytes -= oldest.encoded.len();
            self.first += 1;
        }
    }
}

/// The number of messages kept for listeners that lag behind; signed ones take 23 MB.
const KEPT_MAX: usize = 65_536;
/// The limit of their bytes, which is larger than any message.
const KEPT_BYTES_MAX: usize = 64_000_000;

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn get(forwarding: &Forwarding, number: u64) -> Option<Warning> {
        Warning::decode(&forwarding.wait_for(number).now_or_never()?)
    }

    #[test]
    fn what_is_sent_is_what_arrives() {
        let warning = Warning { number: 1 << 40, phone: 7, message: 9, content: "word".into() };
        assert_eq!(Warning::decode(&warning.encode()), Some(warning));
        assert_eq!(Warning::decode(&Bytes::from_static(&[0; 15])), None);
    }

    #[test]
    fn each_listener_gets_every_message_in_its_order() {
        let forwarding = Forwarding::default();
        let mut early = Box::pin(forwarding.wait_for(0));
        assert!(early.as_mut().now_or_never().is_none());
        for message in [0, 1, 0, 2, 1] {
            forwarding.accept(1, message, Bytes::new());
        }
        assert_eq!(Warning::decode(&early.now_or_never().unwrap()).unwrap().message, 0);
        for number in 0..3 {
            let warning = get(&forwarding, number).unwrap();
            assert_eq!((warning.number, u64::from(warning.message)), (number, number));
        }
        assert!(get(&forwarding, 3).is_none());
    }

    #[test]
    fn memory_is_bounded_and_a_late_listener_learns_of_it() {
        let forwarding = Forwarding::default();
        for message in 0..KEPT_MAX as u32 + 5 {
            forwarding.accept(0, message, Bytes::new());
        }
        assert_eq!(get(&forwarding, 0).unwrap().number, 5);
        assert_eq!(forwarding.0.borrow().kept.len(), KEPT_MAX);
        let long = Bytes::from(vec![0; KEPT_BYTES_MAX / 3 - Warning::HEADER_LEN]);
        for message in 0..5 {
            forwarding.accept(1, message, long.clone());
        }
        let state = forwarding.0.borrow();
        assert_eq!((state.kept.len(), state.known.len()), (3, 3));
        assert_eq!(state.first, KEPT_MAX as u64 + 5 + 2);
    }
}
