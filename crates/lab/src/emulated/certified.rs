//! What a run in real time is worth: whether the links kept up, and the ends.

use std::collections::BTreeMap;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record, Role};
use trackbed_emulator::{MEDIAN_SUSPECT, Verdict};
use trackbed_measure::results::{Certificate, Reliability};
use trackbed_scenario::Cell;
use trackbed_workloads::Patience;

/// The certificate as stored in results, for a run of `cell`. The verdict is the worst of the links' and the
/// ends'. Datagrams dropped because an end's socket was full count as overflow too.
pub(super) fn certified(
    found: &trackbed_emulator::Certificate,
    records: &[Record],
    cell: &Cell,
) -> Certificate {
    judged(found, records, &Phones::of(cell, records))
}

fn judged(
    found: &trackbed_emulator::Certificate,
    records: &[Record],
    phones: &Phones,
) -> Certificate {
    let micros = |q: f64| found.lateness(q).as_secs_f64() * 1e6;
    let ends = [Role::Client, Role::Server];
    let dropped = ends.map(|role| dropped(records, role));
    let waited @ [client, server] = ends.map(|role| share_waited(records, role, phones));
    let links = match found.verdict() {
        Verdict::Valid => Reliability::Valid,
        Verdict::Suspect => Reliability::Suspect,
        Verdict::Invalid => Reliability::Invalid,
    };
    // Both ends' waits add up; an end is named if a good part of them is its own.
    let of_end = |end: usize| match dropped[end] {
        0 if waited[end] < (client + server) / 3.0 => Reliability::Valid,
        0 => of_waits(client + server),
        _ => Reliability::Invalid,
    };
    let parts = [("links", links), ("client", of_end(0)), ("server", of_end(1))];
    let verdict = parts.map(|(_, part)| part).into_iter().max().unwrap_or(links);
    let is_cause = |part: Reliability| part == verdict && verdict != Reliability::Valid;
    let late = parts.into_iter().filter(|(_, part)| is_cause(*part));
    Certificate {
        verdict,
        late: late.map(|(name, _)| name.to_owned()).collect(),
        packets: found.packets(),
        late_p50_us: micros(0.5),
        late_p99_us: micros(0.99),
        late_max_us: micros(1.0),
        late_percent: found.late_share() * 100.0,
        client_wait_percent: client * 100.0,
        server_wait_percent: server * 100.0,
        overflowed: found.overflow + dropped.iter().sum::<u64>(),
        processor_ms: found.processor.as_secs_f64() * 1e3,
        histogram: found
            .histogram()
            .into_iter()
            .map(|(bound, packets)| (bound.as_secs_f64() * 1e6, packets))
            .collect(),
    }
}

/// Datagrams that arrived while a socket of the end was full.
fn dropped(records: &[Record], whose: Role) -> u64 {
    let of_end = records.iter().filter_map(|record| match record.event {
        Event::Used { role, dropped_datagrams, .. } if role == whose => Some(dropped_datagrams),
        _ => None,
    });
    of_end.sum()
}

/// For how much of the time in which it had something to do a phone waited for an end, in the mean, that would
/// not have waited had each a processor of its own: the end worked for other phones. Added is the share of the
/// run in which the end had no processor.
///
/// Short waits for a processor do not count. A bulk transfer of 2 s has a thousand of them, 5 to 10 % of
/// its time, and takes as long as without: what is waited for is in a buffer then.
fn share_waited(records: &[Record], whose: Role, phones: &Phones) -> f64 {
    let of_end = records.iter().filter_map(|record| match record.event {
        Event::Used { role, served, tasks_waited, without_processor, .. } if role == whose => {
            let is_long = without_processor.div_f64(served.max(1) as f64) > LONG;
            let for_processor = if is_long { without_processor } else { Duration::ZERO };
            let for_others = (tasks_waited - tasks_waited / phones.number) / phones.number;
            let lasted = (record.at - Time::ZERO).as_secs_f64().max(f64::EPSILON);
            let active = phones.active.map_or(lasted, |active| active.as_secs_f64().min(lasted));
            Some(for_others.as_secs_f64() / active + for_processor.as_secs_f64() / lasted)
        }
        _ => None,
    });
    of_end.fold(0.0, f64::max)
}

/// The phones of a run.
struct Phones {
    number: u32,
    /// How long each had something to do, in the mean: a warm-up, and from its first connection to its last
    /// event. `None` if no phone has shown anything.
    active: Option<Duration>,
}

impl Phones {
    fn of(cell: &Cell, records: &[Record]) -> Phones {
        let mut spans: BTreeMap<u32, (Time, Time)> = BTreeMap::new();
        let mut started = Time::ZERO;
        for record in records {
            match record.event {
                Event::Started => started = record.at,
                // It has listened from the start.
                Event::Warned { listener, .. } => {
                    spans.entry(listener).or_insert((started, record.at)).1 = record.at;
                }
                _ => {}
            }
            if let Some(phone) = whose(&record.event) {
                spans.entry(phone).or_insert((record.at, record.at)).1 = record.at;
            }
        }
        let warm_up = match cell.endpoint.handshake.begins_warm() {
            true => Patience::REAL.tickets,
            false => Duration::ZERO,
        };
        let sum: Duration = spans.values().map(|(first, last)| *last - *first).sum();
        let mean = sum.checked_div(spans.len() as u32).filter(|mean| !mean.is_zero());
        let active = mean.map(|mean| mean + warm_up);
        Phones { number: cell.workload.phones().max(1), active }
    }
}

