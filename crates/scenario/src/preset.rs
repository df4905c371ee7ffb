//! The table `[preset]`: values of other software, used where the scenario does not set a key.

use std::sync::LazyLock;

use trackbed_core::parameter::{Kind, Parameter};
use trackbed_protocols::{Preset, Protocol, presets, presets_by_protocol};

use crate::field::Field;
use crate::spec::Selected;

pub(crate) const SECTION: &str = "preset";

/// In place of a preset's name: the built-in defaults.
const NONE: &str = "none";

/// A protocol with presets.
struct Entry {
    protocol: &'static str,
    /// The dotted path of its key.
    path: String,
    names: Vec<&'static str>,
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let entry = |(protocol, mut names): (&dyn Protocol, Vec<&'static str>)| {
        names.push(NONE);
        Entry { protocol: protocol.name(), path: format!("{SECTION}.{}", protocol.name()), names }
    };
    presets_by_protocol().map(entry).collect()
});

pub(crate) fn fields() -> Vec<Field> {
    let field = |entry: &'static Entry| {
        Field::swept(&Parameter::optional(entry.protocol, Kind::Choice(&entry.names), HELP))
    };
    ENTRIES.iter().map(field).collect()
}

pub(crate) fn is_key(path: &str) -> bool {
    path.split_once('.').is_some_and(|(table, _)| table == SECTION)
}

/// The preset that a combination has for `protocol`.
pub(crate) fn chosen(at: Selected<'_>, protocol: &dyn Protocol) -> Option<&'static Preset> {
    let entry = ENTRIES.iter().find(|entry| entry.protocol == protocol.name())?;
    let name = at.word(&entry.path)?;
    presets().iter().find(|preset| preset.name == name)
}

pub(crate) fn ignored(protocol: &dyn Protocol) -> impl Iterator<Item = &'static str> {
    let others = ENTRIES.iter().filter(move |entry| entry.protocol != protocol.name());
    others.map(|entry| entry.path.as_str())
}

const HELP: &str = "the software whose defaults this protocol uses; keys set in the scenario \
                    override them";
