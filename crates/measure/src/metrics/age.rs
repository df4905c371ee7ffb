//! The age of the server's information.

use std::collections::BTreeMap;

use trackbed_core::Time;
use trackbed_core::event::Event;

use super::Metric;

pub(super) const METRICS: &[Metric] = metrics! {
    "age_of_information_ms", |records| {
        let mut ages: BTreeMap<u32, Age> = BTreeMap::new();
        let mut born = BTreeMap::new();
        for record in records {
            match record.event {
                Event::Sent { phone, message, intended, .. } => {
                    born.entry((phone, message)).or_insert(intended);
                }
                Event::Received { phone, message } => {
                    if let Some(&born) = born.get(&(phone, message)) {
                        let age = ages.entry(phone);
                        let first = Age { first: record.at, last: record.at, freshest: born, area: 0.0 };
                        age.and_modify(|age| age.receive(record.at, born)).or_insert(first);
                    }
                }
                _ => {}
            }
        }
        ages.values().filter_map(Age::mean_ms).collect()
    } =>
        "age of the newest message at the server, since its intended time: time average of each \
         phone from its first to its last reception";
};

/// The age of information at one receiver (Kaul, Yates, Gruteser, "Real-time status: How often
/// should one update?", INFOCOM 2012): a sawtooth that rises with time and falls, whenever a newer
/// message arrives, to that message's age.
struct Age {
    first: Time,
    last: Time,
    /// When the newest message so far was generated.
    freshest: Time,
    /// The area under the sawtooth between `first` and `last`, in square nanoseconds.
    area: f64,
}

impl Age {
    fn receive(&mut self, at: Time, born: Time) {
        let nanos = |time: Time| (time - self.freshest).as_nanos() as f64;
        let (low, high) = (nanos(self.last), nanos(at));
        self.area += (low + high) / 2.0 * (high - low);
        self.last = at;
        self.freshest = self.freshest.max(born);
    }

    /// None after a single reception: an average needs a time span.
    fn mean_ms(&self) -> Option<f64> {
        let span = (self.last - self.first).as_nanos() as f64;
        (span > 0.0).then(|| self.area / span / 1e6)
    }
}
