//! Signatures made so that sums meet equal and opposite points, infinity, and coordinates beyond n;
//! keys that are none.

use p256::elliptic_curve::PrimeField;
use p256::elliptic_curve::ops::Reduce;
use p256::elliptic_curve::point::DecompressPoint;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{AffinePoint, FieldBytes, ProjectivePoint, Scalar, U256};
use trackbed_verifier::{Digest, KeyError, PublicKey, Signature, SignatureError, Verdict};

use crate::judges::{Case, Signer, assert_ours, openssl, others};

#[derive(Default)]
struct Edges {
    signers: Vec<Signer>,
    cases: Vec<Case>,
}

impl Edges {
    fn signer(&mut self, key: &ProjectivePoint) -> usize {
        let octets = key.to_affine().to_sec1_point(false);
        self.signers.push(Signer::new(PublicKey::from_sec1(octets.as_bytes()).expect("a point")));
        self.signers.len() - 1
    }

    /// A signature that leads to these u1 and u2, with r as given.
    fn push(&mut self, signer: usize, u1: Scalar, u2: Scalar, r: Scalar) {
        let s = r * u2.invert().expect("u2 is not zero");
        let octets = |scalar: Scalar| scalar.to_repr().into();
        let signature = Signature { r: octets(r), s: octets(s) };
        self.cases.push(Case { signer, digest: Digest(octets(u1 * s)), signature });
    }

    /// The same with the right r, or any where the sum is at infinity.
    fn push_valid(&mut self, signer: usize, key: &ProjectivePoint, u1: Scalar, u2: Scalar) {
        let point = ProjectivePoint::GENERATOR * u1 + *key * u2;
        let x = point.to_affine().to_sec1_point(false).x().copied();
        self.push(signer, u1, u2, x.map_or(Scalar::from(7u64), |x| Scalar::reduce(&x)));
    }

    fn check(&self) -> usize {
        let expected = others(&self.signers, &self.cases);
        assert_ours(&self.signers, &self.cases, &expected, &[1, 4, 13, 128]);
        expected.iter().filter(|valid| **valid).count()
    }
}

fn small(value: i64) -> Scalar {
    let magnitude = Scalar::from(value.unsigned_abs());
    if value < 0 { -magnitude } else { magnitude }
}

fn power(exponent: u64) -> Scalar {
    Scalar::from(2u64).pow_vartime(&U256::from_u64(exponent))
}

#[test]
fn equal_and_opposite_points_and_infinity() {
    let mut edges = Edges::default();
    let secrets = [1, -1, 2, -2, 3, 5, 16, 31, -31].map(small);
    let secrets =
        secrets.into_iter().chain([power(5), power(6), power(8), power(128), -power(251)]);
    for secret in secrets {
        let key = ProjectivePoint::GENERATOR * secret;
        let signer = edges.signer(&key);
        for u1 in [small(0), small(1), small(-1), small(3), small(12_345), power(255), -power(77)] {
            for u2 in [small(1), small(-1), small(2), small(12_345), power(255), power(64)] {
                edges.push_valid(signer, &key, u1, u2);
            }
        }
        // The two halves of the sum are equal, and then opposite: twice a point, and infinity.
        for factor in [small(1), small(9), power(100), power(200) + small(5)] {
            edges.push_valid(signer, &key, factor * secret, factor);
            edges.push_valid(signer, &key, -(factor * secret), factor);
        }
    }
    let valid = edges.check();
    // All but those whose sum is at infinity; r and s may be zero for none of them.
    assert!(valid > edges.cases.len() * 8 / 10 && valid < edges.cases.len(), "{valid}");
}

#[test]
fn coordinates_beyond_the_order() {
    let mut edges = Edges::default();
    let order =
        U256::from_be_hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
    let mut found = 0;
    for r in 1..40u64 {
        // x(R) = n + r is below p, and r is what is in the signature.
        let x: FieldBytes = p256::elliptic_curve::bigint::ArrayEncoding::to_be_byte_array(
            &order.wrapping_add(&U256::from_u64(r)),
        );
        let point: Option<AffinePoint> = AffinePoint::decompress(&x, 0.into()).into();
        let Some(point) = point else { continue };
        found += 1;
        let (u1, u2) = (power(200) + small(3), power(190) - small(r as i64));
        let rest = ProjectivePoint::from(point) - ProjectivePoint::GENERATOR * u1;
        let key = rest * u2.invert().expect("not zero");
        let signer = edges.signer(&key);
        edges.push(signer, u1, u2, Scalar::from(r));
        edges.push(signer, u1, u2, Scalar::from(r + 1));
        // x(R) = r, which needs nothing.
        edges.push_valid(signer, &key, small(4), small(5));
    }
    assert!(found > 10, "about half of all have a point");
    assert_eq!(edges.check(), 2 * found);
}

#[test]
fn digests_that_are_zero_or_not_below_the_order() {
    let mut edges = Edges::default();
    let key = ProjectivePoint::GENERATOR * power(99);
    let signer = edges.signer(&key);
    for u2 in 1..20 {
        edges.push_valid(signer, &key, Scalar::ZERO, small(u2));
    }
    assert_eq!(edges.check(), 19);
    let below = <[u8; 32]>::from((-Scalar::ONE).to_repr());
    // n itself is zero modulo n.
    let mut order = below;
    order[31] += 1;
    for (digest, expected) in [(order, Some(19)), ([0xff; 32], None), (below, None)] {
        edges.cases.iter_mut().for_each(|case| case.digest = Digest(digest));
        let valid = edges.check();
        assert!(expected.is_none_or(|expected| valid == expected), "{valid}");
    }
}

