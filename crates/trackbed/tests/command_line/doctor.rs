//! What a machine can do, completions and manual pages.

use super::support::{Scratch, has};

#[test]
fn the_doctor_names_what_is_missing_and_its_document_fits_its_schema() {
    let scratch = Scratch::new();
    let text = scratch.succeed("doctor").stdout;
    assert!(text.starts_with("This machine can do everything"), "{text}");
    assert!(text.contains("\nvirtual time "), "{text}");
    let schema = scratch.succeed("list schema doctor").json();
    let document = scratch.succeed("doctor --json").json();
    assert!(jsonschema::is_valid(&schema, &document), "{document}");
    let findings = document["findings"].as_array().unwrap();
    for finding in findings.iter().filter(|finding| finding["works"] == false) {
        assert!(finding["remedy"].is_string(), "{finding}");
    }
}

/// Every command has a page, and every shell a script that names them.
#[test]
fn completions_and_manual_pages_have_every_command() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = scratch.succeed(&format!("completions {shell}")).stdout;
        has(&script, &["run", "verify-results", "doctor"]);
    }
    scratch.succeed("man pages/man1");
    for page in ["trackbed", "trackbed-run", "trackbed-handover-build", "trackbed-doctor"] {
        assert!(scratch.read(&format!("pages/man1/{page}.1")).contains(".TH "), "{page}");
    }
}

#[test]
fn keys_are_listed_by_table_and_removed_by_name() {
    let scratch = Scratch::new();
    assert!(scratch.succeed("list keys link.loss").stdout.contains("  link.loss = \"0.3 %\""));
    let plain = scratch.succeed("plan vru --set link.loss=0").stdout;
    assert_eq!(scratch.succeed("plan vru --unset link.loss").stdout, plain);
    scratch.write("file", "");
    scratch.refuse_all("lists");
}
