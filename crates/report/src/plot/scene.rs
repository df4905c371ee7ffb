//! Lines, discs and texts at their places: all that a picture is in the end.

use std::fmt::{self, Write as _};

use super::axis::Scaled;
use super::font::Font;
use super::model::{POINTS_PER_MM, Point};
use crate::page::palette::{LIGHT, SERIES};
use crate::words::written;

/// A picture as shapes. Places are in points from the left and upper edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) size: f64,
    pub(super) items: Vec<Item>,
    pub(super) axes: Vec<[Scaled; 2]>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Path { points: Vec<Point>, is_closed: bool, paint: Paint },
    Disc { at: Point, radius: f64, paint: Paint },
    Text(Text),
}

impl Item {
    /// Moves it to the right.
    pub fn shift(&mut self, by: f64) {
        match self {
            Item::Path { points, .. } => points.iter_mut().for_each(|[x, _]| *x += by),
            Item::Disc { at, .. } | Item::Text(Text { at, .. }) => at[0] += by,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    /// On the baseline.
    pub at: Point,
    /// The share of the text that is before that place: 0, 0.5 or 1.
    pub anchor: f64,
    /// Whether it runs from bottom to top.
    pub is_upright: bool,
    pub text: String,
}

/// A colour by its use: one on paper, another in each theme of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// That of a series; from [`SERIES`] on, of text.
    Series(usize),
    /// The same, as background.
    Light(usize),
    Ink,
    Grid,
    Ground,
}

impl Tone {
    /// Red, green and blue on paper.
    pub fn rgb(self) -> [u8; 3] {
        match self {
            Tone::Series(number) => {
                let text = LIGHT.series.get(number).map_or("333333", |text| &text[1..]);
                let colour = u32::from_str_radix(text, 16).unwrap_or(0);
                [16, 8, 0].map(|shift| (colour >> shift) as u8)
            }
            Tone::Light(number) => Tone::Series(number)
                .rgb()
                .map(|part| (255.0 - (255.0 - f64::from(part)) * LIGHT_SHARE).round() as u8),
            Tone::Ink => [0x33; 3],
            Tone::Grid => [0xdd; 3],
            Tone::Ground => [255; 3],
        }
    }

    /// In SVG: on paper, or by the page's custom properties.
    fn svg(self, is_page: bool) -> String {
        match self {
            _ if !is_page => {
                let [r, g, b] = self.rgb();
                format!("#{r:02x}{g:02x}{b:02x}")
            }
            Tone::Series(number) | Tone::Light(number) if number < SERIES => {
                format!("var(--s{number})")
            }
            Tone::Series(_) | Tone::Light(_) => "var(--ink)".to_owned(),
            Tone::Ink => "var(--quiet)".to_owned(),
            Tone::Grid => "var(--line)".to_owned(),
            Tone::Ground => "var(--card)".to_owned(),
        }
    }
}

/// How much of its colour a background has.
const LIGHT_SHARE: f64 = 0.3;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Paint {
    /// Colour and width of the outline.
    pub stroke: Option<(Tone, f64)>,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub dash: Vec<f64>,
    pub fill: Option<Tone>,
}

impl Scene {
    /// In points.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// As SVG 1.1. Text stays text, in `font` or another one, which is stretched to the same length.
    pub fn svg(&self, font: &Font) -> String {
        let [width, height] = [self.width, self.height].map(|points| points / POINTS_PER_MM);
        let family = escaped(&font.family().replace(['"', '\''], ""));
        let head = format!(
            "xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.1}mm\" height=\"{height:.1}mm\" \
             font-family=\"{family}, Arial, Helvetica, 'Liberation Sans', sans-serif\""
        );
        written(|out| self.write_svg(&head, Some(font), out))
    }

    /// As an element of this class in a page, in the colours of its theme, with the axes of each panel.
    pub(crate) fn inline(&self, class: &str) -> String {
        let axes: Vec<String> = self.axes.iter().flatten().map(Scaled::written).collect();
        let head = format!(
            "class=\"{class}\" data-axes=\"{}\" fill=\"var(--ink)\" \
             font-family=\"Arial, Helvetica, 'Liberation Sans', sans-serif\"",
            axes.join(";")
        );
        written(|out| self.write_svg(&head, None, out))
    }

