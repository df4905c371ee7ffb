//! Lines, discs and texts at their places: all that a picture is in the end.

use std::fmt::{self, Write as _};

use super::font::Font;
use super::model::{POINTS_PER_MM, Point};
use crate::words::written;

/// A picture as shapes. Places are in points from the left and upper edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Size of text.
    pub(super) size: f64,
    pub(super) items: Vec<Item>,
}

/// A shape.
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

/// Red, green and blue.
pub(super) type Colour = [u8; 3];

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Paint {
    /// Colour and width of the outline.
    pub stroke: Option<(Colour, f64)>,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub dash: Vec<f64>,
    pub fill: Option<Colour>,
}

impl Scene {
    /// In points.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// As SVG 1.1. Text stays text, in `font` or another one, which is stretched to the same length.
    pub fn svg(&self, font: &Font) -> String {
        written(|out| self.write_svg(font, out))
    }

    fn write_svg(&self, font: &Font, out: &mut String) -> fmt::Result {
        let Scene { width, height, size, items } = self;
        let mm = |points: f64| points / POINTS_PER_MM;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.1}mm\" height=\"{:.1}mm\" \
             viewBox=\"0 0 {width:.1} {height:.1}\" \
             font-family=\"{}, Arial, Helvetica, 'Liberation Sans', sans-serif\" font-size=\"{size}\" \
             stroke-linejoin=\"round\">\n\
             <rect width=\"{width:.1}\" height=\"{height:.1}\" fill=\"#ffffff\"/>",
            mm(*width),
            mm(*height),
            escaped(&font.family().replace(['"', '\''], ""))
        )?;
        for item in items {
            match item {
                Item::Path { points, is_closed, paint } => {
                    write!(out, "<path d=\"")?;
                    for (number, [x, y]) in points.iter().enumerate() {
                        write!(out, "{}{x:.1} {y:.1}", if number == 0 { 'M' } else { 'L' })?;
                    }
                    write!(out, "{}\"", if *is_closed { "Z" } else { "" })?;
                    paint.write_svg(out)?;
                }
                Item::Disc { at: [x, y], radius, paint } => {
                    write!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"")?;
                    paint.write_svg(out)?;
                }
                Item::Text(Text { at: [x, y], anchor, is_upright, text }) => {
                    let length = font.width(text) * size;
                    write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\"")?;
                    write!(out, " lengthAdjust=\"spacingAndGlyphs\"")?;
                    match anchor {
                        0.0 => Ok(()),
                        1.0 => write!(out, " text-anchor=\"end\""),
                        _ => write!(out, " text-anchor=\"middle\""),
                    }?;
                    if *is_upright {
                        write!(out, " transform=\"rotate(-90 {x:.1} {y:.1})\"")?;
                    }
                    writeln!(out, ">{}</text>", escaped(text))?;
                }
            }
        }
        writeln!(out, "</svg>")
    }
}

impl Paint {
    fn write_svg(&self, out: &mut String) -> fmt::Result {
        let hex = |[r, g, b]: Colour| format!("#{r:02x}{g:02x}{b:02x}");
        write!(out, " fill=\"{}\"", self.fill.map_or_else(|| "none".to_owned(), hex))?;
        if let Some((colour, width)) = self.stroke {
            write!(out, " stroke=\"{}\" stroke-width=\"{width:.2}\"", hex(colour))?;
        }
        if !self.dash.is_empty() {
            let lengths: Vec<String> = self.dash.iter().map(|one| format!("{one:.1}")).collect();
            write!(out, " stroke-dasharray=\"{}\"", lengths.join(" "))?;
        }
        writeln!(out, "/>")
    }
}

/// For XML, as text or between double quotes.
pub(crate) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}
