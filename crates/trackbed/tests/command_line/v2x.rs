//! `trackbed v2x`: decodes a message of a real car.

use std::fs;
use std::time::Duration;

use trackbed_core::{Ratio, Seed, Time};
use trackbed_v2x::ItsTime;
use trackbed_v2x::location::Position;
use trackbed_v2x::traffic::{Crossing, Kind, Origin, Traffic, Transmission};

use super::*;

#[test]
fn a_cam_is_shown_from_bytes_and_from_digits() {
    let scratch = Scratch::new();
    // A production car's CAM; its source is given beside it.
    let cam = include_bytes!("../../../v2x/tests/data/car-cam.oer");
    scratch.write("cam.oer", cam);
    let digits: Vec<String> = cam.iter().map(|byte| format!("{byte:02x}")).collect();
    scratch.write("cam.hex", &format!("0x{}\n{}", digits[..99].join(":"), digits[99..].join(" ")));
    let shown = scratch.succeed("v2x decode cam.oer").json();
    let mut brainpool = *cam;
    brainpool[cam.len() - 66] = 0x81;
    let packet = |message: &[u8]| [&[0x12, 0, 0x50, 1], message].concat();
    // Over Ethernet, with a tag of a VLAN as a short message with a checksum behind it, of all devices at once, in a
    // datagram, signed on another curve, and another packet.
    let frames = [
        [&[0; 12], &[0x89, 0x47][..], &packet(cam)].concat(),
        [
            &[0; 12],
            &[0x81, 0, 0, 3, 0x88, 0xdc, 0x0b, 1, 15, 1, 0, 0, 36, 0x81, 0x97][..],
            cam,
            &[9; 4],
        ]
        .concat(),
        [&[0x89, 0x47][..], &[0; 18], &packet(cam)].concat(),
        [&[0; 12], &[8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 0, 17][..], &[0; 18], cam].concat(),
        [&[0; 12], &[0x89, 0x47][..], &packet(&brainpool)].concat(),
        [&[0; 12], &[8, 6][..], &[0; 28]].concat(),
    ];
    let word = |number: usize| (number as u32).to_le_bytes();
    let header = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1].map(word).concat();
    let record = |frame: &Vec<u8>| {
        let len = frame.len();
        [[0, 0, len, len].map(word).concat(), frame.clone()].concat()
    };
    let next_generation = |frame: &Vec<u8>| {
        let (len, padding) = (frame.len(), vec![0; frame.len().next_multiple_of(4) - frame.len()]);
        let total = 32 + len + padding.len();
        let head = [6, total, 0, 0, 0, len, len].map(word).concat();
        [&head[..], frame, &padding, &word(total)].concat()
    };
    let sections = [0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, usize::MAX, usize::MAX, 28, 1, 20, 1, 0, 20];
    let sections = sections.map(word).concat();
    scratch.write("a.pcap", &[header, frames.each_ref().map(record).concat()].concat());
    scratch
        .write("b.pcapng", &[sections, frames.each_ref().map(next_generation).concat()].concat());
    for name in ["a.pcap", "b.pcapng"] {
        let ended = scratch.succeed(&format!("v2x decode {name}"));
        let expected = "4 signed messages, 1 other packets; 1 unreadable: the message's signature is an \
                        ecdsaBrainpoolP256r1Signature";
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        let found = ended.json();
        assert_eq!([0, 1, 2, 3].map(|at| &found[at]["data"]), [&shown["data"]; 4], "{name}");
        assert_eq!([0, 1, 2, 3].map(|at| &found[at]["packet"]), [1, 2, 3, 4], "{name}");
    }
    scratch.write("cam.gn", &packet(cam));
    assert_eq!(scratch.succeed("v2x decode cam.gn").json(), shown);
    assert_eq!(scratch.succeed("v2x decode cam.hex").json(), shown);
    assert_eq!(shown["psid"], 36);
    assert_eq!(shown["payload"]["header"]["stationID"], 0x1a3f_3d39);
}

const EPOCH: Duration = Duration::from_secs(1_700_000_000);

/// The messages of a crossing, whose root and authority stand one after the other in `roots.oer`.
fn traffic(scratch: &Scratch, crossing: Crossing) -> Traffic {
    let (seed, here) = (Seed::of_run(1, 0), Position::default());
    let traffic = Traffic::new(crossing, &seed, here, ItsTime::from_unix(EPOCH)).unwrap();
    let root = traffic.infrastructure().root().certificate().bytes();
    scratch.write("roots.oer", &[root, traffic.authority().certificate().bytes()].concat());
    traffic
}

