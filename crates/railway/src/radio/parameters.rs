//! The parameters of a railway.

use std::sync::Arc;
use std::time::Duration;

use crate::motion::quantity::{self, parse_length_m};
use crate::motion::{DriveLog, GpsModel, MotionError, SpeedProfile, Track};
use trackbed_core::units::parse_duration;
use trackbed_core::{Arguments, Bitrate, Parameter, Ratio, Seed, parameters};

use crate::radio::RadioError;
use crate::radio::event::EventA3;
use crate::radio::profile::Profile;
use crate::radio::propagation::{PathLoss, Propagation};
use crate::radio::railway::{Measurement, Railway};
use crate::radio::shadowing::{Landscape, Shadowing};
use crate::radio::station::{self, Operator, audible};

impl Railway {
    /// The railway that the values of [`PARAMETERS`] describe. Files are not read here: the arguments contain
    /// their contents instead of their paths.
    ///
    /// # Errors
    /// If a value is invalid, or values contradict each other.
    pub fn read(arguments: &Arguments) -> Result<Railway, RadioError> {
        let profile = Profile::find(arguments.need::<&str>("profile"));
        let profile = profile.expect("the parameter offers the profiles there are");
        let (track, skipped) = track(arguments)?;
        let track = Arc::new(track);
        let speed = speed(arguments)?;
        let operators: Arc<[Operator]> = operators(arguments, &track)?.into();
        let interruption = interruption(arguments, &operators, &speed)?;
        let propagation = propagation(arguments, profile)?;
        let period: Duration = arguments.need("measurement-period");
        if period < Duration::from_millis(1) {
            let advice = "too short; write at least \"1 ms\"";
            return Err(RadioError::new("measurement-period", advice));
        }
        let filter: u64 = arguments.need("filter");
        let filter = u32::try_from(filter).ok().filter(|k| *k <= 19).ok_or_else(|| {
            RadioError::new("filter", format!("{filter} is not a valid coefficient; write 0 to 19"))
        })?;
        let event = EventA3 {
            offset_db: decibels(arguments, "a3-offset")?.unwrap_or_default(),
            hysteresis_db: decibels(arguments, "hysteresis")?.unwrap_or_default(),
            time_to_trigger: arguments.need("time-to-trigger"),
        };
        let place = Seed::of_run(arguments.need("landscape"), 0).child("landscape");
        let landscapes = landscapes(&operators, &propagation.shadowing, track.length_m(), &place);
        Ok(Railway {
            track,
            skipped,
            speed,
            gps: gps(arguments)?,
            profile,
            interruption,
            operators,
            propagation,
            measurement: Measurement { period, filter },
            event,
            forwarding: arguments.need("forwarding"),
            landscapes,
            place,
        })
    }
}

/// The track, and what of its file was not read.
fn track(arguments: &Arguments) -> Result<(Track, String), RadioError> {
    let track = match arguments.get::<Arc<str>>("track") {
        Some(text) => DriveLog::parse(&text, &[])
            .and_then(|log| Ok((Track::of_log(&log)?, log.skipped())))
            .map_err(RadioError::of("track"))?,
        None => {
            let straight = Track::straight(length(arguments, "length")?);
            (straight.map_err(RadioError::of("length"))?, String::new())
        }
    };
    Ok(track)
}

fn speed(arguments: &Arguments) -> Result<SpeedProfile, RadioError> {
    match arguments.get::<Arc<str>>("speed-profile") {
        Some(text) => SpeedProfile::parse_csv(&text).map_err(RadioError::of("speed-profile")),
        None => arguments.need::<String>("speed").parse().map_err(RadioError::of("speed")),
    }
}

fn gps(arguments: &Arguments) -> Result<GpsModel, RadioError> {
    let sigma_m = length(arguments, "gps-error")?;
    if !(0.0..=10_000.0).contains(&sigma_m) {
        return Err(RadioError::new("gps-error", "write a length from \"0 m\" to \"10 km\""));
    }
    let correlation = arguments.need("gps-correlation");
    Ok(GpsModel { sigma_m, correlation, lag: arguments.need("gps-lag") })
}

