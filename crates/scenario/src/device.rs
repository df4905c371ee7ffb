//! The device modelled in virtual time, from the keys of `[inference]` that only this model reads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::CipherSuite;
use trackbed_core::{Parameter, parameters};
use trackbed_device::processor::costs::{COST_MAX_NS, Cost, Costs};
use trackbed_device::processor::durations::{Durations, THREADS_MAX};
use trackbed_device::processor::host::PacketCost;

use crate::inference_keys::Reader;
use crate::measured::devices::{ModelledDevice, NAMES};
use crate::plan::{Device, Endpoint, Work};
use crate::{files, measured, silence};

/// Measurements that cells share, keyed by their source.
#[derive(Default)]
pub(crate) struct Measurements {
    durations: BTreeMap<String, Arc<Durations>>,
    costs: BTreeMap<String, Arc<Costs>>,
}

/// The device of a cell with these endpoints; `None` if there was an error, which has been
/// reported.
pub(crate) fn resolve(
    reader: &mut Reader<'_, '_>,
    shared: &mut Measurements,
    (endpoint, work): (&Endpoint, Option<&Work>),
) -> Option<Device> {
    let model = reader.read::<&'static str>(DEVICE)?;
    let model = model.and_then(ModelledDevice::find);
    let cores = model.map_or(CORES_DEFAULT, |model| model.cores);
    let cores = reader.read::<u64>(CORES)?.unwrap_or(cores);
    if cores > u64::from(THREADS_MAX) {
        let help = format!("write at most {THREADS_MAX}");
        return reader.refuse(CORES, "too many cores", &help);
    }
    let mut sources = Vec::new();
    let cores = u32::try_from(cores).unwrap_or(THREADS_MAX);
    let durations = durations(reader, shared, (work, cores, model), &mut sources)?;
    let cost = cost(reader, shared, (endpoint, model), &mut sources)?;
    reader.line.push_str(&format!(" {CORES}={cores}"));
    Some(Device { cores, durations, cost, sources })
}

/// The processor time of the inference. The built-in frames are those of the generated model,
/// computed by one thread for each core. For another model or a command there are no frames unless
/// they were measured.
fn durations(
    reader: &mut Reader<'_, '_>,
    shared: &mut Measurements,
    (work, cores, model): (Option<&Work>, u32, Option<&ModelledDevice>),
    sources: &mut Vec<String>,
) -> Option<Option<Arc<Durations>>> {
    let given = reader.contents(DURATIONS)?;
    let threads = match work {
        None => return Some(None),
        Some(Work::Detector { threads, .. }) => *threads,
        Some(Work::Command(_)) => None,
    };
    let (text, source, threads) = match (given, model, work) {
        (Some((text, name)), ..) => (text, format!("frames from {name}"), threads),
        (None, Some(model), _) => {
            let source = format!("frames of {}: {}", model.name, ModelledDevice::ABOUT);
            (model.durations.into(), source, threads)
        }
        (None, None, Some(Work::Detector { model: None, .. })) => {
            let source = format!("frames of the generated model, built in, {}", measured::ABOUT);
            (measured::DURATIONS.into(), source, Some(threads.unwrap_or(cores)))
        }
        (None, None, _) => return Some(None),
    };
    sources.push(source);
    let digest = files::digest(text.as_bytes());
    reader.line.push_str(&format!(" {DURATIONS}={digest}"));
    let key = format!("{digest} {threads:?}");
    if let Some(known) = shared.durations.get(&key) {
        return Some(Some(Arc::clone(known)));
    }
    let durations = match Durations::parse(&text) {
        Ok(durations) => durations,
        Err(why) => return reader.refuse(DURATIONS, &why.to_string(), FRAMES_HELP),
    };
    if durations.mean() < FRAME_MIN {
        let message = "the mean frame time is below 100 us, too short to simulate";
        return reader.refuse(DURATIONS, message, FRAMES_HELP);
    }
    let durations = match threads {
        Some(threads) => durations.with_threads(threads),
        None => durations,
    };
    let durations = Arc::new(durations);
    shared.durations.insert(key, Arc::clone(&durations));
    Some(Some(durations))
}

