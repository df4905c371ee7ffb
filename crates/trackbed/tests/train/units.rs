//! The services' units for systemd.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn units_are_confined() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/systemd");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let unit = entry.unwrap().path();
        let text = fs::read_to_string(&unit).unwrap();
        names.push(unit.file_stem().unwrap().to_string_lossy().into_owned());
        for key in ["MemoryMax=", "TasksMax=", "StartLimitBurst=", "UMask=0077"] {
            assert!(text.contains(&format!("\n{key}")), "{} has no {key}", unit.display());
        }
        // It fails if the exposure level is above 2.0.
        let mut rate = Command::new("systemd-analyze");
        rate.args(["security", "--offline=true", "--no-pager", "--threshold=20"]).arg(&unit);
        match rate.output() {
            Ok(rated) if !rated.stdout.is_empty() => {
                assert!(rated.status.success(), "{}", String::from_utf8_lossy(&rated.stdout));
            }
            _ => eprintln!("SKIPPED: there is no systemd-analyze of version 250 or later"),
        }
    }
    names.sort();
    assert_eq!(names, ["trackbed-phad", "trackbed-relay", "trackbed-serve"]);
}
