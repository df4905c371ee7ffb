//! What others have sent, byte for byte.

use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::Value;
use trackbed_v2x::hash::sha256;
use trackbed_v2x::job::{PortableVerifier, PublicKey, SignatureVerifier as _};
use trackbed_v2x::message::Signer;
use trackbed_v2x::payload::{bsm, cam, denm, geonet};
use trackbed_v2x::refusal::Signed;
use trackbed_v2x::{Certificate, Refusal, SignedMessage, json};

const CAR_CAM: &[u8] = include_bytes!("../data/car-cam.oer");
pub const CAM: &[u8] = include_bytes!("../data/cam.uper");
pub const DENM: &[u8] = include_bytes!("../data/denm.uper");
const TLM: &[u8] = include_bytes!("../data/tlm.cert");
const ECTL: &[u8] = include_bytes!("../data/ectl.oer");

/// From the tests of FHWA's V2X Hub and of JPO's Operational Data Environment.
pub const BSM: &str =
    "0014251d59d162dad7de266e9a7d1ea6d4220974ffffffff8ffff080fdfa1fa1007fff0000640fa0";

const MESSAGES: &str = include_str!("../data/messages.jsonl");

/// A CAM or DENM, its fields as JSON, and where there is one the same message of a later version.
pub type Example = (String, String, Value, Option<String>);

/// Each optional field, alternative and extension of a CAM and a DENM at least once.
pub fn examples() -> Vec<Example> {
    MESSAGES
        .lines()
        .map(|line| {
            let [kind, bytes, fields, later] =
                std::array::from_fn(|at| serde_json::from_str::<Value>(line).unwrap()[at].clone());
            let text = |value: Value| value.as_str().map(str::to_owned);
            (text(kind).unwrap(), text(bytes).unwrap(), fields, text(later))
        })
        .collect()
}

pub fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn captures_come_out_as_they_went_in() {
    assert_eq!(cam::encode_cam(&cam::decode(CAM).unwrap().to_json()).unwrap(), CAM);
    assert_eq!(denm::encode_denm(&denm::decode(DENM).unwrap().to_json()).unwrap(), DENM);
    let bsm = bytes(BSM);
    assert_eq!(bsm::encode_core(&bsm::decode(&bsm).unwrap().to_json()).unwrap(), bsm);
}

#[test]
fn each_field_reads_as_other_implementations_read_it() {
    for (kind, message, fields, later) in examples() {
        let message = bytes(&message);
        let is_cam = kind == "cam";
        let decode = if is_cam { cam::decode } else { denm::decode };
        let encode = if is_cam { cam::encode_cam } else { denm::encode_denm };
        let text = |bytes: &[u8]| decode(bytes).unwrap().to_json().to_string();
        assert_eq!(text(&message), fields.to_string());
        assert_eq!(encode(&fields).unwrap(), message, "{fields}");
        if let Some(later) = later {
            assert_eq!(text(&bytes(&later)), fields.to_string());
        }
    }
}

#[test]
fn the_field_that_is_wrong_is_named() {
    let mut cam = cam::decode(CAM).unwrap().to_json();
    cam["cam"]["camParameters"]["basicContainer"]["stationType"] = 256.into();
    let refused = cam::encode_cam(&cam).unwrap_err().to_string();
    let place = "cam.camParameters.basicContainer.stationType";
    assert_eq!(refused, format!("the CAM is malformed: {place}: 256 is not between 0 and 255"));
    let refused = cam::decode(&CAM[..12]).unwrap_err().to_string();
    let place = "cam.camParameters.basicContainer.referencePosition.latitude";
    assert_eq!(refused, format!("the CAM is malformed: {place}: the message ends here"));
}

#[test]
fn the_car_has_signed_what_it_sent() {
    let message = SignedMessage::decode(CAR_CAM).unwrap();
    assert_eq!(message.psid(), 36);
    assert_eq!(message.generation_time().unwrap().as_micros(), 616_075_920_207_354);
    let Signer::Certificate(ticket) = message.signer() else { panic!("there is a certificate") };
    // compressed-y-0, as pycrate reads it from the ticket.
    let x = bytes("134308c4324d5f47fcbe665fb55b4098b38b9caa484bd4474c6c521600a7508c");
    let key = PublicKey::decompress(&x.try_into().unwrap(), false).unwrap();
    let job = message.job(&key, &ticket.hash()).unwrap();
    let mut verdicts = Vec::new();
    PortableVerifier.verify(&[job], &mut verdicts);
    assert_eq!(verdicts, [true]);
    // By ring, which hashes itself: the two hashes side by side.
    let tbs_start = 3;
    let tbs_end = CAR_CAM.windows(3).position(|at| at == [0x81, 1, 1]).unwrap();
    let input = [sha256(&CAR_CAM[tbs_start..tbs_end]), sha256(ticket.bytes())].concat();
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.to_sec1())
        .verify(&input, &[job.r, job.s].concat())
        .unwrap();
    assert_eq!(sha256(&input), job.digest);
    // The authority's curve is another one, so the ticket itself cannot be verified.
    let refused = Certificate::new(ticket).unwrap_err();
    assert!(matches!(refused, Refusal::SignatureCurve { of: Signed::Ticket, .. }), "{refused}");
}

#[test]
fn the_car_says_where_it_is() {
    let message = SignedMessage::decode(CAR_CAM).unwrap();
    let cam = cam::decode(geonet::unwrap(message.payload(), geonet::PORT_CAM).unwrap()).unwrap();
    assert_eq!(cam.integer("header.stationID"), Some(0x1a3f_3d39));
    let place = cam.at("cam.camParameters.basicContainer.referencePosition").unwrap();
    // The network's header has the same place: 0x1feb320c north, 0x05ec3afd east.
    assert!((place.integer("latitude").unwrap() - 0x1feb_320c).abs() < 100, "{place:?}");
    assert!((place.integer("longitude").unwrap() - 0x05ec_3afd).abs() < 100, "{place:?}");
    let shown = json::describe(CAR_CAM).unwrap();
    assert_eq!(shown["payload"]["header"]["stationID"], 0x1a3f_3d39);
    let header = &shown["data"]["content"]["signedData"]["tbsData"]["headerInfo"];
    assert_eq!(header["psid"], 36, "{shown:#}");
    assert_eq!(shown["signer"]["issuer"], "5D5DCBEEFBE7D22D");
}

#[test]
fn a_bsm_says_where_it_is() {
    let core = bsm::decode(&bytes(BSM)).unwrap().to_json();
    // From the documents of the Operational Data Environment.
    assert_eq!(core["msgCnt"], 117);
    assert_eq!(core["id"], "67458B6B");
    assert_eq!([&core["secMark"], &core["speed"], &core["heading"]], [24_440, 8_191, 28_800]);
    assert_eq!([&core["lat"], &core["long"]], [389_565_434, -771_500_475]);
    let mut with_more = bytes(BSM);
    with_more[3] |= 0x40;
    assert!(matches!(bsm::decode(&with_more), Err(Refusal::Unsupported(_))));
}

#[test]
fn other_hashes_are_refused_by_name() {
    // The list manager hashes by SHA-384 and signs on brainpoolP384r1.
    assert_eq!(Certificate::decode(TLM).unwrap_err(), Refusal::HashAlgorithm);
    assert_eq!(SignedMessage::decode(ECTL).unwrap_err(), Refusal::HashAlgorithm);
}