fn operators(arguments: &Arguments, track: &Track) -> Result<Vec<Operator>, RadioError> {
    let delays = arguments.need::<String>("delays");
    let delays = delays.split(',').map(|delay| parse_duration(delay.trim()));
    let delays: Result<Vec<Duration>, _> = delays.collect();
    let delays = delays.map_err(|why| RadioError::new("delays", why.to_string()))?;
    let delay = |number: usize| delays[number.min(delays.len() - 1)];
    let rate: Bitrate = arguments.need("rate");
    let named = match arguments.get::<Arc<str>>("stations") {
        Some(text) => station::parse(&text, track).map_err(RadioError::of("stations"))?,
        None => rows(arguments, track)?,
    };
    let operator =
        |(number, (name, stations))| Operator { name, stations, rate, delay: delay(number) };
    Ok(named.into_iter().enumerate().map(operator).collect())
}

type Named = Vec<(String, Vec<station::Station>)>;

/// Two operators; the stations of the second one are shifted.
fn rows(arguments: &Arguments, track: &Track) -> Result<Named, RadioError> {
    let (spacing, offset) = (length(arguments, "spacing")?, length(arguments, "distance")?);
    let shift = length(arguments, "shift")?;
    if spacing < SPACING_MIN_M {
        let advice = "the stations are too close; write \"50 m\" or more";
        return Err(RadioError::new("spacing", advice));
    }
    if track.length_m() / spacing > STATIONS_MAX {
        let advice = "more than 20,000 stations along the track; write a larger spacing";
        return Err(RadioError::new("spacing", advice));
    }
    // The first station is half a spacing after the start, so the train starts between two.
    let first = spacing / 2.0;
    let row =
        |name: &str, first| (name.to_owned(), station::row(track, name, first, spacing, offset));
    Ok(vec![row("A", first), row("B", first + libm::fmod(shift, spacing))])
}

/// The interruption of a link by a handover; it must be shorter than the train's time in the shortest cell.
fn interruption(
    arguments: &Arguments,
    operators: &[Operator],
    speed: &SpeedProfile,
) -> Result<Option<Duration>, RadioError> {
    let Some(interruption) = arguments.get::<Duration>("interruption") else { return Ok(None) };
    let cells = operators.iter().flat_map(|operator| operator.stations.windows(2));
    let shortest_m = cells
        .map(|pair| (pair[1].chainage_m - pair[0].chainage_m).abs())
        .filter(|length_m| *length_m > 0.0)
        .fold(f64::INFINITY, f64::min);
    let seconds = shortest_m / speed.fastest_m_s();
    if interruption.as_secs_f64() < seconds {
        return Ok(Some(interruption));
    }
    let cell = format!("{seconds:.1} s for {shortest_m:.0} m");
    let advice = format!("longer than the train's time in a cell ({cell}); write less");
    Err(RadioError::new("interruption", advice))
}

fn propagation(
    arguments: &Arguments,
    profile: &'static Profile,
) -> Result<Propagation, RadioError> {
    let name = arguments.get::<&str>("path-loss").unwrap_or(profile.path_loss);
    let path_loss = PathLoss::find(name).expect("names of path losses are those there are");
    let correlation_m = length(arguments, "shadow-distance")?;
    if !(1.0..=100_000.0).contains(&correlation_m) {
        let advice = "write a length from \"1 m\" to \"100 km\"";
        return Err(RadioError::new("shadow-distance", advice));
    }
    let deviation = |name: &'static str, otherwise: f64| {
        let value = decibels(arguments, name)?.unwrap_or(otherwise);
        let advice = "a deviation cannot be negative; write, for example, \"4 dB\"";
        if value >= 0.0 { Ok(value) } else { Err(RadioError::new(name, advice)) }
    };
    let shadowing = Shadowing {
        sigma_db: deviation("shadowing", profile.shadowing_db)?,
        variation_db: deviation("variation", profile.variation_db)?,
        correlation_m,
    };
    Ok(Propagation {
        path_loss,
        shadowing,
        power_dbm: level(arguments, "power")?.unwrap_or(profile.power_dbm),
        antenna_gain_db: profile.antenna_gain_db,
        resource_blocks: 50,
        interference: arguments.need::<Ratio>("interference").as_f64(),
    })
}

/// The shadow fading of each operator's stations at `place`.
pub(crate) fn landscapes(
    operators: &[Operator],
    shadowing: &Shadowing,
    length_m: f64,
    place: &Seed,
) -> Arc<[Landscape]> {
    let landscape = |operator: &Operator| {
        let stations = 0..operator.stations.len();
        let pieces: Vec<_> = stations.map(|number| audible(operator, number, length_m)).collect();
        Landscape::draw(shadowing, length_m, &pieces, &place.child(&operator.name))
    };
    operators.iter().map(landscape).collect()
}

fn length(arguments: &Arguments, name: &'static str) -> Result<f64, RadioError> {
    parse_length_m(&arguments.need::<String>(name)).map_err(RadioError::of(name))
}

