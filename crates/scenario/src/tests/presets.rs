//! The table `[preset]`.

use trackbed_protocols::presets;

use super::{expect_words, factors, plan, plan_with, planned_with, rows, scenario};

/// The scenario over `protocol`, with these settings.
fn hash(protocol: &str, settings: &[&str]) -> String {
    planned_with(&scenario("").replace("quic", protocol), settings).hash
}

/// The digest covers all that a result depends on.
#[test]
fn a_preset_is_the_same_as_its_keys_written_out() {
    for preset in presets() {
        for protocol in preset.protocols {
            let chosen = format!("preset.{protocol}={}", preset.name);
            let keys = preset.values.iter().map(|(key, value)| format!("{key}={value}"));
            let keys: Vec<String> = keys.collect();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            assert_eq!(hash(protocol, &[&chosen]), hash(protocol, &keys), "{chosen}");
            assert_ne!(hash(protocol, &[&chosen]), hash(protocol, &[]), "{chosen}");
        }
    }
}

/// Values from the sources that the presets name: quic-go's initialCongestionWindow, renoBeta,
/// MaxPacketSizeIPv4 and DefaultMaxReceiveStreamFlowControlWindow; ns-3's InitialCwnd, SegmentSize,
/// SndBufSize, RcvBufSize and MinRto.
#[test]
fn presets_hold_what_their_sources_say() {
    let quic = plan_with(&scenario(""), &["preset.quic=quic-go-2020"]).unwrap();
    let quic = &quic.cells[0].endpoint.transport;
    assert_eq!((quic.congestion.as_str(), quic.window), ("reno", 6 << 20));
    let said = ["initial-window", "beta", "hystart", "packet-size"]
        .map(|key| quic.arguments.value(key).unwrap().to_string());
    assert_eq!(said, ["32", "70 %", "true", "1252 B"]);
    let ns3 = plan_with(&scenario("").replace("quic", "tcp"), &["preset.tcp=ns-3"]).unwrap();
    let tcp = &ns3.cells[0].endpoint.transport.tcp;
    // 12 bytes of a segment are its timestamp (RFC 7323).
    assert_eq!((tcp.initial_window, tcp.mss, tcp.sack), (Some(1), Some(536 + 12), false));
    assert_eq!((tcp.send_buffer, tcp.receive_buffer), (Some(131_072), Some(131_072)));
    assert_eq!(tcp.rto_min.map(|min| min.as_millis()), Some(1_000));
}

#[test]
fn a_key_that_is_written_counts_more() {
    let both = ["preset.quic=quic-go-2020", "congestion=cubic", "window=16MiB"];
    let transport = &plan_with(&scenario(""), &both).unwrap().cells[0].endpoint.transport;
    assert_eq!((transport.congestion.as_str(), transport.window), ("cubic", 16 << 20));
    assert_eq!(transport.arguments.value("beta").unwrap().to_string(), "70 %");
}

#[test]
fn a_preset_is_for_its_protocol_alone() {
    let text = scenario("").replace("\"quic\"", "[\"quic\", \"tcp\"]");
    let plan = plan(&text.replace("[link]", "[preset]\nquic = \"quic-go-2020\"\n[link]"));
    let congestion = plan.cells.iter().map(|cell| cell.endpoint.transport.congestion.as_str());
    assert_eq!(congestion.collect::<Vec<_>>(), ["reno", "cubic"]);
    let plan = super::plan(&text.replace("[link]", "[preset]\ntcp = [\"ns-3\"]\n[link]"));
    assert_eq!(factors(&plan), ["protocol=quic preset_tcp=none", "protocol=tcp preset_tcp=ns-3"]);
    assert_eq!(plan.conditions, [""; 0]);
}

/// BBR comes from a library: a setting without effect is refused, also from a preset.
#[test]
fn a_controller_without_parameters_takes_none() {
    for setting in ["initial-window=32", "beta=70%", "hystart=true", "preset.quic=quic-go-2020"] {
        expect_words(&scenario(""), &["congestion=bbr3", setting], &["bbr3 ignores this key"]);
    }
}

/// SCTP and TCP share the name of a key; SCTP's bounds do not apply to TCP.
#[test]
fn options_of_tcp_have_their_own_bounds() {
    let tcp = scenario("").replace("quic", "tcp");
    assert!(plan_with(&tcp, &["rto-min=2s"]).is_ok());
    let words = "receive-buffer must be 2304 B to 1073741824 B, not 2 kB";
    expect_words(&tcp, &["receive-buffer=2kB"], &[words]);
    let sctp = scenario("").replace("quic", "sctp");
    expect_words(&sctp, &["rto-min=2s"], &["between `rto-min` and `rto-max`"]);
}

#[test]
fn what_does_not_fit_is_refused_with_what_does() {
    for row in rows(include_str!("presets.txt")) {
        expect_words(&scenario(""), &[&row[0]], &row);
    }
}
