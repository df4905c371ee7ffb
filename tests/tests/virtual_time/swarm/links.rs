//! Random links with random faults.

use std::fmt::Write as _;

use trackbed_tests::random::Dice;

use super::dice::{any_share, quoted, share};
use super::generate::Class;

pub struct Links {
    pub text: String,
    /// The rate of the slowest direction, or a very high one if all are infinitely fast.
    pub slowest_bits_per_s: u64,
}

/// The link that the phones share and, in some cases, one of each phone's own.
pub fn generate(dice: &mut Dice, class: Class) -> Links {
    let mut links = Links { text: String::new(), slowest_bits_per_s: u64::MAX };
    links.add(dice, "link", Limits::shared(class));
    if dice.percent(40) {
        links.add(dice, "access", Limits::access(class));
    }
    links
}

impl Links {
    fn add(&mut self, dice: &mut Dice, name: &str, limits: Limits) {
        let mtu = match dice.between(0, 9) {
            0..=5 => 1_500,
            6..=8 => dice.between(1_280, 1_500),
            _ => 9_000,
        };
        let _ = write!(self.text, "\n[{name}]\nmtu = \"{mtu} B\"\n");
        if dice.percent(60) {
            self.direction(dice, &limits);
            return;
        }
        for direction in ["up", "down"] {
            let _ = write!(self.text, "\n[{name}.{direction}]\n");
            self.direction(dice, &limits);
        }
    }

    fn direction(&mut self, dice: &mut Dice, limits: &Limits) {
        if dice.percent(90) {
            let kbit_per_s = dice.magnitude(200, 1_000_000);
            self.slowest_bits_per_s = self.slowest_bits_per_s.min(kbit_per_s * 1_000);
            self.line("rate", quoted(format_args!("{kbit_per_s} kbit/s")));
            if dice.percent(80) {
                self.line("queue", queue(dice, limits));
            }
        }
        if dice.percent(95) {
            self.line("delay", delay(dice, limits));
        }
        if dice.percent(60) {
            self.line("loss", loss(dice, limits));
        }
        for (key, most) in [("corruption", limits.corruption), ("duplication", limits.duplication)]
        {
            if most > 0 && dice.percent(15) {
                self.line(key, any_share(dice, most));
            }
        }
        if dice.percent(15) {
            let hold_us = dice.magnitude(100, 300_000);
            let reordering = any_share(dice, 100_000);
            self.line(
                "reordering",
                format!(
                    "{{ reordering = {{ reordering = {reordering}, hold = \"{hold_us} us\" }} }}"
                ),
            );
        }
        for key in ["outage", "pause"] {
            if limits.silence_ms > 0 && dice.percent(20) {
                self.line(key, timetable(dice, limits.silence_ms));
            }
        }
    }

    fn line(&mut self, key: &str, value: String) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{key} = {value}");
    }
}

/// How bad a link may be; shares in millionths.
struct Limits {
    loss: u64,
    corruption: u64,
    duplication: u64,
    /// The longest delay of a distribution with a tail.
    delay_us: u64,
    /// How long a direction is silent in all.
    silence_ms: u64,
    queue_packets: u64,
    queue_bytes: u64,
}

impl Limits {
    fn shared(class: Class) -> Limits {
        match class {
            Class::Healing => Limits {
                loss: 20_000,
                corruption: 5_000,
                duplication: 50_000,
                delay_us: 2_000_000,
                silence_ms: 4_000,
                queue_packets: 30,
                queue_bytes: 60_000,
            },
            Class::Harsh => Limits {
                loss: 100_000,
                corruption: 20_000,
                duplication: 200_000,
                delay_us: 20_000_000,
                silence_ms: 60_000,
                queue_packets: 2,
                queue_bytes: 3_000,
            },
        }
    }

    /// As the shared link, less what must not add up. Corruption stays on one link: a second
    /// flipped bit can undo what the first did to the Internet checksum (RFC 1071), so that plain
    /// TCP would rightly take a damaged segment.
    fn access(class: Class) -> Limits {
        let shared = Limits::shared(class);
        match class {
            Class::Healing => Limits { loss: 8_000, silence_ms: 0, corruption: 0, ..shared },
            Class::Harsh => Limits { corruption: 0, ..shared },
        }
    }
}

