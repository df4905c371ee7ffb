//! Ours against pycrate's ASN.1 and OpenSSL's signatures, by Python's `pycrate` and `cryptography`.
//! Python is taken from the active virtual environment, from `TRACKBED_PYTHON`, or from `PATH`; without
//! these packages the tests are skipped.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use trackbed_v2x::payload::{self, bsm, psid};
use trackbed_v2x::sign::{Identification, Unsigned};
use trackbed_v2x::{PointForm, SignedMessage};

use crate::captures;
use crate::world::World;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn python() -> OsString {
    let environment = std::env::var_os("VIRTUAL_ENV")
        .map(|folder| PathBuf::from(folder).join("bin/python3").into_os_string());
    std::env::var_os("TRACKBED_PYTHON").or(environment).unwrap_or_else(|| "python3".into())
}

/// What `program` prints as JSON when it is given `input` as JSON; `None` if packages are missing.
fn ask(program: &str, input: &Value) -> Option<Value> {
    let mut probe = Command::new(python());
    probe.args(["-c", "import pycrate_asn1dir, pycrate_asn1c, cryptography"]);
    let status = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !status.is_ok_and(|status| status.success()) {
        let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!in_ci, "CI=true allows no skipped test: `pip install pycrate cryptography`");
        eprintln!("skipped: Python has not these packages: pip install pycrate cryptography");
        return None;
    }
    let mut child = Command::new(python())
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the reference failed: {}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().expect("it prints a line");
    Some(serde_json::from_str(last).unwrap())
}

/// Decodes, encodes again, and verifies both signatures with the two hashes side by side.
const MESSAGES: &str = r#"
import json, sys, hashlib
from pycrate_asn1dir import ITS_IEEE1609_2 as its
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives import hashes
sha = lambda b: hashlib.sha256(b).digest()
given = json.load(sys.stdin)
Data, Cert = its.Ieee1609Dot2.Ieee1609Dot2Data, its.Ieee1609Dot2.Certificate
Tbs, TbsCert = its.Ieee1609Dot2.ToBeSignedData, its.Ieee1609Dot2.ToBeSignedCertificate

def read(kind, data):
    kind.from_coer(data); assert kind.to_coer() == data
    return kind.get_val()

def key_of(cert):
    form, x = cert['toBeSigned']['verifyKeyIndicator'][1][1]
    prefix = {'compressed-y-0': b'\2', 'compressed-y-1': b'\3'}[form]
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), prefix + x)

def verify(cert, tbs, signer, signature):
    assert signature[0] == 'ecdsaNistP256Signature', signature[0]
    r = signature[1]['rSig'][1]
    r = r['x'] if isinstance(r, dict) else r
    number = lambda b: int.from_bytes(b, 'big')
    der = encode_dss_signature(number(r), number(signature[1]['sSig']))
    key_of(cert).verify(der, sha(tbs) + sha(signer), ec.ECDSA(hashes.SHA256()))

def encoded(kind, value):
    kind.set_val(value); return kind.to_coer()

certs = [read(Cert, bytes.fromhex(h)) for h in given['chain']]
raw = [bytes.fromhex(h) for h in given['chain']]
for i, cert in enumerate(certs):
    tbs = encoded(TbsCert, cert['toBeSigned'])
    above, signer = (certs[i-1], raw[i-1]) if i else (cert, b'')
    if i: assert cert['issuer'] == ('sha256AndDigest', sha(signer)[-8:])
    verify(above, tbs, signer, cert['signature'])
out = []
for h in given['messages']:
    signed = read(Data, bytes.fromhex(h))['content'][1]
    tbs = encoded(Tbs, signed['tbsData'])
    verify(certs[-1], tbs, raw[-1], signed['signature'])
    header = signed['tbsData']['headerInfo']
    out.append({'signer': signed['signer'][0], 'psid': header['psid'], 'time': header['generationTime'],
        'r': signed['signature'][1]['rSig'][0],
        'payload': signed['tbsData']['payload']['data']['content'][1].hex()})
