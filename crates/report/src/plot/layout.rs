//! From a plot to shapes: legend, panels, axes, marks.

use trackbed_outward::printable_line;

use super::axis::{Scaled, scales};
use super::model::{Fill, Look, MARKERS, Mark, Panel, Paper, Plot, Point, Scale};
use super::scene::{Item, Paint, Scene, Text, Tone};
use crate::number::short;

pub(super) fn scene(plot: &Plot, paper: Paper<'_>) -> Scene {
    let size = paper.size;
    // Strokes and letters reach a little beyond their places.
    let edge = EDGE * size;
    let mut sheet = Sheet {
        paper: Paper { width: paper.width - 2.0 * edge, ..paper },
        items: Vec::new(),
        axes: Vec::new(),
    };
    let width = sheet.paper.width;
    let mut top = sheet.legend(plot);
    let has_rows = plot.panels.iter().any(|panel| matches!(panel.y.scale, Scale::Names(_)));
    let fitting = (width / (plot.panel_width_min * size)).floor().max(1.0) as usize;
    let columns = if has_rows { 1 } else { fitting.min(plot.panels.len()).max(1) };
    let column = (width - GAP * size * (columns - 1) as f64) / columns as f64;
    let shared = scales(&plot.panels).filter(|_| plot.is_shared);
    let frames = plot.panels.iter().map(|panel| sheet.frame(panel, column, plot.aspect, shared));
    let mut frames: Vec<Frame> = frames.collect();
    // Frames of a column begin at the same place.
    let left = frames.iter().map(|frame| frame.left).fold(0.0, f64::max);
    for (frame, panel) in frames.iter_mut().zip(&plot.panels) {
        frame.titles = paper.font.wrapped(&panel.title, (column - left) / size);
    }
    for first in (0..frames.len()).step_by(columns) {
        let row = first..(first + columns).min(frames.len());
        let of_row = &frames[row.clone()];
        let height = of_row.iter().map(|frame| frame.height).fold(0.0, f64::max);
        let titles = of_row.iter().map(|frame| frame.titles.len()).max().unwrap_or(0);
        top += titles as f64 * LINE * size;
        let mut is_named = false;
        for number in row {
            let frame = &frames[number];
            let start = (column + GAP * size) * (number - first) as f64;
            let ends = [start + column - frame.right, top + height];
            // Panels that share their axes have its name below the last of each column.
            let has_name = !plot.is_shared || number + columns >= frames.len();
            is_named |= has_name;
            sheet.panel((&plot.panels[number], frame), [start + left, top], ends, has_name);
        }
        top += height + (FOOT + if is_named { LINE } else { 0.0 }) * size;
    }
    let Sheet { mut items, mut axes, .. } = sheet;
    items.iter_mut().for_each(|item| item.shift(edge));
    axes.iter_mut().for_each(|[x, _]| *x = x.between(x.ends.map(|end| end + edge)));
    Scene { width: paper.width, height: top, size, items, axes }
}

/// Sizes of a panel before its place is known.
struct Frame {
    titles: Vec<String>,
    /// Lines of the name of each row.
    rows: Vec<Vec<String>>,
    scales: [Scaled; 2],
    y_ticks: Vec<f64>,
    left: f64,
    right: f64,
    height: f64,
}

struct Sheet<'a> {
    paper: Paper<'a>,
    items: Vec<Item>,
    axes: Vec<[Scaled; 2]>,
}

