//! Independent loss.

use std::sync::Arc;

use trackbed_core::parameters;

use super::Loss;
use crate::spec::ModelEntry;

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "loss",
    summary: "loses each packet with the same probability, independently of the others",
    parameters: parameters! {
        "loss": Share, required => "the probability that a packet is lost";
    },
    has_queue: false,
    example: &[("loss", "0.3 %")],
    read: |arguments| Ok(Arc::new(Loss::bernoulli(arguments.need("loss")))),
};
