//! The papers beside which a scenario's results can stand.

/// What the papers that make claims say, in TOML, by the name that a scenario gives in its `paper` key.
pub const PAPERS: [(&str, &str); 5] = [
    ("vru", include_str!("../../../scenarios/reference/vru.toml")),
    ("web", include_str!("../../../scenarios/reference/web.toml")),
    ("streaming", include_str!("../../../scenarios/reference/streaming.toml")),
    ("train", include_str!("../../../scenarios/reference/train.toml")),
    ("v2x", include_str!("../../../scenarios/reference/v2x.toml")),
];

/// The paper that makes recommendations.
pub const EDGE: &str = "edge";

/// The names of all papers.
pub fn names() -> impl Iterator<Item = &'static str> {
    PAPERS.into_iter().map(|(name, _)| name).chain([EDGE])
}
