//! The media player: a buffer that is filled with pieces and drained as time passes.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::Playback;

/// When a player starts to play, and how much it buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Buffering {
    /// The buffered media needed to start playing: at first, after a jump, after a rebuffering.
    pub startup: Duration,
    /// The maximum buffered media; at least a piece.
    pub limit: Duration,
    /// The total to play; `None` if the session ends otherwise.
    pub session: Option<Duration>,
}

/// Plays media at one second per second. Each call passes the time, which must not decrease.
///
/// After every change, call [`Player::next_wake`] and [`Player::wanted`] again, and call
/// [`Player::advance`] at the next wake at the latest.
#[derive(Clone, Debug, Default)]
pub(super) struct Player {
    buffering: Buffering,
    /// The media's length in pieces; after the last one comes the first.
    length: u32,
    is_playing: bool,
    has_ended: bool,
    /// The buffered media, and what has been played, at time `updated`.
    buffered: Duration,
    played: Duration,
    updated: Time,
    /// The second after those in the buffer.
    next: u32,
}

impl Player {
    /// A player at the start of media of `length` pieces, at least one.
    pub fn new(buffering: Buffering, length: u32) -> Player {
        Player { buffering, length, ..Player::default() }
    }

    /// The time of the next event without other calls: the buffer is empty, there is room for
    /// another piece, or the session is over. `None` while playback is stalled.
    pub fn next_wake(&self) -> Option<Time> {
        if !self.is_playing {
            return None;
        }
        let room = (!self.has_room())
            .then(|| (self.buffered + PIECE).saturating_sub(self.buffering.limit));
        let remaining = self.remaining().unwrap_or(Duration::MAX);
        let span = room.into_iter().chain([self.buffered, remaining]).min();
        span.map(|span| self.updated + span)
    }

    /// Plays up to `now`. Returns an event if that ends the session or empties the buffer.
    pub fn advance(&mut self, now: Time) -> Option<Playback> {
        self.play(now);
        if !self.is_playing {
            return None;
        }
        if self.remaining() == Some(Duration::ZERO) {
            return Some(self.end(now));
        }
        if self.buffered.is_zero() {
            self.is_playing = false;
            return Some(Playback::Stalled);
        }
        None
    }

    /// The next second to request, if there is room for it and it is needed.
    pub fn wanted(&self) -> Option<u32> {
        let enough = self.remaining().is_some_and(|remaining| self.buffered >= remaining);
        (self.has_room() && !enough && !self.has_ended).then_some(self.next)
    }

    /// Adds the requested piece. Returns an event if playback starts.
    pub fn take(&mut self, now: Time) -> Option<Playback> {
        self.play(now);
        self.buffered += PIECE;
        self.next = (self.next + 1) % self.length;
        let remaining = self.remaining().unwrap_or(Duration::MAX);
        let is_ready = self.buffered >= self.buffering.startup.min(remaining) || !self.has_room();
        if self.is_playing || !is_ready {
            return None;
        }
        self.is_playing = true;
        Some(Playback::Playing)
    }

    /// Jumps to another second. The buffer is discarded.
    pub fn seek(&mut self, now: Time, second: u32) -> Playback {
        self.play(now);
        self.is_playing = false;
        self.buffered = Duration::ZERO;
        self.next = second % self.length;
        Playback::Sought { second: self.next }
    }

    /// Ends the session.
    pub fn end(&mut self, now: Time) -> Playback {
        self.play(now);
        self.is_playing = false;
        self.has_ended = true;
        Playback::Ended { played: self.played }
    }

    /// Whether it plays, at the time of the last call.
    pub fn is_playing(&self) -> bool {
        self.is_playing
    }

    /// Whether the session is over.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The buffered media at the time of the last call.
    pub fn buffered(&self) -> Duration {
        self.buffered
    }

    fn play(&mut self, now: Time) {
        let passed = now.since(self.updated);
        self.updated = now;
        if self.is_playing {
            let played = passed.min(self.buffered);
            self.buffered -= played;
            self.played += played;
        }
    }

    fn remaining(&self) -> Option<Duration> {
        self.buffering.session.map(|session| session.saturating_sub(self.played))
    }

    fn has_room(&self) -> bool {
        self.buffered + PIECE <= self.buffering.limit
    }
}

