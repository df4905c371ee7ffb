//! Many random signatures, a tenth of which are damaged, each field in each way.

use std::cell::RefCell;

use p256::ecdsa::SigningKey;
use p256::elliptic_curve::PrimeField;
use p256::elliptic_curve::ops::Reduce;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{FieldBytes, ProjectivePoint, Scalar};
use trackbed_verifier::{Digest, PublicKey, Signature};

use crate::judges::{Case, Signer, assert_ours, by_openssl, others};

const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6,
    0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

struct Source {
    random: fastrand::Rng,
    keys: Vec<SigningKey>,
    /// Of each signature it is one more than of the last, so that its point takes one addition.
    nonce: (Scalar, ProjectivePoint),
}

impl Source {
    fn new(seed: u64, keys: usize) -> (Self, Vec<Signer>) {
        let mut random = fastrand::Rng::with_seed(seed);
        let key = |random: &mut fastrand::Rng| {
            let mut secret = [0; 32];
            random.fill(&mut secret);
            secret[0] &= 0x7f;
            SigningKey::from_slice(&secret).expect("below the order")
        };
        let keys: Vec<SigningKey> = (0..keys).map(|_| key(&mut random)).collect();
        let signers = keys.iter().map(|key| {
            let point = key.verifying_key().to_sec1_point(true);
            Signer::new(PublicKey::from_sec1(point.as_bytes()).expect("it is a key"))
        });
        let signers = signers.collect();
        let nonce = Scalar::from(random.u64(1..));
        let nonce = (nonce, ProjectivePoint::GENERATOR * nonce);
        (Self { random, keys, nonce }, signers)
    }

    fn cases(&mut self, count: usize) -> Vec<Case> {
        (0..count).map(|number| self.case(number)).collect()
    }

    fn case(&mut self, number: usize) -> Case {
        let signer = self.random.usize(..self.keys.len());
        let mut digest = [0; 32];
        self.random.fill(&mut digest);
        let (nonce, point) = &mut self.nonce;
        *nonce += Scalar::ONE;
        *point += ProjectivePoint::GENERATOR;
        let r = Scalar::reduce(point.to_affine().to_sec1_point(false).x().expect("not infinity"));
        let e = Scalar::reduce(&FieldBytes::from(digest));
        let secret = self.keys[signer].as_nonzero_scalar().as_ref();
        let s = nonce.invert().expect("not zero") * (e + r * secret);
        let (r, s) = (r.to_repr().into(), s.to_repr().into());
        let mut case = Case { signer, digest: Digest(digest), signature: Signature { r, s } };
        if number.is_multiple_of(10) {
            self.damage(&mut case, number / 10);
        }
        case
    }

    fn damage(&mut self, case: &mut Case, way: usize) {
        let field = match way % 4 {
            0 => &mut case.signature.r,
            1 => &mut case.signature.s,
            2 => &mut case.digest.0,
            _ => {
                case.signer = (case.signer + 1) % self.keys.len();
                return;
            }
        };
        match way / 4 % 8 {
            0 => *field = [0; 32],
            1 => *field = [0xff; 32],
            2 => *field = ORDER,
            3 => self.random.fill(field),
            4 => {
                // The order minus it: for s that is valid again (malleability), for others not.
                let mut borrow = 0;
                for (octet, minuend) in field.iter_mut().zip(ORDER).rev() {
                    let difference = i16::from(minuend) - i16::from(*octet) - borrow;
                    borrow = i16::from(difference < 0);
                    *octet = difference.rem_euclid(256) as u8;
                }
            }
            5 => field[31] = field[31].wrapping_add(1),
            _ => field[self.random.usize(..32)] ^= 1 << self.random.u8(..8),
        }
    }
}

/// Signatures of 20 keys, and the verdicts of other libraries.
pub fn cases(
    seed: u64,
    count: usize,
    judge: impl Fn(&[Signer], &[Case]) -> Vec<bool>,
) -> (Vec<Signer>, Vec<Case>, Vec<bool>) {
    let (mut source, signers) = Source::new(seed, 20);
    let cases = source.cases(count);
    let expected = judge(&signers, &cases);
    let invalid = expected.iter().filter(|valid| !**valid).count();
    assert!((count / 12..=count / 10).contains(&invalid), "{invalid} of {count} are damaged");
    (signers, cases, expected)
}

fn check(
    seed: u64,
    count: usize,
    sizes: &[usize],
    judge: impl Fn(&[Signer], &[Case]) -> Vec<bool>,
) {
    let (signers, cases, expected) = cases(seed, count, judge);
    assert_ours(&signers, &cases, &expected, sizes);
}

#[test]
fn ten_thousand_verdicts_match_other_libraries() {
    check(1, 10_000, &[128], others);
}

#[test]
fn verdicts_are_the_same_in_batches_of_any_size() {
    check(2, 400, &[1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 127, 129, 400], others);
}

#[test]
fn verdicts_depend_on_no_neighbour_and_no_order() {
    let (mut source, signers) = Source::new(3, 5);
    let mut cases = source.cases(300);
    let mut expected = others(&signers, &cases);
    let mut random = fastrand::Rng::with_seed(4);
    for _ in 0..6 {
        let mut order: Vec<usize> = (0..cases.len()).collect();
        random.shuffle(&mut order);
        cases = order.iter().map(|place| cases[*place]).collect();
        expected = order.iter().map(|place| expected[*place]).collect();
        assert_ours(&signers, &cases, &expected, &[50]);
    }
    // The same signature in every place.
    for place in 0..12 {
        let same = vec![cases[place]; 40];
        assert_ours(&signers, &same, &[expected[place]; 40], &[40]);
    }
}

/// A million of them: `TRACKBED_SIGNATURES=1000000 CXX=none cargo test --release -p trackbed-verifier --test verdicts
/// -- --ignored many`. Without `CXX=none`, the kernels for GPUs verify them too, and take longest. In an emulator, where
/// judging takes long too, `TRACKBED_VERDICTS` names a file that this test has written on a real processor, and
/// `TRACKBED_PATHS` the paths to try.
#[test]
#[ignore = "takes minutes, for release builds"]
fn many_verdicts_match_other_libraries() {
    let wanted = std::env::var("TRACKBED_SIGNATURES").ok();
    let signatures: usize = wanted.map_or(100_000, |text| text.parse().expect("a number"));
    let kept = std::env::var_os("TRACKBED_VERDICTS");
    let known = kept.as_ref().and_then(|file| std::fs::read(file).ok());
    let judged = RefCell::new(Vec::new());
    for (seed, first) in (1_000..).zip((0..signatures).step_by(50_000)) {
        let count = (signatures - first).min(50_000);
        check(seed, count, &[128], |signers, cases| {
            let verdicts = match &known {
                Some(known) => {
                    known[first..first + count].iter().map(|octet| *octet == 1).collect()
                }
                None => by_openssl(signers, cases).unwrap_or_else(|| others(signers, cases)),
            };
            judged.borrow_mut().extend(verdicts.iter().map(|valid| u8::from(*valid)));
            verdicts
        });
        println!("{} signatures are judged alike", first + count);
    }
    if let (Some(file), None) = (kept, known) {
        std::fs::write(file, judged.into_inner()).expect("a file");
    }
}
