//! Ours against rasn, which has its own decoder, encoder and types.

use rasn_its::ieee1609dot2 as other;
use serde_json::{Value as Json, json};
use trackbed_core::Seed;

use super::*;
use crate::ieee1609::{Certificate, HeaderInfo, Ieee1609Dot2Data};
use crate::lab::{Infrastructure, Terms};
use crate::time::ItsTime;

/// What rasn reads in `bytes`, as JSON with keys as [`alike`] has them, and how it writes that again.
fn theirs<T: rasn::Decode + rasn::Encode>(bytes: &[u8]) -> Option<(Json, Vec<u8>)> {
    let value: T = rasn::coer::decode(bytes).ok()?;
    let text = rasn::jer::encode(&value).unwrap();
    Some((alike(&serde_json::from_str(&text).unwrap()), rasn::coer::encode(&value).unwrap()))
}

/// In rasn, alternatives begin with a capital letter, and those of signatures are those of keys. Defaults
/// are written out there, and bit strings that have them are longer than they say.
fn alike(value: &Json) -> Json {
    let key = |key: &str| key.to_ascii_lowercase().replace("sm2signature", "sm2");
    match value {
        Json::Object(fields) => {
            let all = fields.iter().map(|(name, value)| (key(name), alike(value)));
            let named = |(name, value): (String, Json)| match name.strip_suffix("signature") {
                Some(curve) if !curve.is_empty() => (curve.to_owned(), value),
                _ => (name, value),
            };
            let defaults = [("minchainlength", json!(1)), ("chainlengthrange", json!(0))];
            let mut all: serde_json::Map<_, _> = all.map(named).collect();
            all.retain(|name, value| {
                name != "eetype" && !defaults.iter().any(|(of, is)| name == of && value == is)
            });
            all.into()
        }
        Json::Array(items) => items.iter().map(alike).collect(),
        Json::String(text) => text.to_ascii_uppercase().into(),
        other => other.clone(),
    }
}

fn ours(kind: &Type, bytes: &[u8]) -> Option<Json> {
    let (value, _, rest) = take("value", kind, bytes).ok()?;
    rest.is_empty().then(|| value.to_json())
}

fn check(name: &str, kind: &Type, bytes: &[u8], theirs: Option<(Json, Vec<u8>)>) {
    let json = ours(kind, bytes).unwrap_or_else(|| panic!("{name}: {:?}", take("it", kind, bytes)));
    assert_eq!(encode("value", kind, &json).unwrap(), bytes, "{name}");
    let theirs = theirs.unwrap_or_else(|| panic!("rasn refuses {name}: {json:#}"));
    assert_eq!(alike(&json), theirs.0, "{name}");
    assert_eq!(bytes, theirs.1, "{name}");
}

fn read(json: &str) -> Json {
    serde_json::from_str(json).unwrap()
}

/// A certificate with each optional field; `changes` replace the values at their paths.
fn certificate(changes: &Json) -> Json {
    let mut certificate = read(include_str!("tests/certificate.json"));
    for (path, value) in changes.as_object().unwrap() {
        let names = path.split('.');
        *names.fold(&mut certificate, |at, name| &mut at[name]) = value.clone();
    }
    certificate
}

/// Alternatives and extensions, each in the place of one in [`certificate`].
fn certificates() -> Vec<Json> {
    read(include_str!("tests/changes.json")).as_array().unwrap().iter().map(certificate).collect()
}

fn messages() -> Vec<Json> {
    let short = certificate(&json!({}));
    let hash = |name: &str, len: usize| json!({ name: "0A".repeat(len) });
    let signers = [
        json!({ "self": null }),
        json!({ "digest": "0011223344556677" }),
        json!({ "certificate": [short, short] }),
    ];
    let plain = |len: usize| {
        let content = json!({ "unsecuredData": "5A".repeat(len) });
        json!({ "protocolVersion": 3, "content": content })
    };
    let payloads = [
        json!({ "data": plain(127) }),
        json!({ "data": plain(128) }),
        json!({ "data": plain(70_000) }),
        json!({ "extDataHash": hash("sha256HashedData", 32) }),
        json!({ "omitted": null }),
        json!({ "data": plain(0), "extDataHash": hash("sha384HashedData", 48) }),
    ];
    let signature = &short["signature"];
    let mut cases = vec![plain(0)];
    for header in read(include_str!("tests/headers.json")).as_array().unwrap() {
        for (signer, payload) in signers.iter().cycle().zip(&payloads) {
            cases.push(json!({ "protocolVersion": 3, "content": { "signedData": {
                "hashId": "sha256", "signer": signer, "signature": signature,
                "tbsData": { "payload": payload, "headerInfo": header },
            } } }));
        }
    }
    cases
}

#[test]
fn rasn_reads_what_we_write_and_writes_the_same() {
    for (at, value) in certificates().iter().enumerate() {
        let bytes = encode("certificate", &Certificate, value).unwrap();
        check(
            &format!("certificate {at}"),
            &Certificate,
            &bytes,
            theirs::<other::Certificate>(&bytes),
        );
    }
    for (at, value) in messages().iter().enumerate() {
        let bytes = encode("message", &Ieee1609Dot2Data, value).unwrap();
        let theirs = theirs::<other::Ieee1609Dot2Data>(&bytes);
        check(&format!("message {at}"), &Ieee1609Dot2Data, &bytes, theirs);
    }
}

