//! A host whose network thread handles packets while inference competes for the cores.

use std::collections::VecDeque;
use std::time::Duration;

use trackbed_core::Time;

use crate::processor::competitor::{Frame, Inference};
use crate::processor::sharing::{Claimant, Cores, Job};

/// The cost of a packet for the host that sends or receives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCost {
    /// Per packet.
    pub packet: Duration,
    /// Per byte, in picoseconds (encryption, copying).
    pub byte_picos: u64,
}

impl PacketCost {
    /// The time for a packet of this size.
    pub fn of(&self, bytes: u64) -> Duration {
        self.packet + Duration::from_nanos(bytes.saturating_mul(self.byte_picos) / 1_000)
    }
}

/// A host with a network thread and, optionally, inference beside it. Sans-IO: calls pass the time,
/// and return handled packets and the next wake-up.
///
/// After [`Host::arrive`], [`Host::submit`] and [`Host::advance`], take handled packets with
/// [`Host::next_handled`], and call [`Host::next_wake`] again.
#[derive(Clone, Debug)]
pub struct Host<P> {
    cores: Cores,
    inference: Option<Inference>,
    cost: PacketCost,
    /// Queued packets, the one being handled first.
    waiting: VecDeque<(P, Duration)>,
    waiting_max: usize,
    handling: Option<Job>,
    handled: VecDeque<(Time, P)>,
    frames: VecDeque<Frame>,
}

impl<P> Host<P> {
    /// A host with this number of cores. A packet that arrives is refused while `waiting_max` are
    /// queued or being handled. Inference begins at [`Time::ZERO`].
    pub fn new(
        cores: u32,
        cost: PacketCost,
        waiting_max: usize,
        inference: Option<Inference>,
    ) -> Host<P> {
        let mut host = Host {
            cores: Cores::new(cores),
            inference,
            cost,
            waiting: VecDeque::new(),
            waiting_max: waiting_max.max(1),
            handling: None,
            handled: VecDeque::new(),
            frames: VecDeque::new(),
        };
        if let Some(inference) = &mut host.inference {
            inference.start(&mut host.cores, Time::ZERO);
        }
        host
    }

    /// A packet of this size arrives to be handled; it is returned if the queue is full.
    ///
    /// # Errors
    /// The packet, which is to be dropped.
    pub fn arrive(&mut self, now: Time, packet: P, bytes: u64) -> Result<(), P> {
        self.advance(now);
        if self.waiting.len() >= self.waiting_max {
            return Err(packet);
        }
        self.submit(now, packet, self.cost.of(bytes));
        Ok(())
    }

    /// Queues work of this duration, however long the queue is: requests of the host's own programs
    /// wait as long as necessary. For a packet, see [`PacketCost::of`].
    pub fn submit(&mut self, now: Time, packet: P, work: Duration) {
        self.advance(now);
        self.waiting.push_back((packet, work));
        self.handle_next(now);
        // Work without cost is handled immediately.
        self.advance(now);
    }

    /// Advances the time to `now`.
    pub fn advance(&mut self, now: Time) {
        while let Some(due) = self.cores.next_wake()
            && due <= now
        {
            self.cores.advance(due);
            while let Some((at, job)) = self.cores.next_finished() {
                self.finished(at, job);
            }
        }
        self.cores.advance(now);
    }

    /// The next handled packet, and the time.
    pub fn next_handled(&mut self) -> Option<(Time, P)> {
        self.handled.pop_front()
    }

    /// The next completed frame of the inference.
    pub fn next_frame(&mut self) -> Option<Frame> {
        self.frames.pop_front()
    }

    /// The next time to call it, so that packets are handled in time; `None` if the queue is empty.
    /// Inference alone needs no wake-up: its frames are completed later, each at its time.
    pub fn next_wake(&self) -> Option<Time> {
        self.handling.and_then(|_| self.cores.next_wake())
    }

    /// Processor time of a claimant's threads up to the last time passed.
    pub fn used(&self, whose: Claimant) -> Duration {
        self.cores.used(whose)
    }

    fn finished(&mut self, now: Time, job: Job) {
        if self.handling == Some(job) {
            self.handling = None;
            if let Some((packet, _)) = self.waiting.pop_front() {
                self.handled.push_back((now, packet));
            }
            self.handle_next(now);
        } else if let Some(inference) = &mut self.inference {
            self.frames.extend(inference.finished(&mut self.cores, now, job));
        }
    }

    fn handle_next(&mut self, now: Time) {
        if self.handling.is_none()
            && let Some((_, work)) = self.waiting.front()
        {
            self.handling = Some(self.cores.begin(now, Claimant::Network, 1, *work));
        }
    }
}

#[cfg(test)]
mod tests {
    use trackbed_core::seed::Seed;

    use super::*;
    use crate::processor::durations::{Durations, FrameTime};

    const MICRO: u64 = 1_000;
    const MILLI: u64 = 1_000_000;

