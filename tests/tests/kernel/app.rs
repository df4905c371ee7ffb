//! An application's script: the same for the engine's streams and for the kernel's.

use crate::*;

/// A nonblocking byte stream for an application.
pub trait Stream {
    /// The next bytes, at most `max`: `None` if there are none now, empty at the peer's end.
    fn read(&mut self, max: usize) -> Result<Option<Vec<u8>>, Failure>;

    /// Takes as much of `data` as fits, and returns its length.
    fn write(&mut self, data: &[u8]) -> Result<usize, Failure>;

    /// Half-closes: nothing more will be written.
    fn finish(&mut self);

    fn abort(&mut self);
}

/// Why a stream failed, in terms common to both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing listens there.
    Refused,
    Reset,
    TimedOut,
    /// The other side gave up before a connection was established.
    NeverAccepted,
    /// The case exceeded the time limit.
    Stalled,
    /// Anything else, which is never right.
    Other(String),
}

#[derive(Clone, Debug)]
pub struct Script {
    /// Bytes that it sends.
    pub send: u64,
    /// It starts to send only after the end of the peer's stream.
    pub after_peer: bool,
    /// How much it writes at a time, and the pause between.
    pub write: Pace,
    /// How much it reads at a time, and the pause between.
    pub read: Pace,
    /// It pauses reading once: after this many bytes, for this long.
    pub stall: Option<(u64, Duration)>,
    pub end: End,
}

/// A block size in bytes and the pause after each block.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub block: usize,
    pub pause: Duration,
}

impl Pace {
    /// As fast as the stream allows.
    pub const FULL: Pace = Pace { block: 65_536, pause: Duration::ZERO };
}

/// How an application ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A half-close after its data; it reads to the peer's end.
    Close,
    /// It keeps the connection open for this long, then half-closes.
    CloseAfter(Duration),
    /// A reset this long after the connection was established, without a half-close before.
    Abort(Duration),
}

impl Default for Script {
    fn default() -> Script {
        let (write, read) = (Pace::FULL, Pace::FULL);
        Script { send: 0, after_peer: false, write, read, stall: None, end: End::Close }
    }
}

impl Script {
    /// Sends this many bytes and ends.
    pub fn sending(send: u64) -> Script {
        Script { send, ..Script::default() }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Bytes that the stream took.
    pub sent: u64,
    pub received: u64,
    /// The first byte that differs from what the peer sent.
    pub wrong_at: Option<u64>,
    pub ended: bool,
    pub finished: bool,
    pub aborted: bool,
    pub failure: Option<Failure>,
    /// When it was connected, and when it was done.
    pub opened_at: Option<Time>,
    pub done_at: Option<Time>,
}

/// One application on one connection. Call [`App::step`] when the stream may have changed, and at
/// [`App::next_wake`].
#[derive(Debug)]
pub struct App {
    script: Script,
    outgoing: Content,
    expected: Content,
    pending: Vec<u8>,
    /// Bytes that are not yet made.
    unmade: u64,
    read_at: Time,
    write_at: Time,
    stalled: bool,
    pub report: Report,
}

impl App {
    /// Plays `script`; sent data comes from the part `own` of `seed`, expected data from the part
    /// `peer`.
    pub fn new(script: Script, seed: &Seed, own: &str, peer: &str) -> App {
        App {
            unmade: script.send,
            script,
            outgoing: Content::new(seed.stream(own)),
            expected: Content::new(seed.stream(peer)),
            pending: Vec::new(),
            read_at: Time::ZERO,
            write_at: Time::ZERO,
            stalled: false,
            report: Report::default(),
        }
    }

    /// Makes all possible progress; the connection is established.
    pub fn step(&mut self, now: Time, stream: &mut dyn Stream) {
        let opened_at = *self.report.opened_at.get_or_insert(now);
        if self.is_done() {
            return;
        }
        if let End::Abort(after) = self.script.end
            && now >= opened_at + after
        {
            stream.abort();
            self.report.aborted = true;
            self.report.done_at = Some(now);
            return;
        }
        let done = self.read(now, stream).and_then(|()| self.write(now, stream));
        if let Err(failure) = done {
            self.fail(now, failure);
        } else if self.report.ended && self.report.finished {
            self.report.done_at = Some(now);
        }
    }

