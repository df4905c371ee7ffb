//! Fields that the profiles exclude, and points that are not in their canonical form.

use serde_json::{Value as Json, json};
use trackbed_core::Seed;

use super::*;
use crate::asn1::coer;
use crate::certificate::ParsedCertificate;
use crate::hash::SELF_SIGNED;
use crate::ieee1609::{HeaderInfo, ToBeSignedCertificate};
use crate::lab::{Infrastructure, Terms};
use crate::sign::{PrivateKey, sign_certificate};

/// On P-256, R by its x.
const SIGNATURE: [u8; 66] = {
    let mut signature = [1; 66];
    (signature[0], signature[1]) = (0x80, 0x80);
    signature
};

fn root() -> Arc<Certificate> {
    let terms = Terms::new(ItsTime::from_secs(720_000_000), 1_000);
    Arc::clone(Infrastructure::new(&Seed::of_run(1, 0), &terms).unwrap().root().certificate())
}

/// A message without a payload whose header has this field too.
fn message(psid: u64, field: &str, value: &Json) -> Vec<u8> {
    let mut header = json!({ "psid": psid, "generationTime": 1 });
    if psid == psid::DENM {
        header["generationLocation"] = json!({ "latitude": 1, "longitude": 2, "elevation": 3 });
    }
    if !field.is_empty() {
        header[field] = value.clone();
    }
    let header = coer::encode("header", &HeaderInfo, &header).unwrap();
    let signer = [&[0x81, 1, 1], root().bytes()].concat();
    [&[3, 0x81, 0, 0x40, 3, 0x80, 0][..], &header, &signer, &SIGNATURE].concat()
}

fn encryption_key(curve: &str, point: &Json) -> Json {
    json!({ "supportedSymmAlg": "aes128Ccm", "publicKey": { curve: point } })
}

fn points() -> [Json; 2] {
    let [x, y] = ["03".repeat(32), "05".repeat(32)];
    [json!({ "compressed-y-1": x }), json!({ "uncompressedP256": { "x": x, "y": y } })]
}

#[test]
fn headers_have_no_field_that_the_profile_excludes() {
    let check = |psid, field, value| {
        let message = message(psid, field, value);
        profile::check_header(&SignedMessage::decode(&message).unwrap(), psid)
    };
    let key = json!({ "public": encryption_key("eciesNistP256", &points()[0]) });
    let place = json!({ "latitude": 1, "longitude": 2, "elevation": 3 });
    let (time, id) = (json!(5), json!("010203"));
    for (psid, field, value) in [
        (psid::CAM, "expiryTime", &time),
        (psid::CAM, "encryptionKey", &key),
        (psid::CAM, "generationLocation", &place),
        (psid::CAM, "p2pcdLearningRequest", &id),
        (psid::DENM, "expiryTime", &time),
        (psid::DENM, "encryptionKey", &key),
        (psid::BSM, "missingCrlIdentifier", &json!({ "cracaId": id, "crlSeries": 1 })),
    ] {
        assert_eq!(check(psid, "", &Json::Null), Ok(ItsTime::from_micros(1)));
        let refused = check(psid, field, value).unwrap_err();
        assert!(matches!(refused, Refusal::Header(_)), "{field} of {psid}: {refused:?}");
    }
}

#[test]
fn certificates_have_no_field_that_the_profile_excludes() {
    let key = PrivateKey::from_bytes(&[7; 32]).unwrap();
    let with = |field: &str, value: Json| {
        let mut tbs = root().tbs().to_json();
        tbs[field] = value;
        sign_certificate(&tbs, &json!({ "self": "sha256" }), &SELF_SIGNED, &key)
    };
    with("crlSeries", json!(1)).unwrap();
    let linked = json!({ "iCert": 7, "linkage-value": "0C".repeat(9) });
    for (field, value) in [
        ("id", json!({ "binaryId": "01" })),
        ("id", json!({ "linkageData": linked })),
        ("certRequestPermissions", json!([{ "subjectPermissions": { "all": null } }])),
        ("canRequestRollover", Json::Null),
        ("verifyKeyIndicator", json!({ "reconstructionValue": points()[0] })),
    ] {
        let refused = with(field, value).unwrap_err();
        assert!(matches!(refused, Refusal::CertificateForm(_)), "{field}: {refused:?}");
    }
}

/// IEEE 1609.2 sections 6.3.9 and 6.4.8: what is signed has the points of encryption keys compressed.
#[test]
fn an_encryption_key_is_hashed_by_its_compressed_point() {
    let root = root();
    let tbs = |key: Json| {
        let mut tbs = root.tbs().to_json();
        tbs["encryptionKey"] = key;
        coer::encode("certificate", &ToBeSignedCertificate, &tbs).unwrap()
    };
    let hash = |tbs: &[u8]| {
        let bytes = [&[0x80, 3, 0, 0x81, 0], tbs, &SIGNATURE].concat();
        ParsedCertificate::decode(&bytes).map(|parsed| parsed.hash())
    };
    for curve in ["eciesNistP256", "eciesBrainpoolP256r1", "ecencSm2"] {
        let keys = points().map(|point| encryption_key(curve, &point));
        let messages = keys
            .each_ref()
            .map(|key| message(psid::BSM, "encryptionKey", &json!({ "public": key })));
        let [short, long] = messages.each_ref().map(|bytes| {
            SignedMessage::decode(bytes).unwrap().job(root.key(), &root.hash()).unwrap()
        });
        assert_ne!(messages[0], messages[1]);
        assert_eq!(short, long);
        let [short, mut long] = keys.map(tbs);
        assert_eq!(hash(&short).unwrap(), hash(&long).unwrap());
        // The canonical form of an unknown extension is unknown too.
        long[0] |= 0x80;
        long.extend([2, 1, 0x02, 3, 7, 7, 7]);
        assert!(matches!(hash(&long), Err(Refusal::Malformed { .. })));
    }
}
