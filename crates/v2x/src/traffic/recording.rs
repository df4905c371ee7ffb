//! The turns of recorded vehicles: SUMO's FCD output, read step by step.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};
use std::time::Duration;

use quick_xml::events::BytesStart;
use trackbed_core::{Rng, Seed, Time};

use super::crossing::Crossing;
use super::schedule::{Slot, Turn, interval, pseudonym};
use super::trigger::Dynamics;
use crate::location::Position;

/// The turns of the vehicles in SUMO's floating car data (`sumo --fcd-output`), in the order of their times. Its first
/// step is the time zero. Between two steps, vehicles move in a straight line.
///
/// An error has its line and the remedy, and is the last item. Only what is about to be sent, and a state for each
/// vehicle of the last step, is in memory. Draws: as those of a [`Schedule`](super::Schedule), and
/// `v2x/traffic/certificate` for when a vehicle that comes into range sends its certificate next.
pub struct Recording<R> {
    source: R,
    /// The line of what was read last.
    line: u64,
    crossing: Crossing,
    /// Vehicles farther from this place, x and y in metres, than the crossing's range are not heard.
    centre: Option<[f64; 2]>,
    vehicles: BTreeMap<String, Vehicle>,
    /// Those out of range, by their last step.
    elsewhere: BTreeMap<String, Time>,
    /// The numbers of those in range whose certificate the others lack.
    unknown: BTreeMap<u32, Lacking>,
    seen: u32,
    /// The time of the first step, and that of the current one since then.
    start: Option<f64>,
    now: Time,
    /// Turns by their times, the numbers of their vehicles and when they were due.
    turns: BTreeMap<(Time, u32, Time), Turn>,
    /// Until when they are complete.
    complete: Option<Time>,
    has_root: bool,
    has_ended: bool,
    phase: Rng,
    jitter: Rng,
    forged: Rng,
    certificate: Rng,
}

/// How far others are with a certificate that they lack.
#[derive(PartialEq)]
enum Lacking {
    /// They have not heard its holder.
    Unheard,
    /// They have; the next of them who sends asks for it.
    Heard,
    /// The holder's next message has it.
    Asked,
}

struct Vehicle {
    number: u32,
    slot: Slot,
    at: Time,
    row: Row,
    due: Time,
}

/// What a step has of a vehicle: x and y in metres, its angle in degrees and its speed in metres per second.
type Row = [f64; 4];

/// The maximum number of vehicles in a step.
const VEHICLES_MAX: usize = 100_000;
/// The maximum length of an element.
const ELEMENT_BYTES_MAX: u64 = 1 << 16;

impl<R: BufRead> Recording<R> {
    /// The turns of the vehicles in `source`, sent as those of `crossing`.
    pub fn new(source: R, crossing: Crossing, centre: Option<[f64; 2]>, seed: &Seed) -> Self {
        Recording {
            source,
            line: 1,
            crossing,
            centre,
            vehicles: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
            unknown: BTreeMap::new(),
            seen: 0,
            start: None,
            now: Time::ZERO,
            turns: BTreeMap::new(),
            complete: None,
            has_root: false,
            has_ended: false,
            phase: seed.stream("v2x/traffic/phase"),
            jitter: seed.stream("v2x/traffic/jitter"),
            forged: seed.stream("v2x/traffic/forged"),
            certificate: seed.stream("v2x/traffic/certificate"),
        }
    }

    /// Reads the next element; false at the end of the recording.
    fn read(&mut self) -> Result<bool, String> {
        let mut bytes = Vec::new();
        let read = self.source.by_ref().take(ELEMENT_BYTES_MAX).read_until(b'>', &mut bytes);
        read.map_err(|why| format!("cannot be read: {why}"))?;
        self.line += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let text = str::from_utf8(&bytes).map_err(|_| NO_RECORDING.to_owned())?.trim();
        if !bytes.ends_with(b">") {
            let is_other = !self.has_root || bytes.len() as u64 == ELEMENT_BYTES_MAX;
            return Err(if is_other { NO_RECORDING } else { CUT_OFF }.to_owned());
        }
        if text.contains("fcd-output.geo value=\"true\"") {
            return Err("its coordinates are degrees; write it without --fcd-output.geo".to_owned());
        }
        let content = text.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
        let name_len = content.find(char::is_whitespace).unwrap_or(content.len());
        match &content[..name_len] {
            "fcd-export" => self.has_root = true,
            "timestep" if text.starts_with('<') => {
                let time = number(&BytesStart::from_content(content, name_len), "time")?;
                self.step(time)?;
                if text.ends_with("/>") {
                    self.end_step();
                }
            }
            "vehicle" if text.starts_with('<') => {
                let element = BytesStart::from_content(content, name_len);
                let id = attribute(&element, "id")?;
                let of = |name| number(&element, name);
                let row = [of("x")?, of("y")?, of("angle")?, of("speed")?];
                self.vehicle(id, row)?;
            }
            _ if text == "</timestep>" => self.end_step(),
            _ if text == "</fcd-export>" => {
                self.complete = Some(Time::MAX);
                return Ok(false);
            }
            _ => {}
        }
        Ok(true)
    }

