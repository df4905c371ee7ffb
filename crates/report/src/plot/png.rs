//! A picture as pixels, for programs that read nothing else.

use std::io;

use skrifa::MetadataProvider as _;
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use tiny_skia::{
    Color, FillRule, Paint as Ink, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use super::font::Font;
use super::scene::{Item, Paint, Scene, Text};

/// Pixels of a point: 600 dpi, which journals ask of pictures with lines.
const PER_POINT: f32 = 600.0 / 72.0;
const PER_METRE: u32 = 23_622;

/// A quarter of a gigabyte: a page of a newspaper.
const PIXELS_MAX: u64 = 1 << 26;

impl Scene {
    /// As PNG, 600 pixels an inch.
    ///
    /// # Errors
    /// If there are more than 67 million pixels.
    pub fn png(&self, font: &Font) -> io::Result<Vec<u8>> {
        let pixels = |points: f64| (points as f32 * PER_POINT).round() as u32;
        let (width, height) = (pixels(self.width), pixels(self.height));
        let fits = u64::from(width) * u64::from(height) <= PIXELS_MAX;
        let canvas = if fits { Pixmap::new(width, height) } else { None };
        let mut canvas = canvas.ok_or_else(|| {
            let why = format!("{width} x {height} pixels are too many for a PNG");
            io::Error::other(why + "; make the figure smaller, or make a PDF or an SVG of it")
        })?;
        canvas.fill(Color::WHITE);
        for item in &self.items {
            match item {
                Item::Path { points, is_closed, paint } => {
                    let mut path = PathBuilder::new();
                    for (number, [x, y]) in points.iter().enumerate() {
                        match number {
                            0 => path.move_to(*x as f32, *y as f32),
                            _ => path.line_to(*x as f32, *y as f32),
                        }
                    }
                    if *is_closed {
                        path.close();
                    }
                    show(path.finish(), paint, &mut canvas);
                }
                Item::Disc { at: [x, y], radius, paint } => {
                    let disc = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32);
                    show(disc, paint, &mut canvas);
                }
                Item::Text(text) => self.show_glyphs(text, font, &mut canvas),
            }
        }
        Ok(encode(&canvas)?)
    }

    fn show_glyphs(&self, text: &Text, font: &Font, canvas: &mut Pixmap) {
        let (face, glyphs) = (font.face(), font.glyphs());
        let outlines = face.outline_glyphs();
        let scale = (self.size / f64::from(font.metrics().units_per_em)) as f32;
        let mut along = (-font.width(&text.text) * self.size * text.anchor) as f32;
        let [x, y] = text.at.map(|value| value as f32);
        for character in text.text.chars() {
            let (glyph, width) = glyphs(character);
            // Letters rise against the axis of rows; upright ones rise to the left.
            let place = match text.is_upright {
                true => Transform::from_row(0.0, -scale, -scale, 0.0, x, y - along),
                false => Transform::from_row(scale, 0.0, 0.0, -scale, x + along, y),
            };
            let mut outline = Outline(PathBuilder::new());
            let unhinted = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
            // A glyph that cannot be drawn stays empty, as a blank is.
            let drawn = outlines.get(glyph).map(|of| of.draw(unhinted, &mut outline));
            let path = drawn.and_then(Result::ok).and_then(|_| outline.0.finish());
            if let Some(path) = path.and_then(|path| path.transform(place)) {
                fill(&path, [0; 3], canvas);
            }
            along += width * scale;
        }
    }
}

fn encode(canvas: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, canvas.width(), canvas.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: PER_METRE,
        yppu: PER_METRE,
        unit: png::Unit::Meter,
    }));
    // The ground is white, so no pixel is transparent.
    let opaque = canvas.data().chunks_exact(4).flat_map(|pixel| pixel[..3].to_vec());
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&opaque.collect::<Vec<u8>>())?;
    writer.finish()?;
    Ok(file)
}

/// Fills and outlines a path, unless it is empty.
fn show(path: Option<Path>, paint: &Paint, canvas: &mut Pixmap) {
    let Some(path) = path else { return };
    if let Some(tone) = paint.fill {
        fill(&path, tone.rgb(), canvas);
    }
    if let Some((tone, width)) = paint.stroke {
        let lengths = paint.dash.iter().map(|length| *length as f32).collect();
        let dash = StrokeDash::new(lengths, 0.0);
        let stroke = Stroke {
            width: width as f32,
            dash,
            line_join: tiny_skia::LineJoin::Round,
            ..Stroke::default()
        };
        canvas.stroke_path(&path, &ink(tone.rgb()), &stroke, SCALED, None);
    }
}

fn fill(path: &Path, colour: [u8; 3], canvas: &mut Pixmap) {
    canvas.fill_path(path, &ink(colour), FillRule::Winding, SCALED, None);
}

const SCALED: Transform =
    Transform { sx: PER_POINT, kx: 0.0, ky: 0.0, sy: PER_POINT, tx: 0.0, ty: 0.0 };

fn ink([red, green, blue]: [u8; 3]) -> Ink<'static> {
    let mut ink = Ink::default();
    ink.set_color_rgba8(red, green, blue, 255);
    ink
}

struct Outline(PathBuilder);

impl OutlinePen for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.0.quad_to(cx, cy, x, y);
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        self.0.cubic_to(cx0, cy0, cx1, cy1, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}
