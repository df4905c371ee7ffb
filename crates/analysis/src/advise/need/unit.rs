//! Units: how users write them, and how results store them.

use trackbed_measure::metrics::split_unit;

/// The units of a metric.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// The kind of quantity, for messages.
    pub(super) what: &'static str,
    /// The spellings, case-insensitive, each with its value in the metric's unit: `us=1e-3 ms=1`.
    pub(super) known: &'static str,
    /// Whether the unit may be omitted.
    pub(super) bare: bool,
    pub(super) example: &'static str,
}

impl Units {
    /// The units of the metric called `name`, by its suffix (or the whole name).
    pub(super) fn of(name: &str) -> Units {
        let unit = match split_unit(name) {
            (name, "") => name,
            (_, unit) => unit,
        };
        let fields = |line: &'static str| line.split('|').collect::<Vec<_>>();
        match TABLE.lines().map(fields).find(|fields| fields[0] == unit).as_deref() {
            Some([_, what, bare, example, known]) => {
                Units { what, known, bare: *bare == "bare", example }
            }
            _ => PLAIN,
        }
    }

    fn known(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let unit = |unit: &'static str| {
            let (name, factor) = unit.split_once('=')?;
            Some((name, factor.parse().ok()?))
        };
        self.known.split(' ').filter_map(unit)
    }

    /// The value of one `unit` in the metric's unit.
    pub(super) fn factor(&self, unit: &str) -> Option<f64> {
        let wanted = unit.to_lowercase();
        self.known().find(|(name, _)| name.to_lowercase() == wanted).map(|(_, factor)| factor)
    }

    pub(super) fn names(&self) -> String {
        self.known().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
    }
}

const PLAIN: Units = Units { what: "a number", known: "", bare: true, example: "3" };

/// By the end of a metric's name: what it is, whether its unit may be omitted, an example, and the spellings.
const TABLE: &str = include_str!("units.txt");
