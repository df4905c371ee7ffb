//! `mqtt`: requests and responses through a broker, over MQTT 5 or 3.1.1 inside TLS.
//!
//! The server is a broker with the service behind it; any MQTT client may connect to it. A client
//! publishes its requests and subscribes to its responses ([`convention`]). A third-party broker
//! has no such service: there the client receives what it publishes itself ([`MqttAnswer::Echo`]).

mod broker;
mod client;
mod convention;
mod driver;
mod outgoing;
mod parts;
mod service;

use std::rc::Rc;
use std::sync::Arc;

use trackbed_connection::{
    Capabilities, Dialer, Error, Handshake, Result, Service, TlsVersion, Transport,
};
use trackbed_core::Parameter;
use trackbed_substrate::Host;

use crate::config::{ClientConfig, ListenAt, ServerConfig, TransportParameters};
use crate::parameters::{mqtt, over_tcp, tls, window};
use crate::protocol::{Protocol, Served, tls_round_trips, transport_round_trips};
use crate::tcp_transport::{self, TcpDialer};
use crate::tls::Randomness;
use convention::MQTT;

pub(crate) struct Mqtt;

impl Protocol for Mqtt {
    fn name(&self) -> &'static str {
        MQTT.protocol
    }

    fn summary(&self) -> &'static str {
        "requests and responses through an MQTT broker, on TLS over TCP"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            handshakes: &[Handshake::New, Handshake::Resumed],
            multiplexed: true,
            ..Capabilities::encrypted(Transport::Tcp, MQTT.versions)
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        [tls(), over_tcp(), window(), mqtt()].concat()
    }

    /// One more for CONNECT and CONNACK (section 3.1 of MQTT 5).
    fn set_up_round_trips(
        &self,
        tls: Option<TlsVersion>,
        handshake: Handshake,
        _: &TransportParameters,
    ) -> u32 {
        transport_round_trips(Transport::Tcp) + tls_round_trips(tls, handshake) + 1
    }

    fn serve(&self, at: ListenAt, config: &ServerConfig, service: Rc<dyn Service>) -> Served {
        let front = broker::Front::start(service, &config.limits);
        tcp_transport::serve(MQTT, &at, config, move |stream, standing| {
            broker::serve(Rc::clone(&front), stream, standing)
        })
    }

    fn dialer(&self, host: Arc<dyn Host>, config: &ClientConfig) -> Result<Rc<dyn Dialer>> {
        if config.handshake.sends_early_data() {
            // The broker would have to accept a CONNECT that may be a replay.
            let advice = "it does not support early data: use the handshake `resumed` or `new`";
            return Err(Error::unsupported(self.name(), advice));
        }
        let randomness = Randomness::new(host.entropy());
        let tcp = TcpDialer::new(MQTT, host, config)?;
        let settings = config.transport.mqtt;
        let window = config.transport.window as usize;
        Ok(Rc::new(client::MqttDialer { tcp, randomness, settings, window }))
    }
}