/// They as packets of Ethernet, behind the header of a capture in nanoseconds.
fn capture<'a>(sent: impl Iterator<Item = &'a Transmission>) -> Vec<u8> {
    let header = [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1].map(u32::to_le_bytes).concat();
    let packet = |message: &Transmission| {
        let at = EPOCH + message.at.since(Time::ZERO);
        let frame = [&[0; 12], &[0x89, 0x47, 0x12, 0, 0x50, 1][..], &message.bytes].concat();
        let len = frame.len() as u32;
        let header = [at.as_secs() as u32, at.subsec_nanos(), len, len];
        [header.map(u32::to_le_bytes).concat(), frame].concat()
    };
    [header].into_iter().chain(sent.map(packet)).flatten().collect()
}

/// One in five of ten vehicles' messages is forged.
#[test]
fn messages_of_a_capture_are_verified_by_roots() {
    let scratch = Scratch::new();
    let forged = Ratio::from_parts(1, 5);
    let crossing = Crossing { roads: 1, lanes: 1, kind: Kind::Cam, forged, ..Crossing::default() };
    let sent: Vec<Transmission> = traffic(&scratch, crossing).take(100).collect();
    scratch.write("a.pcap", &capture(sent.iter()));
    let ended = scratch.trackbed("v2x decode a.pcap --verify --roots roots.oer");
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    for (shown, sent) in ended.json().as_array().unwrap().iter().zip(&sent) {
        let is_forged = sent.origin == Origin::Forged;
        assert_eq!(shown["verdict"], if is_forged { "invalid" } else { "valid" }, "{shown}");
        assert_eq!(shown["reason"].is_string(), is_forged);
    }
    assert!(ended.stderr.contains("100 signed messages, 0 other packets"), "{}", ended.stderr);
    scratch
        .refuse("v2x decode a.pcap --verify --roots a.pcap", &["--roots a.pcap", "certificate 1"]);
    // An authority on a Brainpool curve has certified this one: nothing can be said.
    scratch.write("cam.oer", include_bytes!("../../../v2x/tests/data/car-cam.oer"));
    let shown = scratch.succeed("v2x decode cam.oer --verify --roots roots.oer").json();
    assert_eq!(shown["verdict"], "unknown", "{shown}");
}

/// A hundred thousand messages, ten times, of vehicles that change their certificates twice a second.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "thorough: minutes"]
fn a_million_messages_are_verified_in_little_memory() {
    let scratch = Scratch::new();
    let wave_every = Some(Duration::from_millis(500));
    let crossing = Crossing { kind: Kind::Cam, wave_every, ..Crossing::default() };
    let sent: Vec<Transmission> = traffic(&scratch, crossing).take(100_000).collect();
    let mut command = scratch.command("v2x decode - --verify --roots roots.oer");
    let errors = fs::File::create(scratch.path("errors")).unwrap();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(errors).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&capture([].iter())).unwrap();
    for thousand in sent.chunks(1_000).cycle().take(1_000) {
        input.write_all(&capture(thousand.iter())[24..]).unwrap();
    }
    let peak = trackbed_linux::processes::resident_max(child.id()).unwrap();
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", scratch.read("errors"));
    let told = scratch.read("errors");
    assert!(told.contains("1000000 valid, 0 invalid, 0 unknown"), "{told}");
    assert!(peak <= 200_000_000, "{peak} B");
    eprintln!("peak: {peak} B");
}

/// A model is not this machine, and the Xeon was measured on one core.
#[test]
fn boards_of_virtual_time_have_names_of_their_own() {
    let scratch = Scratch::new();
    let part = "run v2x --quick --part threads --set workload.workers=1,16";
    let expected = "Highest signature rate: trackbed-xeon-ifma, workers 16 (extrapolated): mean ";
    scratch.trackbed(part).prints(0, &[expected]);
    scratch.refuse(
        &format!("{part} --set workload.board=here --out b"),
        &["the board here is this machine", "workload.board=trackbed-xeon-ifma"],
    );
}

#[test]
fn what_is_no_message_is_refused() {
    let scratch = Scratch::new();
    scratch.write("text", "a text");
    scratch.write("base64", "A4EAQAOAeCBQAoAAVAEAFADKgxo/PTlw");
    scratch.refuse("v2x decode base64", &["base64 -d FILE | trackbed v2x decode -"]);
    scratch.refuse_all("v2x");
}
