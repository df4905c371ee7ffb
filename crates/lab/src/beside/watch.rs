//! Readings of a run's resource usage, once per second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Load, Record, RoleLoad};
use trackbed_device::monitor::{Machine, Monitor, Reading, RoleUse};

/// The processes of a run, each with all its descendants; `None` if it does not run on this
/// machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Roles {
    /// The clients. If it is this process itself, the inference is excluded.
    pub client: Option<u32>,
    /// The server.
    pub server: Option<u32>,
    /// The inference.
    pub inference: Option<u32>,
}

pub(super) struct Watch {
    monitor: Monitor,
    readings: Arc<Mutex<Vec<Reading>>>,
    is_nested: bool,
}

impl Watch {
    pub fn begin(roles: Roles) -> Result<Watch, String> {
        let is_nested = roles.client == Some(std::process::id());
        let Roles { client, server, inference } = roles;
        let all = [(CLIENT, client), (SERVER, server), (INFERENCE, inference)];
        let present: Vec<(&str, u32)> =
            all.into_iter().filter_map(|(name, process)| Some((name, process?))).collect();
        let readings = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&readings);
        let take = move |reading| kept.lock().unwrap_or_else(PoisonError::into_inner).push(reading);
        let monitor = Monitor::start(INTERVAL, &present, take).map_err(|why| why.to_string())?;
        Ok(Watch { monitor, readings, is_nested })
    }

    /// The readings of a run that began at `origin`, without those that began earlier.
    pub fn end(self, origin: u64) -> Vec<Record> {
        drop(self.monitor);
        let readings =
            std::mem::take(&mut *self.readings.lock().unwrap_or_else(PoisonError::into_inner));
        let pairs = readings.windows(2).filter(|pair| pair[0].at_ns >= origin);
        pairs.map(|pair| record(pair[0].at_ns, &pair[1], self.is_nested, origin)).collect()
    }
}

fn record(since: u64, reading: &Reading, is_nested: bool, origin: u64) -> Record {
    let time = |monotonic: u64| Time::from_nanos(monotonic.saturating_sub(origin));
    let role = |name: &str| reading.roles.iter().find(|role| role.name == name).map(role_load);
    let inference = role(INFERENCE).unwrap_or_default();
    let client = role(CLIENT).unwrap_or_default();
    let Machine { cpu_percent, memory_total_bytes, temperatures_c, powers_w, gpus, .. } =
        &reading.machine;
    let load = Load {
        since: time(since),
        client: if is_nested { less(client, inference) } else { client },
        server: role(SERVER).unwrap_or_default(),
        inference,
        machine_millipercent: cpu_percent.map(thousandths),
        memory_total_bytes: *memory_total_bytes,
        gpu_millipercent: gpus.iter().filter_map(|gpu| gpu.load_percent).map(thousandths).max(),
        temperature_millicelsius: temperatures_c
            .iter()
            .map(|place| (place.value * 1e3).round() as i64)
            .max(),
        power_milliwatts: powers_w.iter().map(|supply| thousandths(supply.value)).max(),
    };
    Record { at: time(reading.at_ns), event: Event::Load(load) }
}

fn role_load(role: &RoleUse) -> RoleLoad {
    let RoleUse { cpu_percent, memory_bytes, .. } = *role;
    RoleLoad { millipercent: cpu_percent.map(thousandths), memory_bytes }
}

/// The load of a whole without one of its parts.
fn less(whole: RoleLoad, part: RoleLoad) -> RoleLoad {
    let rest = |whole: Option<u64>, part: Option<u64>| {
        whole.map(|whole| whole.saturating_sub(part.unwrap_or(0)))
    };
    RoleLoad {
        millipercent: rest(whole.millipercent, part.millipercent),
        memory_bytes: rest(whole.memory_bytes, part.memory_bytes),
    }
}

fn thousandths(value: f64) -> u64 {
    (value * 1e3).round() as u64
}

/// The study's interval.
const INTERVAL: Duration = Duration::from_secs(1);

const CLIENT: &str = "client";
const SERVER: &str = "server";
const INFERENCE: &str = "inference";

#[cfg(test)]
mod tests {
    use trackbed_device::monitor::Named;

    use super::*;

    fn role(name: &str, percent: f64, memory_bytes: u64) -> RoleUse {
        RoleUse {
            name: name.to_owned(),
            processes: 1,
            cpu_percent: Some(percent),
            cpu_seconds: 0.0,
            memory_bytes: Some(memory_bytes),
            memory_kind: None,
        }
    }

    fn reading() -> Reading {
        let named = |name: &str, value| Named { name: name.to_owned(), value };
        Reading {
            at_ns: 3_500,
            machine: Machine {
                cpu_percent: Some(123.456_7),
                temperatures_c: vec![named("cpu", 51.25), named("board", -3.0)],
                powers_w: vec![named("VDD_IN", 7.25), named("VDD_CPU", 2.0)],
                ..Machine::default()
            },
            roles: vec![role(CLIENT, 110.5, 1_000), role(INFERENCE, 100.0, 700)],
        }
    }

    fn load(is_nested: bool) -> Load {
        let record = record(1_500, &reading(), is_nested, 1_000);
        assert_eq!(record.at, Time::from_nanos(2_500));
        match record.event {
            Event::Load(load) => load,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_reading_becomes_whole_numbers_on_the_clock_of_the_run() {
        let load = load(false);
        assert_eq!(load.since, Time::from_nanos(500));
        assert_eq!(
            (load.client.millipercent, load.inference.millipercent),
            (Some(110_500), Some(100_000))
        );
        assert_eq!((load.server.millipercent, load.gpu_millipercent), (None, None));
        assert_eq!(load.machine_millipercent, Some(123_457));
        assert_eq!(
            (load.temperature_millicelsius, load.power_milliwatts),
            (Some(51_250), Some(7_250))
        );
    }

    #[test]
    fn an_inference_below_the_clients_process_is_no_part_of_the_clients() {
        let client = load(true).client;
        assert_eq!((client.millipercent, client.memory_bytes), (Some(10_500), Some(300)));
    }
}
