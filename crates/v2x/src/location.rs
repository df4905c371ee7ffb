//! Places, and the regions for which certificates are valid.

use crate::asn1::Value;

/// A place on the earth, in tenths of a microdegree (WGS 84), the unit of IEEE 1609.2 and ETSI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Degrees north times ten million, -900,000,000 to 900,000,000.
    pub latitude: i32,
    /// Degrees east times ten million, -1,799,999,999 to 1,800,000,000.
    pub longitude: i32,
}

/// Metres in a tenth of a microdegree of latitude: the earth's mean circumference, divided.
const METRES_PER_UNIT: f64 = 6_371_008.8 * std::f64::consts::PI / 1_800_000_000.0;

impl Position {
    /// The distance to `other` in metres, along a sphere (haversine): within 0.6 % of the truth.
    pub fn distance_m(&self, other: &Position) -> f64 {
        let radians = |units: i32| f64::from(units) * (std::f64::consts::PI / 1_800_000_000.0);
        let half = |from: i32, to: i32| libm::sin((radians(to) - radians(from)) / 2.0);
        let (north, east) =
            (half(self.latitude, other.latitude), half(self.longitude, other.longitude));
        let cosines = libm::cos(radians(self.latitude)) * libm::cos(radians(other.latitude));
        let h = (north * north + cosines * east * east).clamp(0.0, 1.0);
        2.0 * 6_371_008.8 * libm::asin(h.sqrt())
    }

    /// The place this many metres to the north and to the east, for distances of a few kilometres.
    pub fn moved_m(&self, north_m: f64, east_m: f64) -> Position {
        let width = libm::cos(f64::from(self.latitude) / 1e7 * std::f64::consts::PI / 180.0);
        let north = libm::round(north_m / METRES_PER_UNIT);
        let east = libm::round(east_m / (METRES_PER_UNIT * width.max(0.01)));
        Position {
            latitude: self.latitude.saturating_add(north as i32).clamp(-900_000_000, 900_000_000),
            longitude: self
                .longitude
                .saturating_add(east as i32)
                .clamp(-1_799_999_999, 1_800_000_000),
        }
    }
}

impl Position {
    /// That of a `TwoDLocation` or `ThreeDLocation`.
    pub(crate) fn of(place: &Value) -> Position {
        Position::named(place, ["latitude", "longitude"])
    }

    pub(crate) fn named(value: &Value, paths: [&str; 2]) -> Position {
        let number = |path| value.integer(path).and_then(|number| i32::try_from(number).ok());
        let [latitude, longitude] = paths.map(|path| number(path).unwrap_or_default());
        Position { latitude, longitude }
    }

    /// `None` if it is unknown, which the number after the greatest means.
    pub(crate) fn known(self) -> Option<Position> {
        (self.latitude <= 900_000_000 && self.longitude <= 1_800_000_000).then_some(self)
    }

    fn at(value: &Value, path: &str) -> Position {
        value.at(path).map(Position::of).unwrap_or_default()
    }
}

/// Whether `place` lies in `region`, a `GeographicRegion` (IEEE 1609.2 section 6.4.17). Borders of
/// countries are not known here: `countries` are the codes (UN M.49, and 65,535 for the European
/// Union) of where `place` is. A region with a drawn border may not cross the 180th meridian.
pub(crate) fn contains(region: &Value, place: &Position, countries: &[u16]) -> bool {
    match region.chosen() {
        ("circularRegion", circle) => {
            Position::at(circle, "center").distance_m(place) <= radius_m(circle)
        }
        ("rectangularRegion", Value::List(rectangles)) => {
            rectangles.iter().any(|rectangle| in_rectangle(rectangle, place))
        }
        ("polygonalRegion", Value::List(corners)) => in_polygon(corners, place),
        ("identifiedRegion", Value::List(regions)) => regions.iter().any(|region| {
            let country = region.integer("countryOnly");
            country.is_some_and(|code| countries.iter().any(|country| i64::from(*country) == code))
        }),
        _ => false,
    }
}

fn radius_m(circle: &Value) -> f64 {
    circle.integer("radius").unwrap_or_default() as f64
}