fn queue(dice: &mut Dice, limits: &Limits) -> String {
    match dice.between(0, 3) {
        0 | 1 => quoted(format_args!("{} packets", dice.magnitude(limits.queue_packets, 1_000))),
        // Below the longest packet nothing of its length would ever pass.
        2 => quoted(format_args!("{} B", dice.magnitude(limits.queue_bytes.max(9_000), 1_000_000))),
        _ => {
            let target_us = dice.magnitude(1_000, 20_000);
            let (interval_us, ecn) = (target_us * dice.between(5, 30), dice.percent(50));
            let name = if dice.percent(50) { "fq-codel" } else { "codel" };
            format!(
                "{{ {name} = {{ target = \"{target_us} us\", interval = \"{interval_us} us\", \
                 ecn = {ecn} }} }}"
            )
        }
    }
}

fn delay(dice: &mut Dice, limits: &Limits) -> String {
    let us = dice.magnitude(20, 300_000);
    let overtaking = dice.percent(30);
    match dice.between(0, 9) {
        0 => quoted("0 ms"),
        1..=5 => quoted(format_args!("{us} us")),
        6 => {
            let most = dice.between(us, 300_000);
            format!(
                "{{ uniform = {{ least = \"{us} us\", most = \"{most} us\", \
                 overtaking = {overtaking} }} }}"
            )
        }
        7 => {
            let deviation = dice.between(0, us);
            format!(
                "{{ normal = {{ mean = \"{us} us\", deviation = \"{deviation} us\", \
                 overtaking = {overtaking} }} }}"
            )
        }
        8 => {
            let (shape, most) = (dice.between(15, 50), limits.delay_us);
            format!(
                "{{ pareto = {{ least = \"{us} us\", shape = {}.{}, most = \"{most} us\", \
                 overtaking = {overtaking} }} }}",
                shape / 10,
                shape % 10
            )
        }
        _ => {
            let (then, at) = (dice.magnitude(20, 300_000), dice.magnitude(10, 10_000));
            format!(
                "{{ timetable = {{ delays = [[\"0 s\", \"{us} us\"], [\"{at} ms\", \"{then} us\"]], \
                 overtaking = {overtaking} }} }}"
            )
        }
    }
}

fn loss(dice: &mut Dice, limits: &Limits) -> String {
    match dice.between(0, 5) {
        0 | 1 => any_share(dice, limits.loss),
        2 => {
            // The mean is p / (p + r), the mean burst 1 / r.
            let r = dice.between(200_000, 800_000);
            let mean = dice.magnitude(100, limits.loss);
            let p = (mean * r / (1_000_000 - mean)).max(1);
            format!("{{ gilbert-elliott = {{ p = {}, r = {} }} }}", share(p), share(r))
        }
        3 => format!("{{ periodic = {} }}", dice.magnitude(1_000_000 / limits.loss, 1_000)),
        4 => {
            let packets: Vec<String> =
                (0..dice.between(1, 12)).map(|_| dice.between(1, 60).to_string()).collect();
            format!("{{ list = {{ packets = [{}] }} }}", packets.join(", "))
        }
        _ => {
            let (random, every) =
                (any_share(dice, limits.loss / 2), dice.magnitude(2_000_000 / limits.loss, 1_000));
            format!("{{ loss = {random}, periodic = {every} }}")
        }
    }
}

/// One to three spells, together at most this long, that begin within the first seconds: with an
/// earlier session to set up, a run takes at least three.
fn timetable(dice: &mut Dice, most_ms: u64) -> String {
    let spells = dice.between(1, 3);
    let mut at_ms = 0;
    let mut rows = Vec::new();
    for _ in 0..spells {
        let from = at_ms + dice.magnitude(1, 6_000);
        at_ms = from + dice.magnitude(10, most_ms / spells);
        rows.push(format!("[\"{from} ms\", \"{at_ms} ms\"]"));
    }
    format!("[{}]", rows.join(", "))
}
