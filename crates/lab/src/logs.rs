//! The events of a run, member by member, and what is measured by them.

use std::collections::BTreeMap;
use std::time::Duration;

use trackbed_core::event::{Record, Role};
use trackbed_core::{Event, Time};
use trackbed_measure::answered::Answered;
use trackbed_measure::lists::grouped;
use trackbed_measure::metrics;
use trackbed_measure::metrics::sharing::convergence;
use trackbed_measure::results::Outcome;
use trackbed_net::{Counters, Direction, DropReason, LinkId, Network};
use trackbed_protocols::LedgerTotals;
use trackbed_scenario::Cell;

use crate::crowd::Member;

/// The events of one member.
pub(crate) struct Log {
    pub member: Member,
    pub records: Vec<Record>,
}

/// The events of the members of a group; at least one.
pub(crate) struct Logs(Vec<Log>);

impl Logs {
    /// Divides the logs of all members by group, in the order of the file. `bytes` are those that each phone
    /// sent and received; `events` are those of the whole run, and `now` is its end.
    pub fn by_group(all: Vec<Log>, bytes: &[u64], (events, now): (&[Event], Time)) -> Vec<Logs> {
        // Bytes are counted by phone.
        let is_counted = all.len() > 1 && all.iter().all(|log| log.member.has_phones);
        let (counted, rates): (Vec<u64>, Vec<Option<u64>>) =
            all.iter().map(|log| traffic(log, bytes)).unzip();
        let bytes_of_all = counted.iter().sum();
        let began = all.iter().zip(&rates).filter(|(_, rate)| rate.is_some());
        let flows: Vec<&[Record]> = began.map(|(log, _)| &log.records[..]).collect();
        let (convergence, rates_bps) = (convergence(&flows), rates.into_iter().flatten());
        let rates_bps: Vec<u64> = rates_bps.collect();
        let named = |own: (Log, u64)| (own.0.member.group().to_owned(), own);
        let of_group = |(_, own): (String, Vec<(Log, u64)>)| {
            let (logs, bytes): (Vec<Log>, Vec<u64>) = own.into_iter().unzip();
            let (mut logs, bytes) = (Logs(logs), bytes.iter().sum());
            if is_counted {
                let rates_bps = rates_bps.clone();
                logs.add(vec![Event::Shared { bytes, bytes_of_all, rates_bps, convergence }], now);
            }
            logs.add(events.to_vec(), now);
            logs
        };
        let groups = grouped(all.into_iter().zip(counted).map(named));
        groups.into_iter().map(of_group).collect()
    }

    /// Those of the group of `cell`, among those of all groups of its run.
    pub fn of<'a>(all: &'a [Logs], cell: &Cell) -> &'a Logs {
        let name = cell.place.as_ref().map_or("", |place| &place.name);
        let is_own = |logs: &&Logs| logs.0.iter().any(|log| log.member.group() == name);
        all.iter().find(is_own).expect("the group of a cell has members")
    }

    /// Adds events at the end of the first log.
    pub fn add(&mut self, events: Vec<Event>, at: Time) {
        self.add_records(events.into_iter().map(|event| Record { at, event }).collect());
    }

    /// Adds records to the first log.
    pub fn add_records(&mut self, records: Vec<Record>) {
        if let Some(first) = self.0.first_mut() {
            first.records.extend(records);
            first.records.sort_by_key(|record| record.at);
        }
    }

    /// All events, oldest first.
    pub fn merged(&self) -> Vec<Record> {
        let mut records: Vec<Record> =
            self.0.iter().flat_map(|log| log.records.iter().cloned()).collect();
        records.sort_by_key(|record| record.at);
        records
    }

    /// What is measured: the samples of all members one after the other.
    pub fn measured(&self) -> Measured {
        if let [only] = &self.0[..] {
            return measured(&only.records);
        }
        let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for log in &self.0 {
            match measured(&log.records).0 {
                Outcome::Samples(samples) => samples
                    .into_iter()
                    .for_each(|(name, values)| all.entry(name).or_default().extend(values)),
                Outcome::Failed(why) => {
                    return (Outcome::Failed(format!("{}: {why}", log.member.name)), None);
                }
            }
        }
        (Outcome::Samples(all), None)
    }
}

/// The bytes of a member's phones, and their rate in bit/s from its start to its end, if it began at all.
fn traffic(log: &Log, bytes: &[u64]) -> (u64, Option<u64>) {
    let own = bytes.iter().skip(log.member.first as usize);
    let bytes: u64 = own.take(log.member.cell.workload.phones() as usize).sum();
    let at = |event: Event| log.records.iter().find(|record| record.event == event);
    let span = at(Event::Finished).zip(at(Event::Started));
    let span = span.map(|(end, start)| end.at.since(start.at).as_secs_f64());
    let rate = span.map_or(0.0, |span| bytes as f64 * 8.0 / span);
    (bytes, (span != Some(0.0)).then_some(rate as u64))
}

