//! TLS inside QUIC (RFC 9001): rustls for the QUIC engine.
//!
//! The engine's own glue hides what was negotiated and draws the operating system's randomness;
//! this one reports [`Security`] and passes every call through [`Randomness::scope`].

use std::any::Any;
use std::sync::Arc;

use noq_proto::crypto::{
    self, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use ring::aead;
use rustls::quic::{
    ClientConnection, Connection, DirectionalKeys, KeyChange, Secrets, ServerConnection, Suite,
    Version,
};

use crate::tls::{Randomness, TlsClient, TlsServer, security};

pub(super) struct ClientCrypto(pub(super) TlsClient);

impl crypto::ClientConfig for ClientCrypto {
    fn start_session(
        &self,
        version: u32,
        _: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        check_version(version)?;
        let TlsClient { config, randomness, name } = &self.0;
        let tls = randomness.scope(|| {
            ClientConnection::new(Arc::clone(config), Version::V1, name.clone(), encode(parameters))
        });
        let tls = tls.map_err(|_| ConnectError::EndpointStopping)?;
        Ok(Box::new(Session::new(tls.into(), randomness.clone())))
    }
}

pub(super) struct ServerCrypto(pub(super) TlsServer);

impl crypto::ServerConfig for ServerCrypto {
    fn initial_keys(
        &self,
        version: u32,
        connection: ConnectionId,
    ) -> Result<Keys, UnsupportedVersion> {
        check_version(version)?;
        Ok(initial_keys(connection, Side::Server))
    }

    fn retry_tag(&self, _: u32, original: ConnectionId, packet: &[u8]) -> [u8; 16] {
        retry_integrity_tag(&original, packet)
    }

    fn start_session(&self, _: u32, parameters: &TransportParameters) -> Box<dyn crypto::Session> {
        let TlsServer { config, randomness, .. } = &self.0;
        let tls = randomness
            .scope(|| ServerConnection::new(Arc::clone(config), Version::V1, encode(parameters)));
        // It fails for a configuration without TLS 1.3, which `TlsServer::new` refuses.
        let tls = tls.expect("the configuration allows TLS 1.3");
        Box::new(Session::new(tls.into(), randomness.clone()))
    }
}

struct Session {
    tls: Connection,
    randomness: Randomness,
    next_secrets: Option<Secrets>,
    handshake_data_announced: bool,
}

impl Session {
    fn new(tls: Connection, randomness: Randomness) -> Session {
        Session { tls, randomness, next_secrets: None, handshake_data_announced: false }
    }

    fn side(&self) -> Side {
        match self.tls {
            Connection::Client(_) => Side::Client,
            Connection::Server(_) => Side::Server,
        }
    }
}

impl crypto::Session for Session {
    fn initial_keys(&self, connection: ConnectionId, side: Side) -> Keys {
        initial_keys(connection, side)
    }

    /// An [`Option<Security>`](trackbed_connection::Security).
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        let early = self.early_data_accepted().unwrap_or(false);
        Some(Box::new(security(&self.tls, early)?))
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        let keys = self.tls.zero_rtt_keys()?;
        Some((Box::new(keys.header), Box::new(keys.packet)))
    }

    fn early_data_accepted(&self) -> Option<bool> {
        match &self.tls {
            Connection::Client(tls) => Some(tls.is_early_data_accepted()),
            Connection::Server(_) => None,
        }
    }

    fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.randomness.scope(|| self.tls.read_hs(bytes)).map_err(|error| {
            match self.tls.alert() {
                // RFC 9001 section 4.8: an alert becomes a CRYPTO_ERROR.
                Some(alert) => {
                    TransportError::new(TransportErrorCode::crypto(alert.into()), error.to_string())
                }
                None => TransportError::new(
                    TransportErrorCode::PROTOCOL_VIOLATION,
                    format!("TLS error: {error}"),
                ),
            }
        })?;
        // A server that has sent a HelloRetryRequest does not know the client's limits yet.
        let is_known = self.tls.handshake_kind().is_some()
            && (self.side().is_client() || self.tls.quic_transport_parameters().is_some());
        let news = is_known && !self.handshake_data_announced;
        self.handshake_data_announced |= news;
        Ok(news)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        match self.tls.quic_transport_parameters() {
            None => Ok(None),
            Some(mut bytes) => Ok(Some(TransportParameters::read(self.side(), &mut bytes)?)),
        }
    }

    fn write_handshake(&mut self, bytes: &mut Vec<u8>) -> Option<Keys> {
        match self.randomness.scope(|| self.tls.write_hs(bytes))? {
            KeyChange::Handshake { keys } => Some(both(keys.local, keys.remote)),
            KeyChange::OneRtt { keys, next } => {
                self.next_secrets = Some(next);
                Some(both(keys.local, keys.remote))
            }
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.next_secrets.as_mut()?.next_packet_keys();
        Some(KeyPair { local: Box::new(keys.local), remote: Box::new(keys.remote) })
    }

    fn is_valid_retry(&self, original: ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        payload.split_last_chunk().is_some_and(|(token, tag)| {
            retry_integrity_tag(&original, &[header, token].concat()) == *tag
        })
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        let exported = self.tls.export_keying_material(output, label, Some(context));
        exported.map(|_| ()).map_err(|_| ExportKeyingMaterialError)
    }
}