    /// Shapes of equal paint that follow each other are one path; text comes last. Only a file knows its `font`.
    fn write_svg(&self, head: &str, font: Option<&Font>, out: &mut String) -> fmt::Result {
        let Scene { width, height, size, .. } = self;
        write!(out, "<svg {head} viewBox=\"0 0 {width:.1} {height:.1}\" font-size=\"{size}\" ")?;
        writeln!(out, "stroke-linejoin=\"round\">")?;
        if font.is_some() {
            writeln!(out, "<rect width=\"{width:.1}\" height=\"{height:.1}\" fill=\"#ffffff\"/>")?;
        }
        let mut texts: Vec<&Text> = Vec::new();
        let mut paint_before = None;
        for item in &self.items {
            let paint = match item {
                Item::Path { paint, .. } | Item::Disc { paint, .. } => paint,
                Item::Text(text) => {
                    texts.push(text);
                    continue;
                }
            };
            if paint_before != Some(paint) {
                if let Some(paint) = paint_before.replace(paint) {
                    paint.write_svg(font.is_none(), out)?;
                }
                write!(out, "<path d=\"")?;
            }
            item.write_path(out)?;
        }
        if let Some(paint) = paint_before {
            paint.write_svg(font.is_none(), out)?;
        }
        texts.sort_by(|a, b| a.anchor.total_cmp(&b.anchor));
        for texts in texts.chunk_by(|a, b| a.anchor == b.anchor) {
            let names = ["start", "middle", "end"];
            writeln!(out, "<g text-anchor=\"{}\">", names[(texts[0].anchor * 2.0) as usize])?;
            texts.iter().try_for_each(|text| text.write_svg(*size, font, out))?;
            writeln!(out, "</g>")?;
        }
        writeln!(out, "</svg>")
    }
}

impl Item {
    fn write_path(&self, out: &mut String) -> fmt::Result {
        match self {
            Item::Path { points, is_closed, .. } => {
                let mut last = [const { String::new() }; 2];
                for (number, point) in points.iter().enumerate() {
                    let [x, y] = point.map(tenths);
                    match number {
                        0 => write!(out, "M{x} {y}"),
                        _ if y == last[1] => write!(out, "H{x}"),
                        _ if x == last[0] => write!(out, "V{y}"),
                        _ => write!(out, "L{x} {y}"),
                    }?;
                    last = [x, y];
                }
                out.push_str(if *is_closed { "Z" } else { "" });
                Ok(())
            }
            Item::Disc { at: [x, y], radius, .. } => {
                let [x, y, r, d] = [x - radius, *y, *radius, 2.0 * radius].map(tenths);
                write!(out, "M{x} {y}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z")
            }
            Item::Text(_) => Ok(()),
        }
    }
}

impl Text {
    fn write_svg(&self, size: f64, font: Option<&Font>, out: &mut String) -> fmt::Result {
        let [x, y] = self.at.map(tenths);
        write!(out, "<text x=\"{x}\" y=\"{y}\"")?;
        if let Some(font) = font {
            let length = font.width(&self.text) * size;
            write!(out, " textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\"")?;
        }
        if self.is_upright {
            write!(out, " transform=\"rotate(-90 {x} {y})\"")?;
        }
        writeln!(out, ">{}</text>", escaped(&self.text))
    }
}

impl Paint {
    /// Ends a path.
    fn write_svg(&self, is_page: bool, out: &mut String) -> fmt::Result {
        let fill = self.fill.map_or_else(|| "none".to_owned(), |tone| tone.svg(is_page));
        write!(out, "\" fill=\"{fill}\"")?;
        if is_page && matches!(self.fill, Some(Tone::Light(_))) {
            write!(out, " fill-opacity=\"{LIGHT_SHARE}\"")?;
        }
        if let Some((tone, width)) = self.stroke {
            write!(out, " stroke=\"{}\" stroke-width=\"{width:.2}\"", tone.svg(is_page))?;
        }
        if !self.dash.is_empty() {
            let lengths: Vec<String> = self.dash.iter().map(|one| format!("{one:.1}")).collect();
            write!(out, " stroke-dasharray=\"{}\"", lengths.join(" "))?;
        }
        writeln!(out, "/>")
    }
}

/// A place, as exactly as a picture needs it.
fn tenths(place: f64) -> String {
    let text = format!("{place:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// For XML, as text or between double quotes.
pub(crate) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}