    fn cost(nanos: u64) -> PacketCost {
        PacketCost { packet: Duration::from_nanos(nanos), byte_picos: 0 }
    }

    fn inference(threads: u32, serial_ns: u64, parallel_ns: u64) -> Inference {
        let frames = vec![FrameTime { serial_ns, parallel_ns }];
        Inference::new(Durations { threads, frames }, 0)
    }

    fn frames(host: &mut Host<u32>, until: Time) -> Vec<Frame> {
        host.advance(until);
        std::iter::from_fn(|| host.next_frame()).collect()
    }

    #[test]
    fn alone_a_frame_takes_what_was_measured() {
        let mut host = Host::new(2, cost(0), 10, Some(inference(2, 5 * MILLI, 95 * MILLI)));
        let frames = frames(&mut host, Time::from_millis(1_000));
        assert_eq!(frames.len(), 10);
        for (number, frame) in (1_u64..).zip(frames) {
            assert_eq!(frame.end, Time::from_millis(100 * number));
        }
        // On one core, the parallel part takes twice as long.
        let mut host = Host::new(1, cost(0), 10, Some(inference(2, 5 * MILLI, 95 * MILLI)));
        let first = self::frames(&mut host, Time::from_millis(1_000))[0];
        assert_eq!(first.end, Time::from_millis(195));
    }

    #[test]
    fn a_packet_shares_the_cores_with_the_threads_of_a_frame() {
        let cost = PacketCost { packet: Duration::from_nanos(MILLI - 2_000), byte_picos: 1_000 };
        let mut host = Host::new(2, cost, 10, Some(inference(2, 5 * MILLI, 95 * MILLI)));
        // In the serial part a core is free: 1 ms. In the parallel one it is 2/3 of a core: 1.5 ms.
        host.arrive(Time::from_millis(1), 1, 2_000).unwrap();
        host.arrive(Time::from_millis(50), 2, 2_000).unwrap();
        host.advance(Time::from_millis(60));
        assert_eq!(host.next_handled(), Some((Time::from_millis(2), 1)));
        let second = Time::from_nanos(51_500 * MICRO);
        assert_eq!(host.next_handled(), Some((second, 2)));
        // The second packet took 0.5 ms from each of the two threads.
        let frame = frames(&mut host, Time::from_millis(200))[0];
        assert_eq!(frame.end, Time::from_nanos(100_500 * MICRO));
    }

    #[test]
    fn packets_are_handled_in_order_and_too_many_are_refused() {
        let mut host = Host::new(1, cost(MILLI), 2, None);
        let now = Time::from_millis(3);
        assert_eq!([1, 2, 3].map(|packet| host.arrive(now, packet, 0)), [Ok(()), Ok(()), Err(3)]);
        host.advance(Time::from_millis(10));
        let handled: Vec<_> = std::iter::from_fn(|| host.next_handled()).collect();
        assert_eq!(handled, [(Time::from_millis(4), 1), (Time::from_millis(5), 2)]);
        assert_eq!(host.next_wake(), None);
        // Work without cost is done immediately.
        let mut host = Host::new(1, cost(0), 2, None);
        host.arrive(now, 1, 1_500).unwrap();
        assert_eq!(host.next_handled(), Some((now, 1)));
    }

    /// The waiting time in an M/D/1 queue is rho S / (2 (1 - rho)) (Pollaczek and Khinchine).
    #[test]
    fn without_inference_packets_wait_as_in_a_queue() {
        let (service, rho) = (20_000.0, 0.7);
        let mut random = Seed::of_run(1, 0).stream("arrivals");
        let mut host = Host::new(1, cost(service as u64), usize::MAX, None);
        let (mut at, mut sum, mut count) = (0.0, 0.0, 0.0);
        for _ in 0..500_000 {
            at += random.exponential() * service / rho;
            let now = Time::from_nanos(at as u64);
            host.arrive(now, now, 0).unwrap();
            while let Some((end, begin)) = host.next_handled() {
                sum += (end.as_nanos() - begin.as_nanos()) as f64 - service;
                count += 1.0;
            }
        }
        let (mean, expected) = (sum / count, rho * service / (2.0 * (1.0 - rho)));
        assert!((mean / expected - 1.0).abs() < 0.03, "{mean} for {expected}");
    }

    /// With at least as many threads as cores at all times, no core is ever idle: time for packets
    /// is lost to frames.
    #[test]
    fn what_packets_take_frames_lack() {
        let mut host = Host::new(2, cost(MILLI), 100, Some(inference(2, 0, 50 * MILLI)));
        // 100 packets a second of 1 ms: a tenth of one core, a twentieth of both.
        for packet in 0..1_000_u32 {
            host.arrive(Time::from_millis(10 * u64::from(packet)), packet, 0).unwrap();
        }
        assert_eq!(frames(&mut host, Time::from_millis(10_000)).len(), 190, "of 200 alone");
        assert_eq!(std::iter::from_fn(|| host.next_handled()).count(), 1_000);
    }
}
