//! Comparisons of two run directories.

use super::*;

/// A clean and a lossy cell of each of two protocols; 10 ms a round trip.
fn scratch() -> Scratch {
    let scratch = scenario();
    run(&scratch, "before", "");
    scratch
}

fn run(scratch: &Scratch, out: &str, more: &str) {
    let axes = "--set protocol=quic,tcp --set link.loss=0,2% --runs 12";
    scratch.succeed(&format!("run a.toml {axes} --out {out} {more}"));
}

fn compare(scratch: &Scratch, words: &str) -> (i32, Value) {
    let ended = scratch.trackbed(&format!("compare {words} --json"));
    let document = serde_json::from_str(&ended.stdout);
    (ended.status, document.unwrap_or_else(|why| panic!("{why}: {}", ended.stderr)))
}

fn verdicts(document: &Value) -> Vec<&str> {
    let cells = document["cells"].as_array().unwrap();
    cells.iter().map(|cell| cell["verdict"].as_str().unwrap()).collect()
}

#[test]
fn the_same_runs_are_equal_and_no_worse() {
    let scratch = scratch();
    run(&scratch, "again", "--jobs 1");
    let (status, found) = compare(&scratch, "before again --no-worse-than 0.1%");
    assert_eq!((status, verdicts(&found)), (0, vec!["equal"; 4]));
    assert_eq!((&found["paired"], found["changes"].as_array().unwrap().len()), (&true.into(), 0));
}

/// When a schedule ends is no result, also in directories that do not say what ranks their cells.
#[test]
fn messages_on_a_schedule_are_compared_by_deadlines_and_round_trips() {
    let scratch = scenario();
    run(&scratch, "before", "--set workload.rate=10/s");
    let mut document = scratch.json("before/run.json");
    let cells = document["cells"].as_array_mut().unwrap();
    let declared = |cell: &mut Value| cell.as_object_mut().unwrap().remove("ranking").unwrap();
    let expected = ["deadline_miss_ratio", "rtt_ms"];
    assert!(cells.iter_mut().map(declared).all(|ranking| ranking == serde_json::json!(expected)));
    scratch.write("before/run.json", &document.to_string());
    let (_, found) = compare(&scratch, "before before");
    let cells = found["cells"].as_array().unwrap();
    let metrics: Vec<&str> = cells.iter().map(|cell| cell["metric"].as_str().unwrap()).collect();
    assert_eq!(metrics, expected.repeat(4));
}

/// On the live substrate, the seed does not determine the network, so equal seeds do not pair runs.
#[test]
fn runs_over_a_network_that_is_as_it_is_make_no_pairs() {
    let scratch = scratch();
    let virtually = scratch.read("before/run.json");
    let live = virtually.replace("\"substrate\": \"virtual\"", "\"substrate\": \"live\"");
    assert_ne!(virtually, live);
    scratch.write("before/run.json", &live);
    let (_, found) = compare(&scratch, "before before");
    assert_eq!(found["paired"], false);
    let text = scratch.trackbed("compare before before").stdout;
    assert!(text.contains("as independent runs (a real network does not follow a seed)"), "{text}");
}

/// Three round trips of 10 ms become three of 10.5: 5 % more, independent of losses.
#[test]
fn what_got_worse_is_found_and_what_else_has_changed_is_named() {
    let scratch = scratch();
    run(&scratch, "slower", "--set link.delay=5.25ms");
    let (status, found) = compare(&scratch, "before slower");
    assert_eq!(status, 1);
    let clean = &found["cells"][0];
    assert_eq!((&clean["verdict"], &clean["regression"]), (&"higher".into(), &"worse".into()));
    let [more, percent] = [&clean["difference"], &clean["percent"][0]].map(|v| v.as_f64().unwrap());
    assert!((more - 1.5).abs() < 1e-3, "{more}");
    assert!((4.5..5.0).contains(&percent), "bytes take time too: {percent}");
    let setting = &found["changes"][0];
    assert_eq!(setting["what"], "settings");
    assert_eq!(setting["first"], "protocol=quic,tcp, link.loss=0,2%");
    assert!(setting["second"].as_str().unwrap().ends_with("link.delay=5.25ms"), "{setting}");
    // In the other direction it got better, and a margin of 10 % covers the difference.
    assert_eq!(compare(&scratch, "slower before --no-worse-than 3%").0, 0);
    assert_eq!(compare(&scratch, "before slower --margin 10%").0, 0);
    let parts = ["slower, WORSE", "settings: protocol=quic"];
    scratch.trackbed("compare before slower").prints(1, &parts);
}

#[test]
fn what_is_not_shown_is_not_taken_for_granted() {
    let scratch = scratch();
    run(&scratch, "other", "--seed 2");
    let (status, found) = compare(&scratch, "before other --metric throughput_mbps");
    assert_eq!((status, &found["paired"]), (0, &false.into()));
    assert!(verdicts(&found).contains(&"undecided"), "{found}");
    let (status, _) = compare(&scratch, "before other --metric throughput_mbps --no-worse-than 3%");
    assert_eq!(status, 1, "of lossy cells, twelve other runs do not show it");
}