/// The samples of every metric, or why the run does not count; and which messages were answered.
pub(crate) type Measured = (Outcome, Option<Answered>);

/// What is measured by a run's events.
pub(crate) fn measured(records: &[Record]) -> Measured {
    if let Err(reason) = metrics::outcome(records) {
        return (Outcome::Failed(reason), None);
    }
    let samples = metrics::registry()
        .iter()
        .map(|metric| (metric.name.to_owned(), (metric.compute)(records)));
    let samples: BTreeMap<String, Vec<f64>> =
        samples.filter(|(_, values)| !values.is_empty()).collect();
    (Outcome::Samples(samples), Answered::of(records))
}

/// What the connections of an end sent.
pub(crate) fn sent(role: Role, totals: LedgerTotals) -> Event {
    Event::Transport {
        role,
        packets_sent: totals.packets_sent,
        packets_lost: totals.packets_lost,
        bytes_sent: totals.bytes_sent,
        filler_bytes: totals.filler_bytes,
        address_validation: totals.address_validation,
    }
}

/// The final counters of [`Track::links`] together with [`Track::stations`]. Ends the network's work.
pub(crate) fn link_events(
    (links, stations): (&[LinkId], &[LinkId]),
    network: &mut Network,
) -> Vec<Event> {
    network.drain(DRAIN_LIMIT);
    let loaded = links.first().and_then(|link| load_event(*link, network));
    let mut events: Vec<Event> = loaded.into_iter().collect();
    for (number, (name, &link)) in ["link", "second-link"].into_iter().zip(links).enumerate() {
        for (way, direction) in [("up", Direction::Forward), ("down", Direction::Backward)] {
            let each = (stations.len() / links.len()).max(1);
            let own = stations.chunks(each).nth(number).unwrap_or_default();
            events.push(link_event(format!("{name}/{way}"), (link, own, direction), network));
        }
    }
    events
}

/// Twenty quantiles: enough for a median and a 95th percentile over runs.
const QUANTILES: u32 = 20;

/// The load of a link, if it was measured.
fn load_event(link: LinkId, network: &Network) -> Option<Event> {
    let ways = [Direction::Forward, Direction::Backward].into_iter();
    let way = ways.max_by_key(|way| network.counters(link, *way).offered.bytes)?;
    let load = network.load(link, way)?;
    let (busy, span) = load.busy()?;
    let quantile = |number: u32| load.wait((f64::from(number) + 0.5) / f64::from(QUANTILES));
    Some(Event::Loaded { busy, span, waits: (0..QUANTILES).map(quantile).collect() })
}

/// What came to a link, or in the uplink to the phones' own links and their medium before it, and is not still
/// inside.
fn link_event(
    name: String,
    (link, own, direction): (LinkId, &[LinkId], Direction),
    network: &Network,
) -> Event {
    let all: Vec<LinkId> = own.iter().copied().chain([link]).collect();
    let sum = |of: &dyn Fn(&Counters) -> u64, links: &[LinkId]| -> u64 {
        links.iter().map(|link| of(network.counters(*link, direction))).sum()
    };
    let first = if direction == Direction::Forward && !own.is_empty() { own } else { &[link] };
    let undecided: u64 = all.iter().map(|link| network.held(*link, direction) as u64).sum();
    let by_queue = |counters: &Counters| -> u64 {
        let reasons = [DropReason::QueueFull, DropReason::QueueManagement].into_iter();
        reasons.map(|why| counters.dropped(why).packets).sum()
    };
    let queue = sum(&by_queue, &all);
    let offered_packets = sum(&|counters| counters.offered.packets, first);
    Event::Link {
        name,
        offered_packets: offered_packets.saturating_sub(undecided),
        offered_bytes: sum(&|counters| counters.offered.bytes, first),
        lost_packets: sum(&|counters| counters.dropped_in_all().packets, &all) - queue,
        queue_dropped_packets: queue,
    }
}

/// Bytes that entered both directions of each phone's links before the shared ones.
pub(crate) fn bytes_of_phones(
    (links, stations): (&[LinkId], &[LinkId]),
    network: &Network,
) -> Vec<u64> {
    let phones = stations.len() / links.len();
    let mut bytes = vec![0; phones];
    for (number, link) in stations.iter().enumerate() {
        let ways = [Direction::Forward, Direction::Backward].into_iter();
        let both: u64 = ways.map(|way| network.counters(*link, way).offered.bytes).sum();
        bytes[number % phones] += both;
    }
    bytes
}

/// How long links may finish after a run: longer than full queues and long delays last, short for one that
/// is down for good.
const DRAIN_LIMIT: Duration = Duration::from_secs(60);
