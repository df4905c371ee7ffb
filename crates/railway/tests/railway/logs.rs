//! Logs of drives from third-party tools.

use trackbed_core::Seed;
use trackbed_railway::motion::{Coordinates, DriveLog, NmeaReader, Sample, Track};

use crate::{assert_told, rows};

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-6, "{left} is not {right}");
}

fn pair(name: &str, cell: &str) -> (String, String) {
    (name.to_owned(), cell.to_owned())
}

#[test]
fn tables_may_have_any_columns_in_any_order() {
    let text = "\u{feff}speed_km_h,lat,lon,time,cell:A,cell:B,rsrp:A,note\n\
                # a comment\n\
                180,50.0,8.0,2026-05-01T08:00:00.5Z,101,7,-93.5,x\n\
                ,50.1,8.1,1900000012.25,,,,\n";
    let log = DriveLog::parse(text, &[]).unwrap();
    let [first, second] = &log.samples[..] else { panic!("{log:?}") };
    close(first.speed_m_s.unwrap(), 50.0);
    assert_eq!(first.cells, [pair("A", "101"), pair("B", "7")]);
    assert_eq!(first.rsrp_dbm, [("A".to_owned(), -93.5)]);
    // 56 years from 1970 with 14 leap days, and 120 days of 2026.
    assert_eq!(first.seconds, Some(((56 * 365 + 14 + 120) * 86_400 + 8 * 3_600) as f64 + 0.5));
    assert_eq!((second.line, second.seconds), (4, Some(1_900_000_012.25)));
    assert!(second.cells.is_empty() && second.speed_m_s.is_none());
}

#[test]
fn mistakes_in_tables_are_told_with_their_line() {
    for row in rows(include_str!("table-mistakes.txt")) {
        assert_told(DriveLog::parse(&row[0], &[]).unwrap_err(), &row[1..]);
    }
}

pub const GPX: &str = include_str!("drive.gpx");

#[test]
fn gpx_tracks_tell_places_times_and_cells() {
    let log = DriveLog::parse(GPX, &[]).unwrap();
    let [first, second] = &log.samples[..] else { panic!("{log:?}") };
    assert_eq!((first.line, second.line), (5, 9));
    close(first.coordinates.latitude_deg(), 50.0);
    close(second.coordinates.latitude_deg(), 50.001);
    assert_eq!(first.cells, [pair("A", "101"), pair("B", "7")]);
    assert_eq!(first.rsrp_dbm, [("A".to_owned(), -93.0)]);
    assert!(first.seconds.is_some() && second.seconds.is_none());
    let route = GPX.replace("trkpt", "rtept").replace("trkseg", "rte");
    assert_eq!(DriveLog::parse(&route, &[]).unwrap().samples.len(), 2);
}

#[test]
fn mistakes_in_gpx_are_told_with_their_line() {
    for row in rows(include_str!("gpx-mistakes.txt")) {
        let (from, to) = (&row[0], &row[1]);
        assert!(GPX.contains(from), "{from}");
        assert_told(DriveLog::parse(&GPX.replacen(from, to, 1), &[]).unwrap_err(), &row[2..]);
    }
    assert!(DriveLog::parse("time,lat\n", &[]).is_err());
}

/// The RMC and GGA sentences that most descriptions of NMEA 0183 show: 48 degrees 7.038 minutes
/// north, 11 degrees 31 minutes east, 22.4 knots.
#[test]
fn sentences_of_one_time_are_one_position() {
    let text = "\
$PTRKC,A,101,-95.5*39
$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47
$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A
$GPGSV,2,1,08,01,40,083,46,02,17,308,41,12,07,344,39,14,22,228,45*75
";
    let log = DriveLog::parse(text, &[]).unwrap();
    assert_eq!((log.samples.len(), log.damaged), (1, 0));
    let Sample { line, coordinates, seconds, cells, rsrp_dbm, .. } = &log.samples[0];
    assert_eq!(*line, 2);
    close(coordinates.latitude_deg(), 48.0 + 7.038 / 60.0);
    close(coordinates.longitude_deg(), 11.0 + 31.0 / 60.0);
    // 23 March 1994.
    assert_eq!(*seconds, Some(8_847.0 * 86_400.0 + 12.0 * 3_600.0 + 35.0 * 60.0 + 19.0));
    assert_eq!(*cells, [pair("A", "101")]);
    assert_eq!(*rsrp_dbm, [("A".to_owned(), -95.5)]);
    let alone = "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A";
    let speed = DriveLog::parse(alone, &[]).unwrap().samples[0].speed_m_s.unwrap();
    assert!((speed - 22.4 * 0.514_444).abs() < 1e-4, "{speed}");
}

