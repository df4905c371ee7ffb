//! Base stations and their operators.

use std::ops::Range;
use std::time::Duration;

use crate::motion::{Coordinates, MotionError, Track};
use trackbed_core::Bitrate;
use trackbed_core::text::Table;

/// A base station with one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// The name of its cell.
    pub cell: String,
    /// Its chainage along the track, in metres.
    pub chainage_m: f64,
    /// Its coordinates.
    pub coordinates: Coordinates,
}

/// An operator with its stations, and the properties of a train's link over them.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    /// Its name.
    pub name: String,
    /// Its stations, by chainage.
    pub stations: Vec<Station>,
    /// The maximum rate of the link.
    pub rate: Bitrate,
    /// The one-way delay of the undisturbed link.
    pub delay: Duration,
}

/// Evenly spaced stations: the first one `first_m` after the beginning of the track, all of them `offset_m` to
/// its left.
pub(crate) fn row(
    track: &Track,
    operator: &str,
    first_m: f64,
    spacing_m: f64,
    offset_m: f64,
) -> Vec<Station> {
    // One station before the beginning and one beyond the end, so that the train never reaches an edge of the
    // network.
    let count = ((track.length_m() - first_m) / spacing_m).floor().max(0.0) as i64;
    let station = |number: i64| {
        let chainage_m = first_m + spacing_m * number as f64;
        let cell = format!("{operator}{}", number + 2);
        Station { cell, chainage_m, coordinates: track.beside(chainage_m, offset_m) }
    };
    (-1..=count + 1).map(station).collect()
}

/// Parses stations from a table with the columns `operator` and `cell`, and either `chainage_m` and `offset_m`
/// or `latitude` and `longitude`. Operators are in the order of their first lines.
pub(crate) fn parse(text: &str, track: &Track) -> Result<Vec<(String, Vec<Station>)>, MotionError> {
    let table = Table::parse(text)?;
    let (operator, cell) = (table.need(&["operator"])?, table.need(&["cell"])?);
    let along = table.column(&["chainage_m"]).zip(table.column(&["offset_m"]));
    let need = |name: &str, other: &str| table.need(&[name, other]);
    let geographic = match along {
        Some(_) => None,
        None => Some((need("latitude", "chainage_m")?, need("longitude", "offset_m")?)),
    };
    let mut operators: Vec<(String, Vec<Station>)> = Vec::new();
    for row in table.rows() {
        let refuse = |why: String| MotionError::new(why).in_line(row.line());
        let name =
            row.text(operator).ok_or_else(|| refuse("no operator; write its name".into()))?;
        let cell = row.text(cell).ok_or_else(|| refuse("no cell; write its name".into()))?;
        let reserved = |name: &&str| name.contains([',', ';', '=']);
        if let Some(name) = [name, cell].into_iter().find(reserved) {
            return Err(refuse(format!("\"{name}\" contains one of , ; = ; choose another name")));
        }
        let (chainage_m, coordinates) = match (along, geographic) {
            (Some((chainage, offset)), _) => {
                let chainage_m = row.number(chainage)?;
                (chainage_m, track.beside(chainage_m, row.number(offset)?))
            }
            (None, Some((latitude, longitude))) => {
                let place = Coordinates::new(row.number(latitude)?, row.number(longitude)?);
                let place = place.map_err(|why| why.in_line(row.line()))?;
                (track.project(place).chainage_m, place)
            }
            (None, None) => return Err(refuse("no position; write its chainage".into())),
        };
        let known = operators.iter().position(|(other, _)| other == name);
        let index = known.unwrap_or(operators.len());
        if known.is_none() {
            operators.push((name.to_owned(), Vec::new()));
        }
        let stations = &mut operators[index].1;
        if stations.iter().any(|station| station.cell == cell) {
            return Err(refuse(format!("cell {cell} of {name} occurs twice; keep one of them")));
        }
        stations.push(Station { cell: cell.to_owned(), chainage_m, coordinates });
    }
    if operators.is_empty() {
        return Err(MotionError::new("there is no station; write a line for each"));
    }
    for (_, stations) in &mut operators {
        stations.sort_by(|one, other| one.chainage_m.total_cmp(&other.chainage_m));
    }
    Ok(operators)
}

/// The range of stations, by number, that are audible at a chainage.
pub(crate) fn heard(operator: &Operator, chainage_m: f64) -> Range<usize> {
    let behind = operator.stations.partition_point(|station| station.chainage_m <= chainage_m);
    let until = (behind + HEARD_EACH_SIDE).min(operator.stations.len());
    behind.saturating_sub(HEARD_EACH_SIDE)..until
}

/// The piece of track along which a station is audible.
pub(crate) fn audible(operator: &Operator, station: usize, length_m: f64) -> (f64, f64) {
    let at = |index: Option<usize>, otherwise: f64| {
        let station = index.and_then(|index| operator.stations.get(index));
        station.map_or(otherwise, |station| station.chainage_m.clamp(0.0, length_m))
    };
    let from = at(station.checked_sub(HEARD_EACH_SIDE), 0.0);
    (from, at(station.checked_add(HEARD_EACH_SIDE), length_m))
}

/// The number of audible stations on either side of the train.
const HEARD_EACH_SIDE: usize = 3;
