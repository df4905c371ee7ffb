//! Finds ONNX Runtime on a machine, by its places and by asking Python.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs};

use trackbed_core::time::nanos;

use crate::clock::{is_ready, monotonic_nanos};

/// Where to search, in this order.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The library, or a folder that contains it (a virtual environment, `site-packages`): nothing
    /// else is searched.
    pub given: Option<PathBuf>,
    /// `ORT_DYLIB_PATH`, which other programs read too; like [`Self::given`].
    pub variable: Option<PathBuf>,
    /// The active virtual environment (`VIRTUAL_ENV`).
    pub environment: Option<PathBuf>,
    /// Python interpreters to ask, by name or path.
    pub interpreters: Vec<PathBuf>,
    /// Folders that contain Python's folders or the library itself.
    pub folders: Vec<PathBuf>,
}

impl Search {
    /// The settings from this process's environment, plus the folders where systems keep libraries
    /// and Python packages.
    pub fn of_environment(given: Option<PathBuf>) -> Search {
        let path = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let mut folders: Vec<PathBuf> =
            path("HOME").into_iter().map(|home| home.join(".local")).collect();
        folders.extend(["/usr/local", "/usr"].map(PathBuf::from));
        Search {
            given,
            variable: path("ORT_DYLIB_PATH"),
            environment: path("VIRTUAL_ENV"),
            interpreters: ["python3", "python"].map(PathBuf::from).into(),
            folders,
        }
    }

    /// The first library found. If the given one is missing, no other is used.
    pub fn find(&self) -> Option<PathBuf> {
        if let Some(named) = self.named() {
            return in_named(named);
        }
        self.environment
            .as_deref()
            .and_then(in_folder)
            .or_else(|| self.interpreters.iter().find_map(|python| by_interpreter(python)))
            .or_else(|| self.folders.iter().find_map(|folder| in_folder(folder)))
    }

    /// The user's choice.
    pub fn named(&self) -> Option<&Path> {
        self.given.as_deref().or(self.variable.as_deref())
    }
}

fn in_named(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return in_folder(path);
    }
    // The dynamic linker looks for relative paths next to this program.
    path.is_file().then(|| fs::canonicalize(path).ok()).flatten()
}

/// In the folder itself, in its library folders, or in its Python package folders.
fn in_folder(folder: &Path) -> Option<PathBuf> {
    let architecture = format!("lib/{}-linux-gnu", env::consts::ARCH);
    let plain = ["", "onnxruntime/capi", "capi", "lib", architecture.as_str(), "lib64"];
    let plain = plain.iter().map(|part| folder.join(part));
    let packages = ["lib", "lib64"].into_iter().flat_map(|lib| {
        let named = |name: &OsStr| name.to_string_lossy().starts_with("python3");
        entries(&folder.join(lib))
            .into_iter()
            .filter(move |entry| entry.file_name().is_some_and(named))
    });
    let packages = packages.flat_map(|python| {
        ["site-packages", "dist-packages"].map(|kind| python.join(kind).join("onnxruntime/capi"))
    });
    plain.chain(packages).find_map(|place| library_in(&place))
}

/// Asks an interpreter for the location of its package, without importing it, which takes a second.
/// `-I` and another working directory: files in the current folder must not pass for Python
/// modules.
fn by_interpreter(python: &Path) -> Option<PathBuf> {
    const QUESTION: &str = "import importlib.util\n\
        spec = importlib.util.find_spec('onnxruntime')\n\
        print(spec.submodule_search_locations[0] if spec else '')";
    let mut command = Command::new(python);
    let answer = ask(command.args(["-I", "-c", QUESTION]).current_dir("/"), ANSWER_MAX)?;
    let package = answer.lines().last().map(str::trim).filter(|line| !line.is_empty())?;
    library_in(&Path::new(package).join("capi"))
}

/// `libonnxruntime.so` or similar directly in this folder, the newest if there are several.
fn library_in(folder: &Path) -> Option<PathBuf> {
    let mut found: Vec<(Vec<u64>, PathBuf)> = entries(folder)
        .into_iter()
        .filter_map(|path| Some((version_of(path.file_name()?.to_str()?)?, path)))
        .filter(|(_, path)| path.is_file())
        .collect();
    found.sort();
    found.pop().and_then(|(_, path)| fs::canonicalize(path).ok())
}

/// The version in the name of a library, `libonnxruntime.so.1.31.1`; empty if it has none, `None`
/// if it is another file.
pub(super) fn version_of(name: &str) -> Option<Vec<u64>> {
    let version = name.strip_prefix("libonnxruntime.so")?;
    if version.is_empty() {
        return Some(Vec::new());
    }
    version.strip_prefix('.')?.split('.').map(|part| part.parse().ok()).collect()
}

/// Sorted, so that the result is deterministic.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

