//! The page's colours, light and dark.
//!
//! Series remain distinct for people with colour-vision deficiencies (tests check this with the
//! simulation of Machado, Oliveira and Fernandes, IEEE TVCG 15, 2009), and never differ by colour
//! alone: lines have dashes, points have shapes, and rows have names.

/// The colours of one theme, as `#rrggbb`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    /// Page background.
    pub page: &'static str,
    /// Background of figures and tables.
    pub card: &'static str,
    /// Background of table headings and code.
    pub inset: &'static str,
    /// Text.
    pub ink: &'static str,
    /// Secondary text, axes.
    pub quiet: &'static str,
    /// Links and keyboard focus.
    pub accent: &'static str,
    /// Failures.
    pub bad: &'static str,
    /// Warnings: models, runs left out.
    pub warn: &'static str,
    /// Borders and grids; they carry no information.
    pub line: &'static str,
    /// Series, in the order of use.
    pub series: [&'static str; SERIES],
}

/// Number of series colours; then they repeat with another dash.
pub(crate) const SERIES: usize = 8;

pub(crate) const LIGHT: Palette = Palette {
    page: "#f6f7f9",
    card: "#ffffff",
    inset: "#eef1f5",
    ink: "#1a2027",
    quiet: "#535d6a",
    accent: "#0b57a4",
    bad: "#b3151b",
    warn: "#7a4a00",
    line: "#d5dbe3",
    series: [
        "#0b46a8", "#d68100", "#1799f5", "#793862", "#3f8266", "#434704", "#a68bab", "#0c2c16",
    ],
};

pub(crate) const DARK: Palette = Palette {
    page: "#0f1317",
    card: "#161b21",
    inset: "#1f262e",
    ink: "#e8ecf1",
    quiet: "#a5b0bd",
    accent: "#7db8ff",
    bad: "#ff8a86",
    warn: "#f2bd62",
    line: "#333d48",
    series: [
        "#687fed", "#d56a00", "#47d7ff", "#a78ead", "#a9c3a1", "#ebc426", "#4868a6", "#f6f3ee",
    ],
};

impl Palette {
    /// As CSS custom properties.
    pub fn properties(&self) -> String {
        let Palette { page, card, inset, ink, quiet, accent, bad, warn, line, series } = self;
        let mut text = format!(
            "--page:{page};--card:{card};--inset:{inset};--ink:{ink};--quiet:{quiet};\
             --accent:{accent};--bad:{bad};--warn:{warn};--line:{line};"
        );
        for (number, colour) in series.iter().enumerate() {
            text.push_str(&format!("--s{number}:{colour};"));
        }
        text
    }
}

#[cfg(test)]
mod tests;