fn decibels(arguments: &Arguments, name: &'static str) -> Result<Option<f64>, RadioError> {
    quantity_in(arguments, name, "a level difference", "3 dB", "dB")
}

fn level(arguments: &Arguments, name: &'static str) -> Result<Option<f64>, RadioError> {
    quantity_in(arguments, name, "a power", "46 dBm", "dBm")
}

/// A number of at most 200 with this unit, if the parameter is set.
fn quantity_in(
    arguments: &Arguments,
    name: &'static str,
    what: &str,
    example: &str,
    unit: &str,
) -> Result<Option<f64>, RadioError> {
    let Some(text) = arguments.get::<String>(name) else { return Ok(None) };
    let value = quantity::parse(&text, what, example, &[(unit, 1.0)]).and_then(|value| {
        let far = format!("{value} {unit} is out of range; write, for example, \"{example}\"");
        Some(value).filter(|value| value.abs() <= 200.0).ok_or_else(|| MotionError::new(far))
    });
    value.map(Some).map_err(RadioError::of(name))
}

const SPACING_MIN_M: f64 = 50.0;
const STATIONS_MAX: f64 = 20_000.0;

/// The parameters of a railway. Lengths, speeds and levels are texts with units.
pub const PARAMETERS: &[Parameter] = parameters! {
    "profile": Choice(&["ns3", "3gpp", "hsr-measured"]) = "3gpp" =>
        "the interruption by handovers, with the matching path loss, power and shadows";
    "track": File, optional =>
        "the track: a GPX file, a table with columns latitude and longitude, or NMEA sentences; \
         default: a straight track of `length`";
    "length": Text = "20 km" => "the length of a straight track";
    "speed": Text = "300 km/h" => "the speed of the train";
    "speed-profile": File, optional =>
        "a table of time_s and speed_km_h or speed_m_s, instead of `speed`; interpolated linearly";
    "stations": File, optional =>
        "a table of operator, cell, chainage_m and offset_m (or latitude and longitude), with one \
         line per station; default: two operators A and B with evenly spaced stations";
    "spacing": Text = "1340 m" => "the distance between neighbouring stations";
    "distance": Text = "300 m" => "the distance of the stations from the track";
    "shift": Text = "670 m" =>
        "the shift of the stations of operator B along the track, relative to those of A";
    "rate": Rate = "25 Mbit/s" =>
        "the maximum rate of a link; where the signal is too weak, the rate of TR 36.942 annex A.2";
    "delays": Text = "20 ms, 30 ms" =>
        "the one-way delay of each operator's link; the last one applies to all further operators";
    "path-loss": Choice(&["friis", "3gpp", "3gpp-rural"]), optional =>
        "the path loss; default: the profile's";
    "power": Text, optional =>
        "a station's power over 50 resource blocks, such as \"46 dBm\"; default: the profile's";
    "shadowing": Text, optional =>
        "the standard deviation of radio shadows, which are the same on every drive, such as \
         \"4 dB\"; default: the profile's";
    "variation": Text, optional =>
        "the standard deviation of the variation from drive to drive, such as \"1 dB\"; default: \
         the profile's";
    "shadow-distance": Text = "37 m" =>
        "the correlation distance of shadows (TR 38.901 table 7.5-6, rural)";
    "interference": Share = "0 %" =>
        "the share of time during which other stations send at the same time as the serving one";
    "measurement-period": Time = "200 ms" =>
        "the time between measurements (TS 36.133 section 8.1.2.2)";
    "filter": Count { min: 0 } = "4" =>
        "the coefficient k of the layer-3 filter, 0 to 19; 0 disables it";
    "a3-offset": Text = "0 dB" => "the offset of event A3";
    "hysteresis": Text = "3 dB" => "the hysteresis of event A3";
    "time-to-trigger": Time = "256 ms" => "how long the condition of event A3 must hold";
    "interruption": Time, optional =>
        "how long each handover interrupts a link, from the command until data flows again; \
         default: the profile's times";
    "forwarding": Flag = "true" =>
        "whether the old cell forwards its packets to the new one; if not, they are lost with its \
         queue";
    "landscape": Count { min: 0 } = "1" =>
        "the seed of the landscape, which sets the radio shadows of all drives";
    "gps-error": Text = "5 m" => "the standard deviation of positions, eastwards and northwards";
    "gps-correlation": Time = "30 s" => "the correlation time of errors of positions";
    "gps-lag": Time = "200 ms" => "the age of positions when reported";
};
