//! A model of the machine that runs the phones in virtual time: the processor time of packets,
//! messages and inference, and readings once per second.

mod dialing;

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use trackbed_connection::Dialer;
use trackbed_core::event::{Event, Load, Record, RoleLoad};
use trackbed_core::{Packet, Seed, Time};
use trackbed_device::processor::competitor::{Frame, Inference};
use trackbed_device::processor::host::{Host, PacketCost};
use trackbed_device::processor::sharing::Claimant;
use trackbed_net::{Handled, NodeId, Processor, Way};

use dialing::Charged;
use trackbed_scenario::{self as scenario, Cell};

/// The device of a run: all phones and the inference are programs on it. Handles share one device:
/// the network sends packets to one, the run reads the results from another.
#[derive(Clone, Debug)]
pub(crate) struct Device(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    host: Host<Item>,
    packet: PacketCost,
    message: Duration,
    done: VecDeque<Handled>,
    messages: u64,
    messages_done: u64,
    frames: Vec<Frame>,
    /// When processor time was last read, and its value then.
    read: (Time, Used),
    readings: Vec<Record>,
    now: Time,
}

#[derive(Clone, Debug)]
enum Item {
    Packet(NodeId, Way, Packet),
    /// The work of an exchange apart from its packets.
    Message,
}

/// Processor time used since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    network: Duration,
    inference: Duration,
}

impl Device {
    /// The device of a run of `cell` with this seed; `None` if the scenario has none.
    pub fn of(cell: &Cell, seed: &Seed) -> Option<Device> {
        let scenario::Device { cores, durations, cost, .. } = &cell.inference.as_ref()?.device;
        let inference = durations.as_ref().map(|durations| {
            // Each run starts at a different place in the measurement.
            let first = seed.stream("inference/first").next_u64();
            Inference::new(durations.as_ref().clone(), first)
        });
        Some(Device(Arc::new(Mutex::new(State {
            host: Host::new(*cores, cost.packet, WAITING_MAX, inference),
            packet: cost.packet,
            message: cost.message,
            done: VecDeque::new(),
            messages: 0,
            messages_done: 0,
            frames: Vec::new(),
            read: (Time::ZERO, Used::default()),
            readings: Vec::new(),
            now: Time::ZERO,
        }))))
    }

    /// As a processor for the network.
    pub fn processor(&self) -> Box<dyn Processor> {
        Box::new(self.clone())
    }

    /// The same dialer, whose exchanges take the device's time.
    pub fn charge(&self, dialer: Rc<dyn Dialer>) -> Rc<dyn Dialer> {
        if self.state().message.is_zero() { dialer } else { Charged::new(dialer, self.clone()) }
    }

    /// Frames and usage until `now`, as events in order of time.
    pub fn end(&self, now: Time) -> Vec<Record> {
        let mut state = self.state();
        state.advance(now);
        let record = |(number, frame): (u64, &Frame)| {
            let event = Event::Inferred { frame: number, begin: frame.begin };
            Record { at: frame.end, event }
        };
        let mut records: Vec<Record> = (1..).zip(&state.frames).map(record).collect();
        records.append(&mut state.readings);
        records.sort_by_key(|record| record.at);
        records
    }

    /// Resolves when the network thread has processed a message.
    async fn handle_message(&self) {
        let number = self.state().submit_message(trackbed_substrate::now());
        loop {
            let wake = {
                let mut state = self.state();
                state.advance(trackbed_substrate::now());
                if state.messages_done >= number { return } else { state.next_wake() }
            };
            // The item is queued or being processed, so a next event exists.
            let Some(wake) = wake else { return };
            trackbed_substrate::sleep_until(wake).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Processor for Device {
    fn take(&mut self, now: Time, node: NodeId, way: Way, packet: Packet) -> Result<(), Packet> {
        let state = &mut *self.state();
        state.advance(now);
        let bytes = packet.len() as u64;
        let item = Item::Packet(node, way, packet);
        match way {
            // The sender waits: transports have windows, and nothing is lost before the link.
            Way::Out => state.host.submit(now, item, state.packet.of(bytes)),
            Way::In => {
                if let Err(Item::Packet(_, _, packet)) = state.host.arrive(now, item, bytes) {
                    return Err(packet);
                }
            }
        }
        state.collect();
        Ok(())
    }

    fn advance(&mut self, now: Time) {
        self.state().advance(now);
    }

    fn next_handled(&mut self) -> Option<Handled> {
        self.state().done.pop_front()
    }

    fn next_wake(&self) -> Option<Time> {
        self.state().next_wake()
    }
}

impl State {
    fn submit_message(&mut self, now: Time) -> u64 {
        self.advance(now);
        self.host.submit(now, Item::Message, self.message);
        self.collect();
        self.messages += 1;
        self.messages
    }

    /// Advances the time to `now`, with a reading at the end of each second.
    fn advance(&mut self, now: Time) {
        while let due = self.read.0 + INTERVAL
            && due <= now
        {
            self.host.advance(due);
            self.read_at(due);
        }
        self.host.advance(now);
        self.now = self.now.max(now);
        self.collect();
    }

    fn collect(&mut self) {
        while let Some((_, item)) = self.host.next_handled() {
            match item {
                Item::Packet(node, way, packet) => {
                    self.done.push_back(Handled { node, way, packet });
                }
                Item::Message => self.messages_done += 1,
            }
        }
        self.frames.extend(std::iter::from_fn(|| self.host.next_frame()));
    }

    fn read_at(&mut self, at: Time) {
        let (since, before) = self.read;
        let used = Used {
            network: self.host.used(Claimant::Network),
            inference: self.host.used(Claimant::Inference),
        };
        self.read = (at, used);
        let share = |now: Duration, before: Duration| RoleLoad {
            millipercent: Some(millipercent(now.saturating_sub(before))),
            memory_bytes: None,
        };
        let load = Load {
            since,
            client: share(used.network, before.network),
            inference: share(used.inference, before.inference),
            ..Load::default()
        };
        self.readings.push(Record { at, event: Event::Load(load) });
    }

    fn next_wake(&self) -> Option<Time> {
        if self.done.is_empty() { self.host.next_wake() } else { Some(self.now) }
    }
}

/// This processor time as a share of one core over an [`INTERVAL`], in thousandths of a percent,
/// rounded.
fn millipercent(used: Duration) -> u64 {
    let nanos = used.as_nanos() * 100_000;
    let whole = INTERVAL.as_nanos();
    u64::try_from((nanos + whole / 2) / whole).unwrap_or(u64::MAX)
}

/// The interval of the monitor on real machines.
const INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of queued packets before further ones are dropped: Linux's limit per processor
/// (`net.core.netdev_max_backlog`).
const WAITING_MAX: usize = 1_000;
