//! Where a run in virtual time and one on the kernel diverge, in words and as a picture.

use std::fmt::{self, Write as _};

use trackbed_analysis::divergence::{Divergence, Sent, Window, windows_at};
use trackbed_net::Direction;

use crate::axis::{Axis, escaped, write_label};
use crate::number::short;
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

/// A packet in a line.
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

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 340.0;
/// The frame of the curves.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 740.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 290.0;
/// Two colours that remain distinct with colour-vision deficiencies (Okabe and Ito).
const COLOURS: [&str; 2] = ["#0072b2", "#d55e00"];

/// The bytes sent in the direction with more of them, over time, as SVG 1.1: a line for each run, and a
/// vertical one where they diverge. `None` if nothing was sent.
pub fn svg(title: &str, pair: &Pair<'_>) -> Option<String> {
    let bytes = |direction| -> u64 {
        let of = pair.sent.iter().copied().flatten().filter(|sent| sent.direction == direction);
        of.map(|sent| u64::from(sent.content.payload)).sum()
    };
    let direction = match bytes(Direction::Forward) > bytes(Direction::Backward) {
        true => Direction::Forward,
        false => Direction::Backward,
    };
    let curves = pair.sent.map(|sent| curve(sent, direction));
    let picture = |out: &mut String| write_picture((title, direction), pair, &curves, out);
    curves.iter().any(|curve| !curve.is_empty()).then(|| written(picture))
}

/// A packet in the picture.
struct Point {
    /// In ms.
    at: f64,
    /// kB sent until then.
    sent: f64,
    is_lost: bool,
}

fn curve(sent: &[Sent], direction: Direction) -> Vec<Point> {
    let mut bytes = 0_u64;
    let of = sent.iter().filter(|sent| sent.direction == direction);
    of.map(|sent| {
        bytes += u64::from(sent.content.payload);
        Point { at: millis(sent), sent: bytes as f64 / 1e3, is_lost: sent.lost.is_some() }
    })
    .collect()
}

fn write_picture(
    (title, direction): (&str, Direction),
    pair: &Pair<'_>,
    curves: &[Vec<Point>; 2],
    out: &mut String,
) -> fmt::Result {
    let x = Axis::linear(curves.iter().flatten().map(|point| point.at), [LEFT, RIGHT]);
    let y = Axis::linear(curves.iter().flatten().map(|point| point.sent), [BOTTOM, TOP]);
    let title = escaped(title);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<title>{title}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"18\" font-weight=\"bold\">{title}</text>\n\
         <text x=\"{LEFT}\" y=\"33\">kB sent {} over time (ms): <tspan fill=\"{}\">virtual time</tspan>, \
         <tspan fill=\"{}\">kernel</tspan>; dots: lost; dashed: they diverge</text>",
        way(direction),
        COLOURS[0],
        COLOURS[1]
    )?;
    y.write_grid([LEFT, RIGHT], out)?;
    for tick in x.ticks() {
        write_label([x.place(tick), BOTTOM + 16.0], "middle", &short(tick), out)?;
    }
    for (points, colour) in curves.iter().zip(COLOURS) {
        let mut path = format!("M{:.1} {:.1}", x.place(0.0), y.place(0.0));
        // Packets within half a pixel of each other look like one.
        let mut drawn = f64::NEG_INFINITY;
        for (number, Point { at, sent, .. }) in points.iter().enumerate() {
            if x.place(*at) - drawn < 0.5 && number + 1 < points.len() {
                continue;
            }
            drawn = x.place(*at);
            write!(path, "H{drawn:.1}V{:.1}", y.place(*sent))?;
        }
        writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>"
        )?;
        for Point { at, sent, .. } in points.iter().filter(|point| point.is_lost) {
            let (x, y) = (x.place(*at), y.place(*sent));
            writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>")?;
        }
    }
    let place = pair.place().into_iter().flatten().flatten();
    if let Some(at) = place.map(millis).reduce(f64::min) {
        let at = x.place(at);
        writeln!(
            out,
            "<path d=\"M{at:.1} {TOP}V{BOTTOM}\" stroke=\"#333\" stroke-dasharray=\"4 3\"/>"
        )?;
    }
    writeln!(out, "</svg>")
}

#[cfg(test)]
mod tests;
