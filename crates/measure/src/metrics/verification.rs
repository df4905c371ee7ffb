//! The outcome of signed messages, and the cost of their verification.

use std::time::Duration;

use trackbed_core::event::{Decision, Event, Judgement, Record, UnitAccount, Verification};

use super::account::bounds;
use super::latency::deadline;
use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "verdict_ms", |records| {
        // An hour of traffic has millions: a vector that grows would take twice as much.
        let verdicts = || judged(records).filter(|it| is_verified(it));
        let mut latencies = Vec::with_capacity(verdicts().count());
        latencies.extend(verdicts().map(|judged| ms(latency(judged))));
        latencies
    } =>
        "time from arrival to verdict of each message in the measured window whose signature was \
         verified";
    "late_verdict_ratio", late =>
        "share of messages in the measured window without a verdict within the deadline after \
         their arrival; messages refused for another reason are not late";
    "signature_rate_hz", |records| {
        accounts(records, |account| {
            let seconds = account.span.as_secs_f64();
            (seconds > 0.0).then(|| account.signatures as f64 / seconds)
        })
    } =>
        "verified signatures, of messages and certificates, over the time from the first message \
         to the last decision";
    "verification_cpu_percent", |records| {
        accounts(records, |account| {
            let whole = account.span.as_secs_f64() * f64::from(account.cores);
            (whole > 0.0).then(|| account.busy.as_secs_f64() / whole * 100.0)
        })
    } =>
        "processor time of verification and its checks, as a share of all cores over the same time";
    "waiting_max_count", |records| accounts(records, |account| Some(account.waiting_max as f64)) =>
        "maximum signatures in the queue";
    "heard_count", |records| {
        accounts(records, |account| (account.heard > 0).then_some(account.heard as f64))
    } =>
        "messages that vehicles sent in the measured window, including forged ones but not floods; \
         each was accepted, refused or dropped";
    "accepted_count",
        |records| counted(records, |judged| judged.judgement == Judgement::Accepted) =>
        "of these, accepted";
    "bad_signature_count",
        |records| counted(records, |judged| judged.judgement == Judgement::BadSignature) =>
        "of these, refused because a signature is not valid";
    "unknown_signer_count",
        |records| counted(records, |judged| judged.judgement == Judgement::UnknownSigner) =>
        "of these, refused because their certificate had not been received yet";
    "otherwise_refused_count",
        |records| counted(records, |judged| judged.judgement == Judgement::Refused) =>
        "of these, refused for their form, time, place or permission";
    "dropped_count", |records| counted(records, is_dropped) =>
        "of these, dropped unread: the queue was full, or the deadline had passed before their \
         turn";
    "repelled_count", |records| {
        let mut flood = flood(records).peekable();
        match flood.peek() {
            Some(_) => {
                let not_believed = flood.filter(|(judgement, _)| *judgement != Judgement::Accepted);
                vec![not_believed.map(|(_, messages)| messages).sum::<u64>() as f64]
            }
            None => Vec::new(),
        }
    } => "forgeries of a flood that were refused or dropped";
    "wrong_verdict_count", |records| {
        let wrong = judged(records).filter(|judged| match judged.judgement {
            Judgement::Accepted => !judged.genuine,
            Judgement::BadSignature => judged.genuine,
            _ => false,
        });
        let believed = flood(records).filter(|(judgement, _)| *judgement == Judgement::Accepted);
        let believed: u64 = believed.map(|(_, messages)| messages).sum();
        match records.iter().any(|record| matches!(record.event, Event::Verification(_))) {
            true => vec![(wrong.count() as u64 + believed) as f64],
            false => Vec::new(),
        }
    } => "accepted forgeries, and messages refused despite a valid signature";
    "tables_bytes", |records| accounts(records, |account| Some(account.tables_bytes as f64)) =>
        "peak memory of precomputed tables of keys";
};

fn latency(judged: &Decision) -> Duration {
    judged.at.since(judged.heard)
}

fn is_verified(judged: &Decision) -> bool {
    matches!(judged.judgement, Judgement::Accepted | Judgement::BadSignature)
}

fn is_dropped(judged: &Decision) -> bool {
    matches!(judged.judgement, Judgement::Overflow | Judgement::Late)
}

/// The decisions about vehicles' messages in the measured window.
fn judged(records: &[Record]) -> impl Iterator<Item = &Decision> {
    let window = bounds(records).map(|[from, until]| from..until);
    let decisions = records.iter().filter_map(|record| match &record.event {
        Event::Verification(Verification::Judged(decisions)) => Some(decisions),
        _ => None,
    });
    decisions
        .flatten()
        .filter(move |judged| window.as_ref().is_none_or(|window| window.contains(&judged.heard)))
}

fn flood(records: &[Record]) -> impl Iterator<Item = (Judgement, u64)> {
    records.iter().filter_map(|record| match record.event {
        Event::Verification(Verification::Repelled { messages, judgement }) => {
            Some((judgement, messages))
        }
        _ => None,
    })
}

fn late(records: &[Record]) -> Vec<f64> {
    let Some(deadline) = deadline(records) else { return Vec::new() };
    let (mut all, mut late) = (0_u64, 0_u64);
    for judged in judged(records) {
        all += 1;
        let is_late = is_verified(judged) && latency(judged) > deadline;
        late += u64::from(is_late || is_dropped(judged));
    }
    if all == 0 { Vec::new() } else { vec![late as f64 / all as f64] }
}

fn counted(records: &[Record], which: fn(&Decision) -> bool) -> Vec<f64> {
    let mut judged = judged(records).peekable();
    match judged.peek() {
        Some(_) => vec![judged.filter(|it| which(it)).count() as f64],
        None => Vec::new(),
    }
}

fn accounts(records: &[Record], value: fn(&UnitAccount) -> Option<f64>) -> Vec<f64> {
    let account = |record: &Record| match &record.event {
        Event::Verification(Verification::Accounted(account)) => value(account),
        _ => None,
    };
    records.iter().filter_map(account).collect()
}