print(json.dumps(out))
"#;

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
const PAYLOADS: &str = r#"
import json, sys
from pycrate_asn1dir import ITS_CAM_2, ITS_DENM_3
given = json.load(sys.stdin)
kinds = {'cam': ITS_CAM_2.CAM_PDU_Descriptions.CAM, 'denm': ITS_DENM_3.DENM_PDU_Descriptions.DENM}
out = []
for kind, data in given:
    kind, data = kinds[kind], bytes.fromhex(data)
    kind.from_uper(data); assert kind.to_uper() == data
    text = kind.to_jer()
    kind.from_jer(text); assert kind.to_uper() == data
    out.append(json.loads(text))
print(json.dumps(out))
"#;

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
const BSMS: &str = r#"
import json, sys, logging
from pycrate_asn1c.asnproc import compile_text, generate_modules, PycrateGenerator
text = '''
J DEFINITIONS AUTOMATIC TAGS ::= BEGIN
BasicSafetyMessage ::= SEQUENCE { coreData BSMcoreData, partII SEQUENCE (SIZE(1..8)) OF NULL OPTIONAL,
  regional SEQUENCE (SIZE(1..4)) OF NULL OPTIONAL, ... }
BSMcoreData ::= SEQUENCE { msgCnt INTEGER (0..127), id OCTET STRING (SIZE(4)), secMark INTEGER (0..65535),
  lat INTEGER (-900000000..900000001), long INTEGER (-1799999999..1800000001), elev INTEGER (-4096..61439),
  accuracy SEQUENCE { semiMajor INTEGER (0..255), semiMinor INTEGER (0..255), orientation INTEGER (0..65535) },
  transmission ENUMERATED { neutral, park, forwardGears, reverseGears, reserved1, reserved2, reserved3, unavailable },
  speed INTEGER (0..8191), heading INTEGER (0..28800), angle INTEGER (-126..127),
  accelSet SEQUENCE { long INTEGER (-2000..2001), lat INTEGER (-2000..2001), vert INTEGER (-127..127), yaw INTEGER (-32767..32767) },
  brakes SEQUENCE { wheelBrakes BIT STRING { unavailable (0), leftFront (1), leftRear (2), rightFront (3), rightRear (4) } (SIZE (5)),
    traction ENUMERATED { unavailable, off, on, engaged }, abs ENUMERATED { unavailable, off, on, engaged },
    scs ENUMERATED { unavailable, off, on, engaged }, brakeBoost ENUMERATED { unavailable, off, on },
    auxBrakes ENUMERATED { unavailable, off, on, reserved } },
  size SEQUENCE { width INTEGER (0..1023), length INTEGER (0..4095) } }
END
'''
import contextlib, os, tempfile, importlib.util
with contextlib.redirect_stdout(sys.stderr):
    compile_text(text)
    path = os.path.join(tempfile.mkdtemp(), 'j.py')
    generate_modules(PycrateGenerator, path)
    spec = importlib.util.spec_from_file_location('j', path); j = importlib.util.module_from_spec(spec); spec.loader.exec_module(j)
kind, out = j.J.BasicSafetyMessage, []
for data in json.load(sys.stdin):
    data = bytes.fromhex(data)
    assert data[:2] == b'\0\x14' and data[2] == len(data) - 3
    kind.from_uper(data[3:]); assert kind.to_uper() == data[3:]
    core = kind.get_val()['coreData']
    out.append([core[name] for name in ('msgCnt', 'secMark', 'lat', 'long', 'elev', 'speed', 'heading', 'angle')]
        + [core['id'].hex(), core['transmission'], core['accelSet']['long'], core['accelSet']['yaw'],
           core['brakes']['wheelBrakes'][0], core['size']['width'], core['size']['length']])
print(json.dumps(out))
"#;

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
        let ours = Value::Array(ours);
        assert_eq!(&ours, said);
    }
}