impl Sheet<'_> {
    /// The width of a text in points.
    fn measure(&self, text: &str) -> f64 {
        self.paper.font.width(text) * self.paper.size
    }

    /// Draws the legend and returns where it ends.
    fn legend(&mut self, plot: &Plot) -> f64 {
        let Paper { width, size, font } = self.paper;
        let (sample, [mut x, mut top], mut lines) = (SAMPLE * size, [0.0, 0.3 * size], 0);
        for key in &plot.keys {
            let texts = font.wrapped(&key.text, width / size - SAMPLE - 0.5);
            let long = texts.iter().map(|text| self.measure(text)).fold(0.0, f64::max);
            if x > 0.0 && x + sample + 0.5 * size + long > width {
                (x, top, lines) = (0.0, top + lines as f64 * LINE * size, 0);
            }
            lines = lines.max(texts.len());
            let ends = [[x, x + sample], [top + size, top + 0.1 * size]];
            let unit = Scaled::new(&Scale::Ends(0.0, 1.0), &[], &[]);
            let scales = ends.map(|ends| unit.between(ends));
            key.marks.iter().for_each(|mark| self.mark(mark, &scales));
            for (number, text) in texts.iter().enumerate() {
                let y = top + (0.9 + LINE * number as f64) * size;
                self.text([x + sample + 0.5 * size, y], 0.0, text);
            }
            x += sample + long + 1.8 * size;
        }
        if plot.keys.is_empty() { top } else { top + (lines as f64 * LINE + 0.4) * size }
    }

    fn frame(&self, panel: &Panel, column: f64, aspect: f64, shared: Option<[Scaled; 2]>) -> Frame {
        let Paper { size, font, .. } = self.paper;
        let own = || scales(std::slice::from_ref(panel));
        let mut scales = shared.or_else(own).expect("there is this panel");
        let rows: Vec<Vec<String>> = match &panel.y.scale {
            Scale::Names(names) => {
                scales[1] = own().expect("there is this panel")[1];
                names.iter().map(|name| font.wrapped(name, ROW_NAME * column / size)).collect()
            }
            _ => Vec::new(),
        };
        let y_ticks = if rows.is_empty() { scales[1].ticks(6.0) } else { Vec::new() };
        let longest = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| self.measure(&text)).fold(0.0, f64::max)
        };
        let named = longest(&mut rows.iter().flatten().cloned());
        let named = named.max(longest(&mut y_ticks.iter().map(|tick| short(*tick))));
        let left = named + 0.5 * size + if panel.y.name.is_empty() { 0.0 } else { LINE * size };
        let right = match &panel.x.scale {
            Scale::Names(_) => 0.3 * size,
            _ => longest(&mut scales[0].ticks(6.0).iter().map(|tick| short(*tick))) / 2.0,
        };
        let height = match rows.is_empty() {
            true => ((column - left - right) * aspect).clamp(9.0 * size, 24.0 * size),
            false => {
                let most = rows.iter().map(Vec::len).max().unwrap_or(1).max(1);
                rows.len() as f64 * (most as f64 * LINE + 0.45) * size
            }
        };
        Frame { titles: Vec::new(), rows, scales, y_ticks, left, right, height }
    }

    fn panel(
        &mut self,
        (panel, frame): (&Panel, &Frame),
        [left, top]: Point,
        [right, bottom]: Point,
        has_name: bool,
    ) {
        let size = self.paper.size;
        for (number, title) in frame.titles.iter().enumerate() {
            let above = (frame.titles.len() - number) as f64 - 0.6;
            self.text([left, top - above * LINE * size], 0.0, title);
        }
        let up = if frame.rows.is_empty() { [bottom, top] } else { [top, bottom] };
        let scales = [frame.scales[0].between([left, right]), frame.scales[1].between(up)];
        self.axes.push(scales);
        self.y_axis(panel, frame, &scales);
        self.x_axis(panel, &scales, has_name);
        panel.marks.iter().for_each(|mark| self.mark(mark, &scales));
        self.line(&[[left, top], [left, bottom], [right, bottom]], Tone::Ink, 0.06);
    }

    /// Numbers with grid lines, or the names of rows.
    fn y_axis(&mut self, panel: &Panel, frame: &Frame, scales: &[Scaled; 2]) {
        let size = self.paper.size;
        let ([left, right], middle) = (scales[0].ends, scales[1].ends.iter().sum::<f64>() / 2.0);
        for tick in &frame.y_ticks {
            let y = scales[1].place(*tick);
            self.line(&[[left, y], [right, y]], Tone::Grid, 0.05);
            self.text([left - 0.4 * size, y + HALF * size], 1.0, &short(*tick));
        }
        for (row, lines) in frame.rows.iter().enumerate() {
            for (number, line) in lines.iter().enumerate() {
                let down = (number as f64 - (lines.len() - 1) as f64 / 2.0) * LINE + HALF;
                let at = [left - 0.5 * size, scales[1].place(row as f64) + down * size];
                self.text(at, 1.0, line);
            }
        }
        if !panel.y.name.is_empty() {
            let at = [left - frame.left + 0.9 * size, middle];
            self.push_text(at, 0.5, true, &panel.y.name);
        }
    }

    /// Numbers or names; grid lines stand where there are none across.
    fn x_axis(&mut self, panel: &Panel, scales: &[Scaled; 2], has_name: bool) {
        let size = self.paper.size;
        let [[left, right], [one, other]] = [scales[0].ends, scales[1].ends];
        let (top, bottom) = (one.min(other), one.max(other));
        let mut free_from = f64::NEG_INFINITY;
        let labels: Vec<(f64, String)> = match &panel.x.scale {
            Scale::Names(names) => (0..).map(f64::from).zip(names.iter().cloned()).collect(),
            _ => {
                let longest = |ticks: &[f64]| {
                    ticks.iter().map(|tick| self.measure(&short(*tick))).fold(0.0, f64::max)
                };
                let room = longest(&scales[0].ticks(6.0)) + size;
                let ticks = scales[0].ticks(((right - left) / room).floor().clamp(2.0, 8.0));
                ticks.into_iter().map(|tick| (tick, short(tick))).collect()
            }
        };
        for (at, label) in labels {
            let (x, half) = (scales[0].place(at), self.measure(&label) / 2.0);
            if matches!(panel.y.scale, Scale::Names(_)) {
                self.line(&[[x, top], [x, bottom]], Tone::Grid, 0.05);
            }
            if x - half < free_from {
                continue;
            }
            free_from = x + half + 0.4 * size;
            self.line(&[[x, bottom], [x, bottom + 0.25 * size]], Tone::Ink, 0.06);
            self.text([x, bottom + 1.25 * size], 0.5, &label);
        }
        if panel.x.scale == Scale::Difference {
            let x = scales[0].place(0.0);
            self.line(&[[x, top], [x, bottom]], Tone::Ink, 0.06);
        }
        if has_name {
            let at = [(left + right) / 2.0, bottom + (1.25 + LINE) * size];
            self.push_text(at, 0.5, false, &panel.x.name);
        }
    }

    fn mark(&mut self, mark: &Mark, [x, y]: &[Scaled; 2]) {
        let size = self.paper.size;
        let place = |[at, up]: Point| [x.place(at), y.place(up)];
        match mark {
            Mark::Line(look, points) => {
                let is_known = |point: &Point| point.iter().all(|part| part.is_finite());
                for part in points.split(|point| !is_known(point)).filter(|part| !part.is_empty()) {
                    let dash = DASHES[look.dash % DASHES.len()].iter().map(|one| one * size);
                    let paint = Paint { dash: dash.collect(), ..stroke(*look, 0.13 * size) };
                    let points = thinned(part.iter().map(|point| place(*point)));
                    self.items.push(Item::Path { points, is_closed: false, paint });
                }
            }
            Mark::Dot(look, at, fill) => self.dot(*look, place(*at), *fill),
            Mark::Whisker(look, low, high) => {
                let beyond =
                    |[at, up]: Point| at < x.low || at > x.high || up < y.low || up > y.high;
                let ends = [(place(*low), beyond(*low)), (place(*high), beyond(*high))];
                self.whisker(*look, ends);
            }
            Mark::Area(look, one, other, fill) => {
                let ([left, top], [right, bottom]) = (place(*one), place(*other));
                let points = vec![[left, top], [right, top], [right, bottom], [left, bottom]];
                let fill = Some(inside(*look, *fill));
                // A filled area is background; an outlined one is a mark.
                let paint = Paint { fill, ..stroke(*look, 0.08 * size) };
                self.items.push(Item::Path { points, is_closed: true, paint });
            }
            Mark::Value(..) => {}
            Mark::Rule([at, up]) => {
                let dash = DASHES[1].iter().map(|one| one * size).collect();
                let paint = Paint { dash, ..stroke(Look::INK, 0.08 * size) };
                let points = match up.is_nan() {
                    true => y.ends.map(|end| [x.place(*at), end]).to_vec(),
                    false => x.ends.map(|end| [end, y.place(*up)]).to_vec(),
                };
                self.items.push(Item::Path { points, is_closed: false, paint });
            }
        }
    }

    fn dot(&mut self, look: Look, [x, y]: Point, fill: Fill) {
        let radius = 0.3 * self.paper.size;
        let paint =
            Paint { fill: Some(inside(look, fill)), ..stroke(look, 0.09 * self.paper.size) };
        let (corners, turn) = CORNERS[(look.colour + look.dash) % MARKERS];
        if corners == 0 {
            return self.items.push(Item::Disc { at: [x, y], radius, paint });
        }
        let points = (0..corners).map(|corner| {
            let angle =
                (f64::from(turn) + 360.0 * f64::from(corner) / f64::from(corners)).to_radians();
            [x + 1.2 * radius * angle.cos(), y - 1.2 * radius * angle.sin()]
        });
        self.items.push(Item::Path { points: points.collect(), is_closed: true, paint });
    }

    fn whisker(&mut self, look: Look, [low, high]: [(Point, bool); 2]) {
        let (size, length) = (self.paper.size, (high.0[0] - low.0[0]).hypot(high.0[1] - low.0[1]));
        if length == 0.0 {
            return;
        }
        let along = [0, 1].map(|part| (high.0[part] - low.0[part]) / length);
        let items =
            [(low, along), (high, along.map(|part| -part))].map(|((at, beyond), [dx, dy])| {
                // The place `back` from the end and `aside` from the line.
                let near = |back: f64, aside: f64| {
                    [
                        at[0] + size * (back * dx - aside * dy),
                        at[1] + size * (back * dy + aside * dx),
                    ]
                };
                match beyond {
                    true => Item::Path {
                        points: vec![at, near(0.5, 0.3), near(0.5, -0.3)],
                        is_closed: true,
                        paint: Paint { fill: Some(Tone::Series(look.colour)), ..Paint::default() },
                    },
                    false => Item::Path {
                        points: vec![near(0.0, 0.25), near(0.0, -0.25)],
                        is_closed: false,
                        paint: stroke(look, 0.1 * size),
                    },
                }
            });
        let points = vec![low.0, high.0];
        self.items.push(Item::Path { points, is_closed: false, paint: stroke(look, 0.1 * size) });
        self.items.extend(items);
    }

    fn line(&mut self, points: &[Point], tone: Tone, width: f64) {
        let stroke = Some((tone, width * self.paper.size));
        let paint = Paint { stroke, ..Paint::default() };
        self.items.push(Item::Path { points: points.to_vec(), is_closed: false, paint });
    }

    fn text(&mut self, at: Point, anchor: f64, text: &str) {
        self.push_text(at, anchor, false, text);
    }

    fn push_text(&mut self, at: Point, anchor: f64, is_upright: bool, text: &str) {
        let text = printable_line(text).into_owned();
        self.items.push(Item::Text(Text { at, anchor, is_upright, text }));
    }
}

