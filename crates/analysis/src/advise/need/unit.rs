//! Units: how users write them, and how results store them.

use trackbed_measure::metrics::split_unit;

/// A spelling, and its value in the metric's unit.
type Unit = (&'static str, f64);

/// The units of a metric.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// The kind of quantity, for messages.
    pub(super) what: &'static str,
    /// The spellings, case-insensitive.
    pub(super) known: &'static [Unit],
    /// Whether the unit may be omitted.
    pub(super) bare: bool,
    /// An example.
    pub(super) example: &'static str,
}

impl Units {
    /// The units of the metric called `name`, by its suffix (or the whole name).
    pub(super) fn of(name: &str) -> Units {
        let unit = match split_unit(name) {
            (name, "") => name,
            (_, unit) => unit,
        };
        let found = TABLE.iter().find(|(known, _)| *known == unit);
        found.map_or(PLAIN, |(_, units)| *units)
    }

    /// The value of one `unit` in the metric's unit.
    pub(super) fn factor(&self, unit: &str) -> Option<f64> {
        let same = |(name, _): &&Unit| *name == unit || name.to_lowercase() == unit.to_lowercase();
        self.known.iter().find(same).map(|(_, factor)| *factor)
    }

    /// The spellings, for messages.
    pub(super) fn names(&self) -> String {
        self.known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

const PLAIN: Units = Units { what: "a number", known: &[], bare: true, example: "3" };

const TABLE: &[(&str, Units)] = &[
    (
        "ms",
        Units {
            what: "a time",
            known: &[
                ("ns", 1e-6),
                ("us", 1e-3),
                ("µs", 1e-3),
                ("ms", 1.0),
                ("s", 1e3),
                ("min", 6e4),
                ("h", 3.6e6),
            ],
            bare: false,
            example: "50 ms",
        },
    ),
    (
        "mbps",
        Units {
            what: "a rate",
            known: &[
                ("bit/s", 1e-6),
                ("kbit/s", 1e-3),
                ("Mbit/s", 1.0),
                ("Gbit/s", 1e3),
                ("kbps", 1e-3),
                ("Mbps", 1.0),
                ("Gbps", 1e3),
            ],
            bare: false,
            example: "5 Mbit/s",
        },
    ),
    (
        "bytes",
        Units {
            what: "a size",
            known: &[
                ("B", 1.0),
                ("kB", 1e3),
                ("MB", 1e6),
                ("GB", 1e9),
                ("KiB", 1_024.0),
                ("MiB", 1_048_576.0),
                ("GiB", 1_073_741_824.0),
                ("bytes", 1.0),
            ],
            bare: false,
            example: "512 MB",
        },
    ),
    ("percent", Units { what: "a share", known: &[("%", 1.0)], bare: true, example: "150 %" }),
    ("ratio", Units { what: "a share", known: &[("%", 0.01)], bare: true, example: "0.5 %" }),
    ("hz", FREQUENCY),
    ("fps", FREQUENCY),
    (
        "mhz",
        Units {
            what: "a frequency",
            known: &[("MHz", 1.0), ("GHz", 1e3)],
            bare: false,
            example: "1800 MHz",
        },
    ),
    (
        "watts",
        Units {
            what: "a power",
            known: &[("mW", 1e-3), ("W", 1.0), ("watts", 1.0)],
            bare: false,
            example: "5 W",
        },
    ),
    (
        "celsius",
        Units {
            what: "a temperature",
            known: &[("C", 1.0), ("°C", 1.0), ("celsius", 1.0)],
            bare: false,
            example: "70 C",
        },
    ),
];

const FREQUENCY: Units = Units {
    what: "a frequency",
    known: &[("Hz", 1.0), ("kHz", 1e3), ("/s", 1.0), ("fps", 1.0)],
    bare: true,
    example: "25 /s",
};
