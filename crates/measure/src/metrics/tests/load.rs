//! Inference and readings, by hand.

use trackbed_core::event::{Load, RoleLoad};

use super::*;

fn frame(begin: u64, end: u64) -> Record {
    at(end, Event::Inferred { frame: 1, begin: Time::from_millis(begin) })
}

fn role(millipercent: u64, memory_bytes: u64) -> RoleLoad {
    RoleLoad { millipercent: Some(millipercent), memory_bytes: Some(memory_bytes) }
}

fn load(since: u64, until: u64, [client, inference, server]: [RoleLoad; 3]) -> Record {
    let load = Load {
        since: Time::from_millis(since),
        client,
        server,
        inference,
        machine_millipercent: Some(310_500),
        memory_total_bytes: Some(8_000),
        ..Load::default()
    };
    at(until, Event::Load(load))
}

fn window(from: u64, until: u64) -> Vec<Record> {
    let [from, until] = [from, until].map(Time::from_millis);
    vec![at(0, Event::Started), at(0, Event::WindowSet { from, until })]
}

#[test]
fn frames_count_that_are_done_in_the_window() {
    let mut records = window(1_000, 3_000);
    records.extend([frame(0, 999), frame(999, 1_000), frame(1_000, 1_400), frame(1_400, 2_999)]);
    // Done when the window was over.
    records.extend([frame(2_999, 3_000), at(5_000, Event::Finished)]);
    close(&compute("fps", &records), &[1.5]);
    close(&compute("frame_ms", &records), &[1.0, 400.0, 1_599.0]);
}

/// The last answer of telemetry may come before its window is over, and then all phones stop.
#[test]
fn a_run_that_ends_within_the_window_counts_until_its_end() {
    let mut records = window(1_000, 4_000);
    records.extend([frame(900, 1_000), frame(1_000, 2_000), frame(2_000, 2_900)]);
    records.push(at(3_000, Event::Finished));
    close(&compute("fps", &records), &[1.5]);
}

#[test]
fn without_a_window_everything_from_start_to_finish_counts() {
    let mut records = vec![frame(0, 400), at(500, Event::Started)];
    records.extend([frame(400, 900), frame(900, 1_400), at(1_500, Event::Finished)]);
    close(&compute("fps", &records), &[2.0]);
}

#[test]
fn an_inference_without_a_frame_in_the_window_has_none_a_second() {
    let mut records = window(1_000, 3_000);
    assert!(compute("fps", &records).is_empty());
    records.push(frame(0, 900));
    close(&compute("fps", &records), &[0.0]);
    assert!(compute("frame_ms", &records).is_empty());
}

#[test]
fn readings_count_whose_span_lies_in_the_window() {
    let mut records = window(1_000, 4_000);
    let roles = [role(12_345, 1_000), role(187_000, 200), role(40_000, 9)];
    let spans = [(0, 1_000), (999, 1_999), (1_000, 2_000), (2_000, 4_000), (3_001, 4_001)];
    records.extend(spans.map(|(since, until)| load(since, until, roles)));
    close(&compute("cpu_percent", &records), &[199.345; 2]);
    close(&compute("client_cpu_percent", &records), &[12.345; 2]);
    close(&compute("inference_cpu_percent", &records), &[187.0; 2]);
    close(&compute("server_cpu_percent", &records), &[40.0; 2]);
    close(&compute("machine_cpu_percent", &records), &[310.5; 2]);
    // 1,200 of 8,000 bytes.
    close(&compute("memory_percent", &records), &[15.0; 2]);
    assert!(compute("gpu_percent", &records).is_empty());
}

#[test]
fn without_inference_the_clients_are_all_there_is() {
    let mut records = window(0, 4_000);
    let nobody = RoleLoad::default();
    records.push(load(0, 1_000, [role(5_000, 400), nobody, nobody]));
    records.push(load(1_000, 2_000, [nobody, role(5_000, 400), nobody]));
    close(&compute("cpu_percent", &records), &[5.0]);
    close(&compute("memory_percent", &records), &[5.0]);
    assert_eq!(compute("inference_cpu_percent", &records), [5.0]);
}

#[test]
fn what_the_machine_tells_comes_in_its_unit() {
    let mut records = window(0, 4_000);
    let load = Load {
        gpu_millipercent: Some(98_700),
        temperature_millicelsius: Some(-1_500),
        power_milliwatts: Some(7_250),
        ..Load::default()
    };
    records.push(at(1_000, Event::Load(load)));
    close(&compute("gpu_percent", &records), &[98.7]);
    close(&compute("temperature_celsius", &records), &[-1.5]);
    close(&compute("power_watts", &records), &[7.25]);
}
