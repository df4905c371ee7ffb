//! Tables as GeoJSON (RFC 7946): a feature for the track, one for each range, and one for the signal of each
//! operator. Other data is in foreign members and properties; the schema is [`SCHEMA`].

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::motion::{Coordinates, Direction, Track};
use serde::{Deserialize, Serialize};

use crate::handover::error::HandoverError;
use crate::handover::signal::Signal;
use crate::handover::table::{OperatorRanges, Range, Sighting, Table, index};

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
    features: Vec<serde_json::Value>,
}

#[derive(Serialize, Deserialize)]
struct Rides {
    forward: u32,
    backward: u32,
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
        from_m: f64,
        until_m: f64,
        rides: u32,
        last_ride: u32,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sightings: Vec<(u32, f64, f64)>,
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
        let document = Document {
            r#type: "FeatureCollection".to_owned(),
            trackbed_handover_table: VERSION,
            margin_m: self.margin_m,
            rides: Rides { forward: self.rides[0], backward: self.rides[1] },
            operators: self.operators.keys().cloned().collect(),
            features: Vec::new(),
        };
        let mut lines = vec![line(self.track.points(), track_properties(&self.track))];
        for (name, operator) in &self.operators {
            for direction in Direction::BOTH {
                for range in &operator.ranges[index(direction)] {
                    let piece = self.track.piece(range.from_m, range.until_m);
                    lines.push(line(&piece, range_properties(name, direction, range)));
                }
            }
            if let Some(signal) = &operator.signal {
                lines.push(line(self.track.points(), signal_properties(name, signal)));
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
        let margin_m = document.margin_m;
        Reader::new(document)?.table(margin_m)
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

struct Reader {
    track: Arc<Track>,
    rides: [u32; 2],
    operators: BTreeMap<String, OperatorRanges>,
    /// The features except the track, each with its place.
    features: Vec<(String, Properties)>,
}

impl Reader {
    fn new(document: Document) -> Result<Reader, HandoverError> {
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
        let names = document.operators.iter();
        let operators: BTreeMap<_, _> =
            names.map(|name| (name.clone(), OperatorRanges::default())).collect();
        if operators.len() < document.operators.len() || operators.contains_key("") {
            let advice = "an operator without a name, or listed twice; list each one once";
            return Err(HandoverError::invalid("operators", advice));
        }
        let rides = [document.rides.forward, document.rides.backward];
        Ok(Reader { track: Arc::new(track), rides, operators, features })
    }

    fn table(mut self, margin_m: f64) -> Result<Table, HandoverError> {
        for (place, properties) in std::mem::take(&mut self.features) {
            self.take(properties).map_err(|why| HandoverError::invalid(place, why))?;
        }
        for ranges in self.operators.values_mut().flat_map(|operator| &mut operator.ranges) {
            ranges.sort_by(|one, other| one.from_m.total_cmp(&other.from_m));
        }
        let Reader { track, rides, operators, .. } = self;
        Table { track, margin_m, rides, operators }.check()
    }

    fn take(&mut self, properties: Properties) -> Result<(), String> {
        let length_m = self.track.length_m();
        match properties {
            Properties::Track { .. } => {}
            Properties::Range {
                operator,
                direction,
                from_m,
                until_m,
                rides,
                last_ride,
                sightings,
            } => {
                let direction: Direction = direction.parse().map_err(said)?;
                let sightings = sightings.into_iter();
                let sightings =
                    sightings.map(|(ride, from_m, until_m)| Sighting { ride, from_m, until_m });
                let sightings = sightings.collect();
                let range = Range { from_m, until_m, rides, last_ride, sightings };
                range.check(length_m, self.rides[index(direction)])?;
                self.operator(&operator)?.ranges[index(direction)].push(range);
            }
            Properties::Signal { operator, step_m, rsrp_dbm, samples } => {
                let signal = Signal::read(step_m, &rsrp_dbm, &samples, length_m)?;
                self.operator(&operator)?.signal = Some(signal);
            }
        }
        Ok(())
    }

    fn operator(&mut self, name: &str) -> Result<&mut OperatorRanges, String> {
        let known = self.operators.keys().cloned().collect();
        let unknown = HandoverError::UnknownOperator { name: name.to_owned(), known };
        self.operators.get_mut(name).ok_or_else(|| unknown.to_string())
    }
}

fn said(why: crate::motion::MotionError) -> String {
    why.to_string()
}

fn track(place: &str, geometry: &Geometry, length_m: f64) -> Result<Track, HandoverError> {
    let refuse = |why: String| HandoverError::invalid(place, why);
    if geometry.r#type != "LineString" {
        return Err(refuse(format!("a track cannot be a {}; write a LineString", geometry.r#type)));
    }
    let points = geometry.coordinates.iter().map(|position| match position[..] {
        [longitude, latitude, ..] => Coordinates::new(latitude, longitude),
        _ => Err(crate::motion::MotionError::new("a position needs longitude and latitude")),
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

fn track_properties(track: &Track) -> Properties {
    Properties::Track { length_m: track.length_m() }
}

fn range_properties(operator: &str, direction: Direction, range: &Range) -> Properties {
    let row = |sighting: &Sighting| (sighting.ride, sighting.from_m, sighting.until_m);
    Properties::Range {
        operator: operator.to_owned(),
        direction: direction.name().to_owned(),
        from_m: range.from_m,
        until_m: range.until_m,
        rides: range.rides,
        last_ride: range.last_ride,
        sightings: range.sightings.iter().map(row).collect(),
    }
}

fn signal_properties(operator: &str, signal: &Signal) -> Properties {
    Properties::Signal {
        operator: operator.to_owned(),
        step_m: Signal::STEP_M,
        rsrp_dbm: signal.rsrp_dbm().collect(),
        samples: signal.samples().collect(),
    }
}

fn json_error(why: &serde_json::Error) -> HandoverError {
    let place = format!("line {} column {}", why.line(), why.column());
    HandoverError::invalid(place, format!("{why}; see docs/handover-table.schema.json"))
}
