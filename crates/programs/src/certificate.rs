//! The certificate of a third-party server.

use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, date_time_ymd};

use crate::error::ProgramError;

/// A P-256 key with a self-signed certificate.
pub struct Certificate {
    der: Vec<u8>,
    key: Vec<u8>,
}

impl Certificate {
    /// A new certificate for a server with these names: DNS names and addresses.
    ///
    /// # Errors
    /// If a name is invalid, or the system provides no random numbers.
    pub fn for_names(names: impl IntoIterator<Item = String>) -> Result<Certificate, ProgramError> {
        let make = || {
            let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
            let mut params = CertificateParams::new(names.into_iter().collect::<Vec<_>>())?;
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2049, 12, 31);
            let der = params.self_signed(&pair)?.der().to_vec();
            Ok(Certificate { der, key: pair.serialize_der() })
        };
        make().map_err(|why: rcgen::Error| ProgramError::Certificate(why.to_string()))
    }

    /// The certificate in DER (X.509).
    pub fn as_der(&self) -> &[u8] {
        &self.der
    }

    /// The key in PEM (PKCS #8).
    pub fn key_pem(&self) -> String {
        encode("PRIVATE KEY", &self.key)
    }
}

/// A certificate in PEM (RFC 7468).
pub fn pem_of(der: &[u8]) -> String {
    encode("CERTIFICATE", der)
}

fn encode(label: &str, der: &[u8]) -> String {
    let lines = pem::EncodeConfig::new().set_line_ending(pem::LineEnding::LF);
    pem::encode_config(&pem::Pem::new(label, der), lines)
}