#[test]
fn damaged_sentences_are_told_and_passed_over() {
    let good = "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A";
    let mut reader = NmeaReader::default();
    for damaged in [
        &good.replace("4807", "4808"),
        &good[10..],
        "$GPRMC,1235",
        "$PTRKC,A,101,-95.5*00",
        "$PTRKC,A",
        "\u{fffd}\u{fffd}é$",
    ] {
        assert!(reader.read(damaged).is_err(), "{damaged}");
    }
    let error = reader.read(&good.replace("*6A", "*6B")).unwrap_err().to_string();
    assert!(error.starts_with("line 7: "), "{error}");
    assert!(reader.read(good).unwrap().is_some());
    // Status V: the receiver has no fix.
    assert!(reader.read("$GPRMC,123520,V,,,,,,,230394,,*39").unwrap().is_none());
    let log = DriveLog::parse(&format!("{}\r\n{good}\r\n", &good[7..]), &[]).unwrap();
    assert_eq!((log.samples.len(), log.damaged), (1, 1));
    assert!(DriveLog::parse("nothing\nat all\n", &[]).is_err());
}

fn sentence(time: &str, east: &str) -> String {
    let body = format!("GPRMC,{time},A,0000.000,N,{east},E,022.4,084.4,230394,003.1,W");
    format!("${body}*{:02X}", body.bytes().fold(0, |sum, byte| sum ^ byte))
}

/// Two receivers, of which the second is late.
#[test]
fn the_clock_goes_on_past_midnight() {
    let mut reader = NmeaReader::default();
    let mut seconds =
        |time: &str| reader.read(&sentence(time, "00000.000")).unwrap().unwrap().seconds.unwrap();
    let times = ["235959", "000000", "235959.5", "000001", "000000.5"].map(&mut seconds);
    assert_eq!(times, [86_399.0, 86_400.0, 86_399.5, 86_401.0, 86_400.5]);
}

/// A degree of the equator is 111,195 m. Each log has positions at 0, 0.01 and 0.02 degrees in ten seconds
/// each, and what loggers, spreadsheets and receivers add to them.
#[test]
fn logs_as_people_have_them_are_read() {
    let nmea = |before: &str, after: &str| {
        let points = [("080000", "00000.000"), ("080010", "00000.600"), ("080020", "00001.200")];
        points.map(|(at, east)| format!("{before}{}{after}\r\n", sentence(at, east))).concat()
    };
    // Pairs of longitude and second.
    let gpx = |points: &str| {
        let point = |(east, s): (&str, &str)| {
            let time = if s.is_empty() { "" } else { &format!("2026-05-01T08:00:{s}Z") };
            format!("<trkpt lat=\"0\" lon=\"{east}\"><time>{time}</time></trkpt>")
        };
        let points = points.split('|').map(|pair| point(pair.split_once(' ').unwrap()));
        format!("<?xml?>\n<gpx><trk><trkseg>{}</trkseg></trk></gpx>", points.collect::<String>())
    };
    let rows = |heading: &str, rows: &str| format!("{heading}\n{}\n", rows.replace('|', "\n"));
    // The text, and how many of its lines have no position, are damaged, and are not reached.
    for (text, skipped) in [
        (rows("lat;lon;time", "0;0;0|0;0,01;10|0;0,02;20"), [0, 0, 0]),
        (rows("LAT\tLong\tTimeStamp", "0\t0\t0|0\t0.01\t10||0\t0.02\t20"), [0, 0, 0]),
        (rows("lat,lon,time\r", "0,0,0\r|,,5\r|-,NaN,6\r|0,.01,10\r|0,.02,20\r"), [2, 0, 0]),
        (rows("Timestamp,lng,lat", "2026.05.01_08.00.00,0,0|2026.05.01_08.00.20,.02,0"), [0, 0, 0]),
        (
            rows("time,lat,lon", "1700000000000,0,0|1700000020000,0,.02|1700000010000,0,.01"),
            [0, 0, 0],
        ),
        (rows("# a phone\nlat,lon,time", "51,7,0|0,0,1|0,.01,10|0,.02,20"), [0, 0, 1]),
        (rows("time,lat,lon", "0,0,0|4,0,0|9,0,0|9,0,.01|12,0,.01|20,0,.01|20,0,.02"), [0, 0, 0]),
        (nmea("", ""), [0, 0, 0]),
        (nmea("$", ""), [0, 0, 0]),
        (format!("$PTNL,1*1B\n{}", nmea("", "")), [0, 0, 0]),
        (rows("time,lat,lon", "7,0,0|7,0,.01|7,0,.02"), [0, 0, 0]),
        (rows("time_s lat lon", "0 0 0|10  0 .01|20 0 .02"), [0, 0, 0]),
        (nmea("\\s:r1,c:1777622400*5C\\", ""), [0, 0, 0]),
        (nmea("2026-05-01 08:00:00.123 [gps] ", ",1777622400000"), [0, 0, 0]),
        (format!("# GNSS\n$GPRMC,08\n{}", nmea("NMEA,", ",1777622400000")), [0, 1, 0]),
        (gpx("0 00|0.5 05|0.01 10|0.02 20"), [0, 0, 1]),
        (gpx("0 |0.005 |0.01 |0.02 "), [0, 0, 0]),
        (gpx("0 00|0.01 10|0.0101 10|0.02 20"), [0, 0, 0]),
        (gpx("0 00|0.02 20|0.01 10|0.0101 10"), [0, 0, 0]),
    ] {
        let log = DriveLog::parse(&text, &[]).unwrap_or_else(|why| panic!("{why}: {text}"));
        assert_eq!([log.without_position, log.damaged, log.unreachable], skipped, "{text}");
        let length_m = Track::of_log(&log).unwrap().length_m();
        assert!((length_m - 2_223.9).abs() < 1.0, "{length_m} m: {text}");
    }
}

