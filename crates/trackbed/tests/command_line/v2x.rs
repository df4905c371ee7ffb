//! `trackbed v2x`: decodes a message of a real car.

use std::fs;
use std::path::Path;

use super::Scratch;

#[test]
fn a_cam_is_shown_from_bytes_and_from_digits() {
    let scratch = Scratch::new();
    // A production car's CAM; its source is given beside it.
    let cam = Path::new(env!("CARGO_MANIFEST_DIR")).join("../v2x/tests/data/car-cam.oer");
    let cam = fs::read(cam).unwrap();
    scratch.write("cam.oer", &cam);
    let digits: Vec<String> = cam.iter().map(|byte| format!("{byte:02x}")).collect();
    scratch.write("cam.hex", &digits.join(" "));
    let shown = scratch.succeed("v2x decode cam.oer").json();
    assert_eq!(scratch.succeed("v2x decode cam.hex").json(), shown);
    assert_eq!(shown["psid"], 36);
    assert_eq!(shown["payload"]["header"]["stationID"], 0x1a3f_3d39);
}

/// A model is not this machine, and the Xeon was measured on one core.
#[test]
fn boards_of_virtual_time_have_names_of_their_own() {
    let scratch = Scratch::new();
    let part = "run v2x --quick --part threads --set workload.workers=1,16";
    let text = scratch.succeed(part).stdout;
    let expected = "Highest signature rate: xeon-ifma, workers 16 (extrapolated): mean ";
    assert!(text.contains(expected), "{text}");
    scratch.refuse(
        &format!("{part} --set workload.board=here --out b"),
        &["the board here is this machine", "workload.board=xeon-ifma"],
    );
}

#[test]
fn what_is_no_message_is_refused() {
    let scratch = Scratch::new();
    scratch.write("text", "a text");
    scratch.refuse("v2x decode text", &["text is not a signed message or certificate"]);
    scratch.refuse("v2x decode nothing", &["cannot read nothing"]);
}
