//! Where a run in virtual time and one on the kernel diverge, in words and as a picture.

use std::fmt::{self, Write as _};

use trackbed_analysis::divergence::{Divergence, Sent, Window, windows_at};
use trackbed_net::Direction;

use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};
use crate::words::written;

/// The packets of a run in virtual time and of one on the kernel, and what was found about them.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The packets, first those of the run in virtual time.
    pub sent: [&'a [Sent]; 2],
    /// Where the runs diverge; none if nowhere.
    pub divergence: Option<&'a Divergence>,
    /// The first packet that both sent at clearly different times.
    pub late: Option<&'a [Sent; 2]>,
    /// The congestion windows at both ends of the first TCP connection, in the order of `sent`.
    pub windows: [&'a [Window]; 2],
}

impl<'a> Pair<'a> {
    /// The packets at which the runs diverge, or, if one only ends before the other, those at which their
    /// times do.
    fn place(&self) -> Option<[Option<&'a Sent>; 2]> {
        let next = self.divergence.map(|divergence| divergence.next.each_ref().map(Option::as_ref));
        let late = self.late.map(|late| late.each_ref().map(Some));
        match self.divergence.and_then(|divergence| divergence.ended) {
            Some(_) => late.or(next),
            None => next.or(late),
        }
    }
}

/// The answer in a sentence.
pub fn sentence(pair: &Pair<'_>) -> String {
    let ended = pair.divergence.and_then(|divergence| divergence.ended);
    let until = ended.map_or_else(String::new, |side| {
        format!(" until the one {} ends", ["in virtual time", "on the kernel"][side])
    });
    match (pair.divergence.filter(|_| ended.is_none()), pair.late) {
        (Some(divergence), _) => {
            let when = divergence.next.iter().flatten().map(|sent| sent.at).min();
            let when = when.map_or(0.0, |at| at.as_secs_f64() * 1e3);
            format!(
                "The runs diverge {when:.1} ms after their first packet, at packet {} {} of a connection.",
                divergence.common + 1,
                way(divergence.direction)
            )
        }
        (None, Some([virtually, emulated])) => format!(
            "Both runs send the same packets{until}, but not at the same time: from {:.1} ms in virtual time and \
             {:.1} ms on the kernel on, they are more than 1 ms apart.",
            millis(virtually),
            millis(emulated)
        ),
        (None, None) => {
            format!("Both runs send the same packets{until}, each less than 1 ms apart.")
        }
    }
}

/// The answer about the run called `title`, and the packets around the divergence.
pub fn render(title: &str, pair: &Pair<'_>) -> String {
    written(|out| {
        writeln!(out, "{}\n\n{title}", sentence(pair))?;
        write_packets(pair, out)?;
        write_windows(pair, out)
    })
}

fn write_packets(pair: &Pair<'_>, out: &mut String) -> fmt::Result {
    if let Some([virtually, emulated]) = pair.late {
        writeln!(out, "\nthe first packet more than 1 ms apart")?;
        writeln!(out, "  virtual  {}\n  kernel   {}", describe(virtually), describe(emulated))?;
    }
    let Some(place) = pair.place() else { return Ok(()) };
    for (number, (side, sent)) in
        ["virtual time", "the run on the kernel"].into_iter().zip(pair.sent).enumerate()
    {
        writeln!(out, "\npackets around this point in {side}")?;
        let at = place[number].and_then(|next| sent.iter().position(|sent| sent == next));
        let at = at.unwrap_or(sent.len());
        for (place, packet) in
            sent.iter().enumerate().skip(at.saturating_sub(BEFORE)).take(BEFORE + AFTER)
        {
            let mark = if place == at { '>' } else { ' ' };
            writeln!(out, " {mark} {}", describe(packet))?;
        }
        if at == sent.len() {
            writeln!(out, " >    nothing more")?;
        }
    }
    let in_flight = pair.divergence.map(|divergence| divergence.in_flight);
    if let Some([Some(virtually), Some(emulated)]) = in_flight {
        writeln!(
            out,
            "\nsent and not acknowledged at that time: {virtually} B in virtual time, {emulated} B on the kernel"
        )?;
    }
    Ok(())
}

/// The congestion windows where the runs diverge, or where their times do, if that is in their connection.
fn write_windows(pair: &Pair<'_>, out: &mut String) -> fmt::Result {
    let Some(at) = pair.place() else { return Ok(()) };
    let is_first = |side: usize, sent: &Sent| {
        let mut flows = pair.sent[side].iter().filter(|sent| sent.content.tcp.is_some());
        flows.next().is_some_and(|first| first.content.flow == sent.content.flow)
    };
    let paths = pair.windows.iter().copied().flatten().map(|window| window.path).max();
    let is_multipath = paths > Some(0);
    let is_theirs = (0..2).any(|side| at[side].is_some_and(|sent| is_first(side, sent)));
    if paths.is_none() || !(is_theirs || is_multipath) {
        return Ok(());
    }
    writeln!(
        out,
        "\ncongestion windows of the first TCP connection: the last changes that its ends saw when they \
         read or wrote"
    )?;
    let latest = at.iter().flatten().map(|sent| sent.at).max();
    for (side, name) in ["virtual", "kernel"].into_iter().enumerate() {
        let at = at[side].map(|sent| sent.at).or(latest).unwrap_or_default();
        let windows = windows_at(pair.windows[side], at);
        let windows = windows.iter().map(|window| describe_window(window, is_multipath));
        let windows: Vec<String> = windows.collect();
        let windows = if windows.is_empty() { "none".to_owned() } else { windows.join("; ") };
        writeln!(out, "  {name:<7}  {windows}")?;
    }
    Ok(())
}

fn describe_window(window: &Window, is_multipath: bool) -> String {
    let mut text = way(window.direction).to_owned();
    if is_multipath {
        text += &format!(", path {}", window.path);
    }
    text += &format!(" {} B at {:.1} ms", window.bytes, window.at.as_secs_f64() * 1e3);
    if let Some(rtt) = window.rtt {
        text += &format!(" (smoothed RTT {:.1} ms)", rtt.as_secs_f64() * 1e3);
    }
    text
}

/// The packets of a run that are shown before the one at which it diverges, and from it on.
const BEFORE: usize = 6;
const AFTER: usize = 5;

fn describe(sent: &Sent) -> String {
    let mut text = format!("{:>10.3} ms  {}", millis(sent), way(sent.direction));
    if sent.link > 0 {
        text.push_str(", second link");
    }
    let content = sent.content;
    match content.tcp {
        Some(tcp) => {
            let names = [(2, "SYN"), (1, "FIN"), (4, "RST"), (16, "ACK")];
            let set: Vec<&str> = names
                .into_iter()
                .filter_map(|(bit, name)| (tcp.flags & bit > 0).then_some(name))
                .collect();
            text += &format!(
                "  TCP {} {}, sequence {}, acknowledgment {}, window {}, {} B",
                content.flow,
                set.join("+"),
                tcp.sequence,
                tcp.acknowledgment,
                tcp.window,
                content.payload
            );
        }
        None => text += &format!("  UDP {}, {} B", content.flow, content.payload),
    }
    if let Some(why) = sent.lost {
        text += &format!("; lost by the link ({why})");
    }
    text
}

fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "up",
        Direction::Backward => "down",
    }
}

