//! Trains in virtual time, with and without foresight.

use trackbed_core::event::Record;

use crate::testing::{events, plan, refusal, samples};
use trackbed_scenario::Plan;

fn ride(radio: &str) -> Plan {
    ride_over("protocol = \"mptcp\"\ncongestion = \"lia\"", radio)
}

fn ride_over(ends: &str, radio: &str) -> Plan {
    plan(&format!(
        "{ends}\nscheduler = \"minrtt\"\n\
         [radio]\nduration = \"25 s\"\nlength = \"8 km\"\n{radio}\n\
         [workload]\nkind = \"flow\"\nduration = \"25 s\"\n"
    ))
}

fn sum(metric: &str, runs: &[Vec<Record>]) -> f64 {
    runs.iter().flat_map(|records| samples(metric, records)).sum()
}

#[test]
fn an_empty_table_changes_nothing_and_who_has_one_path_cannot_leave_it() {
    let empty = "profile = \"hsr-measured\"\nforesight = [\"none\", \"pha\"]\nrides = 0";
    let one_path = "protocol = \"tcp\"\n[radio]\nprofile = \"hsr-measured\"\nforesight = [\"none\", \"oracle\"]\n\
                    [workload]\nkind = \"flow\"\nduration = \"25 s\"\n";
    for (name, plan) in [
        ("mptcp", ride(empty)),
        ("mpquic", ride_over("protocol = \"mpquic\"", empty)),
        ("one path", plan(one_path)),
    ] {
        assert_eq!(events(&plan, 0, 0), events(&plan, 1, 0), "{name}");
    }
}

#[test]
fn equal_seeds_give_equal_rides_and_others_do_not() {
    let plan = ride("profile = \"hsr-measured\"\nforesight = \"pha-d\"");
    assert_eq!(events(&plan, 0, 1), events(&plan, 0, 1));
    assert_ne!(events(&plan, 0, 1), events(&plan, 0, 2));
}

/// Two operators carry more than one can: 25 Mbit/s.
#[test]
fn both_paths_are_used() {
    let runs = [events(&ride("profile = \"ns3\""), 0, 0)];
    let goodput = sum("goodput_mbps", &runs);
    assert!(goodput > 35.0 && goodput < 50.0, "{goodput} Mbit/s");
}

/// Spells of seconds in which a path is all but lost: leaving it beforehand wastes fewer packets
/// and carries more, whichever end foresees them.
#[test]
fn foreseen_handovers_cost_less() {
    let plan =
        ride("profile = \"hsr-measured\"\nforesight = [\"none\", \"pha\", \"pha-d\", \"oracle\"]");
    let rides = |cell| [0, 1].map(|run| events(&plan, cell, run));
    let [none, foreseen @ ..] = [0, 1, 2, 3].map(rides);
    assert!(sum("handover_count", &none) >= 2.0);
    for foreseen in foreseen {
        assert!(sum("retransmission_percent", &foreseen) < sum("retransmission_percent", &none));
        assert!(sum("handover_goodput_mbps", &foreseen) > sum("handover_goodput_mbps", &none));
    }
}

/// A table from before half of the shadow fading changed is a different table, and worse than a fresh
/// one. (The means of 40 rides: 69, 65 and 64 Mbit/s.)
#[test]
fn an_old_table_foresees_less() {
    let plan = ride(
        "profile = \"hsr-measured\"\nforesight = \"pha\"\ntable-drift = [\"0 %\", \"50 %\", \"100 %\"]",
    );
    let rides = |cell| [0, 1, 2, 3, 4, 5, 6, 7].map(|run| events(&plan, cell, run));
    let all = [0, 1, 2].map(rides);
    let [fresh, older, wrong] = [0, 1, 2].map(|cell| sum("handover_goodput_mbps", &all[cell]));
    assert!(fresh > older && older > wrong, "{fresh}, {older}, {wrong}");
    assert_eq!(events(&ride("profile = \"hsr-measured\"\nforesight = \"pha\""), 0, 0), all[0][0]);
}

/// The same with PATH_STATUS instead of MP_PRIO.
#[test]
fn foreseen_handovers_cost_less_over_quic() {
    let plan = ride_over(
        "protocol = \"mpquic\"",
        "profile = \"hsr-measured\"\nforesight = [\"none\", \"pha\", \"pha-d\", \"oracle\"]",
    );
    let rides = |cell| [0, 1].map(|run| events(&plan, cell, run));
    let [none, foreseen @ ..] = [0, 1, 2, 3].map(rides);
    for foreseen in &foreseen {
        assert!(sum("handover_goodput_mbps", foreseen) > sum("handover_goodput_mbps", &none));
        assert!(sum("goodput_mbps", foreseen) > 2.0 * 25.0);
    }
    assert_eq!(foreseen[1][1], events(&plan, 2, 1));
}

#[test]
fn what_quic_has_not_is_refused_with_what_it_has() {
    for (ends, foresight, why) in [
        (
            "scheduler = \"ecf\"",
            "none",
            "does not support scheduler ecf; it supports minrtt, roundrobin",
        ),
        (
            "congestion = \"lia\"",
            "none",
            "does not support congestion control lia; it supports cubic, reno, bbr3",
        ),
        ("", "reactive", "foresight = \"reactive\" is for mptcp"),
    ] {
        let refused = refusal(&format!(
            "protocol = \"mpquic\"\n{ends}\n[radio]\nforesight = \"{foresight}\"\n\
             [workload]\nkind = \"flow\"\nduration = \"1 s\"\n"
        ));
        assert!(refused.contains(why), "{refused}");
    }
}

