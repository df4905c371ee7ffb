//! The durations of exchanges and frames, compared with manual calculation.

use crate::{costs, durations, samples, telemetry};

const MILLI: u64 = 1_000_000;
const MINUTE: u64 = 60_000 * MILLI;

/// All samples equal this, to the nanosecond (samples are numbers of milliseconds).
fn all_are(samples: &[f64], expected: f64) {
    assert!(samples.len() >= 5, "{samples:?}");
    for sample in samples {
        assert!((sample - expected).abs() < 2e-6, "{sample} for {expected}");
    }
}

/// Over CoAP an exchange is a packet each way: 10 ms on the link, and the device processes both.
#[test]
fn an_exchange_beside_a_competitor_takes_what_fair_sharing_says() {
    for (cores, threads, message, packet_ms) in [
        // Each alone on a core.
        (2, 1, 0.0, 1.0),
        // Half of one core, a quarter, and two threads sharing three cores among four.
        (1, 1, 0.0, 2.0),
        (1, 3, 0.0, 4.0),
        (3, 3, 0.0, 4.0 / 3.0),
        // The work of the message, 3 ms, is done by the same thread.
        (1, 1, 3.0, 2.0),
        (2, 1, 3.0, 1.0),
    ] {
        // Each frame lasts longer than the run.
        let file = durations(&format!("busy-{threads}.txt"), threads, &[(0, MINUTE)]);
        let inference = format!(
            "kind = \"detector\"\ncores = {cores}\ndurations = {file:?}\n{}",
            costs(&format!("{message} ms"), "1 ms", "0 s")
        );
        let samples = samples(&telemetry("coap", &inference, "rate = \"1 /s\"\nsize = \"100 B\""));
        let share = 1.0 / packet_ms;
        let expected = 10.0 + 2.0 * packet_ms + message / share;
        let rtts = &samples["rtt_ms"];
        assert!(rtts.len() >= 5, "{rtts:?}");
        for rtt in rtts {
            // A third of a nanosecond is rounded up once per job.
            assert!((rtt - expected).abs() < 5e-6, "{rtt} for {expected}, {cores} {threads}");
        }
    }
}

/// 1,000 ps per byte of the packet: the payload of 1,000 B, and its headers.
#[test]
fn bytes_cost_what_the_table_says() {
    let with = |kilobyte: &str| {
        let lines = format!("kind = \"none\"\n{}", costs("0 s", "0 s", kilobyte));
        let samples = samples(&telemetry("coap", &lines, "rate = \"1 /s\"\nsize = \"1000 B\""));
        // One per second for eight seconds, including the warm-up.
        (samples["rtt_ms"].clone(), samples["wire_bytes"][0] / 8.0)
    };
    let (free, _) = with("0 s");
    let (costly, bytes) = with("1 ms");
    // All messages have the same length, and nothing else is sent over the link.
    all_are(&free, 10.0);
    all_are(&costly, 10.0 + bytes * 1e-3);
}

/// The share of each thread: with enough threads no core idles, and no time is counted twice.
#[test]
fn processor_time_is_shared_exactly() {
    let file = durations("shares.txt", 2, &[(3 * MILLI, 40 * MILLI), (0, 7 * MILLI)]);
    let inference = format!(
        "kind = \"detector\"\ncores = 1\ndurations = {file:?}\n{}",
        costs("300 us", "150 us", "100 ns")
    );
    let samples = samples(&telemetry("http2", &inference, "rate = \"200 /s\"\nsize = \"2 kB\""));
    let [all, client, inference] =
        ["cpu_percent", "client_cpu_percent", "inference_cpu_percent"].map(|name| &samples[name]);
    assert!(all.len() >= 5, "{all:?}");
    assert_eq!([client.len(), inference.len()], [all.len(); 2]);
    for ((all, client), inference) in all.iter().zip(client).zip(inference) {
        assert!((all - 100.0).abs() <= 0.001, "one core that is never idle: {all}");
        assert!((client + inference - all).abs() <= 0.001);
        assert!(*client > 10.0 && *inference > 20.0, "{client} {inference}");
    }
}

/// Frames only: with fewer cores than threads, the parallel part takes proportionally longer.
#[test]
fn frames_alone_come_as_threads_on_cores_say() {
    let file = durations("frames.txt", 4, &[(0, 50 * MILLI)]);
    for (cores, threads, fps) in [
        (1, None, 5.0),
        (2, None, 10.0),
        (4, None, 20.0),
        (8, None, 20.0),
        // The same work with other numbers of threads: 200 ms of one core.
        (2, Some(1), 5.0),
        (2, Some(2), 10.0),
        (8, Some(8), 40.0),
    ] {
        let threads = threads.map_or_else(String::new, |threads| format!("threads = {threads}\n"));
        let text = format!(
            "protocol = \"none\"\n[link]\ndelay = \"1 ms\"\n[inference]\nkind = \"detector\"\n\
             cores = {cores}\n{threads}durations = {file:?}\n[workload]\nkind = \"idle\"\n\
             duration = \"6 s\"\nwarm-up = \"1 s\"\n"
        );
        let samples = samples(&text);
        assert_eq!(samples["fps"], [fps], "{cores} cores, {threads}");
        all_are(&samples["frame_ms"], 1e3 / fps);
    }
}

/// The serial part has one thread, which leaves a core free for packets.
#[test]
fn the_built_in_frames_are_those_of_a_device_at_rest() {
    let alone = |cores: u32| {
        let text = format!(
            "protocol = \"none\"\n[link]\ndelay = \"1 ms\"\n[inference]\nkind = \"detector\"\n\
             cores = {cores}\n[workload]\nkind = \"idle\"\nduration = \"21 s\"\nwarm-up = \"1 s\"\n"
        );
        samples(&text)["fps"][0]
    };
    // On average 62.5 ms of one core (`device/measured/durations.txt`), of which 3.3 ms are serial.
    let (one, two) = (alone(1), alone(2));
    assert!((15.0..17.0).contains(&one), "{one}");
    assert!((one * 1.8..one * 2.0).contains(&two), "{one} {two}");
}