/// Initial packets are protected with AES-128-GCM whatever is negotiated (RFC 9001 section 5.2).
fn initial_keys(connection: ConnectionId, side: Side) -> Keys {
    let suite = rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
    let suite: Option<Suite> = suite.tls13().and_then(|suite| suite.quic_suite());
    let side = match side {
        Side::Client => rustls::Side::Client,
        Side::Server => rustls::Side::Server,
    };
    let keys = suite.expect("ring offers QUIC").keys(&connection, side, Version::V1);
    both(keys.local, keys.remote)
}

fn both(local: DirectionalKeys, remote: DirectionalKeys) -> Keys {
    Keys {
        header: KeyPair { local: Box::new(local.header), remote: Box::new(remote.header) },
        packet: KeyPair { local: Box::new(local.packet), remote: Box::new(remote.packet) },
    }
}

fn encode(parameters: &TransportParameters) -> Vec<u8> {
    let mut bytes = Vec::new();
    parameters.write(&mut bytes);
    bytes
}

/// QUIC version 1 (RFC 9000) is the only one spoken.
fn check_version(version: u32) -> Result<(), UnsupportedVersion> {
    if version == 1 { Ok(()) } else { Err(UnsupportedVersion) }
}

/// The tag that ends a Retry packet (RFC 9001 section 5.8); `packet` is the part before it.
fn retry_integrity_tag(original: &[u8], packet: &[u8]) -> [u8; 16] {
    let key = aead::UnboundKey::new(&aead::AES_128_GCM, &RETRY_KEY).expect("16 bytes");
    let mut pseudo_packet = vec![original.len() as u8];
    pseudo_packet.extend_from_slice(original);
    pseudo_packet.extend_from_slice(packet);
    let nonce = aead::Nonce::assume_unique_for_key(RETRY_NONCE);
    let tag = aead::LessSafeKey::new(key)
        .seal_in_place_separate_tag(nonce, aead::Aad::from(pseudo_packet), &mut [])
        .expect("a packet is far shorter than the limit of the cipher");
    tag.as_ref().try_into().expect("16 bytes")
}

/// RFC 9001 section 5.8.
const RETRY_KEY: [u8; 16] = [
    0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e,
];
/// RFC 9001 section 5.8.
const RETRY_NONCE: [u8; 12] =
    [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9001 appendix A.4.
    #[test]
    fn the_retry_tag_is_that_of_rfc_9001() {
        let original = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];
        let packet = [
            0xff, 0x00, 0x00, 0x00, 0x01, 0x00, 0x08, 0xf0, 0x67, 0xa5, 0x50, 0x2a, 0x42, 0x62,
            0xb5, 0x74, 0x6f, 0x6b, 0x65, 0x6e,
        ];
        let tag = [
            0x04, 0xa2, 0x65, 0xba, 0x2e, 0xff, 0x4d, 0x82, 0x90, 0x58, 0xfb, 0x3f, 0x0f, 0x24,
            0x96, 0xba,
        ];
        assert_eq!(retry_integrity_tag(&original, &packet), tag);
    }
}