/// Points without those that are drawn on the one before them, or on a level line between two others.
fn thinned(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for [x, y] in points {
        if let [.., [before, one], [last, other]] = kept[..]
            && [one, other].iter().all(|level| (level - y).abs() < 0.05)
            && (before..=x).contains(&last)
        {
            kept.pop();
        }
        if kept.last().is_none_or(|last| (last[0] - x).abs().max((last[1] - y).abs()) >= 0.1) {
            kept.push([x, y]);
        }
    }
    kept
}

fn stroke(look: Look, width: f64) -> Paint {
    Paint { stroke: Some((Tone::Series(look.colour), width)), ..Paint::default() }
}

fn inside(look: Look, fill: Fill) -> Tone {
    match fill {
        Fill::Full => Tone::Series(look.colour),
        Fill::Light => Tone::Light(look.colour),
        Fill::White => Tone::Ground,
    }
}

// In font sizes.
/// From a baseline to the next.
const LINE: f64 = 1.25;
/// From the middle of a digit to its baseline.
const HALF: f64 = 0.36;
/// The width of the marks in the legend.
const SAMPLE: f64 = 2.2;
/// To the left and right of everything.
const EDGE: f64 = 0.2;
/// Between panels side by side.
const GAP: f64 = 1.0;
/// Below a frame, for its numbers.
const FOOT: f64 = 2.0;

/// The largest share of a panel's width that names of rows take.
const ROW_NAME: f64 = 0.45;

/// Corners, and the angle of the first; none for a disc.
const CORNERS: [(u8, u16); MARKERS] = [(0, 0), (4, 0), (4, 45), (3, 90), (3, 270), (5, 90)];

const DASHES: [&[f64]; 4] = [&[], &[0.5, 0.3], &[0.15, 0.25], &[0.8, 0.25, 0.15, 0.25]];
