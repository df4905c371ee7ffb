//! The server and its storage: media in pieces of one second, each in every resolution.

use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use bytes::Bytes;
use trackbed_connection::{Body, Request, Response, Service, body};
use trackbed_core::Ratio;
use trackbed_outward::files;

use crate::contract::SiteFile;
use crate::data::{nothing_at, refuse};

pub(super) enum Storage {
    Generated(Generated),
    Folder(Folder),
}

pub(super) struct Generated {
    /// Its length in pieces.
    pub length: u32,
    /// The mean size of a piece in QHD, in bytes.
    pub qhd_bytes: u64,
    /// The maximum deviation from the mean sizes, as a share of these.
    pub variation: Ratio,
}

/// Media in files: a folder for each resolution, each with the same number of files, in the order of
/// their names.
pub(super) struct Folder {
    /// By resolution.
    pieces: [Vec<File>; 3],
}

struct File {
    path: PathBuf,
    name: String,
    bytes: u64,
}

impl Storage {
    /// The length in pieces, at least one.
    pub fn length(&self) -> u32 {
        match self {
            Storage::Generated(generated) => generated.length,
            Storage::Folder(folder) => folder.pieces[0].len() as u32,
        }
    }

    /// The size of a piece in bytes.
    pub fn bytes(&self, resolution: Resolution, second: u32) -> u64 {
        match self {
            Storage::Generated(generated) => generated.bytes(resolution, second),
            Storage::Folder(folder) => folder.file(resolution, second).bytes,
        }
    }

    /// The mean size of a piece of each resolution in bytes, at least one.
    pub fn mean_bytes(&self) -> [u64; 3] {
        Resolution::ALL.map(|resolution| match self {
            Storage::Generated(generated) => generated.mean(resolution).max(1),
            Storage::Folder(folder) => {
                let files = &folder.pieces[resolution.index()];
                let sum: u64 = files.iter().map(|file| file.bytes).sum();
                (sum / files.len() as u64).max(1)
            }
        })
    }

    /// The path of a piece. A generated piece is identified by its size, so that a few files
    /// suffice on a third-party server; the second is only informative.
    pub fn path(&self, resolution: Resolution, second: u32) -> String {
        let name = resolution.name();
        match self {
            Storage::Generated(generated) => {
                let bytes = generated.bytes(resolution, second);
                format!("{ROOT}{name}/{bytes}?second={second}")
            }
            Storage::Folder(folder) => {
                format!("{ROOT}{name}/{}", folder.file(resolution, second).name)
            }
        }
    }

    /// The content at a path; `None` if there is none.
    pub fn open(&self, path: &str) -> Option<io::Result<Body>> {
        let path = path.split('?').next().unwrap_or(path);
        let (resolution, name) = path.strip_prefix(ROOT)?.split_once('/')?;
        let resolution = Resolution::ALL.into_iter().find(|r| r.name() == resolution)?;
        match self {
            Storage::Generated(generated) => {
                let bytes: u64 = name.parse().ok()?;
                generated.sizes(resolution).contains(&bytes).then(|| Ok(body::zeros(bytes)))
            }
            Storage::Folder(folder) => {
                let pieces = &folder.pieces[resolution.index()];
                let place = pieces.binary_search_by(|file| file.name.as_str().cmp(name)).ok()?;
                let bytes = files::read_bounded(&pieces[place].path, PIECE_BYTES_MAX);
                Some(bytes.map(|bytes| body::full(Bytes::from(bytes))))
            }
        }
    }

    /// The files for a third-party server.
    pub fn site_files(&self) -> Vec<SiteFile> {
        let of = |resolution: Resolution| -> Vec<SiteFile> {
            let base = format!("{ROOT}{}/", resolution.name());
            match self {
                Storage::Generated(generated) => {
                    let sizes = generated.sizes(resolution).into_iter();
                    sizes.map(|bytes| zeros_file(format!("{base}{bytes}"), bytes)).collect()
                }
                Storage::Folder(folder) => {
                    let files = folder.pieces[resolution.index()].iter();
                    files.map(|file| copied_file(&base, file)).collect()
                }
            }
        };
        Resolution::ALL.into_iter().flat_map(of).collect()
    }
}

fn zeros_file(path: String, bytes: u64) -> SiteFile {
    let content = move |file: &mut dyn io::Write| {
        io::copy(&mut io::Read::take(io::repeat(0), bytes), file).map(drop)
    };
    SiteFile { path, bytes, content: Arc::new(content) }
}