    fn step(&mut self, seconds: f64) -> Result<(), String> {
        let since = seconds - *self.start.get_or_insert(seconds);
        let now = Duration::try_from_secs_f64(since).ok().map(|since| Time::ZERO + since);
        let now = now.filter(|now| *now >= self.now && seconds.abs() < 1e9);
        self.now =
            now.ok_or_else(|| format!("the step {seconds} s is earlier than one before it"))?;
        Ok(())
    }

    fn vehicle(&mut self, id: String, row: Row) -> Result<(), String> {
        let now = self.now;
        if let Some([x, y]) = self.centre
            && libm::hypot(row[0] - x, row[1] - y) > f64::from(self.crossing.range_m)
        {
            self.elsewhere.insert(id, now);
            return within_limit(self.elsewhere.len());
        }
        let period = interval(&self.crossing).max(Duration::from_millis(1));
        let Some(mut vehicle) = self.vehicles.remove(&id) else {
            let (number, due) = (self.seen, now + self.phase.span(Duration::ZERO, period));
            let mut slot = Slot::new();
            if self.elsewhere.remove(&id).is_some() {
                let every = self.crossing.certificate_every;
                let certificate_due = due + self.certificate.span(Duration::ZERO, every);
                slot = Slot::driving(pseudonym(&self.crossing, number, 0, due), certificate_due);
                self.unknown.insert(number, Lacking::Unheard);
            }
            self.seen = self.seen.wrapping_add(1);
            self.vehicles.insert(id, Vehicle { number, slot, at: now, row, due });
            return within_limit(self.vehicles.len());
        };
        while vehicle.due <= now {
            let due = vehicle.due;
            vehicle.due = due + period;
            let part = due.since(vehicle.at).as_secs_f64();
            let share = part / now.since(vehicle.at).as_secs_f64().max(1e-9);
            let dynamics = between(vehicle.row, row, share);
            // At least one nanosecond later: the turns until a step are then those that are due before it.
            let at = due + self.jitter.span(Duration::ZERO, self.crossing.jitter);
            let at = at.max(due + Duration::from_nanos(1));
            let name = pseudonym(&self.crossing, vehicle.number, 0, due);
            let times = (due, at);
            let forged = &mut self.forged;
            let turn =
                vehicle.slot.turn(&self.crossing, times, (vehicle.number, name), dynamics, forged);
            self.turns.extend(turn.map(|turn| ((at, vehicle.number, due), turn)));
        }
        self.vehicles.insert(id, Vehicle { at: now, row, ..vehicle });
        Ok(())
    }

    /// Forgets the vehicles that are gone: one that comes back later is another.
    fn end_step(&mut self) {
        let now = self.now;
        self.vehicles.retain(|_, vehicle| {
            let stays = vehicle.at == now;
            if !stays {
                self.unknown.remove(&vehicle.number);
            }
            stays
        });
        self.elsewhere.retain(|_, at| *at == now);
        self.complete = Some(now);
    }

    /// Adds the certificate that others have asked for: they all hear one another, and ask when they send.
    fn answer(&mut self, mut turn: Turn) -> Turn {
        if let Some(lacking) = self.unknown.get_mut(&turn.vehicle) {
            turn.has_certificate |=
                *lacking == Lacking::Asked && self.crossing.certificate_requests;
            if turn.has_certificate {
                self.unknown.remove(&turn.vehicle);
            } else if *lacking == Lacking::Unheard {
                *lacking = Lacking::Heard;
            }
        }
        let others = self.unknown.iter_mut().filter(|(number, _)| **number != turn.vehicle);
        others.filter(|(_, it)| **it == Lacking::Heard).for_each(|(_, it)| *it = Lacking::Asked);
        turn
    }
}

