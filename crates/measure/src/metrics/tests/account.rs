//! Schedules: the outcome of their messages.

use super::*;
use trackbed_core::event::Loss;

fn lost(millis: u64, intended: u64, (phone, message): Id, loss: Loss) -> Record {
    let intended = Time::from_millis(intended);
    at(millis, Event::Lost { phone, message, intended, loss })
}

/// A window of 2 s with a deadline of 100 ms: of five messages of one phone and two of another, one is
/// in time (at the last moment), one is late, one is refused, and one is lost in each way.
fn schedule() -> Vec<Record> {
    let (from, until) = (Time::from_millis(1_000), Time::from_millis(3_000));
    vec![
        at(0, Event::Started),
        at(0, Event::DeadlineSet { after: Duration::from_millis(100) }),
        at(0, Event::WindowSet { from, until }),
        sent(1_000, 1_000, (0, 1)),
        answered(1_100, (0, 1), 200),
        sent(1_450, 1_400, (0, 2)),
        answered(1_501, (0, 2), 200),
        sent(1_800, 1_800, (0, 3)),
        lost(2_800, 1_800, (0, 3), Loss::Unanswered),
        sent(2_200, 2_200, (0, 4)),
        lost(2_300, 2_200, (0, 4), Loss::Broken),
        lost(2_600, 2_600, (0, 5), Loss::Overflow),
        lost(2_700, 1_700, (1, 0), Loss::Unconnected),
        sent(2_700, 2_700, (1, 1)),
        answered(2_710, (1, 1), 400),
        at(3_000, Event::Scheduled { phone: 0, messages: 5 }),
        at(3_000, Event::Scheduled { phone: 1, messages: 2 }),
        at(3_000, Event::Finished),
    ]
}

#[test]
fn every_message_of_a_schedule_is_in_time_or_late_or_lost() {
    let records = schedule();
    close(&compute("sent_count", &records), &[7.0]);
    close(&compute("in_time_count", &records), &[1.0]);
    close(&compute("late_count", &records), &[1.0]);
    close(&compute("lost_count", &records), &[5.0]);
    close(&compute("unsent_count", &records), &[2.0]);
    close(&compute("answer_rate_hz", &records), &[1.0]);
    close(&compute("rtt_ms", &records), &[100.0, 101.0]);
    close(&compute("deadline_miss_ratio", &records), &[6.0 / 7.0]);
    let why = outcome(&records).unwrap_err();
    assert_eq!(
        why, "at 2.71 s, the server refused message 1 of phone 1 (status 400)",
        "and no loss"
    );
}

/// Two messages of 355 bytes were accepted in the two seconds of the window, by phone 0.
#[test]
fn the_throughput_of_a_schedule_is_over_its_window() {
    let records = schedule();
    let mbps = 2.0 * 355.0 * 8.0 / 2.0 / 1e6;
    close(&compute("throughput_mbps", &records), &[mbps, 0.0]);
    close(&compute("total_throughput_mbps", &records), &[mbps]);
    close(&compute("completion_ms", &records), &[]);
}

#[test]
fn a_message_without_an_account_is_missed() {
    let mut records = schedule();
    records.retain(|record| !matches!(record.event, Event::Lost { loss: Loss::Broken, .. }));
    let account = account(&records).unwrap();
    assert_eq!(account.sent - account.in_time - account.late - account.lost, 1);
}

#[test]
fn without_a_schedule_there_is_no_account() {
    let records = [at(0, Event::Started), sent(0, 0, (0, 0)), answered(10, (0, 0), 200)];
    for metric in ["sent_count", "in_time_count", "late_count", "lost_count", "answer_rate_hz"] {
        close(&compute(metric, &records), &[]);
    }
}
