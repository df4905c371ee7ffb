//! The studies whose figures can be shown beside a scenario's results.

/// The studies' figures in TOML, by the name in a scenario's `paper` key.
pub const PAPERS: [(&str, &str); 7] = [
    ("vru", include_str!("../../../scenarios/reference/vru.toml")),
    ("web", include_str!("../../../scenarios/reference/web.toml")),
    ("streaming", include_str!("../../../scenarios/reference/streaming.toml")),
    ("train", include_str!("../../../scenarios/reference/train.toml")),
    ("hsr", include_str!("../../../scenarios/reference/hsr.toml")),
    ("v2x", include_str!("../../../scenarios/reference/v2x.toml")),
    (EDGE, include_str!("../../../scenarios/reference/edge.toml")),
];

/// What their statements came to in other settings than the page's: a line of JSON for each, written by `trackbed
/// paper NAME --settings N`.
pub const SETTINGS: [(&str, &str); 7] = [
    ("vru", include_str!("../../../scenarios/settings/vru.jsonl")),
    ("web", include_str!("../../../scenarios/settings/web.jsonl")),
    ("streaming", include_str!("../../../scenarios/settings/streaming.jsonl")),
    ("train", include_str!("../../../scenarios/settings/train.jsonl")),
    ("hsr", include_str!("../../../scenarios/settings/hsr.jsonl")),
    ("v2x", include_str!("../../../scenarios/settings/v2x.jsonl")),
    (EDGE, include_str!("../../../scenarios/settings/edge.jsonl")),
];

/// The study that prints tables by device, with recommendations.
pub const EDGE: &str = "edge";

/// The names of all studies.
pub fn names() -> impl Iterator<Item = &'static str> {
    PAPERS.into_iter().map(|(name, _)| name)
}