const ANSWER_MAX: Duration = Duration::from_secs(20);

/// The standard output of `command`; `None` if it does not exist, fails, writes more than
/// [`BYTES_MAX`] or takes longer than `limit`.
pub(super) fn ask(command: &mut Command, limit: Duration) -> Option<String> {
    let quiet = command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
    let mut child = quiet.spawn().ok()?;
    let output = read_until_end(&mut child, limit);
    if output.is_none() {
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    output.filter(|_| status.success()).and_then(|bytes| String::from_utf8(bytes).ok())
}

fn read_until_end(child: &mut Child, limit: Duration) -> Option<Vec<u8>> {
    let mut stdout = child.stdout.take()?;
    let end = monotonic_nanos().saturating_add(nanos(limit));
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    while bytes.len() <= BYTES_MAX && monotonic_nanos() <= end && is_ready(&stdout, end).ok()? {
        match stdout.read(&mut part).ok()? {
            0 => return Some(bytes),
            count => bytes.extend_from_slice(&part[..count]),
        }
    }
    None
}

const BYTES_MAX: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder by its real name, gone when the test ends.
    struct Scratch(PathBuf, #[expect(dead_code, reason = "removes the folder")] tempfile::TempDir);

    impl Scratch {
        fn new() -> Scratch {
            let folder = tempfile::tempdir().unwrap();
            Scratch(fs::canonicalize(folder.path()).unwrap(), folder)
        }

        fn file(&self, path: &str) -> PathBuf {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
            path
        }
    }

    #[test]
    fn only_the_library_itself_is_taken_and_its_newest_version() {
        assert_eq!(version_of("libonnxruntime.so"), Some(vec![]));
        assert_eq!(version_of("libonnxruntime.so.1.31.1"), Some(vec![1, 31, 1]));
        assert_eq!(version_of("libonnxruntime_providers_cuda.so"), None);
        assert_eq!(version_of("libonnxruntime.so.old"), None);
        let scratch = Scratch::new();
        for name in ["libonnxruntime.so.1.9.0", "libonnxruntime_providers_shared.so", "a.txt"] {
            scratch.file(name);
        }
        let newest = scratch.file("libonnxruntime.so.1.22.0");
        assert_eq!(library_in(&scratch.0), Some(newest));
    }

    #[test]
    fn a_virtual_environment_is_looked_through_as_pip_lays_it_out() {
        let scratch = Scratch::new();
        let library = "lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.31.1";
        let library = scratch.file(library);
        let environment = Search { environment: Some(scratch.0.clone()), ..Search::default() };
        assert_eq!(environment.find(), Some(library.clone()));
        for part in ["", "lib/python3.12/site-packages", "lib/python3.12/site-packages/onnxruntime"]
        {
            let given = Search { given: Some(scratch.0.join(part)), ..Search::default() };
            assert_eq!(given.find(), Some(library.clone()), "{part}");
        }
        let folders = Search { folders: vec![scratch.0.clone()], ..Search::default() };
        assert_eq!(folders.find(), Some(library));
    }

    #[test]
    fn what_is_named_is_taken_or_nothing() {
        let scratch = Scratch::new();
        let library = scratch.file("lib/libonnxruntime.so");
        let named = scratch.file("mine.so");
        let mut search = Search { folders: vec![scratch.0.clone()], ..Search::default() };
        assert_eq!(search.find(), Some(library));
        search.variable = Some(named.clone());
        assert_eq!(search.find(), Some(named));
        search.given = Some(scratch.0.join("missing.so"));
        assert_eq!(search.find(), None);
    }

    #[test]
    fn an_interpreter_is_asked_for_its_package() {
        let scratch = Scratch::new();
        let library = scratch.file("onnxruntime/capi/libonnxruntime.so.1.20.0");
        let package = library.parent().unwrap().parent().unwrap().display().to_string();
        // The interpreter's answer to any question.
        let python = scratch.file("python");
        fs::write(&python, format!("#!/bin/sh\necho '{package}'\n")).unwrap();
        fs::set_permissions(&python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let missing = scratch.0.join("python-that-is-not-there");
        let search = Search { interpreters: vec![missing, python], ..Search::default() };
        assert_eq!(search.find(), Some(library));
    }

    fn shell(script: &str, limit: Duration) -> Option<String> {
        ask(Command::new("sh").args(["-c", script]), limit)
    }

    #[test]
    fn an_answer_must_come_in_time_and_have_an_end() {
        let long = Duration::from_secs(60);
        assert_eq!(shell("echo here", long).as_deref(), Some("here\n"));
        assert_eq!(shell("echo here; exit 1", long), None);
        assert_eq!(shell("exec yes", long), None);
        assert_eq!(shell("exec sleep 600", Duration::from_millis(50)), None);
        assert_eq!(ask(&mut Command::new("/no/such/program"), long), None);
    }
}