/// By X.696 sections 16 and 30: rasn loses the bounds of what is an extension and writes a certificate
/// in one before the message, and the extensions of certificates in rasn-its are no open types.
#[test]
fn extensions_follow_a_bitmap_of_their_presence() {
    let extensions = json!([{ "id": 1, "content": "0102" }]);
    let value = certificate(&json!({
        "toBeSigned.flags": "80", "toBeSigned.appExtensions": extensions,
    }));
    let mut bytes = encode("it", &Certificate, &value).unwrap();
    assert_eq!(ours(&Certificate, &bytes).unwrap(), value);
    let (plain, signature) = (encode("it", &Certificate, &certificate(&json!({}))).unwrap(), 66);
    let extended = bytes.split_off(plain.len() - signature);
    assert_eq!(bytes[..12], plain[..12]);
    assert_eq!(bytes[12], plain[12] | 0x80, "the first bit of the presence of fields");
    assert_eq!(bytes[13..], plain[13..bytes.len()]);
    // Two octets of bitmap: the last four bits are not used, the first two extensions are there.
    let added = [2, 4, 0xc0, 1, 0x80, 6, 1, 1, 1, 2, 1, 2];
    assert_eq!(extended, [&added, &plain[bytes.len()..]].concat());
    let header = json!({
        "psid": 36, "inlineP2pcdRequest": ["010203", "040506"], "requestedCertificate": value,
        "pduFunctionalType": 2,
    });
    let inner = encode("it", &Certificate, &value).unwrap();
    let [high, low] = (inner.len() as u16).to_be_bytes();
    let before = [0x80, 1, 36, 2, 4, 0xe0, 8, 1, 2, 1, 2, 3, 4, 5, 6, 0x82, high, low];
    let expected = [&before[..], &inner, &[1, 2]].concat();
    assert_eq!(encode("it", &HeaderInfo, &header).unwrap(), expected);
    assert_eq!(ours(&HeaderInfo, &expected).unwrap(), header);
    // An unknown extension is skipped; an encoding that is not canonical is refused.
    let with = |extensions: &[u8]| [&bytes, extensions, &plain[bytes.len()..]].concat();
    let unknown = ours(&Certificate, &with(&[2, 1, 0x02, 3, 7, 7, 7])).unwrap();
    assert_eq!(unknown, certificate(&json!({})));
    for bad in [
        &[2, 4, 0x81, 1, 0x80][..],
        &[1, 0],
        &[2, 8, 0],
        &[2, 4, 0x80, 2, 0x80, 0],
        &[2, 4, 0x80, 0],
    ] {
        assert_eq!(ours(&Certificate, &with(bad)), None, "{bad:?}");
    }
}

#[test]
fn captures_read_as_rasn_reads_them() {
    let car = include_bytes!("../../../tests/data/car-cam.oer");
    check("a car", &Ieee1609Dot2Data, car, theirs::<other::Ieee1609Dot2Data>(car));
    let manager = include_bytes!("../../../tests/data/tlm.cert");
    check("a list manager", &Certificate, manager, theirs::<other::Certificate>(manager));
    let list = include_bytes!("../../../tests/data/ectl.oer");
    check("a trust list", &Ieee1609Dot2Data, list, theirs::<other::Ieee1609Dot2Data>(list));
    // The certificates of two roots are in it.
    for root in [&list[25..401], &list[404..777]] {
        check("a root", &Certificate, root, theirs::<other::Certificate>(root));
    }
}

/// Whatever ours takes, rasn takes too, and both read it alike.
#[test]
fn changed_bytes_read_as_rasn_reads_them() {
    let terms = Terms::new(ItsTime::from_secs(720_000_000), 1_000);
    let lab = Infrastructure::new(&Seed::of_run(1, 0), &terms).unwrap();
    let mut bases = vec![lab.root().certificate().bytes().to_vec()];
    bases.extend(certificates().iter().map(|one| encode("it", &Certificate, one).unwrap()));
    bases.extend(messages().iter().map(|one| encode("it", &Ieee1609Dot2Data, one).unwrap()));
    let mut rng = Seed::of_run(3, 0).stream("changes");
    let mut taken = 0;
    for round in 0..8_000 {
        let mut bytes = bases[round % bases.len()].clone();
        for _ in 0..=rng.below(2) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(3) {
                0 => bytes[at] ^= 1 << rng.below(8),
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, rng.next_u64() as u8),
            }
        }
        let is_message = bytes[0] == 3;
        let kind = if is_message { &Ieee1609Dot2Data } else { &Certificate };
        let Some(json) = ours(kind, &bytes) else { continue };
        let theirs = match is_message {
            true => theirs::<other::Ieee1609Dot2Data>(&bytes),
            false => theirs::<other::Certificate>(&bytes),
        };
        let Some((theirs, again)) = theirs else {
            panic!("only ours takes {bytes:02x?}: {json:#}")
        };
        assert_eq!(alike(&json), theirs, "{bytes:02x?}");
        assert_eq!(encode("it", kind, &json).unwrap(), again, "{bytes:02x?}");
        taken += 1;
    }
    assert!(taken > 1_000, "{taken} are taken");
}
