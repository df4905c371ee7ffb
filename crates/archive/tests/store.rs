//! Directories that grow, are uploaded to a store, and fetched again, however their processes end. The store
//! is a folder behind the same interface; `trackbed`'s own tests use an S3 server.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trackbed_archive::store::{Mirror, Store, StoreError};

/// A temporary folder with a store in it.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Scratch {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("bucket")).unwrap();
        Scratch(folder)
    }

    fn store(&self) -> Store {
        Store::open(&format!("file://{}/bucket/sweep", self.0.path().display())).unwrap()
    }

    /// An empty directory, as if on another machine.
    fn machine(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn objects(&self) -> BTreeSet<String> {
        fn below(folder: &Path, names: &mut BTreeSet<String>, root: &Path) {
            for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
                match entry.path() {
                    path if path.is_dir() => below(&path, names, root),
                    path => {
                        let name = path.strip_prefix(root).unwrap();
                        names.insert(name.to_string_lossy().into_owned());
                    }
                }
            }
        }
        let (mut names, root) = (BTreeSet::new(), self.0.path().join("bucket/sweep"));
        below(&root, &mut names, &root);
        names
    }
}

fn append(directory: &Path, lines: &str) {
    let mut options = OpenOptions::new();
    let mut file = options.create(true).append(true).open(directory.join("runs.jsonl")).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
}

fn lines(directory: &Path) -> BTreeSet<String> {
    fs::read_to_string(directory.join("runs.jsonl")).unwrap().lines().map(str::to_owned).collect()
}

const NEVER: Duration = Duration::from_secs(3_600);

fn begin(scratch: &Scratch, directory: &Path) -> Mirror {
    let restored = Mirror::restore(&scratch.store(), directory).unwrap();
    fs::write(directory.join("about.json"), "{}").unwrap();
    restored.mirror(NEVER, |why| panic!("{why}")).unwrap()
}

#[test]
fn another_machine_continues_what_a_process_left() {
    let scratch = Scratch::new();
    let first = scratch.machine("first");
    let mirror = begin(&scratch, &first);
    append(&first, "{\"run\":0}\n{\"run\":1}\n{\"ru");
    // The process ends in the middle of a line.
    drop(mirror);
    let names = scratch.objects();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.contains("about.json"));
    assert!(names.iter().any(|name| name.starts_with("runs/") && name.len() == 5 + 64 + 6));

    let second = scratch.machine("second");
    let mut mirror = begin(&scratch, &second);
    assert_eq!(lines(&second), BTreeSet::from(["{\"run\":0}", "{\"run\":1}"].map(str::to_owned)));
    append(&second, "{\"run\":2}\n");
    mirror.stop().unwrap();
    assert_eq!(scratch.objects().len(), 3, "another piece, without old lines");
    // Sorted, summarised and finished.
    let finished = "{\"run\":2}\n{\"run\":1}\n{\"run\":0}\n";
    fs::write(second.join("runs.jsonl"), finished).unwrap();
    fs::create_dir(second.join("timelines")).unwrap();
    for (name, text) in
        [("run.json", "{}"), ("timelines/0.csv", "t\n"), (".lock", ""), ("x.partial", "")]
    {
        fs::write(second.join(name), text).unwrap();
    }
    mirror.finish().unwrap();
    let names: Vec<String> = scratch.objects().into_iter().collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(names[0], "about.json");
    assert_eq!((names[1].as_str(), names[3].as_str()), ("run.json", "timelines/0.csv"));

    let third = scratch.machine("third");
    assert_eq!(scratch.store().fetch(&third).unwrap().objects, 4);
    let text = fs::read_to_string(third.join("runs.jsonl")).unwrap();
    assert_eq!(text, finished, "the order of the process that finished");
    assert_eq!(fs::read_to_string(third.join("timelines/0.csv")).unwrap(), "t\n");
}

/// A line longer than a piece must be uploaded, or it and all later lines would be lost with the machine.
#[test]
fn a_result_of_any_length_is_stored() {
    let scratch = Scratch::new();
    let first = scratch.machine("first");
    let mirror = begin(&scratch, &first);
    let long = format!("{{\"run\":0,\"samples\":\"{}\"}}", "x".repeat(20 << 20));
    append(&first, &format!("{long}\n{{\"run\":1}}\n"));
    drop(mirror);
    let second = scratch.machine("second");
    scratch.store().fetch(&second).unwrap();
    assert!(lines(&second) == BTreeSet::from([long, "{\"run\":1}".to_owned()]));
}

