//! The floors of the crates, as ARCHITECTURE.md lists them, and what manifests depend on.

use std::collections::BTreeMap;

/// The rows `| floor | crates | ... |` of the first table: crate names in backquotes.
pub fn of_table(text: &str) -> BTreeMap<String, u8> {
    let mut floors = BTreeMap::new();
    for line in text.lines() {
        let mut columns = line.trim_matches('|').split('|').map(str::trim);
        let (Some(floor), Some(name)) = (columns.next(), columns.next()) else { continue };
        let Ok(floor) = floor.parse() else { continue };
        floors.insert(name.trim_matches('`').to_owned(), floor);
    }
    floors
}

/// The crates of ours that a manifest names under `[dependencies]`.
pub fn dependencies(manifest: &str) -> Vec<String> {
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let Some(table) = manifest.get("dependencies").and_then(toml::Value::as_table) else {
        return Vec::new();
    };
    table.keys().filter_map(|name| name.strip_prefix("trackbed-")).map(str::to_owned).collect()
}
