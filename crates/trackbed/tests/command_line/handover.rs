//! `trackbed handover`: tables from a model and from logs, shown and merged.

use super::*;

/// The ranges of a table: operator, direction, from, until, rides.
fn ranges(scratch: &Scratch, name: &str) -> Vec<(String, String, f64, f64, u64)> {
    let table = scratch.json(name);
    let features = table["features"].as_array().unwrap().iter();
    let properties = features.map(|feature| &feature["properties"]);
    let ranges = properties.filter(|properties| properties["role"] == "range");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    ranges
        .map(|range| {
            (
                text(&range["operator"]),
                text(&range["direction"]),
                range["from_m"].as_f64().unwrap(),
                range["until_m"].as_f64().unwrap(),
                range["rides"].as_u64().unwrap(),
            )
        })
        .collect()
}

/// Without shadow fading a handover is reported 159.3 m past the midpoint at the earliest (138.0 m
/// by geometry, 21.3 by time-to-trigger); filter and period of measurement add 60 m at most.
#[test]
fn a_table_of_the_model_has_a_range_behind_each_midpoint() {
    let scratch = Scratch::new();
    let words = "handover build --profile ns3 --rides 6 --direction forward --set length=6km \
                 --set gps_error=0m --margin 0m -o table.geojson";
    let ended = scratch.succeed(words);
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains("8 ranges of 2 operators from 6 rides"), "{}", ended.stderr);
    let found = ranges(&scratch, "table.geojson");
    assert_eq!(found.len(), 8);
    for (operator, direction, from, until, rides) in found {
        // Midpoints of A are at multiples of 1,340 m, those of B half-way between.
        let origin = if operator == "A" { 0.0 } else { 670.0 };
        let past = (from - origin).rem_euclid(1_340.0);
        assert!((159.3..=220.0).contains(&past), "{operator} {from}");
        assert!(until - from < 40.0 && direction == "forward" && rides == 6);
    }
    // The same again, to standard output; another seed is another table.
    let words = words.replace(" -o table.geojson", "");
    assert_eq!(scratch.succeed(&words).stdout, scratch.read("table.geojson"));
    let other = scratch.succeed(&format!("{words} --seed 2"));
    assert_ne!(other.stdout, scratch.read("table.geojson"));
}

#[test]
fn a_table_is_shown_as_ranges_and_as_a_picture() {
    let scratch = Scratch::new();
    scratch.succeed("handover build --rides 5 --set length=6km -o table.geojson");
    let text = &scratch.succeed("handover show table.geojson --svg table.svg").stdout;
    let parts = [
        "track of 6.0 km; 5 rides forward, 5 backward; margin 10 m",
        "operator  direction  from km",
        "ranges of B cover",
    ];
    has(text, &parts);
    let picture = scratch.read("table.svg");
    assert!(picture.starts_with("<svg ") && picture.contains(">power (dBm)<"), "{picture}");
    let one = scratch.succeed("handover show table.geojson --operator B").stdout;
    assert!(one.contains("\nB ") && !one.contains("\nA "), "{one}");
    scratch.refuse("handover show table.geojson --operator C", &["no operator \"C\"", "A, B"]);
}

#[test]
fn tables_grow_by_merging_and_old_ranges_age_out() {
    let scratch = Scratch::new();
    let build = "handover build --profile ns3 --direction forward --set length=6km";
    scratch.succeed(&format!("{build} --rides 4 -o old.geojson"));
    scratch.succeed(&format!("{build} --rides 3 --seed 2 --set shift=300m -o new.geojson"));
    scratch.succeed("handover merge old.geojson new.geojson -o both.geojson");
    let count = |name: &str, operator: &str| {
        ranges(&scratch, name).iter().filter(|range| range.0 == operator).count()
    };
    // The stations of B were moved: its old ranges stay next to the new ones.
    assert_eq!(count("both.geojson", "A"), count("old.geojson", "A"));
    assert_eq!(count("both.geojson", "B"), count("old.geojson", "B") + count("new.geojson", "B"));
    let a = ranges(&scratch, "both.geojson").into_iter().filter(|range| range.0 == "A");
    assert!(a.map(|range| range.4).all(|rides| rides == 7));
    // No handover for three rides: with a maximum age of two, the ranges are dropped. The output may be the input.
    scratch.succeed("handover merge old.geojson new.geojson -o old.geojson --max-age 2");
    assert_eq!(count("old.geojson", "B"), count("new.geojson", "B"));
    assert_eq!(scratch.entries("").len(), 3, "nothing else is left behind");
}