#[test]
fn results_that_cannot_be_stored_are_reported() {
    let scratch = Scratch::new();
    let first = scratch.machine("first");
    let mut mirror = begin(&scratch, &first);
    append(&first, "{\"run\":0}\n");
    // A file where the store keeps its pieces.
    fs::write(scratch.0.path().join("bucket/sweep/runs"), "").unwrap();
    let why = mirror.stop().unwrap_err().to_string();
    assert!(why.contains("not stored yet: the last 10 B of"), "{why}");
    assert!(why.contains(first.join("runs.jsonl").to_str().unwrap()), "{why}");
}

#[test]
fn concurrent_processes_lose_no_results() {
    let scratch = Scratch::new();
    let [first, second] = ["first", "second"].map(|name| scratch.machine(name));
    let ours = begin(&scratch, &first);
    let theirs = begin(&scratch, &second);
    append(&first, "{\"run\":0}\n");
    append(&second, "{\"run\":1}\n");
    ours.finish().unwrap();
    theirs.finish().unwrap();
    let third = scratch.machine("third");
    scratch.store().fetch(&third).unwrap();
    assert_eq!(lines(&third), BTreeSet::from(["{\"run\":0}", "{\"run\":1}"].map(str::to_owned)));
}

#[test]
fn one_of_two_that_begin_at_once_gets_an_error() {
    let scratch = Scratch::new();
    let [first, second] = ["first", "second"].map(|name| scratch.machine(name));
    let restored = [&first, &second].map(|own| Mirror::restore(&scratch.store(), own).unwrap());
    for own in [&first, &second] {
        fs::write(own.join("about.json"), "{}").unwrap();
    }
    let [ours, theirs] = restored.map(|restored| restored.mirror(NEVER, |_| {}));
    assert!(ours.is_ok());
    assert!(matches!(theirs, Err(StoreError::Taken { .. })), "{theirs:?}");
}

/// A finished directory with one result.
fn finish_one(scratch: &Scratch) {
    let first = scratch.machine("first");
    let mirror = begin(scratch, &first);
    append(&first, "{\"run\":0}\n");
    mirror.finish().unwrap();
}

/// Results are uploaded without any call.
#[test]
fn results_are_uploaded_as_they_arrive() {
    let scratch = Scratch::new();
    let first = scratch.machine("first");
    let restored = Mirror::restore(&scratch.store(), &first).unwrap();
    fs::write(first.join("about.json"), "{}").unwrap();
    let mirror = restored.mirror(Duration::from_millis(5), |why| panic!("{why}")).unwrap();
    append(&first, "{\"run\":0}\n");
    // The machine may be slow.
    while scratch.objects().len() < 2 {
        std::thread::yield_now();
    }
    drop(mirror);
}

#[test]
fn damaged_pieces_are_named() {
    let scratch = Scratch::new();
    finish_one(&scratch);
    let names = scratch.objects();
    let piece = names.iter().find(|name| name.starts_with("runs/")).unwrap();
    fs::write(scratch.0.path().join("bucket/sweep").join(piece), "{\"run\":9}\n").unwrap();
    let second = scratch.machine("second");
    let why = scratch.store().fetch(&second).unwrap_err().to_string();
    let kept = fs::read_dir(&second).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(kept.collect::<Vec<_>>(), ["about.json"], "no piece that does not match its name");
    assert!(why.contains(piece) && why.contains("SHA-256") && why.contains("delete it"), "{why}");
}

/// An untrusted folder may contain links to anything.
#[test]
fn links_in_a_folder_are_not_followed() {
    let scratch = Scratch::new();
    finish_one(&scratch);
    fs::write(scratch.0.path().join("secret"), "mine").unwrap();
    for (link, target) in [("samples.csv", "secret"), ("timelines", ".")] {
        let path = scratch.0.path().join("bucket/sweep").join(link);
        std::os::unix::fs::symlink(scratch.0.path().join(target), &path).unwrap();
        let second = scratch.machine("second");
        let why = scratch.store().fetch(&second).unwrap_err().to_string();
        assert!(why.contains(link) && why.contains("delete it"), "{why}");
        assert_eq!(fs::read_dir(&second).unwrap().count(), 0);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn errors_of_invalid_addresses_show_valid_ones() {
    for address in ["ftp://x/y", "s3:", "http://example.com/x"] {
        let why = Store::open(address).unwrap_err().to_string();
        assert!(why.contains("s3://BUCKET/FOLDER") && why.contains(address), "{why}");
    }
    let scratch = Scratch::new();
    let why = scratch.store().fetch(&scratch.machine("first")).unwrap_err().to_string();
    assert!(why.contains("no objects found"), "{why}");
}
