//! A font, to measure and to embed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use subsetter::GlyphRemapper;
use ttf_parser::{Face, GlyphId, Permissions, name_id};

/// A TrueType or OpenType font.
#[derive(Clone, Debug)]
pub struct Font {
    data: Cow<'static, [u8]>,
    family: String,
}

/// Latin, Greek and signs of Arimo, whose letters are as wide as Arial's.
const BUNDLED: &[u8] = include_bytes!("../../assets/fonts/arimo.ttf");

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
        let face = Face::parse(&data, 0).map_err(|why| FontError::NoFont(why.to_string()))?;
        if face.permissions() == Some(Permissions::Restricted) {
            return Err(FontError::Forbidden);
        }
        let names = face.names().into_iter().filter(|name| name.name_id == name_id::FAMILY);
        let family = names.filter_map(|name| name.to_string()).next().unwrap_or_default();
        let font = Font { data: Cow::Owned(data), family };
        let trial = font.embedded(["A"].into_iter());
        trial.map(|_| font).map_err(|why| FontError::NoFont(why.to_string()))
    }

    pub(super) fn family(&self) -> &str {
        &self.family
    }

    /// The bytes were parsed once already.
    pub(super) fn face(&self) -> Face<'_> {
        Face::parse(&self.data, 0).expect("the font was parsed before")
    }

    /// The glyph of a character; of one that the font lacks, a question mark's.
    pub(super) fn glyph(face: &Face<'_>, character: char) -> GlyphId {
        let glyph = face.glyph_index(character).or_else(|| face.glyph_index('?'));
        glyph.unwrap_or_default()
    }

    /// The width of `text` at size 1.
    pub(super) fn width(&self, text: &str) -> f64 {
        let face = self.face();
        let advance = |c| f64::from(face.glyph_hor_advance(Font::glyph(&face, c)).unwrap_or(0));
        text.chars().map(advance).sum::<f64>() / f64::from(face.units_per_em())
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
        let face = self.face();
        let mut numbers = GlyphRemapper::new();
        let mut glyphs = BTreeMap::new();
        for character in texts.flat_map(str::chars) {
            let old = Font::glyph(&face, character);
            let width = f32::from(face.glyph_hor_advance(old).unwrap_or(0));
            let width = width * 1e3 / f32::from(face.units_per_em());
            glyphs.insert(character, (numbers.remap(old.0), width));
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
