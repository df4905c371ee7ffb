//! What passes the link in a run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use trackbed_analysis::drops::{Ended, Entered, Trace};
use trackbed_core::event::{Event, Record};
use trackbed_core::{Packet, Time};
use trackbed_measure::drops::Place;
use trackbed_net::{Alteration, ContentReader, Direction, DropReason, LinkId, Point, Tap};
use trackbed_protocols::Observer;

use crate::notes::Notes;
use crate::run::Onlooker;
use crate::topology::Track;

/// A run in which the packets of some places met a fault.
pub(super) struct Trial {
    pub trace: Trace,
    pub ended: Ended,
    /// The measured part.
    pub span: (Time, Time),
}

/// Keeps what passes the link.
#[derive(Default)]
pub(super) struct Watcher {
    trace: Arc<Mutex<Trace>>,
    span: Mutex<Option<(Time, Time)>>,
}

impl Watcher {
    pub fn trial(self, ended: Ended) -> Trial {
        let trace = std::mem::take(&mut *self.trace.lock().unwrap_or_else(PoisonError::into_inner));
        let span = self.span.into_inner().unwrap_or_else(PoisonError::into_inner);
        let whole = || (Time::ZERO, trace.sent.last().map_or(Time::ZERO, |sent| sent.at));
        Trial { span: span.unwrap_or_else(whole), ended, trace }
    }
}

impl Onlooker for Watcher {
    fn tap(&self, track: &Track) -> Box<dyn Tap> {
        let readers = [ContentReader::default(), ContentReader::default()];
        let trace = Arc::clone(&self.trace);
        Box::new(LinkTap { link: track.links[0], trace, readers, counts: BTreeMap::new() })
    }

    fn observer(&self) -> Arc<dyn Observer> {
        Arc::new(Notes::default())
    }

    fn keep(&self, records: &[Record]) {
        let at = |wanted: fn(&Event) -> bool| {
            records.iter().find(|record| wanted(&record.event)).map(|record| record.at)
        };
        let start = at(|event| matches!(event, Event::Started));
        let end = at(|event| matches!(event, Event::Finished));
        *self.span.lock().unwrap_or_else(PoisonError::into_inner) = start.zip(end);
    }
}

struct LinkTap {
    link: LinkId,
    trace: Arc<Mutex<Trace>>,
    /// Of each direction.
    readers: [ContentReader; 2],
    /// How many packets of each direction had this content.
    counts: BTreeMap<(bool, String), u64>,
}

impl Tap for LinkTap {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        if link != self.link {
            return;
        }
        let up = direction == Direction::Forward;
        let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        match point {
            Point::Entered => {
                let content = self.readers[usize::from(!up)].read(packet);
                let number = self.counts.entry((up, content.clone())).or_default();
                *number += 1;
                let place = Place { up, content, number: *number };
                trace.sent.push(Entered { at, place, bytes: packet.len() as u64 });
            }
            Point::Delivered => trace.arrived[usize::from(!up)].push(at),
            Point::Dropped(DropReason::Loss)
            | Point::Altered(Alteration::Duplicated | Alteration::HeldBack) => trace.met += 1,
            Point::Dropped(_) | Point::Altered(_) => {}
        }
    }
}