/// A minute at 80 m/s, two minutes in a station, and another minute, with the errors of a phone; then perhaps the
/// same way back, on the other track.
#[test]
fn neither_a_stop_nor_the_way_back_makes_a_track_longer() {
    for seconds in [240, 480, 960] {
        let mut rng = Seed::of_run(1, 0).stream("errors");
        let mut text = "latitude,longitude,time\n".to_owned();
        for second in 0..seconds {
            let (is_back, at) = (second / 240 % 2 == 1, second % 240);
            let at = if is_back { 239 - at } else { at };
            let along_m = 80.0 * f64::from(at.min(60).max(at - 120));
            let beside_m = if is_back { 4.0 } else { 0.0 };
            let place = Coordinates::new(48.0, 9.0).unwrap();
            let place =
                place.shifted_m(along_m + 6.0 * rng.normal(), beside_m + 6.0 * rng.normal());
            text += &format!("{},{},{second}\n", place.latitude_deg(), place.longitude_deg());
        }
        let length_m = Track::of_log(&DriveLog::parse(&text, &[]).unwrap()).unwrap().length_m();
        assert!((length_m / 9_520.0 - 1.0).abs() < 0.01, "{length_m} m after {seconds} s");
    }
}

/// Android's largest number means that the power is unknown; columns may be named.
#[test]
fn columns_have_the_names_of_many_tools() {
    let columns = [("cell", "eNB"), ("rsrp", "ss")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    let named = DriveLog::parse("lat;lng;ENB;SS\n1;2;7;-\n1;2,1;8;-95,0\n", &columns).unwrap();
    let text = "Latitude,Longitude,CellID,RawCellID,RSRP_dBm\n1,2,5,7,2147483647\n1,2.1,5,8,-95\n";
    assert_eq!(DriveLog::parse(text, &[]).unwrap(), named);
    assert_eq!(named.samples[0].rsrp_dbm, []);
    assert_eq!(named.samples[1].rsrp_dbm, [(String::new(), -95.0)]);
    let why = DriveLog::parse("lat,lon\n1,2\n", &columns).unwrap_err().to_string();
    assert!(why.contains("line 1: the heading \"lat,lon\" has no eNB"), "{why}");
    // Whose a line is, where there are several.
    let text = "lat,lon,Operator,cell,rsrp\n1,2,X,7,-90\n1,2.1,Y,8,-95\n";
    let log = DriveLog::parse(text, &[]).unwrap();
    assert_eq!(log.samples[1].cells, [pair("Y", "8")]);
    assert_eq!(log.samples[1].rsrp_dbm, [("Y".to_owned(), -95.0)]);
}

/// Three megabytes: counting the lines from the beginning for each element would take minutes.
#[test]
fn a_long_gpx_file_takes_as_long_as_its_length_says() {
    let point = "<trkpt lat=\"50.0\" lon=\"8.0\">\n<time>2026-05-01T08:00:00Z</time>\n</trkpt>\n";
    let text = format!("<gpx><trk><trkseg>\n{}</trkseg></trk></gpx>", point.repeat(50_000));
    let log = DriveLog::parse(&text, &[]).unwrap();
    assert_eq!((log.samples.len(), log.samples.last().unwrap().line), (50_000, 149_999));
}
