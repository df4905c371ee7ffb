//! The output and the log of the daemon.

use serde_json::Value;
use trackbed_core::Time;
use trackbed_railway::phad::{Flag, Lost, Order, Place, Range, Reason};

use super::Daemon;
use crate::phad::paths::Operator;

impl Daemon {
    /// A line for the table, and one for each operator.
    pub fn describe(&self) -> Vec<String> {
        let (ranges, length_m) = self.route.size();
        let mut lines = vec![format!(
            "table {}: {ranges} ranges along {:.3} km",
            self.file.path().display(),
            length_m / 1_000.0
        )];
        for (operator, state) in self.plan.operators.iter().zip(&self.states) {
            let ids: Vec<String> = state
                .targets
                .iter()
                .map(|target| format!("{} (id {})", target.address, target.id))
                .collect();
            let health = match (state.targets.is_empty(), state.works) {
                (true, _) => "no endpoint yet; see `ip mptcp endpoint`",
                (false, true) => "is up",
                (false, false) => "its interface is down",
            };
            let Operator { name, place } = operator;
            lines.push(format!("operator {name} at {place}: {} {health}", ids.join(", ")));
        }
        lines
    }

    pub(super) fn tell_place(&self, place: Place) -> String {
        let mut text = format!(
            "at {:.0} m, {:.1} m/s, {}\n",
            place.chainage_m, place.speed_m_s, place.direction
        );
        let along = place.direction.sign() * place.chainage_m;
        for (number, operator) in self.plan.operators.iter().enumerate() {
            let ranges = self.route.ranges().ranges(number, place.direction).iter();
            let next = ranges
                .filter(|range| range.along(place.direction).1 > along)
                .min_by(|a, b| a.along(place.direction).0.total_cmp(&b.along(place.direction).0));
            let line = match next {
                Some(range) => {
                    let distance = range.along(place.direction).0 - along;
                    let Range { from_m, until_m } = range;
                    format!("next range {from_m:.0} to {until_m:.0} m, in {distance:.0} m")
                }
                None => "no range ahead".to_owned(),
            };
            text += &format!("operator {}: {line}\n", operator.name);
        }
        text
    }

    pub(super) fn tell_order(&self, now: Time, order: Order) {
        let operator = &self.plan.operators[order.path].name;
        let figures = &self.figures.operators[order.path];
        let (counter, what) = match order.flag {
            Flag::Set => (&figures.set, "is a backup"),
            Flag::Clear => (&figures.cleared, "is no longer a backup"),
            Flag::ClearAgain => (&figures.repeated, "is not a backup (repeated)"),
        };
        counter.increment();
        let mut fields = vec![
            ("operator", Value::from(operator.as_str())),
            ("backup", (order.flag == Flag::Set).into()),
            ("again", (order.flag == Flag::ClearAgain).into()),
            ("dry_run", self.plan.dry_run.into()),
        ];
        let place = self.controller.place(now).ok();
        fields.extend(place.map(|place| ("chainage_m", place.chainage_m.into())));
        fields.extend(place.map(|place| ("speed_m_s", place.speed_m_s.into())));
        if let Reason::Ahead(range) = order.reason {
            fields.push(("from_m", range.from_m.into()));
            fields.push(("until_m", range.until_m.into()));
        }
        let (dry, why) = (if self.plan.dry_run { " (dry run)" } else { "" }, explain(order.reason));
        self.log.info("flag", &format!("operator {operator} {what}: {why}{dry}"), &fields);
    }

    pub(super) fn tell_position(&mut self, now: Time) {
        let place = self.controller.place(now);
        self.figures.position_known.set(place.is_ok().into());
        if let Ok(place) = place {
            self.figures.chainage.set(place.chainage_m);
            self.figures.speed.set(place.speed_m_s);
        }
        let known = place.map(drop);
        if self.known == Some(known) {
            return;
        }
        // Having no position at the start is normal.
        let first = self.known.replace(known).is_none();
        match known {
            Ok(()) => self.log.info("position", "the train is on the track", &[]),
            Err(_) if first => {}
            Err(lost) => self.log.warn("position", explain_lost(lost), &[]),
        }
    }

    pub(super) fn tell_operator(&self, number: usize) {
        let line = &self.describe()[number + 1];
        let fields = [("operator", Value::from(self.plan.operators[number].name.as_str()))];
        match self.states[number].works {
            true => self.log.info("operator", line, &fields),
            false => self.log.warn("operator", line, &fields),
        }
    }

    pub(super) fn tell_table(&self) {
        self.figures.tables_read.increment();
        let (ranges, length_m) = self.route.size();
        let fields = [("ranges", ranges.into()), ("track_m", length_m.into())];
        self.log.info("table", &self.describe()[0], &fields);
    }
}

fn explain(reason: Reason) -> String {
    match reason {
        Reason::Ahead(Range { from_m, until_m }) => {
            format!("a handover is ahead, between {from_m:.0} and {until_m:.0} m")
        }
        Reason::Passed => "its range is passed".to_owned(),
        Reason::Lost(lost) => explain_lost(lost).to_owned(),
        Reason::NoTable => "there is no usable handover table".to_owned(),
        Reason::HeldTooLong => {
            "it was a backup for too long; the train seems to stand still".to_owned()
        }
        Reason::NoData => "no data has arrived over it since".to_owned(),
        Reason::LastPath => "no other operator is usable".to_owned(),
        Reason::Stopping => "stopping".to_owned(),
    }
}

pub(super) fn explain_lost(lost: Lost) -> &'static str {
    match lost {
        Lost::NoFix => "no position received for too long",
        Lost::OffTrack => "the positions are not on the track",
        Lost::NoDirection => "the train has not moved far enough to know its direction",
    }
}
