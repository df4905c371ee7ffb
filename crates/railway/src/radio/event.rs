//! Measurements: their filter, and event A3, when a neighbour becomes better than the serving cell.

use std::time::Duration;

use trackbed_core::Time;

/// The condition of TS 36.331 section 5.5.4.4, `Mn - Hys > Mp + Off`, with all cell-specific offsets zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventA3 {
    /// How much better a neighbour must be, in dB.
    pub offset_db: f64,
    /// The hysteresis in addition to the offset, in dB.
    pub hysteresis_db: f64,
    /// How long the condition must hold, at each measurement, before a report.
    pub time_to_trigger: Duration,
}

impl EventA3 {
    /// Whether a neighbour fulfils the entering condition.
    pub fn is_entered(&self, serving_dbm: f64, neighbour_dbm: f64) -> bool {
        neighbour_dbm - self.hysteresis_db > serving_dbm + self.offset_db
    }
}

/// The timers of one terminal, one for each neighbour.
#[derive(Debug)]
pub(crate) struct Timers {
    event: EventA3,
    /// Since when the condition has held.
    since: Vec<Option<Time>>,
}

impl Timers {
    pub(crate) fn new(event: EventA3, cells: usize) -> Timers {
        Timers { event, since: vec![None; cells] }
    }

    pub(crate) fn measure(
        &mut self,
        now: Time,
        cell: usize,
        serving_dbm: f64,
        heard_dbm: Option<f64>,
    ) {
        match heard_dbm {
            Some(dbm) if self.event.is_entered(serving_dbm, dbm) => {
                self.since[cell].get_or_insert(now);
            }
            _ => self.since[cell] = None,
        }
    }

    pub(crate) fn next_expiry(&self) -> Option<Time> {
        self.since.iter().flatten().min().map(|since| *since + self.event.time_to_trigger)
    }

    /// The cells whose timers have expired by `now`.
    pub(crate) fn expired(&self, now: Time) -> impl Iterator<Item = usize> + '_ {
        let is_due = move |since: &Time| *since + self.event.time_to_trigger <= now;
        let timers = self.since.iter().enumerate();
        timers.filter(move |(_, since)| since.as_ref().is_some_and(is_due)).map(|(cell, _)| cell)
    }

    pub(crate) fn reset(&mut self) {
        self.since.fill(None);
    }
}

/// The layer-3 filter of TS 36.331 section 5.5.3.2: each measurement M moves the filtered value by
/// `F = (1 - a) F + a M` with `a = 1/2^(k/4)`; the first one is taken unfiltered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer3Filter {
    weight: f64,
    value: Option<f64>,
}

impl Layer3Filter {
    /// A filter with the coefficient `k` (`filterCoefficient`, 0 to 19); 0 does not filter.
    pub fn new(k: u32) -> Layer3Filter {
        Layer3Filter { weight: libm::exp2(-f64::from(k) / 4.0), value: None }
    }

    /// Adds a measurement, and returns the filtered value.
    pub fn update(&mut self, measured: f64) -> f64 {
        let value = self.value.map_or(measured, |old| old + self.weight * (measured - old));
        self.value = Some(value);
        value
    }

    /// The filtered value; `None` before the first measurement.
    pub fn value(&self) -> Option<f64> {
        self.value
    }

    /// Forgets all measurements.
    pub fn reset(&mut self) {
        self.value = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_runs_while_every_measurement_fulfils_the_condition() {
        let time_to_trigger = Duration::from_millis(256);
        let event = EventA3 { offset_db: 0.0, hysteresis_db: 3.0, time_to_trigger };
        let mut timers = Timers::new(event, 3);
        let ms = Time::from_millis;
        timers.measure(ms(0), 1, -90.0, Some(-87.0));
        assert_eq!(timers.next_expiry(), None, "3 dB are not more than 3 dB");
        timers.measure(ms(200), 1, -90.0, Some(-86.9));
        timers.measure(ms(200), 2, -90.0, Some(-80.0));
        assert_eq!(timers.next_expiry(), Some(ms(456)));
        timers.measure(ms(400), 1, -90.0, Some(-87.5));
        assert_eq!(timers.expired(ms(456)).collect::<Vec<_>>(), [2]);
        timers.measure(ms(400), 2, -90.0, None);
        assert_eq!(timers.next_expiry(), None);
        timers.measure(ms(600), 1, -90.0, Some(-80.0));
        assert_eq!(timers.expired(ms(855)).count(), 0);
        assert_eq!(timers.expired(ms(856)).collect::<Vec<_>>(), [1]);
        timers.reset();
        assert_eq!(timers.next_expiry(), None);
    }

    /// With k = 4 each step halves the distance to the new level: a step of 16 dB leaves 8, 4, 2, 1.
    #[test]
    fn the_response_to_a_step_halves_each_time() {
        let mut filter = Layer3Filter::new(4);
        assert_eq!(filter.value(), None);
        assert_eq!(filter.update(-100.0), -100.0);
        assert_eq!([0; 4].map(|_| filter.update(-84.0)), [-92.0, -88.0, -86.0, -85.0]);
        filter.reset();
        assert_eq!(filter.update(-70.0), -70.0);
        // k = 8: a quarter each time. k = 0: no filter.
        let mut slow = Layer3Filter::new(8);
        slow.update(0.0);
        assert_eq!(slow.update(16.0), 4.0);
        let mut none = Layer3Filter::new(0);
        none.update(0.0);
        assert_eq!(none.update(16.0), 16.0);
    }
}