#[test]
fn logs_of_real_drives_become_a_table() {
    let scratch = Scratch::new();
    let mut csv = "latitude,longitude,eNB,cell\n".to_owned();
    let mut gpx = "<gpx version=\"1.1\"><trk><trkseg>\n".to_owned();
    for step in 0..100 {
        // A degree of the equator is 111,195 m; a step is 44.5 m.
        let longitude = 0.0004 * f64::from(step);
        let cell = if step < 50 { 1 } else { 2 };
        csv += &format!("0,{longitude},{cell},7\n");
        gpx += &format!(
            "<trkpt lat=\"0\" lon=\"{longitude}\"><extensions><cell operator=\"A\">{cell}</cell>\
             </extensions></trkpt>\n"
        );
    }
    scratch.write("drive.csv", &csv);
    scratch.write("drive.gpx", &format!("{gpx}</trkseg></trk></gpx>\n"));
    scratch.write("named.csv", &csv.replacen("eNB", "cell:A", 1));
    let words = "handover build --log drive.csv --log drive.gpx --operator K --column cell:A=eNB \
                 --margin 0m -o t.geojson";
    scratch.trackbed(words).says(0, &["drive.csv: 1 ride, 1 handover\n", "1 handover, --operator"]);
    let found = ranges(&scratch, "t.geojson");
    let [(operator, direction, from, until, rides)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((operator.as_str(), direction.as_str(), *rides), ("A", "forward", 2));
    // From the last position with the old cell to the first with the new one: steps 49 and 50.
    assert!((from - 49.0 * 44.478).abs() < 0.5 && (until - 50.0 * 44.478).abs() < 0.5, "{found:?}");
    scratch
        .refuse("handover build --log named.csv", &["named.csv", "line 2", "without an operator"]);
    scratch.refuse("handover build --log none.csv", &["cannot read none.csv"]);
    scratch.write("bad.gpx", &gpx);
    scratch.refuse("handover build --log bad.gpx", &["bad.gpx", "line 102", "within an element"]);
}

#[test]
fn a_railway_may_come_from_files_and_timelines_go_to_some() {
    let scratch = Scratch::new();
    scratch.write("line.csv", "latitude,longitude\n50,8\n,\n50.02,8.01\n50.03,8.04\n");
    let words = "plan train --part foresight --set radio.track=line.csv";
    let note = "radio.track: the track has 4750 m, 1 line without a position skipped";
    scratch.trackbed(words).says(0, &[note]);
    scratch.write(
        "stations.csv",
        "operator,cell,chainage_m,offset_m\nK,west,300,200\nK,east,3700,-200\n",
    );
    let words = "handover build --track line.csv --stations stations.csv --rides 2 \
                 --set shadowing=0dB --set variation=0dB --timelines rides -o t.geojson";
    scratch.succeed(words);
    let found = ranges(&scratch, "t.geojson");
    assert_eq!(found.len(), 2);
    // The line is about 4.3 km long; half-way between the stations are 2,000 m.
    let sides: Vec<bool> = found.iter().map(|range| range.2 > 2_000.0).collect();
    assert_eq!(sides, [true, false], "late in either direction: {found:?}");
    assert_eq!(scratch.entries("rides").len(), 8);
    let timeline = scratch.read("rides/ride-1-backward.csv");
    assert!(timeline.contains(",K,both,handover,x2 from=east; to=west;"), "{timeline}");
    assert!(scratch.read("rides/ride-0-forward-signal.csv").lines().count() > 100);
}

#[test]
fn what_is_wrong_is_said_with_its_remedy() {
    let scratch = Scratch::new();
    scratch.refuse_all("handover");
    assert!(!scratch.path("c.geojson").exists());
    let damaged =
        scratch.read("a.geojson").replacen("\"direction\":\"forward\"", "\"direction\":\"up\"", 1);
    scratch.write("d.geojson", &damaged);
    let parts = ["d.geojson: features[1]", "\"up\" is not a direction; write forward or backward"];
    scratch.refuse("handover show d.geojson", &parts);
}
