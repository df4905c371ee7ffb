//! Any files as a run directory, which is read and reported, or refused; and any archive as a pack, which writes
//! nothing outside.

use std::fs;

use trackbed_analysis::advise::{Question, advise};
use trackbed_archive::{Recorded, Results as _, unpack};
use trackbed_report::advice::render;
use trackbed_report::page::{Builder, Origin};
use trackbed_report::summary::{self, Options};

/// One input: `about.json`, `runs.jsonl` and `run.json` with a zero byte between them; or after a zero byte,
/// a tar archive.
pub fn run(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path();
    if let Some((0, archive)) = data.split_first() {
        fs::write(path.join("pack"), gzip(archive)).expect("there is room for a small file");
        fs::create_dir_all(path.join("a/b")).expect("it is new");
        let _ = unpack(&path.join("pack"), &path.join("a/b"));
        let count = |path| fs::read_dir(path).expect("it was made").count();
        assert_eq!((count(path.to_owned()), count(path.join("a"))), (2, 1), "it writes outside");
        return;
    }
    for (name, contents) in
        ["about.json", "runs.jsonl", "run.json"].iter().zip(data.split(|byte| *byte == 0))
    {
        fs::write(path.join(name), contents).expect("there is room for a small file");
    }
    let _ = Recorded::read(path);
    let Ok((document, runs)) = trackbed_analysis::open(path) else { return };
    for verbose in [false, true] {
        let text = summary::render(&document, Options { replay: "", verbose, width: Some(99) });
        assert!(!text.is_empty(), "a summary has a text");
    }
    let mut page = Builder::new(&document, Origin::default());
    for cell in 0..document.cells.len() as u32 {
        let _ = runs.of(cell).map(|runs| page.cell(cell, &runs));
    }
    assert!(page.finish().contains("</html>"), "a report is whole");
    let needs = vec!["mean completion < 100 ms".to_owned(), "p99 rtt < 1 s".to_owned()];
    let question = Question { needs, baseline: None, known_metrics: Vec::new() };
    let _ = runs.all().map(|runs| advise(&document, &runs, &question).map(|it| render(&it)));
}

/// In one piece, without compression, and with a checksum that comes too late to matter.
fn gzip(data: &[u8]) -> Vec<u8> {
    let data = &data[..data.len().min(0xffff)];
    let len = data.len() as u16;
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    [&head[..], &len.to_le_bytes(), &(!len).to_le_bytes(), data, &[0; 8]].concat()
}