fn copied_file(base: &str, file: &File) -> SiteFile {
    let source = file.path.clone();
    let content =
        move |file: &mut dyn io::Write| io::copy(&mut files::open(&source)?, file).map(drop);
    SiteFile { path: format!("{base}{}", file.name), bytes: file.bytes, content: Arc::new(content) }
}

impl Generated {
    /// The mean size: in proportion to the bit rates that YouTube recommends for uploads at up to
    /// 30 pictures a second, 5, 8 and 16 Mbit/s ("Recommended upload encoding settings").
    fn mean(&self, resolution: Resolution) -> u64 {
        let parts = [5, 8, 16][resolution.index()];
        (u128::from(self.qhd_bytes) * parts / 16) as u64
    }

    fn bytes(&self, resolution: Resolution, second: u32) -> u64 {
        // Multiples of the golden ratio spread evenly over the range and keep neighbours apart
        // (Knuth, "The Art of Computer Programming" 3, section 6.4).
        let scattered = second.wrapping_mul(2_654_435_769);
        self.sizes(resolution)[((u64::from(scattered) * STEPS) >> 32) as usize]
    }

    /// The sizes of generated pieces of a resolution: evenly from the smallest to the greatest.
    fn sizes(&self, resolution: Resolution) -> [u64; STEPS as usize] {
        let mean = self.mean(resolution);
        let spread = (mean as f64 * self.variation.as_f64()).round() as u64;
        let lowest = mean - spread.min(mean);
        std::array::from_fn(|step| lowest + 2 * spread * step as u64 / (STEPS - 1))
    }
}

impl Folder {
    /// Reads a user's folder: it contains `hd`, `fhd` and `qhd`, each with the same number of files.
    ///
    /// # Errors
    /// What is missing or wrong, and what to do.
    pub fn open(path: &Path) -> Result<Folder, String> {
        let pieces = Resolution::ALL.map(|resolution| files(&path.join(resolution.name())));
        let [hd, fhd, qhd] = pieces;
        let pieces = [hd?, fhd?, qhd?];
        let [hd, fhd, qhd] = pieces.each_ref().map(Vec::len);
        if hd != fhd || fhd != qhd {
            return Err(format!(
                "{} contains {hd} files in hd, {fhd} in fhd and {qhd} in qhd; put the same seconds \
                 in all three",
                path.display()
            ));
        }
        Ok(Folder { pieces })
    }

    fn file(&self, resolution: Resolution, second: u32) -> &File {
        let files = &self.pieces[resolution.index()];
        &files[second as usize % files.len()]
    }
}

/// The files of a folder by name; hidden ones and folders are ignored.
fn files(folder: &Path) -> Result<Vec<File>, String> {
    let layout = "media is a folder with hd, fhd and qhd in it, each with a file for every second, \
                  named in order (0000.m4s, 0001.m4s)";
    let unreadable =
        |path: &Path, why: io::Error| format!("cannot read {}: {why}; {layout}", path.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|why| unreadable(folder, why))? {
        let path = entry.map_err(|why| unreadable(folder, why))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let metadata = fs::metadata(&path).map_err(|why| unreadable(&path, why))?;
        if name.starts_with('.') || !metadata.is_file() {
            continue;
        }
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
            let path = path.display();
            return Err(format!(
                "{path} cannot be part of a URL; use letters, digits, dots, - and _"
            ));
        }
        if metadata.len() > PIECE_BYTES_MAX {
            let (path, limit) = (path.display(), PIECE_BYTES_MAX / 1_000_000);
            return Err(format!("{path} has more than {limit} MB; a piece is a second of media"));
        }
        files.push(File { path, name, bytes: metadata.len() });
    }
    match files.is_empty() || files.len() > PIECES_MAX as usize {
        true => Err(format!("{} contains {} files; {layout}", folder.display(), files.len())),
        false => {
            files.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(files)
        }
    }
}

const ROOT: &str = "/media/";

/// The number of different sizes of generated pieces of one resolution.
const STEPS: u64 = 9;

/// The maximum size of a piece, which is read as a whole.
const PIECE_BYTES_MAX: u64 = 256_000_000;

pub(super) const PIECES_MAX: u32 = 86_400;

