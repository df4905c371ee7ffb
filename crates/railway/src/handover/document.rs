//! Tables as GeoJSON (RFC 7946): a feature for the track, one for each range, and one for the signal of each
//! operator. Other data is in foreign members and properties; the schema is [`SCHEMA`].

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::motion::{Coordinates, Direction, MotionError, Track};
use serde::{Deserialize, Serialize};

use crate::handover::HandoverError;
use crate::handover::signal::Signal;
use crate::handover::table::{OperatorRanges, Range, Table};

/// The JSON Schema of tables.
pub const SCHEMA: &str = include_str!("../../../../docs/handover-table.schema.json");

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Document {
    r#type: String,
    trackbed_handover_table: u32,
    margin_m: f64,
    rides: Rides,
    operators: Vec<String>,
    /// Of operators with fewer rides.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    operator_rides: BTreeMap<String, Rides>,
    features: Vec<serde_json::Value>,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Rides {
    forward: u32,
    backward: u32,
}

impl Rides {
    fn of([forward, backward]: [u32; 2]) -> Rides {
        Rides { forward, backward }
    }
}

#[derive(Serialize, Deserialize)]
struct Feature {
    r#type: String,
    geometry: Geometry,
    properties: Properties,
}

#[derive(Serialize, Deserialize)]
struct Geometry {
    r#type: String,
    coordinates: Vec<Vec<f64>>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Properties {
    Track {
        length_m: f64,
    },
    Range {
        operator: String,
        direction: String,
        #[serde(flatten)]
        range: Range,
    },
    Signal {
        operator: String,
        step_m: f64,
        rsrp_dbm: Vec<Option<f64>>,
        samples: Vec<u32>,
    },
}

impl Table {
    /// The table as GeoJSON text, with one feature per line.
    pub fn to_text(&self) -> String {
        let all = Rides::of(Direction::BOTH.map(|direction| self.rides(direction)));
        let own = self.operators.iter().map(|(name, own)| (name.clone(), Rides::of(own.rides)));
        let document = Document {
            r#type: "FeatureCollection".to_owned(),
            trackbed_handover_table: VERSION,
            margin_m: self.margin_m,
            rides: all,
            operators: self.operators.keys().cloned().collect(),
            operator_rides: own.filter(|(_, own)| *own != all).collect(),
            features: Vec::new(),
        };
        let properties = Properties::Track { length_m: self.track.length_m() };
        let mut lines = vec![line(self.track.points(), properties)];
        for (name, ranges) in &self.operators {
            for direction in Direction::BOTH {
                for range in &ranges.ranges[direction as usize] {
                    let piece = self.track.piece(range.from_m, range.until_m);
                    let properties = Properties::Range {
                        operator: name.clone(),
                        direction: direction.name().to_owned(),
                        range: range.clone(),
                    };
                    lines.push(line(&piece, properties));
                }
            }
            if let Some(signal) = &ranges.signal {
                let properties = Properties::Signal {
                    operator: name.clone(),
                    step_m: Signal::STEP_M,
                    rsrp_dbm: signal.rsrp_dbm().collect(),
                    samples: signal.samples().collect(),
                };
                lines.push(line(self.track.points(), properties));
            }
        }
        // Serialising plain data to memory cannot fail.
        let head = serde_json::to_string(&document).unwrap_or_default();
        let head = head.strip_suffix("[]}").unwrap_or(&head);
        format!("{head}[\n{}\n]}}\n", lines.join(",\n"))
    }

    /// Parses the text of a table.
    ///
    /// # Errors
    /// If it is not GeoJSON, not a table, has another version, or is inconsistent; the message names the place.
    pub fn parse(text: &str) -> Result<Table, HandoverError> {
        let version = Version::of(text)?;
        if version != VERSION {
            let advice = format!(
                "unsupported version {version} of handover tables (supported: {VERSION}); build the \
                 table again, or use the program that wrote it"
            );
            return Err(HandoverError::invalid("trackbed_handover_table", advice));
        }
        let document: Document = serde_json::from_str(text).map_err(|why| json_error(&why))?;
        if document.r#type != "FeatureCollection" {
            let advice = format!("\"{}\"; write FeatureCollection", document.r#type);
            return Err(HandoverError::invalid("type", advice));
        }
        let (mut table, features) = Table::without_ranges(document)?;
        for (place, properties) in features {
            table.take(properties).map_err(|why| HandoverError::invalid(place, why))?;
        }
        for ranges in table.operators.values_mut().flat_map(|operator| &mut operator.ranges) {
            ranges.sort_by(|one, other| one.from_m.total_cmp(&other.from_m));
        }
        table.check()
    }

    /// The table before its ranges and signals, and the features with these, each with its place.
    fn without_ranges(
        document: Document,
    ) -> Result<(Table, Vec<(String, Properties)>), HandoverError> {
        let (mut tracks, mut features) = (Vec::new(), Vec::new());
        for (number, value) in document.features.into_iter().enumerate() {
            let place = format!("features[{number}]");
            let feature: Feature = serde_json::from_value(value).map_err(|why| {
                let advice = format!("{why}; see docs/handover-table.schema.json");
                HandoverError::invalid(&place, advice)
            })?;
            match feature.properties {
                Properties::Track { length_m } => {
                    tracks.push(track(&place, &feature.geometry, length_m)?);
                }
                properties => features.push((place, properties)),
            }
        }
        let (Some(track), 1) = (tracks.pop(), tracks.len() + 1) else {
            let advice = "there must be exactly one feature with role \"track\"";
            return Err(HandoverError::invalid("features", advice));
        };
        let own = |name: &String| {
            let Rides { forward, backward } =
                *document.operator_rides.get(name).unwrap_or(&document.rides);
            let ranges = OperatorRanges { rides: [forward, backward], ..Default::default() };
            (name.clone(), ranges)
        };
        let operators: BTreeMap<_, _> = document.operators.iter().map(own).collect();
        if operators.len() < document.operators.len() || operators.contains_key("") {
            let advice = "an operator without a name, or listed twice; list each one once";
            return Err(HandoverError::invalid("operators", advice));
        }
        let margin_m = document.margin_m;
        Ok((Table { track: Arc::new(track), margin_m, operators }, features))
    }

    fn take(&mut self, properties: Properties) -> Result<(), String> {
        let length_m = self.track.length_m();
        match properties {
            Properties::Track { .. } => {}
            Properties::Range { operator, direction, range } => {
                let direction: Direction =
                    direction.parse().map_err(|why: MotionError| why.to_string())?;
                let operator = self.operator_mut(operator)?;
                range.check(length_m, operator.rides[direction as usize])?;
                operator.ranges[direction as usize].push(range);
            }
            Properties::Signal { operator, step_m, rsrp_dbm, samples } => {
                let signal = Signal::read(step_m, &rsrp_dbm, &samples, length_m)?;
                self.operator_mut(operator)?.signal = Some(signal);
            }
        }
        Ok(())
    }

    fn operator_mut(&mut self, name: String) -> Result<&mut OperatorRanges, String> {
        self.operator(&name).map_err(|unknown| unknown.to_string())?;
        Ok(self.operators.entry(name).or_default())
    }
}

/// Read first, so that the version of an unsupported table is reported whatever else it contains.
#[derive(Deserialize)]
struct Version {
    trackbed_handover_table: Option<u32>,
}

impl Version {
    fn of(text: &str) -> Result<u32, HandoverError> {
        let head: Version = serde_json::from_str(text).map_err(|why| json_error(&why))?;
        head.trackbed_handover_table.ok_or_else(|| {
            let advice =
                "no such member: this is not a handover table; trackbed handover build creates one";
            HandoverError::invalid("trackbed_handover_table", advice)
        })
    }
}

fn track(place: &str, geometry: &Geometry, length_m: f64) -> Result<Track, HandoverError> {
    let refuse = |why: String| HandoverError::invalid(place, why);
    if geometry.r#type != "LineString" {
        return Err(refuse(format!("a track cannot be a {}; write a LineString", geometry.r#type)));
    }
    let points = geometry.coordinates.iter().map(|position| match position[..] {
        [longitude, latitude, ..] => Coordinates::new(latitude, longitude),
        _ => Err(MotionError::new("a position needs longitude and latitude")),
    });
    let points = points.collect::<Result<Vec<_>, _>>().map_err(|why| refuse(why.to_string()))?;
    let track = Track::through(points).map_err(|why| refuse(why.to_string()))?;
    let apart = (track.length_m() - length_m).abs();
    match apart <= 1.0 + length_m.abs() / 1_000.0 {
        true => Ok(track),
        _ => Err(refuse(format!(
            "the line is {:.0} m long, but length_m is {length_m} m; the line was changed, so its \
             chainages are invalid",
            track.length_m()
        ))),
    }
}

fn line(points: &[Coordinates], properties: Properties) -> String {
    let position = |point: &Coordinates| vec![point.longitude_deg(), point.latitude_deg()];
    let coordinates = points.iter().map(position).collect();
    let geometry = Geometry { r#type: "LineString".to_owned(), coordinates };
    let feature = Feature { r#type: "Feature".to_owned(), geometry, properties };
    serde_json::to_string(&feature).unwrap_or_default()
}

fn json_error(why: &serde_json::Error) -> HandoverError {
    let place = format!("line {} column {}", why.line(), why.column());
    HandoverError::invalid(place, format!("{why}; see docs/handover-table.schema.json"))
}
