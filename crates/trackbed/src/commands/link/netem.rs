//! A line of tc's netem as settings of a link, and what netem itself would do differently.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use trackbed_core::Bitrate;
use trackbed_core::units::{format_duration as words, parse_duration};
use trackbed_scenario::Override;

/// A line of netem in Trackbed's words.
#[derive(Debug, Default)]
pub struct Netem {
    /// Settings of one direction of the link.
    pub settings: Vec<Override>,
    /// What netem would do differently.
    pub notes: Vec<String>,
    limit: Option<u32>,
    delay: Duration,
    jitter: Duration,
    is_normal: bool,
    /// The percentage of packets that skip the delay.
    early: f64,
    rate: Option<Bitrate>,
}

impl Netem {
    /// Reads `delay 60ms 30ms loss 1%`, or all of `tc qdisc add dev eth0 root netem delay 60ms`.
    ///
    /// # Errors
    /// If tc would refuse the line, or Trackbed has no such model; with the remedy.
    pub fn read(line: &str) -> anyhow::Result<Netem> {
        // Lines of shell scripts have quotes.
        let is_between = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
        let words: Vec<&str> = line.split(is_between).filter(|word| !word.is_empty()).collect();
        let has_open = |quote: char| line.matches(quote).count() % 2 == 1;
        ensure!(!words.is_empty(), "the line is empty: write, for example, delay 60ms loss 1%");
        ensure!(
            !has_open('"') && !has_open('\''),
            "a quote is not closed: close it or leave it out"
        );
        let first = words.iter().position(|word| *word == "netem").map_or(0, |at| at + 1);
        let mut netem = Netem::default();
        for option in words[first..].chunk_by(|_, next| !OPTIONS.contains(next)) {
            netem.take(option).with_context(|| format!("netem's \"{}\"", option.join(" ")))?;
        }
        netem.set_rate();
        netem.set_delay()?;
        netem.notes.push(SUPER_PACKETS.to_owned());
        Ok(netem)
    }

