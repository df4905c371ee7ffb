//! Certificates in every form that the standard allows, and keys that are none.

use trackbed_v2x::certificate::Issuer;
use trackbed_v2x::hash::sha256;
use trackbed_v2x::{Certificate, Refusal};

use crate::world::{World, accept, sign};

/// Where the key's point begins in a certificate of the lab: the bytes before it are the key itself
/// and its curve.
fn key_at(bytes: &[u8], x: &[u8; 32]) -> usize {
    let at = bytes.windows(32).position(|at| at == x).expect("the key is in the certificate");
    assert_eq!(bytes[at - 3..at - 1], [0x80, 0x80]);
    at - 1
}

/// The same certificate with a different encoding of its points: the hash and the signed data are
/// those of the canonical form (IEEE 1609.2 section 6.4.3).
#[test]
fn however_points_are_written_it_is_the_same_certificate() {
    let world = World::new();
    let original = world.ticket.certificate();
    assert_eq!(original.hash().0, sha256(original.bytes()), "ours are canonical");
    let key = original.key();
    let mut long_key = original.bytes().to_vec();
    let at = key_at(&long_key, key.x());
    long_key[at] = 0x84;
    long_key.splice(at + 33..at + 33, *key.y());
    let mut compressed_r = original.bytes().to_vec();
    // The signature is the last 66 bytes: its curve, the form of R, R, s.
    let r = compressed_r.len() - 65;
    assert_eq!(compressed_r[r], 0x80);
    compressed_r[r] = 0x82;
    let mut both = long_key.clone();
    let r = both.len() - 65;
    both[r] = 0x83;

    let signed = sign(&world.ticket, &world.cam(&world.cam_payload()));
    let place = signed.windows(original.bytes().len()).position(|at| at == original.bytes());
    let place = place.unwrap();
    for other in [long_key, compressed_r, both] {
        let read = Certificate::decode(&other).unwrap();
        assert_eq!((read.hash(), read.key()), (original.hash(), original.key()));
        assert_eq!(read.issuer(), Issuer::Certificate(world.authority.certificate().id()));
        let (authority, one) =
            (world.authority.certificate(), original.job(world.authority.certificate()));
        assert_eq!(read.job(authority), one);
        let mut message = signed.clone();
        message.splice(place..place + original.bytes().len(), other);
        accept(&mut world.receiver(), &message, world.now).unwrap();
    }
}

#[test]
fn keys_that_are_none_are_refused() {
    let world = World::new();
    let bytes = world.ticket.certificate().bytes();
    let at = key_at(bytes, world.ticket.certificate().key().x());
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.to_vec();
        change(&mut bytes);
        Certificate::decode(&bytes).unwrap_err()
    };
    // brainpoolP256r1, then half a point, then none.
    assert_eq!(with(&|bytes| bytes[at - 1] = 0x81), Refusal::KeyCurve("ecdsaBrainpoolP256r1"));
    assert_eq!(with(&|bytes| bytes[at] = 0x80), Refusal::KeyNotOnCurve);
    let fill = with(&|bytes| {
        bytes[at] = 0x81;
        bytes.drain(at + 1..at + 33);
    });
    assert_eq!(fill, Refusal::KeyNotOnCurve);
    // No number below p: not a coordinate at all.
    assert_eq!(with(&|bytes| bytes[at + 1..at + 33].fill(0xff)), Refusal::KeyNotOnCurve);
    // A point that is not of the curve, written out.
    let off = with(&|bytes| {
        bytes[at] = 0x84;
        bytes.splice(at + 33..at + 33, [7; 32]);
    });
    assert_eq!(off, Refusal::KeyNotOnCurve);
    let other_curve = with(&|bytes| {
        let at = bytes.len() - 66;
        bytes[at] = 0x81;
    });
    let said = other_curve.to_string();
    assert!(said.contains("ticket's signature is an ecdsaBrainpoolP256r1Signature"), "{said}");
    let implicit = with(&|bytes| bytes[2] = 1);
    assert_eq!(implicit, Refusal::Unsupported("implicit certificates"));
    assert_eq!(with(&|bytes| bytes[1] = 2), Refusal::Version(2));
}
