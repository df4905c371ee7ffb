//! `trackbed verify`: the tables of a measurement, for any figures.

use super::*;

fn has_openssl() -> bool {
    let is_there = Scratch::new().trackbed("verify --library openssl --threads 1 --count 1");
    if is_there.status == 2 {
        is_there.refused(&["libssl3", "--openssl FILE"]);
        support::skip("no OpenSSL (Debian package libssl3)");
    }
    is_there.status == 0
}

#[test]
fn every_library_thread_and_division_has_its_cell_and_the_study_stands_beside() {
    let library = if has_openssl() { "openssl,trackbed" } else { "trackbed-new-keys,trackbed" };
    let words = format!("verify --library {library} --threads 4,2,2 --count 500 --keys 20");
    let text = Scratch::new().succeed(&words).stdout;
    assert!(text.starts_with("This machine ("), "{text}");
    let tables = ["Table 2: threads (dynamic division)", "Table 3: static", "study: odroid-xu4"];
    has(&text, &tables);
    // The study's printed values for eight threads, and for OpenMP.
    let columns = |of: &str| {
        let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.filter(|line| line.starts_with(of)).collect::<Vec<_>>()
    };
    let odroid = columns("study: odroid-xu4 8 ");
    assert_eq!(odroid[0], "study: odroid-xu4 8 108.90 9183 450.6 - 61.9 100000");
    assert_eq!(odroid[1], "study: odroid-xu4 8 169.37 5904 289.7 450.6 64.3 -");

    let document = Scratch::new().succeed(&format!("{words} --json")).json();
    let cells: Vec<String> = document["cells"].as_array().unwrap().iter().map(name).collect();
    let of = |library: &str| {
        ["1 dynamic", "2 dynamic", "2 static", "4 dynamic", "4 static"]
            .map(|rest| format!("{library} {rest}"))
    };
    let (first, second) = library.split_once(',').unwrap();
    assert_eq!(cells, [of(first), of(second)].concat());
    for cell in document["cells"].as_array().unwrap() {
        assert_eq!((&cell["verified"], &cell["wrong"]), (&500.into(), &0.into()), "{cell}");
        let [micros, rate] =
            ["us_per_verification", "verifications_per_s"].map(|key| cell[key].as_f64().unwrap());
        assert!((micros * rate / 1e6 - 1.0).abs() < 1e-9, "{cell}");
        assert!((cell["seconds"].as_f64().unwrap() * rate - 500.0).abs() < 1e-6, "{cell}");
    }
    assert_eq!(document["study"].as_array().unwrap().len(), 12);
}

/// Without a GPU, or a driver for it, the CPU verifies, and a note says why.
#[test]
fn without_a_gpu_the_cpu_verifies() {
    let words = "verify --backend gpu --library trackbed --threads 1 --count 500 --keys 2 --json";
    let ended = Scratch::new().succeed(words);
    assert_eq!(ended.json()["cells"][0]["wrong"], 0);
    let version = ended.json()["libraries"][0]["version"].as_str().unwrap().to_owned();
    if version.starts_with("backend gpu") {
        return;
    }
    let note = "note: --backend gpu: ";
    assert!(
        ended.stderr.contains(note) && ended.stderr.contains("the CPU verifies"),
        "{}",
        ended.stderr
    );
}

fn name(cell: &Value) -> String {
    let text = |key: &str| cell[key].as_str().unwrap().to_owned();
    format!("{} {} {}", text("library"), cell["threads"], text("division"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_slow_core_bounds_a_static_division() {
    let words =
        "verify --library trackbed --threads 2 --count 200 --keys 2 --slow-cores 1 --slowdown 3";
    let ended = Scratch::new().trackbed(&format!("{words} --json"));
    if ended.status == 2 {
        return ended.refused(&["--slow-cores 1", "may use 1 cores"]);
    }
    let document = ended.json();
    let cell = |place: usize| document["cells"][place].clone();
    assert_eq!(["slow_cores", "slowdown"].map(|key| document[key].as_u64()), [Some(1), Some(3)]);
    // The other thread is on a fast core; if there are only two cores, the second one is on the slow core.
    let expected = if document["cores"] == 2 {
        [100.0, 400.0 / 3.0, 200.0 / 3.0]
    } else {
        [100.0, 200.0, 200.0]
    };
    for (place, expected) in expected.into_iter().enumerate() {
        let own = cell(place)["expected_percent"].as_f64().unwrap();
        assert!((own - expected).abs() < 1e-9, "{}", cell(place));
        assert_eq!(cell(place)["cpu_left_percent"], Value::Null);
    }
}

#[test]
fn bad_input_is_refused_with_what_would_do() {
    let scratch = Scratch::new();
    scratch.refuse_all("verify");
    #[cfg(not(feature = "aws-lc"))]
    scratch.refuse(
        "verify --library aws-lc",
        &["built without AWS-LC", "--release --features aws-lc"],
    );
}

/// An existing library that is not OpenSSL.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn another_library_is_no_openssl() {
    let words = "verify --library openssl --openssl libc.so.6";
    Scratch::new().refuse(words, &["not OpenSSL 1.1.0 or newer", "OpenSSL_version"]);
}