pub(super) const PIECE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    fn player(startup: f64, limit: f64, session: Option<f64>) -> Player {
        let session = session.map(seconds);
        Player::new(Buffering { startup: seconds(startup), limit: seconds(limit), session }, 10)
    }

    #[test]
    fn it_begins_with_enough_and_stalls_when_there_is_nothing_left() {
        let mut player = player(2.0, 10.0, None);
        assert_eq!((player.wanted(), player.next_wake()), (Some(0), None));
        assert_eq!(player.take(ms(700)), None);
        assert_eq!(player.take(ms(1_500)), Some(Playback::Playing));
        assert_eq!(player.next_wake(), Some(ms(3_500)));
        // A piece that arrives after half a second adds a second.
        assert_eq!(player.advance(ms(2_500)), None);
        assert_eq!(player.take(ms(2_500)), None);
        assert_eq!(player.next_wake(), Some(ms(4_500)));
        assert_eq!(player.advance(ms(4_500)), Some(Playback::Stalled));
        assert_eq!((player.next_wake(), player.wanted()), (None, Some(3)));
        assert_eq!(player.take(ms(5_000)), None);
        assert_eq!(player.take(ms(6_000)), Some(Playback::Playing));
    }

    #[test]
    fn a_piece_at_the_last_moment_prevents_the_stall() {
        let mut player = player(1.0, 10.0, None);
        assert_eq!(player.take(ms(0)), Some(Playback::Playing));
        assert_eq!(player.take(ms(1_000)), None);
        assert_eq!(player.advance(ms(1_000)), None);
        assert_eq!(player.next_wake(), Some(ms(2_000)));
    }

    #[test]
    fn it_asks_for_no_more_than_it_has_room_for() {
        let mut player = player(1.0, 2.5, None);
        assert_eq!(player.take(ms(0)), Some(Playback::Playing));
        assert_eq!(player.wanted(), Some(1));
        player.take(ms(100));
        // 1.9 s are buffered; there is room for a whole piece at 1.5 s.
        assert_eq!((player.wanted(), player.next_wake()), (None, Some(ms(500))));
        assert_eq!(player.advance(ms(500)), None);
        assert_eq!((player.wanted(), player.buffered()), (Some(2), seconds(1.5)));
    }

    #[test]
    fn it_begins_with_a_full_buffer_even_if_that_is_not_enough() {
        let mut player = player(2.5, 2.9, None);
        assert_eq!(player.take(ms(0)), None);
        assert_eq!(player.take(ms(0)), Some(Playback::Playing));
    }

    #[test]
    fn a_session_plays_what_it_should_and_asks_for_nothing_beyond() {
        let mut player = player(2.0, 10.0, Some(2.5));
        player.take(ms(0));
        assert_eq!(player.take(ms(100)), Some(Playback::Playing));
        assert_eq!(player.wanted(), Some(2));
        player.take(ms(200));
        assert_eq!((player.wanted(), player.next_wake()), (None, Some(ms(2_600))));
        let played = seconds(2.5);
        assert_eq!(player.advance(ms(2_600)), Some(Playback::Ended { played }));
        assert!(player.has_ended() && player.next_wake().is_none() && player.wanted().is_none());
    }

    #[test]
    fn what_is_left_suffices_to_begin() {
        let mut player = player(2.0, 10.0, Some(3.0));
        player.take(ms(0));
        assert_eq!(player.take(ms(0)), Some(Playback::Playing));
        assert_eq!(player.advance(ms(2_000)), Some(Playback::Stalled));
        assert_eq!(player.take(ms(2_100)), Some(Playback::Playing));
    }

    #[test]
    fn a_jump_throws_the_buffer_away_and_wraps_at_the_end() {
        let mut player = player(1.0, 10.0, None);
        player.take(ms(0));
        player.take(ms(0));
        assert_eq!(player.seek(ms(500), 9), Playback::Sought { second: 9 });
        assert_eq!((player.wanted(), player.buffered()), (Some(9), Duration::ZERO));
        assert_eq!(player.take(ms(800)), Some(Playback::Playing));
        assert_eq!(player.wanted(), Some(0));
        // Half a second before the jump, 0.7 s after it.
        assert_eq!(player.end(ms(1_500)), Playback::Ended { played: seconds(1.2) });
    }
}
