//! A wheel: the program for `pip install`, with the Python package in `python/`.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

use super::artefacts::Artefact;
use super::contents::Contents;
use super::pack::Tree;
use crate::files::{read, told};

/// The part of `pyproject.toml` that a wheel's metadata repeats.
#[derive(Deserialize)]
struct PyProject {
    project: Project,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Project {
    name: String,
    version: String,
    description: String,
    requires_python: String,
    classifiers: Vec<String>,
    dependencies: Vec<String>,
    optional_dependencies: BTreeMap<String, Vec<String>>,
    entry_points: BTreeMap<String, BTreeMap<String, String>>,
}

/// The wheel. A static program runs with glibc and with musl, of any version.
pub fn wheel(contents: &Contents) -> Result<Artefact, String> {
    let folder = contents.root.join("python");
    let read = |name: &str| read(folder.join(name));
    let PyProject { project } =
        toml::from_str(&read("pyproject.toml")?).map_err(told("python/pyproject.toml"))?;
    let version = &project.version;
    let name = project.name.replace('-', "_");
    let mut tree = Tree::default();
    let mut package = Tree::default();
    package.copy("src", &folder.join("src"), true).map_err(told("python/src"))?;
    for (path, bytes) in package.files().filter(|(path, _)| !path.contains(".egg-info/")) {
        tree.file(path.trim_start_matches("src/"), bytes);
    }
    tree.program(format!("{name}-{version}.data/scripts/trackbed"), contents.program.as_slice());
    let about = format!("{name}-{version}.dist-info");
    let licences = contents.licences()?;
    tree.graft(&format!("{about}/licenses"), &licences);
    tree.file(format!("{about}/METADATA"), project.metadata(&licences, &read("README.md")?));
    let platforms = ["manylinux_2_17", "manylinux2014", "musllinux_1_1"];
    let platforms = platforms.map(|name| format!("{name}_{}", contents.target.processor()));
    let mut kind =
        "Wheel-Version: 1.0\nGenerator: cargo xtask dist\nRoot-Is-Purelib: false\n".to_owned();
    for platform in &platforms {
        let _ = writeln!(kind, "Tag: py3-none-{platform}");
    }
    tree.file(format!("{about}/WHEEL"), kind);
    tree.file(format!("{about}/entry_points.txt"), project.entry_points());
    let mut record = String::new();
    for (path, bytes) in tree.files() {
        let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        let _ = writeln!(record, "{path},sha256={sum},{}", bytes.len());
    }
    let _ = writeln!(record, "{about}/RECORD,,");
    tree.file(format!("{about}/RECORD"), record);
    let packed = tree.zip().map_err(told("the wheel"))?;
    Ok((format!("{name}-{version}-py3-none-{}.whl", platforms.join(".")), packed))
}

impl Project {
    fn metadata(&self, licences: &Tree, readme: &str) -> String {
        let Project { name, version, .. } = self;
        let mut text = format!("Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n");
        let mut add = |key: &str, value: &str| {
            let _ = writeln!(text, "{key}: {value}");
        };
        add("Summary", &self.description);
        add("Author", "The Trackbed authors");
        add("License-Expression", "MIT OR Apache-2.0");
        for (name, _) in licences.files() {
            add("License-File", name);
        }
        add("Requires-Python", &self.requires_python);
        for classifier in &self.classifiers {
            add("Classifier", classifier);
        }
        for needed in &self.dependencies {
            add("Requires-Dist", needed);
        }
        for (extra, all) in &self.optional_dependencies {
            add("Provides-Extra", extra);
            for needed in all {
                let (needed, marker) = needed.split_once(';').unwrap_or((needed, ""));
                let other = if marker.is_empty() {
                    String::new()
                } else {
                    format!("({}) and ", marker.trim())
                };
                add("Requires-Dist", &format!("{}; {other}extra == \"{extra}\"", needed.trim()));
            }
        }
        add("Description-Content-Type", "text/markdown");
        text + "\n" + readme
    }

    fn entry_points(&self) -> String {
        let mut text = String::new();
        for (group, points) in &self.entry_points {
            let _ = writeln!(text, "[{group}]");
            for (name, object) in points {
                let _ = writeln!(text, "{name} = {object}");
            }
        }
        text
    }
}