#[test]
fn verdicts_say_what_is_out_of_range() {
    let mut edges = Edges::default();
    let key = ProjectivePoint::GENERATOR * power(3);
    let signer = edges.signer(&key);
    edges.push_valid(signer, &key, small(11), small(13));
    let case = edges.cases[0];
    let mut verifier = trackbed_verifier::Verifier::new();
    let mut judge = |signature: Signature| {
        let key = trackbed_verifier::Key::Plain(&edges.signers[signer].key);
        let digest = &case.digest;
        verifier.verify_one(trackbed_verifier::Item { key, digest, signature: &signature })
    };
    let mut order = <[u8; 32]>::from((-Scalar::ONE).to_repr());
    assert_eq!(judge(case.signature), Verdict::Valid);
    assert_eq!(judge(Signature { r: order, ..case.signature }), Verdict::Mismatch);
    order[31] += 1;
    for integer in [[0; 32], [0xff; 32], order] {
        assert_eq!(judge(Signature { r: integer, ..case.signature }), Verdict::OutOfRange);
        assert_eq!(judge(Signature { s: integer, ..case.signature }), Verdict::OutOfRange);
    }
}

#[test]
fn keys_are_refused_as_openssl_refuses_them() {
    let point = (ProjectivePoint::GENERATOR * power(77)).to_affine();
    let uncompressed = point.to_sec1_point(false).as_bytes().to_vec();
    let compressed = point.to_sec1_point(true).as_bytes().to_vec();
    let off = |place: usize, octets: &[u8]| {
        let mut octets = octets.to_vec();
        octets[place] ^= 1;
        octets
    };
    let prime = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
    let prime: Vec<u8> =
        (0..32).map(|i| u8::from_str_radix(&prime[2 * i..2 * i + 2], 16).expect("hex")).collect();
    // b is a square: x = 0 has points, and x = p is not another name for it.
    let zero = [vec![2], vec![0; 32]].concat();
    let mut off_curve = 0;
    let mut tries = vec![
        (uncompressed.clone(), None),
        (compressed.clone(), None),
        (zero, None),
        (off(64, &uncompressed), Some(KeyError::NotOnCurve)),
        (off(5, &uncompressed), Some(KeyError::NotOnCurve)),
        ([vec![2], prime.clone()].concat(), Some(KeyError::Coordinate)),
        ([vec![4], prime.clone(), prime.clone()].concat(), Some(KeyError::Coordinate)),
        ([vec![4], vec![0; 64]].concat(), Some(KeyError::NotOnCurve)),
        (Vec::new(), Some(KeyError::Format)),
        (uncompressed[..64].to_vec(), Some(KeyError::Format)),
        (compressed[..32].to_vec(), Some(KeyError::Format)),
        ([uncompressed.clone(), vec![0]].concat(), Some(KeyError::Format)),
        ([vec![5], uncompressed[1..].to_vec()].concat(), Some(KeyError::Format)),
    ];
    for x in 1..40 {
        let octets = [vec![3], vec![0; 31], vec![x]].concat();
        let error = PublicKey::from_sec1(&octets).err();
        off_curve += usize::from(error == Some(KeyError::NotOnCurve));
        tries.push((octets, error));
    }
    assert!((10..30).contains(&off_curve), "half of all x have no point: {off_curve}");
    let openssl = openssl();
    for (octets, error) in tries {
        assert_eq!(PublicKey::from_sec1(&octets).err(), error, "{octets:02x?}");
        if let Some(openssl) = &openssl {
            assert_eq!(openssl.key(&octets).is_none(), error.is_some(), "{octets:02x?}");
        }
    }
    // What OpenSSL takes: the point at infinity, and hybrid forms.
    assert_eq!(PublicKey::from_sec1(&[0]).err(), Some(KeyError::Format));
    let hybrid = [vec![6 + (compressed[0] & 1)], uncompressed[1..].to_vec()].concat();
    assert_eq!(PublicKey::from_sec1(&hybrid).err(), Some(KeyError::Format));
    assert_eq!(PublicKey::from_sec1(&compressed).expect("a key").to_sec1()[..], uncompressed[..]);
}

#[test]
fn signatures_are_read_strictly() {
    use SignatureError::{Der, Length, Range};
    assert_eq!(Signature::from_p1363(&[0; 63]), Err(Length));
    assert_eq!(Signature::from_p1363(&[0; 65]), Err(Length));
    let signature = Signature::from_der(&[0x30, 7, 2, 1, 1, 2, 2, 0, 0x80]).expect("in DER");
    assert_eq!((signature.r[31], signature.s[31]), (1, 0x80));
    for (octets, error) in [
        (&[][..], Der),
        (&[0x30, 0], Der),
        (&[0x31, 6, 2, 1, 1, 2, 1, 1], Der),
        (&[0x30, 7, 2, 1, 1, 2, 1, 1], Der),
        (&[0x30, 6, 2, 1, 1, 2, 1, 1, 0], Der),
        (&[0x30, 7, 2, 1, 1, 2, 1, 1, 0], Der),
        (&[0x30, 0x81, 6, 2, 1, 1, 2, 1, 1], Der),
        (&[0x30, 7, 2, 2, 0, 1, 2, 1, 1], Der),
        (&[0x30, 5, 2, 0, 2, 1, 1], Der),
        (&[0x30, 6, 2, 1, 0x81, 2, 1, 1], Range),
    ] {
        assert_eq!(Signature::from_der(octets), Err(error), "{octets:02x?}");
    }
    let long = [&[0x30, 38, 2, 33, 1][..], &[0; 32], &[2, 1, 1]].concat();
    assert_eq!(Signature::from_der(&long), Err(Range));
}