    fn take(&mut self, option: &[&str]) -> anyhow::Result<()> {
        match option {
            ["limit", packets] => {
                self.limit = Some(packets.parse().context("write a number of packets")?)
            }
            ["rate", rate] if !rate.to_ascii_lowercase().ends_with("bps") => {
                self.rate = Some(rate.parse()?)
            }
            ["delay" | "latency", mean] => self.delay = time(mean)?,
            ["delay" | "latency", mean, jitter, rest @ ..] => {
                alone("0", rest)?;
                (self.delay, self.jitter) = (time(mean)?, time(jitter)?);
            }
            [] | ["distribution", "uniform"] | ["gap", "1"] => {}
            ["distribution", "normal"] => self.is_normal = true,
            ["loss" | "drop", "gemodel", shares @ ..] => self.set_chain(shares)?,
            ["loss" | "drop", "state", shares @ ..] if shares.len() <= 2 => {
                self.set_chain(shares)?
            }
            ["loss" | "drop", "random", share, rest @ ..] => {
                self.set_share("loss", alone(share, rest)?)
            }
            ["loss" | "drop", share, rest @ ..] => self.set_share("loss", alone(share, rest)?),
            ["corrupt", share, rest @ ..] => self.set_share("corruption", alone(share, rest)?),
            ["duplicate", share, rest @ ..] => self.set_share("duplication", alone(share, rest)?),
            ["reorder", share, rest @ ..] => self.early = alone(share, rest)?,
            [name, ..] => bail!("{}", remedy(name)),
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: String) {
        self.settings.push(Override { key: key.to_owned(), value });
    }

    fn set_share(&mut self, key: &str, percent: f64) {
        self.set(key, share_of(percent));
    }

    /// p, r, 1-h and 1-k of a chain of a good and a bad state.
    fn set_chain(&mut self, shares: &[&str]) -> anyhow::Result<()> {
        let shares: Vec<f64> =
            shares.iter().map(|share| percent(share)).collect::<Result<_, _>>()?;
        let p = *shares.first().context("a probability is missing")?;
        let or = |at: usize, default: f64| share_of(shares.get(at).copied().unwrap_or(default));
        let (r, bad, good, p) = (or(1, 100.0 - p), or(2, 100.0), or(3, 0.0), share_of(p));
        let chain = format!(r#"p = "{p}", r = "{r}", loss-bad = "{bad}", loss-good = "{good}""#);
        self.set("loss", format!("{{ gilbert-elliott = {{ {chain} }} }}"));
        Ok(())
    }

    fn set_rate(&mut self) {
        // The default is tc's.
        let limit = self.limit.unwrap_or(1_000);
        if let Some(rate) = self.rate {
            self.set("rate", rate.to_string());
            self.set("queue", format!("{limit} packets"));
            let flying = rate.bytes_in(self.delay) / 1_500;
            let note =
                format!("netem's limit includes {flying} packets in flight; here {limit} wait");
            self.notes.push(note);
            self.notes.extend(WITH_RATE.map(str::to_owned));
        } else if !self.delay.is_zero() {
            let mbps = f64::from(limit) * 0.012 / self.delay.as_secs_f64();
            let note =
                format!("netem's limit drops packets above {mbps:.3} Mbit/s; here nothing does");
            self.notes.push(note);
        }
    }

    fn set_delay(&mut self) -> anyhow::Result<()> {
        let (mean, jitter) = (words(self.delay), words(self.jitter));
        let (key, model) = if self.early > 0.0 {
            let is_fixed = !self.delay.is_zero() && self.jitter.is_zero();
            ensure!(is_fixed, "netem's \"reorder\" needs a delay without jitter: add delay 10ms");
            // The others pass at once.
            let late = share_of(100.0 - self.early);
            ("reordering", format!(r#"reordering = {{ reordering = "{late}", hold = "{mean}" }}"#))
        } else if self.jitter.is_zero() {
            ("delay", format!(r#"delay = {{ delay = "{mean}" }}"#))
        } else if self.is_normal {
            ("delay", format!(r#"normal = {{ mean = "{mean}", deviation = "{jitter}" }}"#))
        } else {
            let least = self.delay.checked_sub(self.jitter);
            let least = words(least.with_context(|| format!("write a jitter up to {mean}"))?);
            let most = words(self.delay + self.jitter);
            ("delay", format!(r#"uniform = {{ least = "{least}", most = "{most}" }}"#))
        };
        self.set(key, format!("{{ {model} }}"));
        if !self.jitter.is_zero() && self.rate.is_none() {
            let law = if self.is_normal { "normal" } else { "uniform" };
            let note = format!("{REORDERS} --set delay.{law}.overtaking=true");
            self.notes.push(note);
        }
        Ok(())
    }
}

/// The first words of netem's options.
#[rustfmt::skip]
const OPTIONS: [&str; 14] = [
    "limit", "delay", "latency", "distribution", "loss", "drop", "corrupt", "duplicate", "reorder", "gap",
    "rate", "ecn", "slot", "seed",
];

fn remedy(option: &str) -> &'static str {
    match option {
        "distribution" => "only uniform and normal; or --set 'delay={ pareto = { ... } }'",
        "loss" | "drop" => "only random, gemodel, and state with p13 and p31; write loss gemodel",
        "rate" => "a rate has no overhead, and tc's bps are bytes; write bits, as in rate 80mbit",
        "ecn" => "--queue codel marks packets when the queue is long; write it instead",
        "seed" => "write --seed N instead",
        "tc" | "sudo" => {
            "only netem is read; write tbf as --set rate=..., codel as --set queue=codel"
        }
        "slot" | "gap" => "there is no such model; leave it out",
        _ => "not understood; write, for example, delay 60ms 30ms loss 1% rate 10mbit limit 100",
    }
}

const SUPER_PACKETS: &str = "netem drops up to 64 kB of a connection at once where segmentation is offloaded (GSO); here single packets";
const REORDERS: &str = "netem's jitter reorders packets; here they keep their order without";
const WITH_RATE: [&str; 2] = [
    "netem's rate counts 14 bytes of Ethernet for each packet; here only the IP packet counts",
    "netem reports a full queue at once to a TCP on the same machine; here TCP has to notice the loss",
];

/// A percentage without correlation.
fn alone(share: &str, correlation: &[&str]) -> anyhow::Result<f64> {
    let is_alone = correlation.iter().all(|text| percent(text).is_ok_and(|percent| percent == 0.0));
    ensure!(is_alone, "there is no correlation here; leave it out, or write loss gemodel P R");
    percent(share)
}

/// A unit is needed: tc's manual and tc differ about a bare number.
fn time(text: &str) -> anyhow::Result<Duration> {
    let unit =
        text.strip_suffix("secs").or(text.strip_suffix("sec")).map(|text| format!("{text}s"));
    Ok(parse_duration(unit.as_deref().unwrap_or(text))?)
}

fn percent(text: &str) -> anyhow::Result<f64> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    percent.with_context(|| format!("\"{text}\" is not a percentage from 0 to 100"))
}

/// Without the noise of a subtraction.
fn share_of(percent: f64) -> String {
    format!("{} %", (percent * 1e9).round() / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings and notes, or the refusal.
    fn read(line: &str) -> String {
        let read = || {
            let Netem { settings, notes, .. } = Netem::read(line)?;
            let advice = notes.iter().filter_map(|note| note.split_once(" without --set "));
            let advised = advice.map(|(_, setting)| setting.parse());
            let advised = advised.collect::<Result<Vec<Override>, _>>()?;
            trackbed_scenario::link(&[&settings[..], &advised].concat())?;
            let settings: Vec<String> = settings.iter().map(Override::to_string).collect();
            anyhow::Ok([settings, notes].concat().join("; "))
        };
        read().unwrap_or_else(|why| format!("{why:#}"))
    }

    #[test]
    fn netem_becomes_models_of_the_link_or_a_remedy() {
        for row in include_str!("netem.txt").lines() {
            let (line, expected) = row.split_once(" | ").unwrap();
            assert!(read(line).contains(expected), "{line}: {}", read(line));
        }
    }
}