/// Whether all of `inner` lies in `outer`, if that can be decided: the same region, a circle in a
/// circle, a rectangle in a rectangle, countries among countries. Anything else counts as outside.
pub(crate) fn is_within(inner: &Value, outer: &Value) -> bool {
    match (inner.chosen(), outer.chosen()) {
        _ if inner == outer => true,
        (("circularRegion", inner), ("circularRegion", outer)) => {
            let centre = |circle| Position::at(circle, "center");
            centre(inner).distance_m(&centre(outer)) + radius_m(inner) <= radius_m(outer)
        }
        (("rectangularRegion", Value::List(inner)), ("rectangularRegion", Value::List(outer))) => {
            inner.iter().all(|inner| {
                outer.iter().any(|outer| {
                    in_rectangle(outer, &Position::at(inner, "northWest"))
                        && in_rectangle(outer, &Position::at(inner, "southEast"))
                })
            })
        }
        (("identifiedRegion", Value::List(inner)), ("identifiedRegion", Value::List(outer))) => {
            inner.iter().all(|inner| outer.iter().any(|outer| is_part(inner, outer)))
        }
        _ => false,
    }
}

fn is_part(inner: &Value, outer: &Value) -> bool {
    let ("countryOnly", Value::Integer(whole)) = outer.chosen() else { return inner == outer };
    match inner.chosen() {
        ("countryOnly", Value::Integer(country)) => country == whole,
        (_, part) => part.integer("countryOnly") == Some(*whole),
    }
}

fn in_rectangle(rectangle: &Value, place: &Position) -> bool {
    let north_west = Position::at(rectangle, "northWest");
    let south_east = Position::at(rectangle, "southEast");
    (south_east.latitude..=north_west.latitude).contains(&place.latitude)
        && (north_west.longitude..=south_east.longitude).contains(&place.longitude)
}

/// Counts the crossings of a ray to the east with the border, in integers.
fn in_polygon(corners: &[Value], place: &Position) -> bool {
    let (x, y) = (i128::from(place.longitude), i128::from(place.latitude));
    let mut inside = false;
    for (index, corner) in corners.iter().enumerate() {
        let Some(next) = corners.get((index + 1) % corners.len()) else { continue };
        let (a, b) = (Position::of(corner), Position::of(next));
        let (ax, ay) = (i128::from(a.longitude), i128::from(a.latitude));
        let (bx, by) = (i128::from(b.longitude), i128::from(b.latitude));
        if (ay > y) != (by > y) {
            let side = (bx - ax) * (y - ay) - (x - ax) * (by - ay);
            inside ^= (side > 0) == (by > ay);
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(latitude: i64, longitude: i64) -> Value {
        Value::Fields(vec![
            ("latitude", Value::Integer(latitude)),
            ("longitude", Value::Integer(longitude)),
        ])
    }

    #[test]
    fn distances_are_those_of_a_sphere() {
        let equator = Position::default();
        // A degree of the equator: 2 pi 6371.0088 km / 360.
        let degree = equator.distance_m(&Position { latitude: 0, longitude: 10_000_000 });
        assert!((degree - 111_195.08).abs() < 0.01, "{degree}");
        let north = Position { latitude: 600_000_000, longitude: 0 };
        let narrow = north.distance_m(&Position { longitude: 10_000_000, ..north });
        assert!((narrow - 55_597.0).abs() < 5.0, "half of it at 60 degrees: {narrow}");
        assert!((north.distance_m(&north.moved_m(300.0, 400.0)) - 500.0).abs() < 0.05);
    }

    #[test]
    fn a_polygon_has_an_inside_even_where_it_is_hollow() {
        // A U, open to the north.
        let corners = [(0, 0), (0, 30), (30, 30), (30, 20), (10, 20), (10, 10), (30, 10), (30, 0)]
            .map(|(latitude, longitude)| place(latitude, longitude));
        let region = Value::Fields(vec![("polygonalRegion", Value::List(corners.into()))]);
        let inside =
            |latitude, longitude| contains(&region, &Position { latitude, longitude }, &[]);
        assert!(inside(5, 15) && inside(20, 5) && inside(20, 25));
        assert!(!inside(20, 15) && !inside(-1, 15) && !inside(31, 5) && !inside(5, 31));
    }

    #[test]
    fn what_lies_within_is_told_only_where_it_is_sure() {
        let circle = |radius| {
            let centre = place(500_000_000, 80_000_000);
            let fields = vec![("center", centre), ("radius", Value::Integer(radius))];
            Value::Fields(vec![("circularRegion", Value::Fields(fields))])
        };
        assert!(is_within(&circle(900), &circle(1_000)));
        assert!(!is_within(&circle(1_001), &circle(1_000)));
        let countries = |codes: &[i64]| {
            let one = |code: &i64| Value::Fields(vec![("countryOnly", Value::Integer(*code))]);
            Value::Fields(vec![("identifiedRegion", Value::List(codes.iter().map(one).collect()))])
        };
        assert!(is_within(&countries(&[276]), &countries(&[250, 276])));
        assert!(!is_within(&countries(&[276, 756]), &countries(&[250, 276])));
        assert!(!is_within(&circle(1), &countries(&[276])));
    }
}
