//! Requests for runs: one, over a connection of its own, repeated if that breaks off.

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

/// Why a request has no successful response.
enum Unheard {
    /// The connection opened, and broke off.
    BrokenOff(String),
    Refused(String),
}

impl Unheard {
    /// `more` follows the reason.
    fn after(error: &Error, more: &str) -> Unheard {
        let connects = matches!(error, Error::Failed { step: Step::Connect, .. });
        let why = format!("{error}{more}");
        match error.is_retryable() && !connects {
            true => Unheard::BrokenOff(why),
            false => Unheard::Refused(why),
        }
    }
}

impl Live {
    /// Repeats a request whose connection broke off: a server among many clients drops some
    /// before they have asked.
    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        server: SocketAddr,
        path: &str,
        words: &impl Serialize,
    ) -> Result<T, String> {
        let path = format!("{path}{}", self.ticket.secret());
        let request = || Request::new(path.clone(), body::full(spoken(words)));
        let mut heard = self.exchange(server, request());
        for _ in 0..PATIENCE {
            if !matches!(heard, Err(Unheard::BrokenOff(_))) {
                break;
            }
            pause();
            heard = self.exchange(server, request());
        }
        let heard = heard.map_err(|(Unheard::BrokenOff(why) | Unheard::Refused(why))| why);
        let answer = heard.map_err(|why| format!("{}: {why}", self.name))?;
        serde_json::from_slice(&answer)
            .map_err(|why| format!("{}: the server's response is invalid: {why}", self.name))
    }

    /// The body of a successful response to `request`, over a connection of its own.
    fn exchange(&self, server: SocketAddr, request: Request) -> Result<Vec<u8>, Unheard> {
        let config = ClientConfig {
            trust: Some(Trust::from_der(self.ticket.certificate())),
            tls: tls(),
            ..ClientConfig::default()
        };
        let talk = |machine: Machine| async move {
            let host = machine.host("client", ANYWHERE);
            let dialer = control().dialer(host, &config).map_err(|why| {
                Unheard::Refused(format!("{why}\n  help: copy the server's ticket again"))
            })?;
            let connection = dialer.connect(server).await.map_err(|why| {
                let help = format!(
                    "help: start `trackbed serve` there, allow TCP port {} in its firewall, and copy \
                     its ticket again",
                    server.port()
                );
                Unheard::after(&why, &format!("\n  {help}"))
            })?;
            let answer = connection.exchange(request).await;
            let answer = answer.map_err(|why| Unheard::after(&why, ""))?;
            let status = answer.status;
            let heard = read_bounded(answer.body).await.map_err(Unheard::Refused)?;
            match status {
                200 => Ok(heard),
                _ => Err(Unheard::Refused(String::from_utf8_lossy(&heard).into_owned())),
            }
        };
        let execution = Execution::new(Origin::now()).with_time_limit(ANSWER_MAX);
        execution.run(talk).map_err(|why| match why {
            RunError::Stalled { .. } => Unheard::Refused(format!(
                "{server} did not answer for {} s",
                ANSWER_MAX.as_secs_f64()
            )),
            why => Unheard::Refused(why.to_string()),
        })?
    }
}

#[expect(clippy::disallowed_methods, reason = "the server is waited for in real time")]
pub(super) fn pause() {
    thread::sleep(PAUSE);
}

/// How often, and at which interval, a server that was reachable is retried.
pub(super) const PATIENCE: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);

/// Maximum response time of the server.
const ANSWER_MAX: Time = Time::from_millis(30_000);
