//! The resolutions of media.

/// A resolution. They are ordered: the greater one has more picture lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Resolution {
    /// 1280 x 720.
    Hd,
    /// 1920 x 1080.
    Fhd,
    /// 2560 x 1440.
    Qhd,
}

impl Resolution {
    /// All of them, the lowest first.
    pub const ALL: [Resolution; 3] = [Resolution::Hd, Resolution::Fhd, Resolution::Qhd];

    /// The name in paths and folders.
    pub fn name(self) -> &'static str {
        match self {
            Resolution::Hd => "hd",
            Resolution::Fhd => "fhd",
            Resolution::Qhd => "qhd",
        }
    }

    /// The lines of a picture.
    pub fn lines(self) -> u32 {
        match self {
            Resolution::Hd => 720,
            Resolution::Fhd => 1_080,
            Resolution::Qhd => 1_440,
        }
    }

    /// The place in [`Resolution::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}