/// Answers `/media/{resolution}/{piece}` with the piece, anything else with 404.
pub(super) fn service(storage: Arc<Storage>) -> impl Service {
    move |request: Request| {
        ready(match storage.open(&request.path) {
            Some(Ok(piece)) => Response { status: 200, body: piece },
            Some(Err(why)) => refuse(500, format!("{} cannot be read: {why}", request.path)),
            None => nothing_at(&request.path),
        })
    }
}

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

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn generated(variation: Ratio) -> Storage {
        Storage::Generated(Generated { length: 600, qhd_bytes: 4_500_000, variation })
    }

    fn served(storage: &Storage, path: &str) -> Option<u64> {
        let body = storage.open(path)?.unwrap();
        Some(body::drain(body).now_or_never().unwrap().unwrap())
    }

    #[test]
    fn pieces_are_as_large_as_the_paper_says_and_in_proportion() {
        let storage = generated(Ratio::from_parts(1, 10));
        assert_eq!(storage.mean_bytes(), [1_406_250, 2_250_000, 4_500_000]);
        let sizes: Vec<u64> = (0..600).map(|n| storage.bytes(Resolution::Qhd, n)).collect();
        let (least, most) = (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap());
        assert_eq!((least, most), (4_050_000, 4_950_000));
        let mean = sizes.iter().sum::<u64>() as f64 / 600.0;
        assert!((mean / 4.5e6 - 1.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn every_path_leads_to_a_piece_of_its_size() {
        for storage in [generated(Ratio::from_parts(1, 10)), generated(Ratio::ZERO)] {
            for resolution in Resolution::ALL {
                for second in [0, 1, 17, 599] {
                    let path = storage.path(resolution, second);
                    assert_eq!(served(&storage, &path), Some(storage.bytes(resolution, second)));
                }
            }
        }
        let storage = generated(Ratio::ZERO);
        for path in ["/", "/media/qhd", "/media/qhd/1", "/media/8k/4500000", "/media/qhd/x"] {
            assert_eq!(served(&storage, path), None, "{path}");
        }
    }

    #[test]
    fn a_foreign_server_gets_a_file_for_every_path() {
        let storage = generated(Ratio::from_parts(1, 10));
        let files = storage.site_files();
        assert_eq!(files.len(), 27);
        for second in 0..600 {
            let path = storage.path(Resolution::Fhd, second);
            let path = path.split('?').next().unwrap();
            let file = files.iter().find(|file| file.path == path).unwrap();
            if second < 3 {
                let mut content = Vec::new();
                (file.content)(&mut content).unwrap();
                assert_eq!(content.len() as u64, storage.bytes(Resolution::Fhd, second));
            }
        }
    }

    fn user_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for resolution in Resolution::ALL {
            let inside = folder.path().join(resolution.name());
            fs::create_dir_all(&inside).unwrap();
            for second in 0..3usize {
                let size = (second + 1) * resolution.lines() as usize;
                fs::write(inside.join(format!("{second:04}.m4s")), vec![1; size]).unwrap();
            }
        }
        folder
    }

    #[test]
    fn a_users_files_are_served_as_they_are() {
        let folder = user_folder();
        let folder = folder.path();
        fs::write(folder.join("hd/.hidden"), "x").unwrap();
        let storage = Storage::Folder(Folder::open(folder).unwrap());
        assert_eq!((storage.length(), storage.mean_bytes()), (3, [1_440, 2_160, 2_880]));
        assert_eq!(storage.path(Resolution::Qhd, 1), "/media/qhd/0001.m4s");
        assert_eq!(served(&storage, "/media/qhd/0001.m4s"), Some(2_880));
        assert_eq!(served(&storage, "/media/qhd/../hd/0001.m4s"), None);
        fs::remove_file(folder.join("hd/0002.m4s")).unwrap();
        assert!(storage.open("/media/hd/0002.m4s").unwrap().is_err());
    }

    #[test]
    fn a_folder_of_another_layout_is_refused_with_advice() {
        let refused = |folder: &Path| Folder::open(folder).err().unwrap();
        let folder = user_folder();
        let folder = folder.path();
        assert!(refused(Path::new("/nowhere")).contains("0000.m4s"));
        fs::write(folder.join("hd/a b"), "x").unwrap();
        assert!(refused(folder).contains("use letters, digits"));
        fs::remove_file(folder.join("hd/a b")).unwrap();
        fs::remove_file(folder.join("hd/0000.m4s")).unwrap();
        assert!(refused(folder).contains("2 files in hd, 3 in fhd"));
        fs::remove_dir_all(folder.join("fhd")).unwrap();
        assert!(refused(folder).contains("fhd"));
    }
}
