//! An end's key, and the certificates that vouch for it.

use std::sync::Arc;

use p256::SecretKey;
use p256::pkcs8::DecodePrivateKey as _;
use rustls::crypto::ring::sign::{any_ecdsa_type, any_eddsa_type, any_supported_type};
use rustls::pki_types::{
    AlgorithmIdentifier, CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer,
    SignatureVerificationAlgorithm as _,
};
use rustls::sign::{CertifiedKey, SigningKey, public_key_to_spki};

use super::keys::Key;
use super::provider::Randomness;
use crate::config::{Chain, KeyKind, Trust};

/// A key with its chain of certificates, by default one for [`SERVER_NAME`].
pub(crate) struct Identity {
    pub(crate) key: Arc<CertifiedKey>,
    /// The private key in PKCS #8, for libraries that sign by themselves.
    pub(crate) pkcs8: Vec<u8>,
    /// What the peer must trust.
    pub(crate) trust: Trust,
}

impl Identity {
    /// The server's: the user's own, or a new one from `randomness`.
    pub(crate) fn server(randomness: &Randomness, chain: &Chain) -> Result<Identity, String> {
        if let Some(own) = &chain.certificate {
            let key = own_key(&own.key, randomness.seeded().is_some())?;
            let trust = Trust(own.chain.last().cloned().ok_or("it has no certificate")?);
            let key = Arc::new(CertifiedKey::new(own.chain.clone(), key));
            return Ok(Identity { key, pkcs8: Vec::new(), trust });
        }
        let root = chain.kinds.last().map(|kind| Key::new(*kind, |bytes| randomness.fill(bytes)));
        Identity::issue(randomness, chain, root.transpose()?)
    }

    /// A client's, whose chain has the kinds of the server's.
    pub(crate) fn client(randomness: &Randomness, chain: &Chain) -> Result<Identity, String> {
        let chain = Chain { kinds: chain.kinds.clone(), ..Chain::default() };
        Identity::issue(randomness, &chain, Some(client_root(&chain)?))
    }

    /// A chain from `root` down; without a root the key signs its own certificate.
    fn issue(
        randomness: &Randomness,
        chain: &Chain,
        root: Option<Key>,
    ) -> Result<Identity, String> {
        let key = |kind| Key::new(kind, |bytes| randomness.fill(bytes));
        let filler = |len| {
            let mut bytes = vec![0; len];
            randomness.fill(&mut bytes).map(|()| bytes)
        };
        let leaf = key(chain.kinds.first().copied().unwrap_or_default())?;
        let extensions = leaf_extensions(&filler(chain.sct)?);
        let (subject, mut issuer) = match &root {
            None => (SELF_SIGNED, (SELF_SIGNED.to_owned(), leaf.clone())),
            Some(root) => (SERVER_NAME, (ROOT.to_owned(), root.clone())),
        };
        let mut certificates = Vec::new();
        for (number, kind) in chain.kinds.iter().enumerate().skip(1).rev() {
            let own = (format!("Trackbed intermediate {number}"), key(*kind)?);
            let by = (&*issuer.0, &issuer.1);
            certificates.push(certificate((&own.0, &own.1), by, authority_extensions()));
            issuer = own;
        }
        let own = certificate((subject, &leaf), (&issuer.0, &issuer.1), extensions);
        let trust = root.map_or_else(|| own.clone(), |root| authority(&root));
        certificates.push(own);
        certificates.reverse();
        let pkcs8 = leaf.pkcs8.clone();
        let key: Arc<dyn SigningKey> = match randomness.seeded() {
            // It signs faster.
            None if leaf.kind == KeyKind::P256 => {
                let der = PrivatePkcs8KeyDer::from(pkcs8.clone());
                any_ecdsa_type(&der.into()).map_err(|error| error.to_string())?
            }
            _ => Arc::new(leaf),
        };
        let mut key = CertifiedKey::new(certificates, key);
        key.ocsp = (chain.staple > 0).then(|| filler(chain.staple)).transpose()?;
        Ok(Identity { key: Arc::new(key), pkcs8, trust: Trust(trust) })
    }
}

/// The name in every server's certificate (RFC 6761: `.test` is never a real domain).
pub const SERVER_NAME: &str = "server.trackbed.test";
/// Results depend on every byte of the certificate without a chain: on its length, and on those of
/// the signatures of ECDSA.
const SELF_SIGNED: &str = "rcgen self signed cert";
const ROOT: &str = "Trackbed root";

/// The root of clients' certificates. It is the same everywhere, so that servers know it without
/// being told.
fn client_root(chain: &Chain) -> Result<Key, String> {
    let kind = chain.kinds.last().copied().unwrap_or_default();
    Key::new(kind, |bytes| {
        bytes.fill(1);
        Ok(())
    })
}

