//! `trackbed v2x`: decodes a message of a real car.

use std::fs;
use std::path::Path;

use super::Scratch;

/// A production car's CAM; its source is given beside it.
fn car_cam() -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../v2x/tests/data/car-cam.oer")).unwrap()
}

#[test]
fn a_cam_is_shown_from_bytes_and_from_digits() {
    let scratch = Scratch::new();
    fs::write(scratch.path("cam.oer"), car_cam()).unwrap();
    let digits: Vec<String> = car_cam().iter().map(|byte| format!("{byte:02x}")).collect();
    scratch.write("cam.hex", &digits.join(" "));
    let shown = scratch.succeed("v2x decode cam.oer").stdout;
    assert_eq!(scratch.succeed("v2x decode cam.hex").stdout, shown);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["psid"], 36);
    assert_eq!(shown["payload"]["header"]["stationID"], 0x1a3f_3d39);
}

#[test]
fn what_is_no_message_is_refused() {
    let scratch = Scratch::new();
    scratch.write("text", "a text");
    for (words, part) in [
        ("v2x decode text", "text is not a signed message or certificate"),
        ("v2x decode nothing", "cannot read nothing"),
    ] {
        let ended = scratch.trackbed(words);
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{words}");
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
}
