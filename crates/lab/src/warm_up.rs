//! An end's warm-up: the same protocol on this machine only, before anything is measured.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use trackbed_connection::{Error, Request, Response, body};
use trackbed_core::Time;
use trackbed_protocols::{ClientConfig, ServerConfig};
use trackbed_substrate::kernel::{Execution, Machine, Origin};
use trackbed_substrate::sleep;

use trackbed_scenario::Endpoint;
use trackbed_workloads::generate_data;

/// Connects a client to a server over the loopback interface a few times, so that code is in memory
/// and tables exist, as in a program that has been running for a while.
pub(crate) fn warm_up(endpoint: &Endpoint) {
    generate_data();
    let execution = Execution::new(Origin::now()).with_time_limit(LIMIT);
    // A failure here will recur in the run and be reported there.
    let _ = execution.run(|machine| exercise(endpoint, machine));
}

async fn exercise(endpoint: &Endpoint, machine: Machine) -> Result<(), Error> {
    let host = machine.host("warm-up", [LOOPBACK]);
    let config = ServerConfig {
        tls: endpoint.server_tls(),
        transport: endpoint.transport.clone(),
        ..ServerConfig::default()
    };
    let answer = |request: Request| async {
        let _ = body::drain(request.body).await;
        Response { status: 200, body: body::full(Bytes::from_static(&[0; EXCHANGED])) }
    };
    let listen = SocketAddr::new(LOOPBACK, 0);
    let server = endpoint.protocol.serve((host.clone(), listen), &config, Rc::new(answer))?;
    let client = ClientConfig {
        trust: server.trust().cloned(),
        tls: endpoint.client_tls(),
        handshake: endpoint.handshake,
        local: Some(LOOPBACK),
        transport: endpoint.transport.clone(),
        ..ClientConfig::default()
    };
    let dialer = endpoint.protocol.dialer(host, &client)?;
    for _ in 0..CONNECTIONS {
        let connection = dialer.connect(server.local_addr()).await?;
        for _ in 0..EXCHANGES {
            let body = body::full(Bytes::from_static(&[0; EXCHANGED]));
            let path = "/warm-up".to_owned();
            let response = connection.exchange(Request::new(path, body)).await?;
            body::drain(response.body).await?;
        }
        if endpoint.handshake.resumes() {
            sleep(TICKETS).await;
        }
        connection.close().await;
    }
    Ok(())
}

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const CONNECTIONS: u32 = 5;
const EXCHANGES: u32 = 5;
const EXCHANGED: usize = 1_000;
/// Time for session tickets to arrive.
const TICKETS: Duration = Duration::from_millis(1);
const LIMIT: Time = Time::from_millis(10_000);