/// What servers must trust if clients have certificates of these kinds.
///
/// # Errors
/// If the library refuses to make a key.
pub fn client_trust(chain: &Chain) -> Result<Trust, String> {
    Ok(Trust(authority(&client_root(chain)?)))
}

fn authority(root: &Key) -> CertificateDer<'static> {
    certificate((ROOT, root), (ROOT, root), authority_extensions())
}

/// The user's key. Randomness of its library would make a run differ from its repetition.
fn own_key(key: &PrivateKeyDer<'static>, is_seeded: bool) -> Result<Arc<dyn SigningKey>, String> {
    if !is_seeded {
        return any_supported_type(key).map_err(|error| error.to_string());
    }
    let (der, pkcs8) = (key.secret_der(), PrivatePkcs8KeyDer::from(key.secret_der()));
    if let Ok(p256) = SecretKey::from_pkcs8_der(der).or_else(|_| SecretKey::from_sec1_der(der)) {
        return Ok(Arc::new(Key::of_p256(p256.into())?));
    }
    let why = "in virtual time its key must be of P-256 or Ed25519: others do not sign repeatably";
    any_eddsa_type(&pkcs8).map_err(|_| why.to_owned())
}

/// A certificate of version 3 (RFC 5280 section 4.1), for the first name and key by the second ones.
/// rcgen, with ring, has no ML-DSA.
fn certificate(
    (subject, key): (&str, &Key),
    (issuer, by): (&str, &Key),
    extensions: Vec<u8>,
) -> CertificateDer<'static> {
    let digest = ring::digest::digest(&ring::digest::SHA256, &key.public);
    let mut serial = digest.as_ref()[..20].to_vec();
    serial[0] &= 0x7f;
    while serial.len() > 1 && serial[0] == 0 && serial[1] < 0x80 {
        serial.remove(0);
    }
    let name = |name: &str| {
        let common = [&[6, 3, 0x55, 4, 3][..], &der(12, name.as_bytes())].concat();
        der(0x30, &der(0x31, &der(0x30, &common)))
    };
    let algorithm = |id: AlgorithmIdentifier| der(0x30, &id);
    let of_signature = by.kind.signature_alg_id();
    let validity = [der(23, b"200101000000Z"), der(23, b"491231000000Z")].concat();
    let to_be_signed = [
        der(0xa0, &[2, 1, 2]),
        der(2, &serial),
        algorithm(of_signature),
        name(issuer),
        der(0x30, &validity),
        name(subject),
        public_key_to_spki(&key.kind.public_key_alg_id(), &key.public).to_vec(),
        der(0xa3, &der(0x30, &extensions)),
    ];
    let to_be_signed = der(0x30, &to_be_signed.concat());
    let signature = bits(&(by.sign)(&to_be_signed));
    der(0x30, &[to_be_signed, algorithm(of_signature), signature].concat()).into()
}

/// The server's name, and if there are any, bytes in place of signed certificate timestamps (RFC
/// 6962).
fn leaf_extensions(sct: &[u8]) -> Vec<u8> {
    let name = der(0x30, &der(0x82, SERVER_NAME.as_bytes()));
    let mut all = extension(&[0x55, 0x1d, 17], &[], &name);
    if !sct.is_empty() {
        let number = [0x2b, 6, 1, 4, 1, 0xd6, 0x79, 2, 4, 2];
        all.extend(extension(&number, &[], &der(4, sct)));
    }
    all
}

/// It may sign certificates (basic constraints, key usage).
fn authority_extensions() -> Vec<u8> {
    let critical = &[1, 1, 0xff];
    let constraints = extension(&[0x55, 0x1d, 19], critical, &der(0x30, critical));
    [constraints, extension(&[0x55, 0x1d, 15], critical, &[3, 2, 2, 4])].concat()
}

fn extension(number: &[u8], critical: &[u8], value: &[u8]) -> Vec<u8> {
    der(0x30, &[&der(6, number)[..], critical, &der(4, value)].concat())
}

fn bits(bytes: &[u8]) -> Vec<u8> {
    der(3, &[&[0], bytes].concat())
}

/// A tag, a length and a content (X.690 section 8.1). Tags: 2 INTEGER, 3 BIT STRING, 4 OCTET STRING,
/// 6 OBJECT IDENTIFIER, 12 UTF8String, 23 UTCTime, 0x30 SEQUENCE, 0x31 SET; those from 0x80 on are of
/// a field.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len().to_be_bytes();
    let len = &len[len.iter().take_while(|byte| **byte == 0).count()..];
    match content.len() {
        0..128 => [&[tag, content.len() as u8], content].concat(),
        _ => [&[tag, 0x80 | len.len() as u8], len, content].concat(),
    }
}
