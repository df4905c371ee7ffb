//! Requests for runs: each over a connection of its own, and repeated if that is closed too early.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use trackbed_connection::error::Step;
use trackbed_connection::{Error, Request, body};
use trackbed_core::Time;
use trackbed_protocols::{ClientConfig, Trust};
use trackbed_substrate::RunError;
use trackbed_substrate::kernel::{Execution, Machine, Origin};

use super::{ANYWHERE, Live, control, read_bounded, spoken, tls};

/// Which requests are repeated.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Repeat {
    /// Those whose connection was closed.
    Closed,
    /// Also those that failed otherwise.
    Failed,
}

/// Why a request has no successful response.
enum RequestError {
    /// The connection opened, and ended before the response.
    Closed(String),
    /// Anything else: no connection, no response in time, or one that refuses or is invalid.
    Failed(String),
}

impl RequestError {
    /// `help` follows the reason.
    fn from_error(error: &Error, help: &str) -> RequestError {
        let connects = matches!(error, Error::Failed { step: Step::Connect, .. });
        let why = format!("{error}{help}");
        match error.is_retryable() && !connects {
            true => RequestError::Closed(why),
            false => RequestError::Failed(why),
        }
    }
}

impl Live {
    /// Repeats a request whose connection was closed: a server among many clients closes some
    /// connections before their request arrives.
    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        server: SocketAddr,
        path: &str,
        content: &impl Serialize,
        repeat: Repeat,
    ) -> Result<T, String> {
        let path = format!("{path}{}", self.ticket.secret());
        let exchange =
            || self.exchange(server, Request::new(path.clone(), body::full(spoken(content))));
        let mut closed = None;
        let mut response = exchange();
        for _ in 0..RETRIES_MAX {
            match &response {
                Err(RequestError::Closed(why)) => {
                    closed.get_or_insert_with(|| why.clone());
                }
                Err(RequestError::Failed(_)) if repeat == Repeat::Failed => {}
                Ok(_) | Err(RequestError::Failed(_)) => break,
            }
            pause();
            response = exchange();
        }
        let response = response.map_err(|error| match (error, closed) {
            // It may have been answered before, in vain.
            (RequestError::Failed(why), Some(closed)) => {
                format!("{why}\n  an earlier attempt failed: {closed}")
            }
            (RequestError::Failed(why) | RequestError::Closed(why), _) => why,
        });
        let response = response.map_err(|why| format!("{}: {why}", self.name))?;
        serde_json::from_slice(&response)
            .map_err(|why| format!("{}: the server's response is invalid: {why}", self.name))
    }

    /// The body of a successful response to `request`, over a connection of its own.
    fn exchange(&self, server: SocketAddr, request: Request) -> Result<Vec<u8>, RequestError> {
        let config = ClientConfig {
            trust: Some(Trust::from_der(self.ticket.certificate())),
            tls: tls(),
            ..ClientConfig::default()
        };
        let talk = |machine: Machine| async move {
            let host = machine.host("client", ANYWHERE);
            let dialer = control().dialer(host, &config).map_err(|why| {
                RequestError::Failed(format!("{why}\n  help: copy the server's ticket again"))
            })?;
            let connection = dialer.connect(server).await.map_err(|why| {
                let help = format!(
                    "help: start `trackbed serve` there, allow TCP port {} in its firewall, and copy \
                     its ticket again",
                    server.port()
                );
                RequestError::from_error(&why, &format!("\n  {help}"))
            })?;
            let answer = connection.exchange(request).await;
            let answer = answer.map_err(|why| RequestError::from_error(&why, ""))?;
            let status = answer.status;
            let body = read_bounded(answer.body).await.map_err(RequestError::Failed)?;
            match status {
                200 => Ok(body),
                _ => Err(RequestError::Failed(String::from_utf8_lossy(&body).into_owned())),
            }
        };
        let execution = Execution::new(Origin::now()).with_time_limit(ANSWER_MAX);
        execution.run(talk).map_err(|why| match why {
            RunError::Stalled { .. } => RequestError::Failed(format!(
                "{server} did not answer for {} s\n  help: is `trackbed serve` still running there? Allow TCP port {} in its \
                 firewall",
                ANSWER_MAX.as_secs_f64(),
                server.port()
            )),
            why => RequestError::Failed(why.to_string()),
        })?
    }
}

#[expect(clippy::disallowed_methods, reason = "the server is waited for in real time")]
fn pause() {
    thread::sleep(PAUSE);
}

/// How often a request is repeated, and at which interval.
const RETRIES_MAX: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);

/// Maximum response time of the server.
const ANSWER_MAX: Time = Time::from_millis(30_000);
