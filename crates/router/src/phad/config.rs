//! The configuration file, which has the options of the command line.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The contents of a file; the command line overrides it. Times and lengths are text with a unit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The file of the handover table.
    pub table: Option<PathBuf>,
    /// The maximum age of that file.
    pub table_age_max: Option<String>,
    /// The operators of the table, each with an interface, an address, or `id:NUMBER`.
    #[serde(default)]
    pub operators: toml::Table,
    /// gpsd's host and port.
    pub gpsd: Option<String>,
    /// A receiver that speaks NMEA.
    pub nmea: Option<PathBuf>,
    /// The age of positions on arrival.
    pub position_age: Option<String>,
    /// How long before a range its operator becomes a backup.
    pub lead: Option<String>,
    /// How long before the end of a range the flag is cleared.
    pub release_lead: Option<String>,
    /// How long a position is extrapolated.
    pub fix_timeout: Option<String>,
    /// The maximum distance of positions from the track.
    pub off_track: Option<String>,
    /// The maximum time for which an operator may be a backup without interruption.
    pub hold_max: Option<String>,
    /// The file that records flags.
    pub state: Option<PathBuf>,
    /// The address for Prometheus.
    pub metrics: Option<String>,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or contains an unknown key; the message names the file and the line.
    pub fn read(path: &Path) -> Result<Config, String> {
        let named = |why: String| format!("{}: {why}", path.display());
        let text = fs::read_to_string(path).map_err(|why| named(why.to_string()))?;
        Config::parse(&text).map_err(named)
    }

    fn parse(text: &str) -> Result<Config, String> {
        let config: Config = toml::from_str(text).map_err(|why| why.to_string())?;
        match config.operators.iter().find(|(_, place)| !place.is_str()) {
            Some((name, _)) => {
                Err(format!("operator \"{name}\" has no interface; write {name} = \"INTERFACE\""))
            }
            None => Ok(config),
        }
    }

    /// The operators in the syntax of the command line.
    pub fn operators(&self) -> Vec<String> {
        let pairs = self.operators.iter();
        pairs.filter_map(|(name, place)| Some(format!("{name}={}", place.as_str()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_the_command_line_can_say_in_its_order() {
        let config = Config::parse(
            "table = \"line.geojson\"\nlead = \"250 ms\"\n[operators]\nB = \"wwan1\"\nA = \"id:3\"\n",
        );
        let config = config.unwrap();
        assert_eq!(config.operators(), ["B=wwan1", "A=id:3"]);
        assert_eq!(config.lead.as_deref(), Some("250 ms"));
    }

    #[test]
    fn what_is_unknown_is_refused_with_its_line() {
        let error = Config::parse("leed = \"250 ms\"\n").unwrap_err();
        assert!(error.contains("line 1") && error.contains("leed"), "{error}");
        let error = Config::parse("[operators]\nA = 3\n").unwrap_err();
        assert!(error.contains("\"A\""), "{error}");
    }
}
