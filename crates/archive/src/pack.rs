//! Packs: a run directory in one compressed archive, with every file that its scenario reads.
//!
//! The first file in a pack, `pack.json`, lists the others with their digests, in their order. A pack that was
//! unpacked by any program is a run directory: files that the scenario names are read from its folder `files`.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write};
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use sha2::Digest as _;
use tar::{Archive, Builder, EntryType, Header};
use trackbed_core::text::hex;
use trackbed_measure::results::SCHEMA;
use trackbed_outward::files;
use trackbed_scenario::Input;

use crate::directory::{check_complete, read_document};
use crate::error::{DirectoryError, Problem};
use crate::files::{ABOUT, CAPTURES, DOCUMENT, FILES, PACK, PAGE, RUNS, SAMPLES, TIMELINES};
use crate::form::read_json;
use crate::hashing::Hashing;
use crate::recorded::{Recorded, place_of};
use crate::{VERSION, build_id};

/// What `pack.json` says.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    schema: u32,
    /// The program that made the pack; `about.json` names the one that made the runs.
    trackbed: String,
    build: Option<String>,
    files: Vec<Packed>,
}

/// A file of a pack.
#[derive(Debug, Serialize, Deserialize)]
struct Packed {
    path: String,
    sha256: String,
    bytes: u64,
}

impl Packed {
    /// The file at `place` as it is now.
    fn new(place: &Path, path: &str) -> io::Result<Packed> {
        let mut file = Hashing::new(files::open(place)?);
        let bytes = io::copy(&mut file, &mut io::sink())?;
        Ok(Packed { path: path.to_owned(), sha256: hex(&file.hash.finalize()), bytes })
    }
}

/// Writes a pack of the run directory `recorded` to `sink`, below the folder `name`. Returns the number of its
/// files. Equal directories give equal bytes.
///
/// # Errors
/// If results are missing, a file that the scenario names has changed, or something cannot be read or written.
pub fn pack(recorded: &Recorded, name: &str, sink: impl Write) -> Result<usize, DirectoryError> {
    let Recorded { path, about, plan, runs } = recorded;
    let refuse = |why: String| DirectoryError::new(path, Problem::Pack(why));
    check_complete(&read_document(path)?, runs)?;
    if about.files.len() != plan.inputs.len() {
        let why = "does not record the files that its scenario reads; the command that created it adds them";
        return Err(refuse(why.to_owned()));
    }
    let mut places = Vec::new();
    for file in [ABOUT, DOCUMENT, RUNS, SAMPLES, PAGE, TIMELINES, CAPTURES] {
        // A link in a directory from elsewhere could lead to any file.
        let (place, of) = (path.join(file), |place: &Path| fs::symlink_metadata(place));
        gather(&place, file.to_owned(), of, &mut places).map_err(refuse)?;
    }
    for input in &about.files {
        let (place, of) = (place_of(path, input), |place: &Path| fs::metadata(place));
        gather(&place, copy_name(input), of, &mut places).map_err(refuse)?;
    }
    let packed = places.iter().map(|(place, name)| Packed::new(place, name));
    let files =
        packed.collect::<io::Result<Vec<Packed>>>().map_err(|why| refuse(why.to_string()))?;
    let manifest =
        Manifest { schema: SCHEMA, trackbed: VERSION.to_owned(), build: build_id(), files };
    let mut archive = Builder::new(GzEncoder::new(sink, Compression::default()));
    let mut write = || -> io::Result<()> {
        let text = serde_json::to_vec_pretty(&manifest)?;
        archive.append(&header(&format!("{name}/{PACK}"), text.len() as u64)?, text.as_slice())?;
        for ((place, _), Packed { path, sha256, bytes }) in places.iter().zip(&manifest.files) {
            let mut file = Hashing::new(files::open(place)?.take(*bytes));
            archive.append(&header(&format!("{name}/{path}"), *bytes)?, &mut file)?;
            if hex(&file.hash.finalize()) != *sha256 {
                return Err(io::Error::other(format!("{} changed meanwhile", place.display())));
            }
        }
        archive.finish()
    };
    write().map_err(|why| refuse(format!("cannot be packed: {why}")))?;
    let ended = archive.into_inner().and_then(GzEncoder::finish).and_then(|mut sink| sink.flush());
    ended.map_err(|why| refuse(format!("cannot be packed: {why}")))?;
    Ok(places.len())
}

/// Adds the file at `place`, or all files below it, with their names in the pack.
fn gather(
    place: &Path,
    name: String,
    metadata: fn(&Path) -> io::Result<Metadata>,
    places: &mut Vec<(PathBuf, String)>,
) -> Result<(), String> {
    let fail = |why: io::Error| format!("cannot read {}: {why}", place.display());
    let kind = match metadata(place) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
        kind => kind.map_err(fail)?,
    };
    if kind.is_symlink() {
        return Err(format!("{} is a symbolic link; put the file itself there", place.display()));
    }
    if !kind.is_dir() {
        places.push((place.to_owned(), name));
        return Ok(());
    }
    let entries = fs::read_dir(place).map_err(fail)?.map(|entry| Ok(entry?.file_name()));
    let mut entries = entries.collect::<io::Result<Vec<_>>>().map_err(fail)?;
    entries.sort();
    entries.iter().try_for_each(|entry| {
        let name = format!("{name}/{}", entry.to_string_lossy());
        gather(&place.join(entry), name, metadata, places)
    })
}