    pub fn fail(&mut self, now: Time, failure: Failure) {
        if !self.is_done() {
            self.report.failure = Some(failure);
            self.report.done_at = Some(now);
        }
    }

    pub fn is_done(&self) -> bool {
        self.report.done_at.is_some()
    }

    pub fn wants_to_read(&self) -> bool {
        !self.report.ended && self.read_at == Time::ZERO
    }

    pub fn wants_to_write(&self) -> bool {
        !self.pending.is_empty() && self.write_at == Time::ZERO
    }

    /// When to step even if nothing happens on the stream.
    pub fn next_wake(&self) -> Option<Time> {
        if self.is_done() {
            return None;
        }
        let end = match (self.script.end, self.report.opened_at) {
            (End::Abort(after), Some(at)) => Some(at + after),
            (End::CloseAfter(after), Some(at)) if !self.report.finished => Some(at + after),
            _ => None,
        };
        let reads = Some(self.read_at).filter(|at| *at > Time::ZERO && !self.report.ended);
        let writes = Some(self.write_at).filter(|at| *at > Time::ZERO && !self.report.finished);
        [end, reads, writes].into_iter().flatten().min()
    }

    fn read(&mut self, now: Time, stream: &mut dyn Stream) -> Result<(), Failure> {
        while !self.report.ended && now >= self.read_at {
            self.read_at = Time::ZERO;
            let Some(data) = stream.read(self.script.read.block)? else { break };
            self.report.ended = data.is_empty();
            if let (None, Some(at)) = (self.report.wrong_at, self.expected.differs(&data)) {
                self.report.wrong_at = Some(self.report.received + at as u64);
            }
            self.report.received += data.len() as u64;
            if !self.script.read.pause.is_zero() {
                self.read_at = now + self.script.read.pause;
            }
            match self.script.stall {
                Some((after, pause)) if !self.stalled && self.report.received >= after => {
                    self.stalled = true;
                    self.read_at = now + pause;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn write(&mut self, now: Time, stream: &mut dyn Stream) -> Result<(), Failure> {
        if self.script.after_peer && !self.report.ended {
            return Ok(());
        }
        while !self.report.finished && now >= self.write_at {
            self.write_at = Time::ZERO;
            if self.pending.is_empty() {
                if self.unmade == 0 {
                    self.end_stream(now, stream);
                    break;
                }
                let len = self.unmade.min(self.script.write.block as u64);
                self.pending = self.outgoing.take(len as usize);
                self.unmade -= len;
            }
            let taken = stream.write(&self.pending)?;
            if taken == 0 {
                break;
            }
            self.pending.drain(..taken);
            self.report.sent += taken as u64;
            if self.pending.is_empty() && !self.script.write.pause.is_zero() {
                self.write_at = now + self.script.write.pause;
            }
        }
        Ok(())
    }

    fn end_stream(&mut self, now: Time, stream: &mut dyn Stream) {
        let opened_at = self.report.opened_at.unwrap_or(now);
        let due = match self.script.end {
            End::Close => true,
            End::CloseAfter(after) => now >= opened_at + after,
            End::Abort(_) => false,
        };
        if due {
            stream.finish();
            self.report.finished = true;
        }
    }
}

/// The bytes of a stream, independent of how it is split.
#[derive(Debug)]
struct Content {
    rng: Rng,
    block: Vec<u8>,
    used: usize,
}

impl Content {
    fn new(rng: Rng) -> Content {
        Content { rng, block: vec![0; 4_096], used: 4_096 }
    }

    /// The next `len` bytes.
    fn take(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            if self.used == self.block.len() {
                self.rng.fill(&mut self.block);
                self.used = 0;
            }
            let part = (len - bytes.len()).min(self.block.len() - self.used);
            bytes.extend_from_slice(&self.block[self.used..self.used + part]);
            self.used += part;
        }
        bytes
    }

    /// Where `data` differs from the next bytes.
    fn differs(&mut self, data: &[u8]) -> Option<usize> {
        let right = self.take(data.len());
        right.iter().zip(data).position(|(right, byte)| right != byte)
    }
}