/// The phone that has something to do until this event.
fn whose(event: &Event) -> Option<u32> {
    match event {
        Event::ConnectStarted { phone, .. }
        | Event::Connected { phone, .. }
        | Event::Answered { phone, .. }
        | Event::Lost { phone, .. }
        | Event::Failed { phone, .. }
        | Event::Transferred { phone, .. }
        | Event::Flowed { phone, .. }
        | Event::ObjectDone { phone, .. }
        | Event::PageLoaded { phone }
        | Event::Playback { phone, .. } => Some(*phone),
        _ => None,
    }
}

/// As of the links' median packet.
const LONG: Duration = MEDIAN_SUSPECT;

/// Both ends together, as results may change by as much: `agree` allows 3 % between the same programs.
fn of_waits(waited: f64) -> Reliability {
    if waited > INVALID {
        Reliability::Invalid
    } else if waited > SUSPECT {
        Reliability::Suspect
    } else {
        Reliability::Valid
    }
}

const INVALID: f64 = 0.03;
const SUSPECT: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of one second whose clients waited like this, in milliseconds.
    fn run(phones: u32, tasks_ms: u64, processor_ms: u64, served: u64) -> Certificate {
        with(phones, [(tasks_ms, processor_ms, 0), (0, 0, 0)], served)
    }

    fn with(number: u32, ends: [(u64, u64, u64); 2], served: u64) -> Certificate {
        let phones = Phones { number, active: None };
        judged(&trackbed_emulator::Certificate::default(), &used(ends, served), &phones)
    }

    fn used(ends: [(u64, u64, u64); 2], served: u64) -> [Record; 2] {
        let used = |role, (tasks_ms, processor_ms, dropped_datagrams)| Record {
            at: Time::from_millis(1_000),
            event: Event::Used {
                role,
                processor: Duration::ZERO,
                memory_bytes: 0,
                dropped_datagrams,
                served,
                tasks_waited: Duration::from_millis(tasks_ms),
                without_processor: Duration::from_millis(processor_ms),
            },
        };
        [used(Role::Client, ends[0]), used(Role::Server, ends[1])]
    }

    #[test]
    fn phones_that_waited_for_others_make_a_run_invalid() {
        // Ten phones waited 50 ms each, a tenth of it for their own work.
        let certificate = run(10, 500, 0, 100);
        assert!((certificate.client_wait_percent - 4.5).abs() < 1e-9);
        assert_eq!(
            (certificate.verdict, &certificate.late[..]),
            (Reliability::Invalid, &["client".to_owned()][..])
        );
        assert_eq!(run(10, 200, 0, 100).verdict, Reliability::Suspect);
        assert_eq!(run(100, 500, 0, 100).verdict, Reliability::Valid);
        // One phone waits only for itself.
        assert_eq!(run(1, 500, 0, 100).verdict, Reliability::Valid);
    }

    #[test]
    fn a_phone_is_active_from_its_first_connection_to_its_last_event() {
        let at = |ms, event| Record { at: Time::from_millis(ms), event };
        let opens = |ms, phone| at(ms, Event::ConnectStarted { phone, connection: 0 });
        let answered = |ms, phone| at(ms, Event::Answered { phone, message: 0, status: 200 });
        let active = |handshake: &str, records: &[Record]| {
            let settings = ["protocol=http2", "tls=1.3", handshake];
            let plan = crate::testing::built_in("vru", &settings);
            Phones::of(&plan.cells[0], records).active
        };
        let (new, resumed) = ("handshake=new", "handshake=resumed");
        let mut records = vec![at(5, Event::Started), opens(10, 0), answered(60, 0)];
        assert_eq!(active(new, &records[..1]), None);
        records.extend([opens(500, 1), answered(650, 1), at(900, Event::Finished)]);
        assert_eq!(active(new, &records), Some(Duration::from_millis(100)));
        assert_eq!(active(resumed, &records), Some(Duration::from_millis(400)));
        records.push(at(905, Event::Warned { listener: 2, phone: 0, message: 0 }));
        assert_eq!(active(new, &records), Some(Duration::from_millis(1_100) / 3));
    }

    /// Ten phones, one after the other in a second, wait 5 ms each of the 100 that each has something to do.
    #[test]
    fn a_wait_counts_against_the_time_of_its_phone() {
        let phones = Phones { number: 10, active: Some(Duration::from_millis(100)) };
        let records = used([(50, 0, 0), (0, 0, 0)], 100);
        let found = judged(&trackbed_emulator::Certificate::default(), &records, &phones);
        assert!((found.client_wait_percent - 4.5).abs() < 1e-9, "{found:?}");
        assert_eq!(found.verdict, Reliability::Invalid);
    }

    #[test]
    fn long_waits_for_a_processor_count_and_short_ones_do_not() {
        assert_eq!(run(1, 0, 50, 100).verdict, Reliability::Invalid);
        assert_eq!(run(1, 0, 50, 10_000).verdict, Reliability::Valid);
    }

    #[test]
    fn both_ends_add_up_and_a_full_socket_is_its_end() {
        let both = with(10, [(200, 0, 0), (180, 0, 0)], 100);
        assert_eq!((both.verdict, both.late.len()), (Reliability::Invalid, 2));
        let full = with(1, [(0, 0, 0), (0, 0, 3)], 100);
        assert_eq!((full.verdict, full.overflowed), (Reliability::Invalid, 3));
        assert_eq!(full.late, ["server"]);
    }
}
