//! The message behind each sample of a time per message: its phone, its number, when it was due.

use std::iter;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trackbed_core::event::Record;

use crate::metrics::messages::gather;

/// The answered messages of a run, in the order of the samples of `rtt_ms`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answered {
    /// The phone of each.
    pub phone: Series,
    /// Its number on its phone, from 0.
    pub message: Series,
    /// When it was due, in nanoseconds after the start of the run.
    pub due_ns: Series,
}

impl Answered {
    /// Of a run with these events; none if no message was answered.
    pub fn of(records: &[Record]) -> Option<Answered> {
        let mut answered: Option<Answered> = None;
        for ((phone, message), of) in gather(records) {
            if of.latency().is_some() {
                let all = answered.get_or_insert_default();
                all.phone.push(phone.into());
                all.message.push(message.into());
                all.due_ns.push(of.intended.as_nanos() as i64);
            }
        }
        answered
    }

    /// The messages, one by one.
    pub fn iter(&self) -> impl Iterator<Item = Message> {
        iter::zip(self.phone.iter(), iter::zip(self.message.iter(), self.due_ns.iter()))
            .map(|(phone, (number, due))| Message { phone, number, due_ms: due as f64 / 1e6 })
    }
}

/// An answered message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    /// Its phone.
    pub phone: i64,
    /// Its number on its phone, from 0.
    pub number: i64,
    /// When it was due, in milliseconds after the start of the run.
    pub due_ms: f64,
}

/// Whole numbers, where those at equal distances take no more space than one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series(Vec<Part>);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Part {
    One(i64),
    /// The first number, the distance of each to the next, and how many there are.
    Many(i64, i64, u64),
}

impl Series {
    fn push(&mut self, value: i64) {
        let next = |first: i64, step: i64, count: u64| {
            first.checked_add(step.checked_mul(i64::try_from(count).ok()?)?)
        };
        match self.0.as_mut_slice() {
            [.., Part::Many(first, step, count)] if next(*first, *step, *count) == Some(value) => {
                *count += 1;
            }
            &mut [.., Part::One(first), Part::One(second)]
                if second.checked_sub(first).and_then(|step| next(first, step, 2))
                    == Some(value) =>
            {
                self.0.truncate(self.0.len() - 2);
                self.0.push(Part::Many(first, second - first, 3));
            }
            _ => self.0.push(Part::One(value)),
        }
    }

    /// The numbers, one by one: a series in a foreign file may claim any count.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        self.0.iter().flat_map(|&part| {
            let (first, step, count) = match part {
                Part::One(value) => (value, 0, 1),
                Part::Many(first, step, count) => (first, step, count),
            };
            (0..count).map(move |at| first.wrapping_add(step.wrapping_mul(at as i64)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_read_as_it_was_written_and_a_regular_one_is_short() {
        for (values, text) in [
            (vec![], "[]"),
            (vec![5], "[5]"),
            (vec![5, 5], "[5,5]"),
            (vec![0, 0, 0, 1, 1, 1, 1], "[[0,0,3],[1,0,4]]"),
            (vec![7, 100, 200, 300, 401, 402], "[7,[100,100,3],401,402]"),
            (vec![0, i64::MAX, 1], "[0,9223372036854775807,1]"),
        ] {
            let mut series = Series::default();
            values.iter().for_each(|value| series.push(*value));
            assert_eq!(serde_json::to_string(&series).unwrap(), text);
            let read: Series = serde_json::from_str(text).unwrap();
            assert_eq!(read.iter().collect::<Vec<_>>(), values);
        }
        let endless: Series =
            serde_json::from_str("[[1,9223372036854775807,999999999999]]").unwrap();
        assert_eq!(endless.iter().take(2).collect::<Vec<_>>(), [1, i64::MIN]);
    }
}
