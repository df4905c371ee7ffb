//! Cells, factors, networks, and the inputs of a plan's digest.

use std::time::Duration;

use trackbed_core::Bitrate;
use trackbed_core::parameter::Kind;
use trackbed_net::Stage;

use super::super::{Source, built_in, load, reference};
use super::{factors, plan, plan_with, scenario, scenario_with_link};

fn built_in_plan(name: &str) -> super::Plan {
    load(&Source::named(name), &[]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn vru_has_eleven_cells() {
    let plan = built_in_plan("vru");
    let older = ["new", "resumed"].map(|handshake| ("http2", "1.2", handshake));
    let newer = ["http2", "http3", "quic"].into_iter().flat_map(|protocol| {
        ["new", "resumed", "early"].map(|handshake| (protocol, "1.3", handshake))
    });
    let expected = older.into_iter().chain(newer).map(|(protocol, tls, handshake)| {
        format!("protocol={protocol} tls={tls} handshake={handshake}")
    });
    assert_eq!(factors(&plan), expected.collect::<Vec<_>>());
    assert_eq!((plan.runs, plan.seed, plan.paper.as_deref()), (200, 1, Some("vru")));
    assert_eq!(plan.cells[0].network.round_trip_time(), Some(Duration::from_millis(10)));
    assert_eq!(plan.cells[0].network.link().rates, Some([Bitrate::from_mbps(50); 2]));
    assert!(plan.notes.iter().any(|note| note.contains("quic runs over TLS 1.3 only")));
}

#[test]
fn cells_are_ranked_by_what_their_workload_declares() {
    assert_eq!(built_in_plan("lte").cells[0].ranking, ["deadline_miss_ratio", "rtt_ms"]);
    assert_eq!(built_in_plan("vru").cells[0].ranking, ["completion_ms"]);
    let edge = built_in_plan("edge");
    assert_eq!(edge.cells[0].ranking, ["deadline_miss_ratio", "rtt_ms", "fps"]);
    let useful = edge.useful_difference;
    assert!((useful.percent - 1.0).abs() < 1e-9 && (useful.ms - 0.1).abs() < 1e-9, "{useful:?}");
}

/// No share but loss has a name that tells it.
#[test]
fn factors_have_the_kind_and_unit_of_their_key() {
    let settings = ["protocol=quic", "handshake=new", "beta=50%,70%", "link.delay=5ms,10ms"];
    let overrides: Vec<_> = settings.iter().map(|text| text.parse().unwrap()).collect();
    let plan = load(&Source::named("vru"), &overrides).unwrap_or_else(|error| panic!("{error}"));
    let of = |name: &str| {
        let kind = &plan.factors[name];
        [kind.title.as_str(), kind.kind.as_str(), kind.unit.as_str()]
    };
    assert_eq!((of("beta"), of("delay_ms")), (["beta", "share", ""], ["delay", "time", "ms"]));
}

#[test]
fn bulk_has_ten_cells() {
    let plan = built_in_plan("bulk");
    assert_eq!((plan.cells.len(), plan.runs), (10, 10));
    assert_eq!(factors(&plan)[0], "protocol=tcp congestion=reno");
    assert_eq!(factors(&plan)[9], "protocol=http3 congestion=cubic");
    assert_eq!(plan.cells[0].endpoint.tls, None);
}

#[test]
fn built_in_scenarios_say_what_they_compare() {
    for scenario in built_in() {
        assert_eq!(built_in_plan(scenario.name).name, scenario.name);
        assert_eq!(built_in_plan(scenario.name).summary, scenario.summary());
        assert!(!scenario.summary().is_empty());
    }
}

#[test]
fn what_is_not_encrypted_has_one_cell_for_all_of_tls() {
    let text = scenario("tls = [\"1.2\", \"1.3\"]\nhandshake = [\"new\", \"resumed\"]")
        .replace("\"quic\"", "[\"tcp\", \"tcp+tls\"]");
    assert_eq!(
        factors(&plan(&text)).join("; "),
        "protocol=tcp tls=none handshake=new; protocol=tcp+tls tls=1.2 handshake=new; \
         protocol=tcp+tls tls=1.2 handshake=resumed; protocol=tcp+tls tls=1.3 handshake=new; \
         protocol=tcp+tls tls=1.3 handshake=resumed"
    );
}

#[test]
fn lists_and_ranges_are_axes_in_the_order_of_the_file() {
    let link = "rate = { from = \"10 Mbit/s\", to = \"30 Mbit/s\", points = 3 }\n\
                delay = \"5 ms\"\nloss = [\"0 %\", 0.01]\nqueue = [100, \"200 packets\"]";
    let lines = factors(&plan(&scenario_with_link(link)));
    assert_eq!(lines.len(), 12);
    assert_eq!(lines[0], "protocol=quic rate_mbps=10 loss=0 queue_packets=100");
    assert_eq!(lines[1], "protocol=quic rate_mbps=10 loss=0 queue_packets=200");
    assert_eq!(lines[2], "protocol=quic rate_mbps=10 loss=0.01 queue_packets=100");
    assert_eq!(lines[11], "protocol=quic rate_mbps=30 loss=0.01 queue_packets=200");
}

#[test]
fn factors_carry_units_and_stay_apart() {
    let link = "rate = \"1 Mbit/s\"\nqueue = [\"15 kB\", \"30 kB\"]\n\
                delay = { uniform = { least = [\"1 ms\", \"2 ms\"], most = \"3 ms\" } }\n\
                up = { loss = [0.0, 0.1] }\ndown = { loss = [0.0, 0.2] }";
    let text = scenario_with_link(link) + "rate = [\"10 /s\", \"20 /s\"]\n";
    assert_eq!(
        factors(&plan(&text)).last().map(String::as_str),
        Some("protocol=quic queue_bytes=30000 least_ms=2 up_loss=0.1 down_loss=0.2 rate_hz=20")
    );
}

#[test]
fn models_are_compared_by_their_text() {
    let link = "loss = [\"1 %\", { gilbert-elliott = { p = \"0.1 %\", r = \"20 %\" } }, \
                { periodic = 100 }]";
    assert_eq!(
        factors(&plan(&scenario_with_link(link))),
        [
            "protocol=quic loss=1 %",
            "protocol=quic loss=gilbert-elliott (p = 0.1 %, r = 20 %)",
            "protocol=quic loss=periodic (every = 100)",
        ]
    );
}

#[test]
fn every_link_model_can_be_named_and_every_key_is_in_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let keys: Vec<String> = reference().into_iter().map(|key| key.path).collect();
    for entry in trackbed_net::MODELS {
        let example = entry.example.iter().map(|(name, value)| {
            let files = entry.parameters.iter().find(|parameter| parameter.name == *name);
            let value = match files.map(|parameter| parameter.kind) {
                Some(Kind::File) => {
                    let path = folder.path().join(entry.name);
                    std::fs::write(&path, value).unwrap();
                    path.display().to_string()
                }
                _ => (*value).to_owned(),
            };
            (name.replace('_', "-"), value)
        });
        let (queue, own): (Vec<_>, Vec<_>) =
            example.partition(|(name, _)| name.starts_with("queue"));
        let (stage, model) = keys
            .iter()
            .filter_map(|key| key.strip_prefix("link."))
            .filter_map(|key| key.split_once('.'))
            .find(|(stage, model)| {
                let (stage, model) = (*stage, *model);
                entry.name == model || entry.name == format!("{stage}-{model}")
            })
            .unwrap_or_else(|| panic!("{} is in no slot", entry.name));
        let own: Vec<String> = own
            .iter()
            .map(|(name, value)| {
                let short = name.strip_prefix(&format!("{}-", entry.name)).unwrap_or(name);
                format!("{short} = {value:?}")
            })
            .collect();
        let queue: Vec<String> =
            queue.iter().map(|(_, value)| format!("queue = \"{value} packets\"")).collect();
        let link =
            format!("{stage} = {{ {model} = {{ {} }} }}\n{}", own.join(", "), queue.join("\n"));
        let rate = if stage == "background" { "\nrate = \"1 Mbit/s\"" } else { "" };
        let plan = plan(&scenario_with_link(&(link.clone() + rate)));
        let built = format!("{:?}", plan.cells[0].network.link().up.models());
        assert!(built.starts_with(&format!("[{:?}", entry.example_model())), "{link}: {built}");
    }
}

#[test]
fn one_direction_may_differ_and_phones_may_have_links_of_their_own() {
    let text = "protocol = \"quic\"\n[link]\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\n\
                [link.up]\nrate = \"10 Mbit/s\"\ndelay = \"7 ms\"\nmtu = \"1280 B\"\n\
                [access]\ndelay = \"1 ms\"\nmtu = \"1400 B\"\n[workload]\nkind = \"bulk\"\n";
    let network = &plan(text).cells[0].network;
    assert_eq!(network.link().rates, Some([10, 50].map(Bitrate::from_mbps)));
    assert_eq!(network.round_trip_time(), Some(Duration::from_millis(5 + 7 + 2)));
    let access = network.access.as_ref().unwrap();
    assert_eq!((access.mtu, access.rates), ([1_400; 2], None));
    assert_eq!((network.link().mtu, network.mtu()), ([1_280, 1_500], 1_280));
    let (up, down) = (&network.link().up, &network.link().down);
    assert!(format!("{up:?}").contains("10000000") && format!("{down:?}").contains("50000000"));
}

#[test]
fn several_models_of_a_kind_all_apply() {
    let link = "loss = { loss = \"0.1 %\", periodic = 100 }\n\
                outage = { outage = [[\"1 s\", \"2 s\"]] }\n\
                reordering = { reordering = \"1 %\", hold = \"5 ms\" }";
    let plan = plan(&scenario_with_link(link));
    let stages: Vec<_> =
        plan.cells[0].network.link().down.models().iter().map(|model| model.stage()).collect();
    assert_eq!(stages, [Stage::Outage, Stage::Loss, Stage::Loss, Stage::Reordering]);
}

#[test]
fn a_delay_that_varies_has_no_round_trip_time() {
    let link = "delay = { normal = { mean = \"5 ms\", deviation = \"1 ms\" } }";
    assert_eq!(plan(&scenario_with_link(link)).cells[0].network.round_trip_time(), None);
    let fixed = "delay = { delay = \"5 ms\" }";
    let expected = Some(Duration::from_millis(10));
    assert_eq!(plan(&scenario_with_link(fixed)).cells[0].network.round_trip_time(), expected);
}

#[test]
fn the_digest_tells_what_results_depend_on() {
    let text = scenario("");
    let digest = plan(&text).hash;
    assert_eq!(digest.len(), 64);
    let same = [
        text.replace("[link]", "# a comment\n\n[link] # another"),
        text.replace("50 Mbit/s", "50000kbit"),
        format!("name = \"other\"\nsummary = \"other\"\nruns = 7\n{text}"),
        format!("seed = 1\nhandshake = \"new\"\ntls = \"1.3\"\n{text}"),
        format!("{text}count = 10\n"),
        text.replace("delay", "mtu = \"1500 B\"\ndelay"),
    ];
    for text in same {
        assert_eq!(plan(&text).hash, digest, "{text}");
    }
    let other = [
        text.replace("50 Mbit/s", "51 Mbit/s"),
        format!("seed = 2\n{text}"),
        format!("{text}count = 11\n"),
        text.replace("quic", "http3"),
        text.replace("delay", "loss = \"0.1 %\"\ndelay"),
        text.replace("delay", "queue = \"codel\"\ndelay"),
        text.replace("[link]", "[access]\ndelay = \"1 ms\"\n[link]"),
        format!("window = \"1 MB\"\n{text}"),
    ];
    for text in other {
        assert_ne!(plan(&text).hash, digest, "{text}");
    }
}

#[test]
fn the_digest_follows_the_contents_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let [file, payload] = ["s.toml", "payload.json"].map(|name| folder.path().join(name));
    std::fs::write(&file, scenario("") + "payload = \"payload.json\"\n").unwrap();
    let digest = |contents: &str| {
        std::fs::write(&payload, contents).unwrap();
        let plan = load(&Source::File(file.clone()), &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(plan.name, "s");
        // A copy of the text in a run directory finds the same files.
        let copy = Source::recorded(&file.display().to_string(), &plan.source_text);
        assert_eq!(load(&copy, &[]).unwrap().hash, plan.hash);
        plan.hash
    };
    assert_eq!(digest("{\"a\": 1}"), digest("{\"a\": 1}"));
    assert_ne!(digest("{\"a\": 1}"), digest("{\"a\": 2}"));
}

#[test]
fn a_congestion_control_that_only_one_transport_has_leaves_the_other_out() {
    let text =
        scenario("congestion = [\"cubic\", \"bbr3\"]").replace("\"quic\"", "[\"quic\", \"http2\"]");
    let plan = plan_with(&text, &[]).unwrap();
    assert_eq!(factors(&plan).len(), 3);
    assert!(
        plan.notes
            .iter()
            .any(|note| note.contains("http2 does not support congestion control bbr3"))
    );
    assert!(plan.notes.iter().any(|note| note.contains("vary slightly even with the same seed")));
}

/// Both endpoints know the smallest MTU on the path, but never fill more than Ethernet's.
#[test]
fn packets_fit_the_smallest_link() {
    let fitting = |link: &str, access: &str| {
        let text = format!(
            "protocol = \"sctp\"\n[link]\nmtu = \"{link} B\"\n[access]\nmtu = \"{access} B\"\n\
             [workload]\nkind = \"messages\"\n"
        );
        plan(&text).cells[0].endpoint.transport.packet_len_max
    };
    assert_eq!(fitting("1300", "1500"), 1_300);
    assert_eq!(fitting("1500", "1301"), 1_301);
    assert_eq!(fitting("9000", "9000"), 1_500);
}
