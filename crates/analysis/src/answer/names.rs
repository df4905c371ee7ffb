//! Cells and conditions as people call them.

use std::collections::BTreeSet;

use serde_json::Value;
use trackbed_measure::metrics::Compared;
use trackbed_measure::results::{CellResult, Document, FactorKind, factor_names, has_kin};

use crate::groups::SECTIONS;

/// The factors that distinguish the cells of a group, and those that they have in common.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    document: &'a Document,
    varying: Vec<String>,
    /// The factors that are the same in the group, but not in the whole section.
    condition: Vec<String>,
}

impl<'a> Names<'a> {
    /// The names of `members`, the cells of a group, among `all` cells of the section.
    pub fn new(document: &'a Document, members: &[&CellResult], all: &[&CellResult]) -> Names<'a> {
        let mut names = factor_names(members.iter().copied());
        names.retain(|name| !SECTIONS.contains(&name.as_str()));
        let (varying, fixed): (Vec<String>, Vec<String>) =
            names.into_iter().partition(|name| values(members, name) > 1);
        let condition = fixed.into_iter().filter(|name| values(all, name) > 1).collect();
        Names { document, varying, condition }
    }

    /// `HTTP/2, TLS 1.3, 0-RTT`: a factor that the cell's protocol does not vary is left out.
    pub fn cell(&self, cell: &CellResult, members: &[&CellResult]) -> String {
        let protocol = cell.factor_text(PROTOCOL);
        let kin: Vec<&CellResult> = members
            .iter()
            .copied()
            .filter(|other| other.factor_text(PROTOCOL) == protocol)
            .collect();
        let tells = |name: &&String| *name == PROTOCOL || values(&kin, name) > 1;
        let mut phrases: Vec<String> = self
            .varying
            .iter()
            .filter(tells)
            .filter_map(|name| Some(self.phrase(name, cell.factors.get(name)?)))
            .collect();
        if phrases.is_empty() {
            let known = |name: &String| Some(self.phrase(name, cell.factors.get(name)?));
            phrases = self.varying.iter().filter_map(known).collect();
        }
        phrases.join(", ")
    }

    /// Whether all factors that vary are numbers, as a loss or a load.
    pub fn are_numbers(&self, cell: &CellResult) -> bool {
        self.varying.iter().all(|name| cell.factors.get(name).is_some_and(Value::is_number))
    }

    /// `loss 1 %, delay 10 ms`; empty where there is one condition only.
    pub fn condition(&self, cell: &CellResult) -> String {
        let known = |name: &String| Some(self.phrase(name, cell.factors.get(name)?));
        self.condition.iter().filter_map(known).collect::<Vec<_>>().join(", ")
    }

    /// A factor's value in words.
    pub(super) fn phrase(&self, name: &str, value: &Value) -> String {
        match (name, value) {
            (PROTOCOL, Value::String(text)) => protocol(text),
            ("packet_size_bytes", Value::Number(size)) if size.as_f64() == Some(0.0) => {
                "path MTU discovery".to_owned()
            }
            ("tls", Value::String(text)) if text == "none" => "no TLS".to_owned(),
            ("tls", Value::String(text)) => format!("TLS {text}"),
            ("handshake", Value::String(text)) => handshake(text),
            (_, Value::String(text)) if text == "none" => format!("no {}", spaced(name)),
            ("certificates", Value::String(text)) if text == "always" => {
                "each certificate verified again".to_owned()
            }
            ("certificates", Value::String(text)) => format!("{text} certificates"),
            ("budget", Value::Number(share)) => {
                let used = 100.0 * (1.0 - share.as_f64().unwrap_or(f64::NAN));
                format!("{} % used elsewhere", rounded(used))
            }
            (_, Value::String(text)) if text == "true" => spaced(name),
            (_, Value::String(text)) if text == "false" => format!("no {}", spaced(name)),
            // As `ip 4`.
            (_, Value::String(text)) if text.parse::<f64>().is_ok() => {
                format!("{} {text}", spaced(name))
            }
            // As `up queue codel`, where there is a queue for the other direction too.
            (_, Value::String(text))
                if has_kin(name, self.varying.iter().chain(&self.condition)) =>
            {
                format!("{} {text}", spaced(name))
            }
            (_, Value::String(text)) => text.clone(),
            (_, Value::Bool(yes)) => format!("{}{}", if *yes { "" } else { "no " }, spaced(name)),
            (_, number) => {
                quantity(&self.document.factor(name), number.as_f64().unwrap_or(f64::NAN))
            }
        }
    }
}

pub(super) const PROTOCOL: &str = "protocol";

/// How many values a factor has among `cells`.
fn values(cells: &[&CellResult], name: &str) -> usize {
    cells.iter().map(|cell| cell.factor_text(name)).collect::<BTreeSet<_>>().len()
}

pub(super) fn protocol(name: &str) -> String {
    let title = match name {
        "coap" => "CoAP",
        "coap+dtls" => "CoAP over DTLS",
        "http1" => "HTTP/1.1",
        "http2" => "HTTP/2",
        "http3" => "HTTP/3",
        "tcp+tls" => "TCP with TLS",
        "sctp+dtls" => "SCTP over DTLS",
        "none" => "no traffic",
        other => return other.to_uppercase(),
    };
    title.to_owned()
}

fn handshake(name: &str) -> String {
    let title = match name {
        "new" => "new connection",
        "resumed" => "resumed session",
        "early" => "0-RTT",
        "new-then-early" => "0-RTT after the first connection",
        other => other,
    };
    title.to_owned()
}

/// A number with its unit: `delay 10 ms`.
fn quantity(factor: &FactorKind, value: f64) -> String {
    let FactorKind { title, kind, unit } = factor;
    let unit = unit.replace("1/s", "/s");
    match kind == "share" {
        true => format!("{title} {} %", rounded(value * 100.0)),
        false => format!("{title} {} {unit}", rounded(value)).trim_end().to_owned(),
    }
}

fn spaced(name: &str) -> String {
    name.replace(['_', '-'], " ")
}

/// Without the noise of floating point.
fn rounded(value: f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6)
}

/// A metric's unit as people write it.
pub(super) fn unit(compared: &Compared) -> &'static str {
    match compared.name.rsplit_once('_').map_or(compared.name, |(_, unit)| unit) {
        "mbps" => "Mbit/s",
        "hz" => "per second",
        "fps" => "frames/s",
        "ratio" => "%",
        "count" => "messages",
        _ => "ms",
    }
}

/// By what values are multiplied to be in [`unit`].
pub(super) fn scale(compared: &Compared) -> f64 {
    if compared.is_share() { 100.0 } else { 1.0 }
}
