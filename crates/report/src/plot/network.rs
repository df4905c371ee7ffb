//! The network of a run as a picture: which clients meet where, and over which links they reach the server.

use super::POINTS_PER_MM;
use super::font::Font;
use super::model::Point;
use super::scene::{Item, Paint, Scene, Text, Tone};

/// A network in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// What distinguishes it from others of the picture; may be empty.
    pub title: String,
    /// Clients that are alike, and what the link of each does up and down, if they have links of their own.
    pub clients: Vec<(String, Option<[String; 2]>)>,
    /// Where they meet in front of the link of each path; `None` if one client is joined to them directly.
    pub meeting: Option<String>,
    /// What the link of each path does up and down.
    pub paths: Vec<[String; 2]>,
}

/// Networks below one another as SVG 1.1, `width` millimetres wide.
pub fn svg(networks: &[Network], width: f64) -> String {
    let font = &Font::bundled();
    let mut sketch = Sketch { font, width: width * POINTS_PER_MM, items: Vec::new() };
    let height = networks.iter().fold(0.0, |top, network| sketch.network(network, top));
    let Sketch { width, items, .. } = sketch;
    Scene { width, height, size: SIZE, items, axes: Vec::new() }.svg(font)
}

struct Sketch<'a> {
    font: &'a Font,
    width: f64,
    items: Vec<Item>,
}

impl Sketch<'_> {
    /// Draws a network from `top` on, and returns where it ends.
    fn network(&mut self, network: &Network, top: f64) -> f64 {
        let [clients, meeting, server] = COLUMNS.map(|column| column.map(|part| part * self.width));
        let top = self.text([0.0, top + LINE], &network.title, (self.width, 0.0)) + LINE;
        let label = meeting[0] - clients[1];
        let own = network.clients.iter().map(|(name, link)| {
            let link = link.as_ref().map_or(0.0, |link| self.label_height(link, label));
            link.max(self.height(name, clients[1] - clients[0]) + LINE)
        });
        let own: Vec<f64> = own.collect();
        let paths = network.paths.iter().map(|link| self.label_height(link, label));
        let met = network.meeting.as_ref();
        let met = met.map_or(0.0, |name| self.height(name, meeting[1] - meeting[0])) + 2.0 * LINE;
        let paths: Vec<f64> = paths.map(|height| height.max(met)).collect();
        let whole = own.iter().sum::<f64>().max(paths.iter().sum());
        let [own, paths] = [own, paths].map(|heights| middles(&heights, top, whole));
        for (path, (link, y)) in network.paths.iter().zip(&paths).enumerate() {
            let begins = network.meeting.is_some();
            for ((_, access), from) in network.clients.iter().zip(&own) {
                let to = if begins { [meeting[0], *y] } else { [server[0], *y] };
                let text = if begins { access.as_ref().filter(|_| path == 0) } else { Some(link) };
                self.link([clients[1], *from], to, text);
            }
            if let Some(name) = &network.meeting {
                self.link([meeting[1], *y], [server[0], *y], Some(link));
                self.node(meeting, (*y, 0.0), name);
            }
        }
        for ((name, _), y) in network.clients.iter().zip(&own) {
            self.node(clients, (*y, 0.0), name);
        }
        let reach = paths.last().zip(paths.first()).map_or(0.0, |(last, first)| last - first);
        self.node(server, (top + whole / 2.0, reach / 2.0), "server");
        top + whole + LINE
    }

    fn node(&mut self, ends: [f64; 2], (y, further): (f64, f64), text: &str) {
        self.boxed(ends, (y, further, STROKE), (text, ends[1] - ends[0]));
    }

    /// A line with what it does to the server above it, and from it below.
    fn link(&mut self, from: Point, to: Point, texts: Option<&[String; 2]>) {
        let paint = Paint { stroke: STROKE, ..Paint::default() };
        self.items.push(Item::Path { points: vec![from, to], is_closed: false, paint });
        let Some(texts) = texts else { return };
        let middle = [0, 1].map(|axis| (from[axis] + to[axis]) / 2.0);
        let (width, [up, down]) = (to[0] - from[0], labels(texts));
        if from[1] != to[1] {
            // A slanted line would go through what stands above it.
            let text = [up, down].join(" ");
            let lines = self.lines(&text, width).into_iter();
            let half = lines.map(|line| self.font.width(&line) * SIZE).fold(0.0, f64::max) / 2.0;
            let ends = [middle[0] - half, middle[0] + half];
            return self.boxed(ends, (middle[1], 0.0, None), (&text, width));
        }
        let above = self.height(&up, width);
        self.text([middle[0], middle[1] - above + 0.6 * LINE], &up, (width, 0.5));
        self.text([middle[0], middle[1] + 1.1 * LINE], &down, (width, 0.5));
    }

    /// A box around a text in lines of this width, which reaches `further` up and down.
    fn boxed(
        &mut self,
        [left, right]: [f64; 2],
        (y, further, stroke): (f64, f64, Option<(Tone, f64)>),
        (text, width): (&str, f64),
    ) {
        let inner = self.height(text, width) / 2.0;
        let half = inner + 0.3 * LINE + further;
        let paint = Paint { stroke, fill: Some(Tone::Ground), ..Paint::default() };
        let points = vec![[left, y - half], [right, y - half], [right, y + half], [left, y + half]];
        self.items.push(Item::Path { points, is_closed: true, paint });
        let first = y - inner + 0.8 * LINE;
        self.text([(left + right) / 2.0, first], text, (width, 0.5));
    }

    /// Writes lines of this width from a baseline on, and returns the last baseline.
    fn text(&mut self, [x, mut y]: Point, text: &str, (width, anchor): (f64, f64)) -> f64 {
        let last = y;
        for text in self.lines(text, width) {
            self.items.push(Item::Text(Text { at: [x, y], anchor, is_upright: false, text }));
            y += LINE;
        }
        last.max(y - LINE)
    }

    fn label_height(&self, texts: &[String; 2], width: f64) -> f64 {
        let heights = labels(texts).map(|text| self.height(&text, width));
        2.0 * heights[0].max(heights[1]) + LINE
    }

    fn height(&self, text: &str, width: f64) -> f64 {
        self.lines(text, width).len() as f64 * LINE
    }

    fn lines(&self, text: &str, width: f64) -> Vec<String> {
        self.font.wrapped(text, width / SIZE - 1.0)
    }
}

/// What stands above and below a line.
fn labels([up, down]: &[String; 2]) -> [String; 2] {
    match up == down {
        true => [up.clone(), String::new()],
        false => [format!("up: {up}"), format!("down: {down}")],
    }
}

/// The middles of rows of these heights, which share `whole` from `top` on.
fn middles(heights: &[f64], top: f64, whole: f64) -> Vec<f64> {
    let gap = (whole - heights.iter().sum::<f64>()) / heights.len().max(1) as f64;
    let ends = heights.iter().scan(top, |end, height| {
        *end += height + gap;
        Some((*end, height))
    });
    ends.map(|(end, height)| end - (height + gap) / 2.0).collect()
}

const STROKE: Option<(Tone, f64)> = Some((Tone::Ink, 0.8));
/// Size of the text, and from a baseline to the next, in points.
const SIZE: f64 = 8.0;
const LINE: f64 = 10.0;
/// From where to where the boxes of clients, of the place where they meet, and of the server reach.
const COLUMNS: [[f64; 2]; 3] = [[0.005, 0.2], [0.42, 0.56], [0.87, 0.995]];