/// The name in a pack of a file that the scenario reads. The end of the file's own name stays, because its
/// extension can matter.
pub(crate) fn copy_name(input: &Input) -> String {
    let name = Path::new(&input.path).file_name().unwrap_or_default().to_string_lossy();
    let start = (0..name.len()).find(|at| name.is_char_boundary(*at) && name.len() - at <= 100);
    let digest: String = input.sha256.chars().take(16).collect();
    format!("{FILES}/{digest}/{}", &name[start.unwrap_or(0)..])
}

/// The same for equal files on every machine.
fn header(path: &str, bytes: u64) -> io::Result<Header> {
    let mut header = Header::new_ustar();
    header.set_path(path)?;
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_cksum();
    Ok(header)
}

/// Unpacks the pack at `pack` to the empty folder `into`, checks it as [`check_pack`] does, and returns the name
/// of its folder and the number of its files. Only what `pack.json` lists is written, only below `into`, and piece by piece.
///
/// # Errors
/// If it is not a pack, is damaged, or has other files than it lists.
pub fn unpack(pack: &Path, into: &Path) -> Result<(String, usize), DirectoryError> {
    let refuse = |why: String| DirectoryError::new(pack, Problem::Pack(why));
    let damaged = |why: io::Error| match why.kind() {
        io::ErrorKind::UnexpectedEof => refuse("is cut off; copy it again".to_owned()),
        io::ErrorKind::StorageFull => refuse(format!("cannot be unpacked: {why}; set TMPDIR")),
        _ => refuse(format!("is not a pack of `trackbed pack`, or is damaged ({why})")),
    };
    let file = files::open(pack).map_err(damaged)?;
    let mut archive = Archive::new(GzDecoder::new(io::BufReader::new(file)));
    // Raw, because the extensions of the format would be read into memory as a whole.
    let mut entries = archive.entries().map_err(damaged)?.raw(true);
    let mut next = |path: Option<&Packed>| {
        let Some(entry) = entries.next() else { return Ok(None) };
        let entry = entry.map_err(damaged)?;
        let name = entry.path().map_err(damaged)?.into_owned();
        let wanted = path.map_or(PACK, |packed| packed.path.as_str());
        let is_wanted = name.components().skip(1).eq(Path::new(wanted).components())
            && matches!(name.components().next(), Some(Component::Normal(_)))
            && entry.header().entry_type() == EntryType::Regular
            && entry.size() <= path.map_or(MANIFEST_MAX, |packed| packed.bytes);
        match is_wanted {
            true => Ok(Some((entry, name))),
            false => Err(refuse(format!("has {name:?} where it should have the file {wanted}"))),
        }
    };
    let Some((mut entry, name)) = next(None)? else { return Err(refuse("is empty".to_owned())) };
    let keep = |entry: &mut dyn io::Read, path: &Path| {
        fs::create_dir_all(path.parent().unwrap_or(into)).map_err(DirectoryError::io(into))?;
        let mut file = File::create_new(path).map_err(DirectoryError::io(path))?;
        io::copy(entry, &mut file).map_err(damaged)
    };
    keep(&mut entry, &into.join(PACK))?;
    let files = manifest(into).map_err(|why| DirectoryError::new(pack, why))?.files;
    for packed in &files {
        let missing = || refuse(format!("lacks {}; copy it again", packed.path));
        let (mut entry, _) = next(Some(packed))?.ok_or_else(missing)?;
        keep(&mut entry, &into.join(&packed.path))?;
    }
    check_pack(into).map_err(|why| why.at(pack))?;
    Ok((name.iter().next().unwrap_or_default().to_string_lossy().into_owned(), files.len()))
}

/// Compares the files of an unpacked pack with their digests, and returns their number; `None` if the run
/// directory at `path` was never packed.
///
/// # Errors
/// If a file is missing or has changed.
pub fn check_pack(path: &Path) -> Result<Option<usize>, DirectoryError> {
    if !path.join(PACK).exists() {
        return Ok(None);
    }
    let refuse = |why| DirectoryError::new(path, why);
    let manifest = manifest(path).map_err(refuse)?;
    for Packed { path: name, sha256, bytes } in &manifest.files {
        let found = match Packed::new(&path.join(name), name) {
            Ok(now) if now.sha256 == *sha256 => continue,
            Ok(now) => format!("found sha256 {} ({} B)", now.sha256, now.bytes),
            Err(why) => format!("found none ({why})"),
        };
        let why = format!(
            "{name} has changed since it was packed: recorded sha256 {sha256} ({bytes} B), {found}; \
             get the pack again"
        );
        return Err(refuse(Problem::Pack(why)));
    }
    Ok(Some(manifest.files.len()))
}

fn manifest(path: &Path) -> Result<Manifest, Problem> {
    let manifest: Manifest = read_json(path, PACK, || Problem::Missing)?;
    let is_plain = |packed: &&Packed| {
        let mut parts = Path::new(&packed.path).components();
        parts.all(|part| matches!(part, Component::Normal(_))) && !packed.path.is_empty()
    };
    match manifest.files.iter().find(|packed| !is_plain(packed)) {
        Some(Packed { path, .. }) => {
            Err(Problem::Pack(format!("{PACK} lists {path:?}, which is not a file of a pack")))
        }
        None => Ok(manifest),
    }
}

/// A line for each of 300,000 files fits.
const MANIFEST_MAX: u64 = 100_000_000;

#[cfg(test)]
mod tests;
