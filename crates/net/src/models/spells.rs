//! Ordered periods of time.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Time;

use crate::spec::SpecError;

/// Ordered periods of time, each from its first time until just before its second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spells(Arc<[(Time, Time)]>);

impl Spells {
    /// From each first time until just before the second one.
    ///
    /// # Errors
    /// If a spell is empty, or begins before the last one has ended.
    pub fn new(spells: impl IntoIterator<Item = (Time, Time)>) -> Result<Spells, SpecError> {
        let spells: Arc<[(Time, Time)]> = spells.into_iter().collect();
        let mut end = Time::ZERO;
        for &(from, until) in spells.iter() {
            if from >= until {
                return Err(SpecError::new(format!(
                    "the period from {from} until {until} is empty; make it end after it begins"
                )));
            }
            if from < end {
                return Err(SpecError::new(format!(
                    "the period from {from} on begins before the previous one ends at {end}; give \
                     the periods in order, without overlap"
                )));
            }
            end = until;
        }
        Ok(Spells(spells))
    }

    pub(super) fn from_rows(rows: Vec<(Duration, Duration)>) -> Result<Spells, SpecError> {
        Spells::new(rows.into_iter().map(|(from, until)| (Time::ZERO + from, Time::ZERO + until)))
    }

    /// The spell with this number, counted from 0.
    pub(super) fn get(&self, number: usize) -> Option<(Time, Time)> {
        self.0.get(number).copied()
    }
}
