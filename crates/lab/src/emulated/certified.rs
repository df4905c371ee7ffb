//! What a run in real time is worth: whether the links kept up, and the ends.

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record, Role};
use trackbed_emulator::{MEDIAN_SUSPECT, Verdict};
use trackbed_measure::results::{Certificate, Reliability};

/// The certificate as stored in results, for a run of `phones` phones. The verdict is the worst of
/// the links' and the ends'. Datagrams dropped because an end's socket was full count as overflow too.
pub(super) fn certified(
    found: &trackbed_emulator::Certificate,
    records: &[Record],
    phones: u32,
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

/// For how much of the run an end kept each of its phones waiting, in the mean, that would not have
/// waited had each a processor of its own: it worked for other phones, or had no processor.
///
/// Short waits for a processor do not count. A bulk transfer of 2 s has a thousand of them, 5 to 10 % of
/// its time, and takes as long as without: what is waited for is in a buffer then.
fn share_waited(records: &[Record], whose: Role, phones: u32) -> f64 {
    let phones = phones.max(1);
    let of_end = records.iter().filter_map(|record| match record.event {
        Event::Used { role, served, tasks_waited, without_processor, .. } if role == whose => {
            let is_long = without_processor.div_f64(served.max(1) as f64) > LONG;
            let for_processor = if is_long { without_processor } else { Duration::ZERO };
            let for_others = (tasks_waited - tasks_waited / phones) / phones;
            let lasted = (record.at - Time::ZERO).as_secs_f64().max(f64::EPSILON);
            Some((for_others + for_processor).as_secs_f64() / lasted)
        }
        _ => None,
    });
    of_end.fold(0.0, f64::max)
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
        judged(phones, [(tasks_ms, processor_ms, 0), (0, 0, 0)], served)
    }

    fn judged(phones: u32, ends: [(u64, u64, u64); 2], served: u64) -> Certificate {
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
        let records = [used(Role::Client, ends[0]), used(Role::Server, ends[1])];
        certified(&trackbed_emulator::Certificate::default(), &records, phones)
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
    fn long_waits_for_a_processor_count_and_short_ones_do_not() {
        assert_eq!(run(1, 0, 50, 100).verdict, Reliability::Invalid);
        assert_eq!(run(1, 0, 50, 10_000).verdict, Reliability::Valid);
    }

    #[test]
    fn both_ends_add_up_and_a_full_socket_is_its_end() {
        let both = judged(10, [(200, 0, 0), (180, 0, 0)], 100);
        assert_eq!((both.verdict, both.late.len()), (Reliability::Invalid, 2));
        let full = judged(1, [(0, 0, 0), (0, 0, 3)], 100);
        assert_eq!((full.verdict, full.overflowed), (Reliability::Invalid, 3));
        assert_eq!(full.late, ["server"]);
    }
}
