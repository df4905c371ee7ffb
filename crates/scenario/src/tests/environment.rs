//! The table `[environment]`.

use std::fs;

use super::{expect_words, factors, plan, plan_with, rows, scenario};

/// A streaming scenario without a link delay, with these lines in its environment.
fn streaming(environment: &str) -> String {
    format!(
        "protocol = \"quic\"\n[link]\nrate = \"50 Mbit/s\"\n[environment]\n{environment}\n\
         [workload]\nkind = \"streaming\"\n"
    )
}

#[test]
fn every_key_may_be_an_axis() {
    let lines = "delay = [\"50 ms\", \"100 ms\"]\nreconnections = [0, 5]\nseek = [\"0 %\", 0.3]";
    let plan = plan(&streaming(lines));
    let cells = factors(&plan);
    assert_eq!(cells.len(), 8);
    assert_eq!(cells[7], "protocol=quic delay_ms=100 reconnections=5 seek=0.3");
    assert_eq!(plan.conditions, ["delay_ms", "reconnections", "seek"]);
    assert!(plan.cells.iter().all(|cell| cell.environment.has_delay()));
    assert_ne!(plan.cells[0].environment, plan.cells[7].environment);
    assert_eq!(plan.cells[0].network.round_trip_time(), None);
}

#[test]
fn the_digest_follows_the_environment() {
    let digest = plan(&streaming("delay = \"50 ms\"")).hash;
    assert_eq!(plan(&streaming("# a word\ndelay = \"0.05 s\"")).hash, digest);
    assert_ne!(plan(&streaming("delay = \"51 ms\"")).hash, digest);
    assert_ne!(plan(&streaming("delay = \"50 ms\"\nseek = \"1 %\"")).hash, digest);
}

#[test]
fn without_the_table_nothing_changes() {
    assert!(plan(&scenario("")).cells[0].environment.is_still());
}

#[test]
fn what_does_not_go_together_is_refused_at_its_place() {
    for row in rows(include_str!("environment.txt")) {
        expect_words(&streaming(&row[0]), &[], &row[1..]);
    }
    let text = streaming("delay = \"50 ms\"").replace("rate =", "delay = \"5 ms\"\nrate =");
    expect_words(&text, &[], &["link.delay has no effect", "remove it, or the delay"]);
    for key in ["seek = 0.3", "reconnect = \"new-address\""] {
        let ignored = format!("messages ignores environment.{}", key.split(' ').next().unwrap());
        let text = streaming(key).replace("streaming", "messages");
        expect_words(&text, &[], &[&ignored, "remove it"]);
    }
    let delay_alone = streaming("delay = \"5 ms\"").replace("streaming", "messages");
    assert!(plan_with(&delay_alone, &[]).is_ok(), "a delay concerns the link alone");
}

#[test]
fn a_timeline_comes_from_a_file_and_stands_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("drive.csv");
    let text = streaming(&format!("timeline = {:?}", file));
    fs::write(&file, "at,change,value\n0 s,delay,40 ms\n5 s,seek,50 %\n").unwrap();
    let given = plan(&text);
    assert!(given.cells[0].environment.has_delay());
    fs::write(&file, "at,change,value\n0 s,delay,41 ms\n").unwrap();
    assert_ne!(plan(&text).hash, given.hash);
    let with_seek = text.replace("timeline =", "seek = 0.3\ntimeline =");
    expect_words(&with_seek, &[], &["environment.seek has no effect together with a timeline"]);
    let with_delay = text.replace("rate =", "up = { delay = \"5 ms\" }\nrate =");
    expect_words(&with_delay, &[], &["link.up.delay has no effect"]);
    fs::write(&file, "at,change,value\n5 s,delay,40 ms\n").unwrap();
    expect_words(&text, &[], &["timeline: line 2: the first delay must hold"]);
}

#[test]
fn the_digest_follows_what_is_in_a_folder_of_media() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["hd", "fhd", "qhd"] {
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("0000.m4s"), "12345").unwrap();
    }
    let text = streaming("") + &format!("media = {:?}\n", folder);
    let digest = plan(&text).hash;
    assert_eq!(plan(&text).hash, digest);
    fs::write(folder.join("hd/0000.m4s"), "1234567").unwrap();
    assert_ne!(plan(&text).hash, digest);
    fs::remove_dir_all(folder.join("fhd")).unwrap();
    expect_words(&text, &[], &["fhd", "0000.m4s"]);
}

/// Without a changing delay there is nothing to overtake.
#[test]
fn overtaking_needs_a_delay_that_changes() {
    let keys = "[environment]\nduration = \"1 s\"\novertaking = true\n[link]";
    let words = "without a delay, nothing can overtake; set `delay`";
    expect_words(&scenario("").replace("[link]", keys), &[], &[words]);
}
