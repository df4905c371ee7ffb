//! Handover tables as files: written tables are read back, and damaged ones are refused with the place.

use std::fmt::Debug;
use std::fs;
use std::sync::Arc;

use serde_json::Value;
use trackbed_core::Seed;
use trackbed_railway::handover::{Learner, RideRecord, SCHEMA, Settings, Table};
use trackbed_railway::motion::{Coordinates, Direction};

use crate::{assert_told, rows};

/// A table of two operators, both directions, with signal.
pub fn table() -> Table {
    let track = crate::straight_from(Coordinates::new(36.6, 127.3).unwrap(), 0.6, 0.8, 6);
    let mut learner = Learner::new(Arc::new(track), Settings::default()).unwrap();
    let mut rng = Seed::of_run(1, 0).stream("test");
    for ride in 0..60 {
        let direction = Direction::BOTH[ride % 2];
        let mut record = RideRecord::new(direction);
        for (operator, place) in [("A", 1_500.0), ("A", 2_840.0), ("B", 2_170.0)] {
            let at = place + direction.sign() * 80.0 + 8.0 * rng.normal();
            record.handover(operator, at, at + direction.sign() * 4.0);
        }
        for step in 0..300 {
            record.received("A", 20.0 * f64::from(step), -90.0 + 3.0 * rng.normal());
        }
        record.operator("Ö, with a comma");
        learner.ride(&record);
    }
    learner.table()
}

#[test]
fn a_table_reads_as_it_was_written() {
    let table = table();
    let text = table.to_text();
    assert_eq!(Table::parse(&text).unwrap(), table);
    assert_eq!(Table::parse(&text).unwrap().to_text(), text);
    // The layout of the JSON does not matter.
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(Table::parse(&serde_json::to_string_pretty(&value).unwrap()).unwrap(), table);
    assert_eq!(table.operators().collect::<Vec<_>>(), ["A", "B", "Ö, with a comma"]);
    assert_eq!(table.ranges("A", Direction::Forward).unwrap().len(), 2);
    assert_eq!(table.ranges("B", Direction::Backward).unwrap().len(), 1);
    let signal = table.signal("A").unwrap().unwrap();
    let near = |power: Option<f64>| power.is_some_and(|power| (power + 90.0).abs() < 2.0);
    assert!(signal.rsrp_dbm().count() >= 120 && signal.rsrp_dbm().take(119).all(near));
    assert!(table.signal("B").unwrap().is_none());
}

/// Map tools need lines of longitude and latitude; that of a range must be at its position.
#[test]
fn geometries_show_where_ranges_are() {
    let table = table();
    let value: Value = serde_json::from_str(&table.to_text()).unwrap();
    let features = value["features"].as_array().unwrap();
    assert_eq!(features.len(), 1 + 6 + 1);
    for feature in features.iter().filter(|feature| feature["properties"]["role"] == "range") {
        let ends = feature["geometry"]["coordinates"].as_array().unwrap();
        let place = |end: &Value| {
            let degrees = |axis: usize| end[axis].as_f64().unwrap();
            table.track().project(Coordinates::new(degrees(1), degrees(0)).unwrap()).chainage_m
        };
        let chainage = |name: &str| feature["properties"][name].as_f64().unwrap();
        assert!((place(&ends[0]) - chainage("from_m")).abs() < 0.01);
        assert!((place(&ends[ends.len() - 1]) - chainage("until_m")).abs() < 0.01);
    }
}

/// A written table has all members that the schema requires, and no others.
#[test]
fn the_schema_describes_what_is_written() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let value: Value = serde_json::from_str(&table().to_text()).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let held = |value: &Value, schema: &Value| {
        let known = keys(&schema["properties"]);
        assert!(keys(value).iter().all(|key| known.contains(key)), "{value}");
        for required in schema["required"].as_array().unwrap() {
            assert!(value.get(required.as_str().unwrap()).is_some(), "{required}");
        }
    };
    held(&value, &schema);
    held(&value["rides"], &schema["properties"]["rides"]);
    let feature_schema = &schema["properties"]["features"]["items"];
    for feature in value["features"].as_array().unwrap() {
        held(feature, feature_schema);
        held(&feature["geometry"], &feature_schema["properties"]["geometry"]);
        let role = feature["properties"]["role"].as_str().unwrap();
        held(&feature["properties"], &schema["$defs"][role]);
    }
}

fn refused(parts: &[impl AsRef<str> + Debug], change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_str(&table().to_text()).unwrap();
    change(&mut value);
    let error = Table::parse(&value.to_string()).err();
    assert_told(error.unwrap_or_else(|| panic!("accepted: {parts:?}")), parts);
}

#[test]
fn unsound_tables_are_refused_with_place_and_remedy() {
    for row in rows(include_str!("unsound.txt")) {
        let to = serde_json::from_str(&row[1]).unwrap();
        refused(&row[2..], |table| *table.pointer_mut(&row[0]).unwrap() = to);
    }
    let remove = |object: &mut Value, name| drop(object.as_object_mut().unwrap().remove(name));
    refused(&["no such member", "trackbed handover build"], |table| {
        remove(table, "trackbed_handover_table");
    });
    refused(&["missing field `rides`"], |table| remove(table, "rides"));
    refused(&["features[1]", "missing field `from_m`"], |table| {
        remove(&mut table["features"][1]["properties"], "from_m");
    });
    let features = |table: &mut Value, change: fn(&mut Vec<Value>)| {
        change(table["features"].as_array_mut().unwrap());
    };
    refused(&["role \"track\""], |table| features(table, |all| drop(all.remove(0))));
    refused(&["role \"track\""], |table| features(table, |all| all.push(all[0].clone())));
}

#[test]
fn text_that_is_no_json_is_refused_with_its_line() {
    let text = table().to_text();
    for (damaged, parts) in [
        (text[..text.len() / 2].to_owned(), ["line ", "EOF"]),
        (text.replacen("\"margin_m\":10.0", "\"margin_m\":NaN", 1), ["line 1 column", "expected"]),
        (text.replacen("\"margin_m\":10.0", "\"margin_m\":1e999", 1), ["line 1", "out of range"]),
        (String::new(), ["line 1", "EOF"]),
        ("[]".to_owned(), ["line 1", "schema"]),
        ("{}".to_owned(), ["trackbed_handover_table", "no such member"]),
    ] {
        assert_told(Table::parse(&damaged).unwrap_err(), &parts);
    }
}

#[test]
fn files_are_replaced_in_one_piece() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = folder.join("table.geojson");
    let table = table();
    fs::write(&path, "an old one").unwrap();
    table.save(&path).unwrap();
    assert_eq!(Table::load(&path).unwrap(), table);
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "nothing is left beside it");
    let nowhere = folder.join("none").join("table.geojson");
    assert_told(table.save(&nowhere).unwrap_err(), &["none"]);
    // A folder is in the way: the rename fails, and leaves nothing behind.
    let taken = folder.join("taken");
    fs::create_dir(&taken).unwrap();
    assert!(table.save(&taken).is_err());
    assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
    assert_told(Table::load(&nowhere).unwrap_err(), &["table.geojson: "]);
    fs::write(&path, "{").unwrap();
    assert_told(Table::load(&path).unwrap_err(), &["table.geojson: line 1"]);
}
