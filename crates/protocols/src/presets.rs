//! Software that studies used, as values of ordinary keys: one entry each in [`presets()`].

use std::sync::LazyLock;

use trackbed_core::parameter::{Parameter, Value};

use crate::protocol::Protocol;
use crate::registry::registry;

/// The values that make a protocol behave like other software, as far as the keys allow.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name that scenarios use.
    pub name: &'static str,
    /// The protocols that it is for.
    pub protocols: &'static [&'static str],
    /// What it is, and what it leaves out, in one line.
    pub summary: &'static str,
    /// Where its values come from.
    pub source: &'static str,
    /// Keys of its protocols, and their values as a scenario writes them.
    pub values: &'static [(&'static str, &'static str)],
}

/// Every preset, in the order of lists.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// Each has a line for its name and its protocols, one for its summary, one for its source, and one for its
/// values.
static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let lines: Vec<&str> =
        include_str!("presets.txt").lines().filter(|line| !line.is_empty()).collect();
    let pair = |(name, value): (&'static str, &'static str)| (name.trim(), value.trim());
    let presets = lines.chunks_exact(4).map(|preset| {
        let [head, summary, source, values] = preset else { unreachable!("there are four") };
        let (name, protocols) = head.split_once(':').expect("a colon follows the name");
        let protocols: Vec<&str> = protocols.split_whitespace().collect();
        let values = values.split(',').filter_map(|value| value.split_once('=')).map(pair);
        let values = values.collect::<Vec<_>>().leak();
        Preset { name, protocols: protocols.leak(), summary, source, values }
    });
    presets.collect()
});

impl Preset {
    /// The value of a protocol's parameter, if this preset has one.
    ///
    /// # Panics
    /// If the value is not of the parameter's kind.
    pub fn value(&self, parameter: &Parameter) -> Option<Value> {
        let (_, text) = self.values.iter().find(|(name, _)| *name == parameter.name)?;
        let value = parameter.kind.parse(text);
        Some(value.unwrap_or_else(|why| panic!("{}, {}: {why}", self.name, parameter.name)))
    }
}

/// The names of the presets of each protocol that has some.
pub fn presets_by_protocol() -> impl Iterator<Item = (&'static dyn Protocol, Vec<&'static str>)> {
    registry().iter().filter_map(|protocol| {
        let fits = |preset: &&Preset| preset.protocols.contains(&protocol.name());
        let names: Vec<_> = presets().iter().filter(fits).map(|preset| preset.name).collect();
        (!names.is_empty()).then_some((*protocol, names))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TransportParameters;
    use trackbed_core::Arguments;

    #[test]
    fn every_value_is_one_that_each_of_its_protocols_takes() {
        for preset in presets() {
            for name in preset.protocols {
                let parameters = crate::find(name).unwrap().parameters();
                let value =
                    |parameter: &Parameter| Some((parameter.name, preset.value(parameter)?));
                let given: Vec<_> = parameters.iter().filter_map(value).collect();
                assert_eq!(given.len(), preset.values.len(), "{} for {name}", preset.name);
                TransportParameters::read(&Arguments::read(&parameters, &given).unwrap()).unwrap();
            }
        }
    }
}