/// A table from a file is as good as one learnt from the same rides; a table of another track is
/// refused.
#[test]
fn a_table_can_be_given() {
    use trackbed_core::parameter::Arguments;
    use trackbed_railway::handover::Settings;
    use trackbed_railway::motion::Direction;
    use trackbed_railway::radio::{PARAMETERS, Railway};

    let values = [("length", "8 km"), ("profile", "hsr-measured")].map(|(name, text)| {
        let kind = PARAMETERS.iter().find(|parameter| parameter.name == name).unwrap().kind;
        (name, kind.parse(text).unwrap())
    });
    let railway = Railway::read(&Arguments::read(PARAMETERS, &values).unwrap()).unwrap();
    let (directions, settings) = ([Direction::Forward], Settings::default());
    let table =
        trackbed_railway::preliminary::learn(&railway, &directions, 5, 0, settings).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.geojson");
    table.save(&file).unwrap();
    let given = format!("profile = \"hsr-measured\"\nforesight = \"pha\"\ntable = {file:?}");
    let learnt = ride("profile = \"hsr-measured\"\nforesight = \"pha\"\nrides = 5");
    assert_eq!(events(&ride(&given), 0, 0), events(&learnt, 0, 0));

    let refused = refusal(&format!(
        "protocol = \"mptcp\"\n[radio]\nlength = \"9 km\"\ntable = {file:?}\n[workload]\nkind = \"flow\"\n"
    ));
    assert!(refused.contains("the table is for a track of 8000 m"), "{refused}");
}

/// A drive replayed from a file has the same handovers and the same lost packets.
#[test]
fn a_recorded_drive_is_the_same_again() {
    let model = ride("profile = \"hsr-measured\"\nforesight = [\"none\", \"oracle\"]");
    let folder = tempfile::tempdir().unwrap();
    let files = crate::replay::keep_drive(&model.cells[0], model.seed, 2, folder.path()).unwrap();
    assert_eq!(files.len(), 2);
    let recorded = |more: &str| {
        format!(
            "protocol = \"mptcp\"\ncongestion = \"lia\"\nscheduler = \"minrtt\"\n[radio]\n\
             timeline = {:?}\n{more}\n[workload]\nkind = \"flow\"\nduration = \"25 s\"\n",
            files[0]
        )
    };
    let again = plan(&recorded("foresight = [\"none\", \"oracle\"]"));
    for cell in [0, 1] {
        assert_eq!(events(&again, cell, 2), events(&model, cell, 2));
    }
    let refused = refusal(&recorded("speed = \"100 km/h\""));
    assert!(refused.contains("radio.speed has no effect: the timeline"), "{refused}");
    let refused = refusal(&recorded("foresight = \"pha\""));
    assert!(refused.contains("does not contain the train's position"), "{refused}");
}

/// On a radio cell rates and queues are the cell's: two of 20 MHz carry more than two of 10 MHz. Handovers stay the
/// ride's: over one operator each is a gap of its interruption at least.
#[test]
fn a_ride_gives_a_radio_cell_its_signal_and_its_handovers() {
    let cell = |preset: &str| format!("[medium.cell]\npreset = \"{preset}\"\n");
    let both = |preset: &str| {
        let plan = ride(&format!("profile = \"3gpp\"\n{}", cell(preset)));
        sum("goodput_mbps", &[events(&plan, 0, 0)])
    };
    let [narrow, wide] = ["lte-10mhz", "lte-20mhz"].map(both);
    assert!(wide > 1.5 * narrow && narrow > 20.0, "{narrow} {wide}");
    for (interruption, least, most) in [("50 ms", 50.0, 250.0), ("500 ms", 500.0, 900.0)] {
        let plan = plan(&format!(
            "protocol = \"tcp\"\n[radio]\nduration = \"25 s\"\nlength = \"8 km\"\nprofile = \"3gpp\"\n\
             operator = \"first\"\ninterruption = \"{interruption}\"\n{}\
             [workload]\nkind = \"flow\"\nduration = \"25 s\"\n",
            cell("lte-10mhz")
        ));
        let runs = [events(&plan, 0, 0)];
        let gap = sum("gap_ms", &runs);
        assert!(sum("handover_count", &runs) > 0.0 && (least..most).contains(&gap), "{gap}");
        // The base station's queue overflows when slow start ends.
        let drops = sum("queue_drop_percent", &runs);
        assert!((0.1..5.0).contains(&drops), "{drops} % are dropped on the medium");
    }
}

#[test]
fn what_goes_ill_with_a_radio_is_refused_with_advice() {
    for row in include_str!("radio-mistakes.txt").lines() {
        let (more, parts) = row.split_once(" | ").unwrap();
        let more = more.replace("\\n", "\n");
        let refused = refusal(&format!(
            "protocol = \"mptcp\"\n{more}\n[workload]\nkind = \"flow\"\nduration = \"1 s\"\n"
        ));
        assert!(parts.split(" | ").all(|part| refused.contains(part)), "{refused}");
    }
}