fn millis(sent: &Sent) -> f64 {
    sent.at.as_secs_f64() * 1e3
}

/// The bytes sent in the direction with more of them, over time, as SVG 1.1: a line for each run, and a
/// vertical one where they diverge. `None` if nothing was sent.
pub fn svg(pair: &Pair<'_>) -> Option<String> {
    Some(plot(pair)?.svg(180.0))
}

fn plot(pair: &Pair<'_>) -> Option<Plot> {
    let bytes = |direction| -> u64 {
        let of = pair.sent.iter().copied().flatten().filter(|sent| sent.direction == direction);
        of.map(|sent| u64::from(sent.content.payload)).sum()
    };
    let direction = match bytes(Direction::Forward) > bytes(Direction::Backward) {
        true => Direction::Forward,
        false => Direction::Backward,
    };
    let names = ["virtual time", "kernel"];
    let (mut keys, mut marks) = (Vec::new(), Vec::new());
    for (number, (name, sent)) in names.into_iter().zip(pair.sent).enumerate() {
        let look = Look::series(number);
        let (mut kilobytes, mut line) = (0.0, vec![[0.0, 0.0]]);
        for sent in sent.iter().filter(|sent| sent.direction == direction) {
            line.push([millis(sent), kilobytes]);
            kilobytes += f64::from(sent.content.payload) / 1e3;
            line.push([millis(sent), kilobytes]);
            let lost = sent.lost.map(|_| Mark::Dot(look, [millis(sent), kilobytes], Fill::Full));
            marks.extend(lost);
        }
        if line.len() > 1 {
            marks.push(Mark::Line(look, line));
        }
        keys.push(Key::curve(look, false, name));
    }
    keys.push(Key::dot(Look::INK, Fill::Full, "lost"));
    let place = pair.place().into_iter().flatten().flatten();
    if let Some(at) = place.map(millis).reduce(f64::min) {
        marks.push(Mark::Rule([at, f64::NAN]));
        keys.push(Key::rule("they diverge"));
    }
    let panel = Panel {
        title: String::new(),
        x: Axis::new("time (ms)", Scale::Linear),
        y: Axis::new(format!("sent {} (kB)", way(direction)), Scale::Linear),
        marks,
    };
    let is_drawn = panel.marks.iter().any(|mark| matches!(mark, Mark::Line(..)));
    let panels = vec![panel];
    is_drawn.then(|| Plot { keys, panels, aspect: 0.4, panel_width_min: 1.0, ..Plot::default() })
}

#[cfg(test)]
mod tests;
