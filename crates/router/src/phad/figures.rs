//! The daemon's metrics.

use trackbed_outward::{Counter, Gauge, Metrics};

/// The metrics of the daemon.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    pub(crate) fixes: Counter,
    pub(crate) fixes_refused: Counter,
    pub(crate) source_losses: Counter,
    pub(crate) tables_read: Counter,
    pub(crate) tables_refused: Counter,
    pub(crate) errors: Counter,
    pub(crate) position_known: Gauge,
    pub(crate) chainage: Gauge,
    pub(crate) speed: Gauge,
    pub(crate) operators: Vec<OperatorFigures>,
}

/// The metrics of one operator.
#[derive(Clone, Debug)]
pub(crate) struct OperatorFigures {
    pub(crate) set: Counter,
    pub(crate) cleared: Counter,
    pub(crate) repeated: Counter,
    pub(crate) flagged: Gauge,
    pub(crate) usable: Gauge,
}

impl Figures {
    pub(crate) fn new(metrics: &Metrics, operators: &[&str]) -> Figures {
        let of = |name: &&str| {
            let flags = |flag| {
                let help = "Changes of an operator's backup flag.";
                let labels = [("operator", *name), ("flag", flag)];
                metrics.counter("trackbed_phad_flags_total", help, &labels)
            };
            let gauge = |metric, help| metrics.gauge(metric, help, &[("operator", name)]);
            OperatorFigures {
                set: flags("set"),
                cleared: flags("cleared"),
                repeated: flags("cleared again"),
                flagged: gauge("trackbed_phad_flagged", "Whether the operator is a backup now."),
                usable: gauge("trackbed_phad_usable", "Whether data can use the operator."),
            }
        };
        let counter = |name, help| metrics.counter(name, help, &[]);
        let gauge = |name, help| metrics.gauge(name, help, &[]);
        Figures {
            fixes: counter("trackbed_phad_positions_total", "Positions received."),
            fixes_refused: counter(
                "trackbed_phad_positions_refused_total",
                "Positions that no train could have reached.",
            ),
            source_losses: counter(
                "trackbed_phad_source_losses_total",
                "Times that the source of positions was lost or could not be reached.",
            ),
            tables_read: counter("trackbed_phad_tables_read_total", "Handover tables read."),
            tables_refused: counter(
                "trackbed_phad_tables_refused_total",
                "Handover tables that were damaged; the previous one was kept.",
            ),
            errors: counter("trackbed_phad_errors_total", "Requests that the kernel refused."),
            position_known: gauge(
                "trackbed_phad_position_known",
                "Whether the position of the train on the track is known.",
            ),
            chainage: gauge("trackbed_phad_chainage_metres", "Position of the train on the track."),
            speed: gauge("trackbed_phad_speed_metres_per_second", "Speed of the train."),
            operators: operators.iter().map(of).collect(),
        }
    }
}
