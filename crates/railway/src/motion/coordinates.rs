//! Geographic coordinates.

use crate::motion::MotionError;

/// The mean radius of the Earth in metres (IUGG), as a sphere. Distances are wrong by at most 0.5 %, and by
/// less than a metre between neighbouring points of a track.
pub const EARTH_RADIUS_M: f64 = 6_371_008.8;

/// A latitude and a longitude (WGS 84), in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinates {
    latitude_deg: f64,
    longitude_deg: f64,
}

impl Coordinates {
    /// The place at this latitude and longitude, in degrees: north and east are positive.
    ///
    /// # Errors
    /// If the latitude is not between -90 and 90, or the longitude not between -180 and 180.
    pub fn new(latitude_deg: f64, longitude_deg: f64) -> Result<Coordinates, MotionError> {
        if !(-90.0..=90.0).contains(&latitude_deg) {
            return Err(MotionError::new(format!(
                "latitude {latitude_deg} is not between -90 and 90; write degrees with decimals, \
                 north positive"
            )));
        }
        if !(-180.0..=180.0).contains(&longitude_deg) {
            return Err(MotionError::new(format!(
                "longitude {longitude_deg} is not between -180 and 180; write degrees with \
                 decimals, east positive"
            )));
        }
        Ok(Coordinates { latitude_deg, longitude_deg })
    }

    /// Degrees north of the equator.
    pub fn latitude_deg(self) -> f64 {
        self.latitude_deg
    }

    /// Degrees east of Greenwich.
    pub fn longitude_deg(self) -> f64 {
        self.longitude_deg
    }

    /// The length of the great circle to `other`, in metres (haversine formula).
    pub fn distance_m(self, other: Coordinates) -> f64 {
        let (from, to) = (self.latitude_deg.to_radians(), other.latitude_deg.to_radians());
        let north = libm::sin((to - from) / 2.0);
        let east = libm::sin((other.longitude_deg - self.longitude_deg).to_radians() / 2.0);
        let half_chord = north * north + libm::cos(from) * libm::cos(to) * east * east;
        2.0 * EARTH_RADIUS_M * libm::asin(half_chord.sqrt().min(1.0))
    }

    /// Metres east and north from here to `other`, on a plane (equirectangular, at the mean latitude). For
    /// places a few kilometres apart.
    pub fn offset_m(self, other: Coordinates) -> (f64, f64) {
        let middle = (self.latitude_deg + other.latitude_deg) / 2.0;
        let east = wrapped(other.longitude_deg - self.longitude_deg).to_radians();
        let north = (other.latitude_deg - self.latitude_deg).to_radians();
        (EARTH_RADIUS_M * east * libm::cos(middle.to_radians()), EARTH_RADIUS_M * north)
    }

    /// The place `east` metres east and `north` metres north of here, for at most a few kilometres.
    #[must_use]
    pub fn shifted_m(self, east: f64, north: f64) -> Coordinates {
        let latitude =
            (self.latitude_deg + (north / EARTH_RADIUS_M).to_degrees()).clamp(-90.0, 90.0);
        let middle = (self.latitude_deg + latitude) / 2.0;
        let shrink = libm::cos(middle.to_radians()).max(1e-9);
        let longitude = self.longitude_deg + (east / (EARTH_RADIUS_M * shrink)).to_degrees();
        Coordinates { latitude_deg: latitude, longitude_deg: wrapped(longitude) }
    }

    /// The distance to `other` on the plane of [`Coordinates::offset_m`].
    pub fn plane_distance_m(self, other: Coordinates) -> f64 {
        let (east, north) = self.offset_m(other);
        (east * east + north * north).sqrt()
    }

    /// The place at a share of the distance to `other`, for places a few kilometres apart.
    pub(crate) fn between(self, other: Coordinates, share: f64) -> Coordinates {
        let east = wrapped(other.longitude_deg - self.longitude_deg);
        Coordinates {
            latitude_deg: self.latitude_deg + share * (other.latitude_deg - self.latitude_deg),
            longitude_deg: wrapped(self.longitude_deg + share * east),
        }
    }
}

/// Degrees of longitude within -180 and 180.
fn wrapped(degrees: f64) -> f64 {
    match degrees {
        inside if (-180.0..=180.0).contains(&inside) => inside,
        outside => libm::fmod(libm::fmod(outside + 180.0, 360.0) + 360.0, 360.0) - 180.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(latitude: f64, longitude: f64) -> Coordinates {
        Coordinates::new(latitude, longitude).unwrap()
    }

    /// A degree of a great circle is 2 pi R / 360; a quarter of the globe is pi R / 2; and on the
    /// 60th parallel a degree of longitude is half as long as on the equator.
    #[test]
    fn distances_are_arcs_of_the_sphere() {
        let degree = std::f64::consts::PI * EARTH_RADIUS_M / 180.0;
        assert!((at(0.0, 0.0).distance_m(at(0.0, 1.0)) - degree).abs() < 1e-6);
        assert!((at(10.0, 20.0).distance_m(at(11.0, 20.0)) - degree).abs() < 1e-6);
        assert!((at(0.0, 0.0).distance_m(at(90.0, 77.0)) - 90.0 * degree).abs() < 1e-3);
        let parallel = at(60.0, 0.0).plane_distance_m(at(60.0, 0.01));
        assert!((parallel - degree / 200.0).abs() < 1e-6, "{parallel}");
        assert_eq!(at(0.0, 179.9).offset_m(at(0.0, -179.9)).0.round(), 22239.0);
    }

    /// Paris to London is about 344 km (the towns' centres); both formulas agree close by.
    #[test]
    fn the_plane_and_the_sphere_agree_close_by() {
        let (paris, london) = (at(48.8566, 2.3522), at(51.5074, -0.1278));
        assert!((paris.distance_m(london) - 343_556.0).abs() < 200.0);
        for (east, north) in
            [(0.0, 5_000.0), (3_000.0, 4_000.0), (4_000.0, -3_000.0), (-5_000.0, 0.0)]
        {
            let there = paris.shifted_m(east, north);
            let back = paris.offset_m(there);
            assert!((back.0 - east).abs() < 1e-6 && (back.1 - north).abs() < 1e-6, "{back:?}");
            assert!((paris.plane_distance_m(there) - 5_000.0).abs() < 1e-6);
            assert!((paris.distance_m(there) - 5_000.0).abs() < 0.01);
        }
    }

    #[test]
    fn places_that_are_none_are_refused_with_advice() {
        for (latitude, longitude, part) in
            [(91.0, 0.0, "latitude 91"), (f64::NAN, 0.0, "latitude NaN"), (0.0, -181.0, "east")]
        {
            let error = Coordinates::new(latitude, longitude).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
