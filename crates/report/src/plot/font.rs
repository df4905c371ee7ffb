//! A font, to measure and to embed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::Metrics;
use skrifa::raw::{FontRef, TableProvider as _};
use skrifa::string::StringId;
use skrifa::{GlyphId, MetadataProvider as _};
use subsetter::GlyphRemapper;

/// A TrueType or OpenType font.
#[derive(Clone, Debug)]
pub struct Font {
    data: Cow<'static, [u8]>,
    family: String,
}

/// Latin, Greek and signs of Arimo, whose letters are as wide as Arial's.
const BUNDLED: &[u8] = include_bytes!("../../assets/fonts/arimo.ttf");

/// Of the licence flags in the table OS/2 (`fsType`), those that exclude each other, and the one that forbids
/// embedding.
const USAGE: u16 = 0xf;
const RESTRICTED: u16 = 2;

impl Font {
    /// The font that comes with the program.
    pub fn bundled() -> Font {
        Font { data: Cow::Borrowed(BUNDLED), family: "Arimo".to_owned() }
    }

    /// The font in these bytes of a file.
    ///
    /// # Errors
    /// If it is no font whose glyphs can be embedded.
    pub fn new(data: Vec<u8>) -> Result<Font, FontError> {
        let face = FontRef::from_index(&data, 0);
        let face = face.map_err(|why| FontError::NoFont(why.to_string()))?;
        if face.os2().is_ok_and(|table| table.fs_type() & USAGE == RESTRICTED) {
            return Err(FontError::Forbidden);
        }
        let family = face.localized_strings(StringId::FAMILY_NAME).english_or_first();
        let family = family.map(|name| name.to_string()).unwrap_or_default();
        let font = Font { data: Cow::Owned(data), family };
        let trial = font.embedded(["A"].into_iter());
        trial.map(|_| font).map_err(|why| FontError::NoFont(why.to_string()))
    }

    pub(super) fn family(&self) -> &str {
        &self.family
    }

    /// The bytes were parsed once already.
    pub(super) fn face(&self) -> FontRef<'_> {
        FontRef::from_index(&self.data, 0).expect("the font was parsed before")
    }

    /// Its measures in units of the font.
    pub(super) fn metrics(&self) -> Metrics {
        self.face().metrics(Size::unscaled(), LocationRef::default())
    }

    /// Finds the glyph of a character, or of one that the font lacks a question mark's, and its width.
    pub(super) fn glyphs(&self) -> impl Fn(char) -> (GlyphId, f32) + '_ {
        let face = self.face();
        let characters = face.charmap();
        let widths = face.glyph_metrics(Size::unscaled(), LocationRef::default());
        move |character| {
            let glyph = characters.map(character).or_else(|| characters.map('?'));
            let glyph = glyph.unwrap_or_default();
            (glyph, widths.advance_width(glyph).unwrap_or(0.0))
        }
    }

    /// The width of `text` at size 1.
    pub(super) fn width(&self, text: &str) -> f64 {
        let glyphs = self.glyphs();
        let width: f64 = text.chars().map(|character| f64::from(glyphs(character).1)).sum();
        width / f64::from(self.metrics().units_per_em)
    }

    /// `text` in lines of at most `width`, at size 1. A longer word has a line of its own.
    pub(super) fn wrapped(&self, text: &str, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match lines.last_mut() {
                Some(line) if self.width(&format!("{line} {word}")) <= width => {
                    *line = format!("{line} {word}");
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }

    /// The part of the font that `texts` need.
    pub(super) fn embedded<'t>(
        &self,
        texts: impl Iterator<Item = &'t str>,
    ) -> Result<Embedded, subsetter::Error> {
        let (find, em) = (self.glyphs(), f32::from(self.metrics().units_per_em));
        let mut numbers = GlyphRemapper::new();
        let mut glyphs = BTreeMap::new();
        for character in texts.flat_map(str::chars) {
            let (old, width) = find(character);
            // A font has at most 65,535 glyphs.
            let new = numbers.remap(old.to_u32() as u16);
            glyphs.insert(character, (new, width * 1e3 / em));
        }
        let data = subsetter::subset(&self.data, 0, &numbers)?;
        Ok(Embedded { data, glyphs })
    }
}

/// A font with few glyphs.
pub(super) struct Embedded {
    pub data: Vec<u8>,
    /// The glyph of each character, and its width at size 1000.
    pub glyphs: BTreeMap<char, (u16, f32)>,
}

/// Why a font cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum FontError {
    #[error("this is no TrueType or OpenType font that can be embedded ({0})")]
    NoFont(String),
    #[error("this font's licence flags forbid embedding it")]
    Forbidden,
}