/// The processor time of the communication.
fn cost(
    reader: &mut Reader<'_, '_>,
    shared: &mut Measurements,
    (endpoint, model): (&Endpoint, Option<&ModelledDevice>),
    sources: &mut Vec<String>,
) -> Option<Cost> {
    let given = reader.contents(COSTS)?;
    let message = span(reader, MESSAGE_COST)?;
    let packet = span(reader, PACKET_COST)?;
    let kilobyte = span(reader, KILOBYTE_COST)?;
    let (text, source) = match (given, model) {
        (Some((text, name)), _) => (text, format!("packet and message costs from {name}")),
        (None, Some(model)) => {
            let source = format!("message costs of {}: {}", model.name, ModelledDevice::ABOUT);
            (model.costs.into(), source)
        }
        (None, None) => {
            let source = format!("packet and message costs, built in, {}", measured::ABOUT);
            (measured::COSTS.into(), source)
        }
    };
    if silence::is_between(endpoint) {
        return Some(Cost::default());
    }
    let mut cost = match (message, packet, kilobyte) {
        // The scenario sets all of them.
        (Some(_), Some(_), Some(_)) => Cost::default(),
        _ => {
            sources.push(source);
            of_table(reader, shared, endpoint, &text)?
        }
    };
    let written = [message, packet, kilobyte].iter().any(Option::is_some);
    sources.extend(written.then(|| "costs set in the scenario".to_owned()));
    cost.message = message.unwrap_or(cost.message);
    let PacketCost { packet: each, byte_picos } = &mut cost.packet;
    *each = packet.unwrap_or(*each);
    if let Some(span) = kilobyte {
        // 1 ns per 1,000 bytes is 1 ps per byte.
        *byte_picos = u64::try_from(span.as_nanos()).unwrap_or(COST_MAX_NS);
    }
    let [message, packet] = [cost.message, *each].map(|span| span.as_nanos());
    reader.line.push_str(&format!(" message={message}ns packet={packet}ns byte={byte_picos}ps"));
    Some(cost)
}

fn of_table(
    reader: &mut Reader<'_, '_>,
    shared: &mut Measurements,
    endpoint: &Endpoint,
    text: &str,
) -> Option<Cost> {
    let key = files::digest(text.as_bytes());
    let costs = match shared.costs.get(&key) {
        Some(costs) => Arc::clone(costs),
        None => match Costs::parse(text) {
            Ok(costs) => Arc::clone(shared.costs.entry(key).or_insert(Arc::new(costs))),
            Err(why) => return reader.refuse(COSTS, &why.to_string(), COSTS_HELP),
        },
    };
    let name = endpoint.protocol.name();
    let Some(mut cost) = costs.protocol(name) else {
        let help = format!(
            "add a line \"protocol {name} MESSAGE PACKET BYTE\" to the file, or one for \"other\""
        );
        return reader.refuse(COSTS, &format!("the cost table has no entry for {name}"), &help);
    };
    if endpoint.tls.is_some() {
        // Without a cipher in the scenario, the endpoints use the preferred one.
        let cipher = endpoint.cipher.unwrap_or(CipherSuite::ALL[0]).name();
        let Some(byte) = costs.ciphers.get(cipher) else {
            let help = format!("add a line \"cipher {cipher} BYTE\" to the file");
            let message = format!("the cost table has no entry for {cipher}");
            return reader.refuse(COSTS, &message, &help);
        };
        cost.packet.byte_picos += byte;
    }
    Some(cost)
}

fn span(reader: &mut Reader<'_, '_>, name: &str) -> Option<Option<Duration>> {
    let span: Option<Duration> = reader.read(name)?;
    if span.is_some_and(|span| span.as_nanos() > u128::from(COST_MAX_NS)) {
        let help = "write a shorter time, for example \"10 us\"";
        return reader.refuse(name, "more than one second", help);
    }
    Some(span)
}

pub(crate) const DEVICE: &str = "device";
pub(crate) const CORES: &str = "cores";
pub(crate) const DURATIONS: &str = "durations";
pub(crate) const COSTS: &str = "costs";
pub(crate) const MESSAGE_COST: &str = "message-cost";
pub(crate) const PACKET_COST: &str = "packet-cost";
pub(crate) const KILOBYTE_COST: &str = "kilobyte-cost";

/// As on the machine of the built-in measurements.
const CORES_DEFAULT: u64 = 2;

/// A shorter mean frame time would give more events than a run can keep.
const FRAME_MIN: Duration = Duration::from_micros(100);

const FRAMES_HELP: &str = "create the file with `trackbed infer --durations FILE`, or remove this \
                           key to use the built-in frames";
const COSTS_HELP: &str = "create the file with `trackbed calibrate DIR --costs FILE`, or remove \
                          this key to use the built-in costs";

pub(crate) const PARAMETERS: &[Parameter] = parameters! {
    DEVICE: Choice(NAMES), optional =>
        "virtual time: a device fitted to tables of the study `trackbed paper edge`; other keys \
         override it; default: the built-in machine";
    CORES: Count { min: 1 } = "2" =>
        "virtual time: cores of the modelled device, shared evenly by the inference and network \
         threads";
    DURATIONS: File, optional =>
        "virtual time: frame times, as written by `trackbed infer --durations` or `trackbed \
         calibrate`; default: built-in times of the generated model";
    COSTS: File, optional =>
        "virtual time: processor time per message, packet and byte, by protocol and cipher, as \
         written by `trackbed calibrate`; default: a built-in table";
    MESSAGE_COST: Time, optional =>
        "virtual time: processor time per message exchange, whatever its length; default: from the \
         table";
    PACKET_COST: Time, optional =>
        "virtual time: processor time per packet sent or received; default: from the table";
    KILOBYTE_COST: Time, optional =>
        "virtual time: processor time per 1,000 bytes of packets, encryption included; default: \
         from the table";
};