impl<R: BufRead> Iterator for Recording<R> {
    type Item = Result<Turn, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(first) = self.turns.first_entry()
                && self.complete.is_some_and(|complete| first.key().0 <= complete)
            {
                let turn = first.remove();
                return Some(Ok(self.answer(turn)));
            }
            if self.has_ended {
                return None;
            }
            match self.read() {
                Ok(goes_on) => self.has_ended = !goes_on,
                Err(why) => {
                    self.has_ended = true;
                    self.turns.clear();
                    return Some(Err(format!("line {}: {why}", self.line)));
                }
            }
        }
    }
}

/// The movement after a share of the way from one row to another.
fn between(one: Row, other: Row, share: f64) -> Dynamics {
    let [x, y, _, speed] = std::array::from_fn(|at| one[at] + (other[at] - one[at]) * share);
    let turn = libm::remainder(other[2] - one[2], 360.0);
    let angle = libm::fmod(one[2] + turn * share + 720.0, 360.0);
    Dynamics {
        position: Position::default().moved_m(y, x),
        heading_ddeg: (angle * 10.0) as u16 % 3_600,
        speed_cm_s: (speed * 100.0) as u16,
    }
}

fn within_limit(vehicles: usize) -> Result<(), String> {
    let is_too_many = vehicles > VEHICLES_MAX;
    if is_too_many { Err(format!("more than {VEHICLES_MAX} vehicles at once")) } else { Ok(()) }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<String, String> {
    let found = element.try_get_attribute(name).map_err(|why| format!("{why}; fix the XML"))?;
    let found = found.ok_or_else(|| format!("<{}> has no {name}", element.name().as_ref()))?;
    Ok(found.value.into_owned())
}

fn number(element: &BytesStart<'_>, name: &str) -> Result<f64, String> {
    let text = attribute(element, name)?;
    let number = text.parse().ok().filter(|number: &f64| number.abs() < 1e9);
    number.ok_or_else(|| format!("{name}=\"{text}\" is not a number"))
}

const NO_RECORDING: &str = "this is not SUMO's FCD output; write it with sumo --fcd-output";
const CUT_OFF: &str =
    "the file ends before </fcd-export>: it is cut off; copy it again, or let SUMO finish";

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::super::crossing::Pace;
    use super::*;

    fn turns(text: &str, centre: Option<[f64; 2]>) -> Result<Vec<Turn>, String> {
        let crossing = Crossing { pace: Pace::Triggered, ..Crossing::default() };
        Recording::new(text.as_bytes(), crossing, centre, &Seed::of_run(1, 0)).collect()
    }

    /// Of one vehicle at 50 km/h, which turns round in the end, and one that stands from 10 s on.
    fn recording() -> String {
        let step = |second: u32| {
            let x = f64::from(second) * 13.9;
            let angle = if second == 20 { 270.0 } else { 90.0 };
            let stands = "<vehicle id=\"b\" x=\"500.00\" y=\"0.00\" angle=\"0\" speed=\"0\"/>\n";
            format!(
                "    <timestep time=\"{second}.00\">\n<vehicle id=\"a\" x=\"{x:.2}\" y=\"0.00\" \
                 angle=\"{angle}\" type=\"car\" speed=\"13.90\"/>\n{}</timestep>\n",
                if second >= 10 { stands } else { "" }
            )
        };
        let steps: String = (0..=20).map(step).collect();
        format!("<?xml version=\"1.0\"?>\n<fcd-export>\n{steps}</fcd-export>\n")
    }

    #[test]
    fn vehicles_send_by_their_movement_between_steps() {
        let all = turns(&recording(), None).unwrap();
        assert!(all.is_sorted_by_key(|turn| turn.at));
        let of = |vehicle: u32| all.iter().filter(move |turn| turn.vehicle == vehicle);
        // 4 m are 288 ms: a message each 300 ms; who stands sends one a second.
        let driving: Vec<u64> = of(0).map(|turn| turn.due.as_nanos() / 1_000_000).collect();
        assert!(driving[..50].windows(2).all(|two| two[1] - two[0] == 300), "{driving:?}");
        assert_eq!(of(1).count(), 10);
        // As a program writes it that saves bytes.
        assert_eq!(turns(&recording().replace("\n", ""), None).unwrap(), all);
        // A step without vehicles forgets all.
        let at = |time: u32, rows: &str| format!("<timestep time=\"{time}\">{rows}</timestep>\n");
        let here = "<vehicle id=\"a\" x=\"0\" y=\"0\" angle=\"90\" speed=\"14\"/>";
        let steps = at(0, here) + "<timestep time=\"1\"/>\n" + &at(9, here);
        assert_eq!(turns(&format!("<fcd-export>\n{steps}</fcd-export>\n"), None).unwrap(), []);
        // The first message has the certificate, then one a second.
        assert!(of(1).all(|turn| turn.has_certificate) && of(0).next().unwrap().has_certificate);
        // Only the standing one is within 300 m of (600, 0), and the other one in the end is not.
        assert_eq!(turns(&recording(), Some([799.0, 0.0])).unwrap().len(), 10);
    }

    /// The driving one comes into range after eleven seconds, in the middle of its certificate's interval.
    #[test]
    fn who_comes_into_range_is_unknown_until_others_ask() {
        let until_known = |certificate_requests| {
            let pace = Pace::Every(Duration::from_millis(100));
            let crossing = Crossing { pace, certificate_requests, ..Crossing::default() };
            let text = recording();
            let seed = Seed::of_run(1, 0);
            let all = Recording::new(text.as_bytes(), crossing, Some([450.0, 0.0]), &seed);
            let all: Vec<Turn> = all.map(Result::unwrap).collect();
            assert!(all.iter().find(|turn| turn.vehicle == 0).unwrap().has_certificate);
            let mut comer = all.iter().filter(|turn| turn.vehicle == 1);
            comer.position(|turn| turn.has_certificate).unwrap()
        };
        assert!(until_known(false) > 2, "{}", until_known(false));
        assert_eq!(until_known(true), 1);
    }

    #[test]
    fn what_is_cut_off_or_something_else_is_refused_with_its_line() {
        let cut = &recording()[..600];
        let cases = [
            (cut.to_owned(), "line 18: the file ends before </fcd-export>"),
            (
                recording().replace("</fcd-export>\n", ""),
                "line 77: the file ends before </fcd-export>",
            ),
            ("<routes>\n</routes>\n".to_owned(), "line 3: this is not SUMO's FCD output"),
            (recording().replacen(" y=\"0.00\"", "", 1), "line 4: <vehicle> has no y"),
            (recording().replacen("time=\"1.00\"", "time=\"x\"", 1), "line 6: time=\"x\" is not"),
            (recording().replacen("\"5.00\"", "\"3.00\"", 1), "line 18: the step 3 s is earlier"),
        ];
        for (text, why) in cases {
            let refusal = turns(&text, None).unwrap_err();
            assert!(refusal.starts_with(why), "{refusal}");
        }
    }

    /// A minute of 10,000 vehicles, step by step: an hour takes as much memory, and sixty times as long.
    #[test]
    #[ignore = "thorough: seconds"]
    fn ten_thousand_vehicles_are_read_in_little_memory() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::thread::spawn(move || {
            let row = |x: u32, vehicle: u32| {
                format!("<vehicle id=\"{vehicle}\" x=\"{x}\" y=\"0\" angle=\"90\" speed=\"14\"/>\n")
            };
            writer.write_all(b"<fcd-export>\n").unwrap();
            for second in 0..60 {
                let rows: String = (0..10_000).map(|vehicle| row(14 * second, vehicle)).collect();
                let step = format!("<timestep time=\"{second}.00\">\n{rows}</timestep>\n");
                writer.write_all(step.as_bytes()).unwrap();
            }
            writer.write_all(b"</fcd-export>\n").unwrap();
        });
        let crossing = Crossing { pace: Pace::Triggered, ..Crossing::default() };
        let source = std::io::BufReader::new(reader);
        let turns = Recording::new(source, crossing, None, &Seed::of_run(1, 0));
        assert!(turns.map(Result::unwrap).count() > 1_000_000);
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        eprintln!("{peak}");
        assert!(peak.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() < 200_000);
    }
}
