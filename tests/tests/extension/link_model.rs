//! A law of loss: each packet after a pause is lost, as on a radio that has to wake up.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::parameter::{Kind, Parameter};
use trackbed_core::{Rng, Time};
use trackbed_net::models::loss::{Loss, LossLaw, LossProcess};
use trackbed_net::spec::ModelEntry;

pub static ENTRY: ModelEntry = ModelEntry {
    name: "loss-after-pause",
    summary: "loses the first packet after a pause",
    parameters: &[Parameter::required("pause", Kind::Time, "how long nothing was sent")],
    has_queue: false,
    example: &[("pause", "100 ms")],
    read: |arguments| Ok(Arc::new(Loss::new(AfterPause { pause: arguments.need("pause") }))),
};

#[derive(Debug)]
struct AfterPause {
    pause: Duration,
}

impl LossLaw for AfterPause {
    fn begin(&self, _: Rng) -> Box<dyn LossProcess> {
        Box::new(Radio { pause: self.pause, last: Time::ZERO })
    }
}

#[derive(Debug)]
struct Radio {
    pause: Duration,
    last: Time,
}

impl LossProcess for Radio {
    fn loses_next(&mut self, now: Time, _size: usize) -> bool {
        now.since(std::mem::replace(&mut self.last, now)) >= self.pause
    }
}
