//! Ours against pycrate's ASN.1 and OpenSSL's signatures, by Python's `pycrate` and `cryptography`.
//! Python is taken from the active virtual environment, from `TRACKBED_PYTHON`, or from `PATH`; without
//! these packages the tests are skipped.

use serde_json::{Value, json};
use trackbed_core::text::hex;
use trackbed_v2x::payload::{self, bsm, psid};
use trackbed_v2x::sign::{Identification, Unsigned};
use trackbed_v2x::{PointForm, SignedMessage};

use crate::captures;
use crate::programs::{answer_of_python, python};
use crate::world::World;

/// What `program` prints as JSON when it is given `input` as JSON; `None` if packages are missing.
fn ask(program: &str, input: &Value) -> Option<Value> {
    let python = python(&["pycrate_asn1dir", "pycrate_asn1c", "cryptography"])?;
    let text = answer_of_python(&python, program, ".".as_ref(), &input.to_string());
    Some(serde_json::from_str(text.lines().last().expect("it prints a line")).unwrap())
}

/// Decodes, encodes again, and verifies both signatures with the two hashes side by side.
const MESSAGES: &str = include_str!("reference/messages.py");

#[test]
fn pycrate_reads_what_we_sign_and_openssl_verifies_it() {
    let world = World::new();
    let payload = world.cam_payload();
    let message = world.cam(&payload);
    let forms = [PointForm::XOnly, PointForm::Compressed, PointForm::Uncompressed];
    let mut messages = Vec::new();
    for (count, form) in forms.into_iter().cycle().take(12).enumerate() {
        let identification =
            if count % 2 == 0 { Identification::Digest } else { Identification::Certificate };
        let time = message.generation_time.after(std::time::Duration::from_millis(count as u64));
        let message = Unsigned { generation_time: time, ..message.clone() };
        messages.push(world.ticket.sign(&message, identification, form).unwrap());
    }
    let chain = [world.infrastructure.root(), &world.authority, &world.ticket];
    let chain = chain.map(|holder| hex(holder.certificate().bytes()));
    let hexes: Vec<String> = messages.iter().map(|message| hex(message)).collect();
    let Some(said) = ask(MESSAGES, &json!({ "chain": chain, "messages": hexes })) else { return };
    let said = said.as_array().unwrap();
    assert_eq!(said.len(), messages.len());
    let mut seen = std::collections::BTreeSet::new();
    for (said, bytes) in said.iter().zip(&messages) {
        let message = SignedMessage::decode(bytes).unwrap();
        assert_eq!(said["psid"], psid::CAM);
        assert_eq!(said["time"], message.generation_time().unwrap().as_micros());
        assert_eq!(said["payload"], hex(&payload));
        seen.insert((said["signer"].to_string(), said["r"].to_string()));
    }
    // Two kinds of signers with three forms of R, of which compressed are two.
    assert!(seen.len() >= 6, "{seen:?}");
}

/// Reads in packed rules, shows as JSON, and encodes again in packed rules from that JSON.
const PAYLOADS: &str = include_str!("reference/payloads.py");

#[test]
fn pycrate_reads_in_cam_and_denm_what_we_read() {
    let world = World::new();
    let unwrapped = |payload: &[u8], port| payload::geonet::unwrap(payload, port).unwrap().to_vec();
    let cam = unwrapped(&world.cam_payload(), payload::geonet::PORT_CAM);
    let denm = unwrapped(&world.denm_payload(94), payload::geonet::PORT_DENM);
    let mut cases = vec![("cam", cam), ("cam", captures::CAM.to_vec())];
    cases.extend([("denm", denm), ("denm", captures::DENM.to_vec())]);
    let examples = captures::examples();
    cases.extend(examples.iter().map(|example| (&*example.0, captures::bytes(&example.1))));
    let input: Vec<Value> = cases.iter().map(|(kind, data)| json!([kind, hex(data)])).collect();
    let Some(said) = ask(PAYLOADS, &Value::Array(input)) else { return };
    for ((kind, data), said) in cases.iter().zip(said.as_array().unwrap()) {
        let ours = match *kind {
            "cam" => payload::cam::decode(data).unwrap(),
            _ => payload::denm::decode(data).unwrap(),
        };
        assert_eq!(sorted(&ours.to_json()), sorted(said), "{kind}");
    }
}

/// Objects by the order of their keys, and what has its default left out.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort();
            keys.into_iter().map(|key| (key.clone(), sorted(&fields[key]))).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::String(text) => text.to_lowercase().into(),
        other => other.clone(),
    }
}

/// BSMs by a description of our own, read from SAE J2735's tables, in pycrate's hands: that the packed
/// rules are right, and that the public capture reads the same.
const BSMS: &str = include_str!("reference/bsms.py");

#[test]
fn pycrate_reads_in_a_bsm_what_we_read() {
    let world = World::new();
    let ours = bsm::encode(&world.vehicle(), world.now, 77).unwrap();
    let cases = [ours, captures::bytes(captures::BSM)];
    let Some(said) = ask(BSMS, &json!(cases.each_ref().map(|data| hex(data)))) else { return };
    for (data, said) in cases.iter().zip(said.as_array().unwrap()) {
        let core = bsm::decode(data).unwrap().to_json();
        let names = ["msgCnt", "secMark", "lat", "long", "elev", "speed", "heading", "angle"];
        let mut ours: Vec<Value> = names.map(|name| core[name].clone()).into();
        ours.push(core["id"].as_str().unwrap().to_lowercase().into());
        let transmission = core["transmission"].as_str().unwrap();
        ours.push((transmission[..1].to_lowercase() + &transmission[1..]).into());
        let wheels = core["brakes"]["wheelBrakes"].as_str().unwrap();
        let wheels = u8::from_str_radix(wheels, 16).unwrap() >> 3;
        ours.extend([core["accelSet"]["long"].clone(), core["accelSet"]["yaw"].clone()]);
        ours.extend([wheels.into(), core["size"]["width"].clone(), core["size"]["length"].clone()]);
        assert_eq!(&Value::Array(ours), said);
    }
}
