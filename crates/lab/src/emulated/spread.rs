//! The phones of a run, spread over processes.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::thread;
use std::time::Duration;

use trackbed_core::event::{Event, Record, Role};
use trackbed_scenario::Cell;

use super::conversation::Job;

/// The phones of each clients' process, by number, on this machine. Many phones in one process wait for each
/// other, where they would not on hosts of their own.
pub(crate) fn shares(cell: &Cell) -> Vec<Range<u32>> {
    // Warm-ups end together; foresight and inference are written for one process.
    let is_one = cell.place.is_some()
        || cell.endpoint.handshake.begins_warm()
        || cell.radio.is_some()
        || cell.inference.is_some()
        || !cell.workload.is_divisible();
    let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    divided(cell.workload.phones(), if is_one { 1 } else { processors })
}

/// The jobs of the clients' processes.
pub(super) fn jobs(cell: &Cell, job: &impl Fn(Role) -> Job) -> Vec<Job> {
    let shares = shares(cell).into_iter();
    shares.map(|phones| Job { phones, ..job(Role::Client) }).collect()
}

fn divided(phones: u32, processors: usize) -> Vec<Range<u32>> {
    let most = u32::try_from(processors).unwrap_or(u32::MAX).max(1);
    let number = (phones / PHONES_MIN).clamp(1, most);
    let begin = |share: u32| (u64::from(phones) * u64::from(share) / u64::from(number)) as u32;
    (0..number).map(|share| begin(share)..begin(share + 1)).collect()
}

/// The events of all clients, from those of each process, as if there were one.
pub(super) fn merged(mut processes: Vec<Vec<Record>>) -> Vec<Record> {
    if processes.len() < 2 {
        return processes.pop().unwrap_or_default();
    }
    let used = usage(&processes);
    // They began with the first, and ended with the last; they did not end if one did not.
    let times = |event| processes.iter().map(move |records| time_of(records, event));
    let started = times(&Event::Started).flatten().min();
    let finished = times(&Event::Finished).collect::<Option<Vec<_>>>();
    let finished = finished.and_then(|ends| ends.into_iter().max());
    let started = started.map(|at| Record { at, event: Event::Started });
    let finished = finished.map(|at| Record { at, event: Event::Finished });
    let of_each = (0..).zip(processes).flat_map(|(process, records): (u32, _)| {
        records.into_iter().filter(move |record| match record.event {
            Event::DeadlineSet { .. } | Event::WindowSet { .. } => process == 0,
            Event::Started | Event::Finished | Event::Used { .. } => false,
            _ => true,
        })
    });
    let of_each: Vec<Record> = of_each.collect();
    let mut records: Vec<Record> =
        started.into_iter().chain(of_each).chain(finished).chain(used).collect();
    records.sort_by_key(|record| record.at);
    records
}

fn time_of(records: &[Record], event: &Event) -> Option<trackbed_core::Time> {
    records.iter().find(|record| record.event == *event).map(|record| record.at)
}

/// What the processes used together; a phone waited for a processor as long as its process, in the mean.
fn usage(processes: &[Vec<Record>]) -> Option<Record> {
    let number = processes.len() as u32;
    let mut sum = (Duration::ZERO, 0, 0, 0, Duration::ZERO, Duration::ZERO);
    let mut end = None;
    for record in processes.iter().flatten() {
        if let Event::Used {
            role: Role::Client,
            processor,
            memory_bytes,
            dropped_datagrams,
            served,
            tasks_waited,
            without_processor,
        } = record.event
        {
            sum.0 += processor;
            sum.1 += memory_bytes;
            sum.2 += dropped_datagrams;
            sum.3 += served;
            sum.4 += tasks_waited;
            sum.5 += without_processor;
            end = end.max(Some(record.at));
        }
    }
    let event = Event::Used {
        role: Role::Client,
        processor: sum.0,
        memory_bytes: sum.1,
        dropped_datagrams: sum.2,
        served: sum.3 / u64::from(number),
        tasks_waited: sum.4,
        without_processor: sum.5 / number,
    };
    end.map(|at| Record { at, event })
}

/// Fewer gain nothing: 50 phones that start at once on two processors wait as long in two processes.
const PHONES_MIN: u32 = 50;

#[cfg(test)]
mod tests {
    use trackbed_core::Time;

    use super::*;

    #[test]
    fn every_phone_is_in_one_process() {
        let ends = |phones, processors| {
            let shares = divided(phones, processors).into_iter();
            shares.map(|share| (share.start, share.end)).collect::<Vec<_>>()
        };
        assert_eq!(ends(1, 64), [(0, 1)]);
        assert_eq!(ends(99, 64), [(0, 99)]);
        assert_eq!(ends(250, 1), [(0, 250)]);
        assert_eq!(ends(250, 3), [(0, 83), (83, 166), (166, 250)]);
        assert_eq!(ends(1_000, 64).len(), 20);
    }

    /// Milliseconds of processor time, waits for others and for a processor, and three counts.
    fn used(times_ms: (u64, u64, u64), (memory_bytes, dropped, served): (u64, u64, u64)) -> Event {
        Event::Used {
            role: Role::Client,
            processor: Duration::from_millis(times_ms.0),
            memory_bytes,
            dropped_datagrams: dropped,
            served,
            tasks_waited: Duration::from_millis(times_ms.1),
            without_processor: Duration::from_millis(times_ms.2),
        }
    }

    fn process(begin: u64, end: u64, phone: u32) -> Vec<Record> {
        let at = |ms, event| Record { at: Time::from_millis(ms), event };
        let used = used((30, 8, 4), (1_000, 1, 10));
        vec![
            at(begin, Event::Started),
            at(begin + 1, Event::ConnectStarted { phone, connection: 0 }),
            at(end, Event::Finished),
            at(end + 5, used),
        ]
    }

    #[test]
    fn several_processes_are_one_account() {
        let records = merged(vec![process(11, 50, 0), process(10, 90, 1)]);
        let times = |event: &Event| {
            let found = records.iter().filter(|record| record.event == *event);
            found.map(|record| record.at.as_nanos() / 1_000_000).collect::<Vec<_>>()
        };
        assert_eq!((times(&Event::Started), times(&Event::Finished)), (vec![10], vec![90]));
        let phones = records.iter().filter(|it| matches!(it.event, Event::ConnectStarted { .. }));
        assert_eq!(phones.count(), 2);
        let used = used((60, 16, 4), (2_000, 2, 10));
        assert_eq!(records.last(), Some(&Record { at: Time::from_millis(95), event: used }));
    }

    #[test]
    fn a_process_that_did_not_finish_is_a_run_that_did_not() {
        let mut broken = process(10, 90, 1);
        broken.retain(|record| record.event != Event::Finished);
        let records = merged(vec![process(10, 50, 0), broken]);
        assert!(time_of(&records, &Event::Finished).is_none());
        assert!(time_of(&records, &Event::Started).is_some());
    }
}