#[test]
fn cells_that_are_gone_and_runs_that_fail_are_not_overlooked() {
    let scratch = scratch();
    let axes = "--set protocol=quic,tcp --set link.loss=0,5%";
    scratch.succeed(&format!("run a.toml {axes} --runs 12 --out fewer"));
    let (status, found) = compare(&scratch, "before fewer");
    assert_eq!((status, verdicts(&found)), (0, vec!["equal"; 2]), "of what both have");
    let losses = |list: &Value| {
        let list = list.as_array().unwrap().iter();
        list.map(|factors| factors["loss"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(losses(&found["missing"]), [0.02; 2]);
    assert_eq!(losses(&found["added"]), [0.05; 2]);
    assert_eq!(compare(&scratch, "before fewer --no-worse-than 3%").0, 1, "some are missing");

    let failing = "--set workload.timeout=100ms --out failing";
    let ended = scratch.trackbed(&format!(
        "run a.toml --set protocol=quic,tcp --set link.loss=0,2% --runs 12 {failing}"
    ));
    assert_eq!(ended.status, 1, "a lost packet costs TCP 200 ms at the least: {}", ended.stderr);
    let (status, _) = compare(&scratch, "before failing");
    assert_eq!(status, 1);
    let parts = ["FAILS MORE", "failed runs of tcp 0.02: 0 before"];
    scratch.trackbed("compare before failing").prints(1, &parts);

    let text = "protocol = \"tcp\"\n[link]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nloss = \"30 %\"\n\
                [workload]\nkind = \"messages\"\ncount = 5\ntimeout = \"3 s\"\n";
    scratch.write("b.toml", text);
    for runs in [10, 40] {
        scratch.trackbed(&format!("run b.toml --runs {runs} --out {runs}"));
    }
    // More runs, but a smaller share of them.
    scratch.trackbed("compare 10 40").prints(0, &["failed runs of tcp: 5 before, 12 now"]);
}

/// A cell without successful runs has no mean that could be worse, and is the worst of all.
#[test]
fn a_cell_whose_runs_all_fail_is_not_passed_over() {
    let scratch = scratch();
    let dead = |axes: &str, out: &str| {
        // Without any arriving packets, three round trips of 10 ms do not finish in time.
        let words = format!("run a.toml {axes} --set workload.timeout=20ms --runs 12 --out {out}");
        assert_eq!(scratch.trackbed(&words).status, 1);
    };
    scratch.succeed("run a.toml --set protocol=quic,tcp --runs 12 --out good");
    dead("--set protocol=quic,tcp", "dead");
    let (status, found) = compare(&scratch, "good dead");
    assert_eq!((status, verdicts(&found).len()), (1, 0));
    let lost = found["incomparable"].as_array().unwrap();
    let told = |cell: &Value| [&cell["metric"], &cell["n"], &cell["failed"]].map(Value::to_string);
    let expected = ["\"completion_ms\"", "[12,0]", "[0,12]"];
    assert_eq!(lost.iter().map(told).collect::<Vec<_>>(), [expected; 2]);
    let parts = [
        "Nothing could be compared: 2 results are worse",
        "quic: completion_ms before in 12 runs, and 0 failed; now in 0 runs, and 12 failed",
    ];
    scratch.trackbed("compare good dead").prints(1, &parts);
    // A cell that never succeeded cannot get worse.
    for words in ["dead good", "dead dead"] {
        let (status, found) = compare(&scratch, words);
        assert_eq!(status, 2, "nothing was compared");
        assert_eq!(found["answer"], "Nothing could be compared: no run succeeded on both sides.");
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let scratch = scratch();
    fs::create_dir(scratch.path("empty")).unwrap();
    scratch.succeed("run a.toml --set link.delay=1ms,2ms --out foreign");
    run(&scratch, "damaged", "");
    scratch.write("damaged/run.json", "{\"cells\": 3}");
    scratch.refuse_all("compare");
}

/// 24 x 2^(1 - 10) is 4.7 %, with 9 runs it is 9.4 %; other seeds make no same runs.
#[test]
fn six_runs_cannot_decide_and_the_same_runs_need_no_test() {
    let scratch = scenario();
    let run = |out: &str, more: &str| {
        let axes = "--set protocol=quic,tcp --set link.loss=0,2% --runs 6";
        scratch.succeed(&format!("run a.toml {axes} --out {out} {more}"));
    };
    run("before", "");
    run("slower", "--set link.delay=5.25ms");
    let (status, found) = compare(&scratch, "before slower --junit found.xml");
    let answer = found["answer"].as_str().unwrap();
    assert_eq!(status, 1, "every run is slower by three times 0.5 ms: {answer}");
    assert!(answer.starts_with("All 24 runs are slower, by 1.50 to "), "{answer}");
    assert!(answer.contains("6 runs cannot decide 4 comparisons; 8 can (--runs 8)"), "{answer}");
    let xml = scratch.read("found.xml");
    assert!(xml.contains("tests=\"4\" failures=\"4\" skipped=\"0\""), "{xml}");
    for cell in found["cells"].as_array().unwrap() {
        let [least, most] = [0, 1].map(|end| cell["in_these_runs"]["range"][end].as_f64().unwrap());
        let [low, high] = [0, 1].map(|end| cell["interval"][end].as_f64().unwrap());
        assert!(least <= low && high <= most, "{cell}");
    }
    // A margin above the difference, and the other direction.
    assert_eq!(compare(&scratch, "before slower --margin 300ms").0, 0);
    assert_eq!(compare(&scratch, "slower before").0, 3);
    // Times are compared by medians, as `run` does; of a run's single value, that is its median.
    let of = "compare before slower --json --metric";
    let again = scratch.trackbed(&format!("{of} 'median completion'")).json();
    let key = |document: &Value, name: &str| document["cells"][0][name].clone();
    assert_eq!(key(&found, "statistic"), "median");
    assert_eq!(key(&again, "metric"), "p50 completion_ms");
    for name in ["difference", "interval", "p_adjusted"] {
        assert_eq!(key(&found, name), key(&again, name));
    }
    let few = "a run of one side has 1 of at least 100 values";
    scratch.refuse(&format!("{of} 'p99 completion'"), &[few]);
    scratch.refuse(&format!("{of} 'p99 speed'"), &["no metric p99 speed"]);
}
