//! A picture as a PDF page of its size, with the glyphs that it needs as an embedded font.

use pdf_writer::types::{
    CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap,
};
use pdf_writer::{Content, Finish as _, Name, Pdf, Rect, Ref, Str};
use skrifa::Tag;
use skrifa::raw::TableProvider as _;

use super::font::{Embedded, Font, FontError};
use super::scene::{Item, Paint, Scene, Text, Tone};

// Numbers of the objects.
const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const FONT: Ref = Ref::new(5);
const CID_FONT: Ref = Ref::new(6);
const DESCRIPTOR: Ref = Ref::new(7);
const FILE: Ref = Ref::new(8);
const UNICODE: Ref = Ref::new(9);

impl Scene {
    /// As PDF. The font is embedded by its outlines (Type 0), which publishers accept; Type 3 they do not.
    ///
    /// # Errors
    /// If the font cannot be embedded.
    pub fn pdf(&self, font: &Font) -> Result<Vec<u8>, FontError> {
        let texts = self.items.iter().filter_map(|item| match item {
            Item::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let embedded = font.embedded(texts).map_err(|why| FontError::NoFont(why.to_string()))?;
        let mut pdf = Pdf::new();
        pdf.catalog(CATALOG).pages(PAGES);
        pdf.pages(PAGES).kids([PAGE]).count(1);
        let mut page = pdf.page(PAGE);
        page.media_box(Rect::new(0.0, 0.0, self.width as f32, self.height as f32));
        page.parent(PAGES).contents(CONTENT);
        page.resources().fonts().pair(NAME, FONT);
        page.finish();
        pdf.stream(CONTENT, &self.content(&embedded));
        write_font(font, &embedded, &mut pdf);
        Ok(pdf.finish())
    }

    fn content(&self, font: &Embedded) -> pdf_writer::Buf {
        let mut content = Content::new();
        content.set_line_join(LineJoinStyle::RoundJoin).set_line_cap(LineCapStyle::ButtCap);
        let place = |[x, y]: [f64; 2]| [x as f32, (self.height - y) as f32];
        for item in &self.items {
            match item {
                Item::Path { points, is_closed, paint } => {
                    for (number, point) in points.iter().enumerate() {
                        let [x, y] = place(*point);
                        if number == 0 {
                            content.move_to(x, y)
                        } else {
                            content.line_to(x, y)
                        };
                    }
                    if *is_closed {
                        content.close_path();
                    }
                    show(paint, &mut content);
                }
                Item::Disc { at, radius, paint } => {
                    let ([x, y], r) = (place(*at), *radius as f32);
                    content.move_to(x + r, y);
                    // A quarter of a circle by a cubic curve is off by a fiftieth of a percent.
                    let k = 0.552_3 * r;
                    for [c, s] in [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]] {
                        let turned =
                            |along: f32, up: f32| (x + along * c - up * s, y + along * s + up * c);
                        let ((x1, y1), (x2, y2), (x3, y3)) =
                            (turned(r, k), turned(k, r), turned(0.0, r));
                        content.cubic_to(x1, y1, x2, y2, x3, y3);
                    }
                    content.close_path();
                    show(paint, &mut content);
                }
                Item::Text(text) => self.show_text(text, font, &mut content),
            }
        }
        content.finish()
    }

    fn show_text(&self, text: &Text, font: &Embedded, content: &mut Content) {
        let glyphs = || text.text.chars().filter_map(|character| font.glyphs.get(&character));
        let bytes: Vec<u8> = glyphs().flat_map(|(glyph, _)| glyph.to_be_bytes()).collect();
        let width = glyphs().map(|(_, width)| width).sum::<f32>() * self.size as f32 / 1e3;
        let back = width * text.anchor as f32;
        let [x, y] = [text.at[0] as f32, (self.height - text.at[1]) as f32];
        let matrix = match text.is_upright {
            true => [0.0, 1.0, -1.0, 0.0, x, y - back],
            false => [1.0, 0.0, 0.0, 1.0, x - back, y],
        };
        content.set_fill_rgb(0.0, 0.0, 0.0).begin_text().set_font(NAME, self.size as f32);
        content.set_text_matrix(matrix).show(Str(&bytes)).end_text();
    }
}

fn show(paint: &Paint, content: &mut Content) {
    let parts = |tone: Tone| tone.rgb().map(|part| f32::from(part) / 255.0);
    if let Some([r, g, b]) = paint.fill.map(parts) {
        content.set_fill_rgb(r, g, b);
    }
    if let Some((tone, width)) = paint.stroke {
        let [r, g, b] = parts(tone);
        content.set_stroke_rgb(r, g, b).set_line_width(width as f32);
        content.set_dash_pattern(paint.dash.iter().map(|length| *length as f32), 0.0);
    }
    match (paint.fill, paint.stroke) {
        (Some(_), Some(_)) => content.fill_nonzero_and_stroke(),
        (Some(_), None) => content.fill_nonzero(),
        (None, Some(_)) => content.stroke(),
        (None, None) => content.end_path(),
    };
}

fn write_font(font: &Font, embedded: &Embedded, pdf: &mut Pdf) {
    let is_cff = font.face().data_for_tag(Tag::new(b"CFF ")).is_some();
    // Six letters before the name say that it is a part of a font.
    let letters = font.family().chars().filter(char::is_ascii_alphanumeric);
    let name = format!("TRACKB+{}", letters.collect::<String>());
    let name = Name(name.as_bytes());
    let info = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
    let mut whole = pdf.type0_font(FONT);
    whole.base_font(name).encoding_predefined(Name(b"Identity-H"));
    whole.descendant_font(CID_FONT).to_unicode(UNICODE);
    whole.finish();
    let mut cid = pdf.cid_font(CID_FONT);
    cid.subtype(if is_cff { CidFontType::Type0 } else { CidFontType::Type2 });
    cid.base_font(name).system_info(info).font_descriptor(DESCRIPTOR);
    if !is_cff {
        cid.cid_to_gid_map_predefined(Name(b"Identity"));
    }
    let mut widths = cid.widths();
    for (glyph, width) in embedded.glyphs.values() {
        widths.same(*glyph, *glyph, *width);
    }
    widths.finish();
    cid.finish();
    let metrics = font.metrics();
    let scaled = |value: f32| value * 1e3 / f32::from(metrics.units_per_em);
    let bounds = metrics.bounds.unwrap_or_default();
    let mut descriptor = pdf.font_descriptor(DESCRIPTOR);
    descriptor.name(name).flags(FontFlags::NON_SYMBOLIC).italic_angle(0.0).stem_v(80.0);
    descriptor.bbox(Rect::new(
        scaled(bounds.x_min),
        scaled(bounds.y_min),
        scaled(bounds.x_max),
        scaled(bounds.y_max),
    ));
    descriptor.ascent(scaled(metrics.ascent)).descent(scaled(metrics.descent));
    descriptor.cap_height(scaled(metrics.cap_height.unwrap_or(metrics.ascent)));
    if is_cff {
        descriptor.font_file3(FILE)
    } else {
        descriptor.font_file2(FILE)
    };
    descriptor.finish();
    let mut file = pdf.stream(FILE, &embedded.data);
    if is_cff {
        file.pair(Name(b"Subtype"), Name(b"OpenType"));
    }
    file.finish();
    let mut unicode = UnicodeCmap::new(Name(b"Custom"), info);
    embedded.glyphs.iter().for_each(|(character, (glyph, _))| unicode.pair(*glyph, *character));
    pdf.cmap(UNICODE, &unicode.finish());
}

/// The font's name on the page.
const NAME: Name<'static> = Name(b"F");
