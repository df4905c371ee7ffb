//! Images from the files of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::FrameError;
use super::names::compare;
use crate::image::Image;

#[derive(Debug)]
pub(super) struct Folder {
    files: Vec<PathBuf>,
    next: usize,
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Folder, FrameError> {
        // A MOTChallenge sequence has its images there, next to detections and ground truth.
        let images = path.join("img1");
        let folder = if images.is_dir() { &images } else { path };
        let failed = |why| FrameError::File(folder.to_owned(), why);
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if is_image(&path) {
                files.push(path);
            }
        }
        if files.is_empty() {
            return Err(FrameError::Empty(folder.to_owned()));
        }
        files.sort_by(|a, b| compare(&a.to_string_lossy(), &b.to_string_lossy()));
        Ok(Folder { files, next: 0 })
    }

    pub(super) fn next(&mut self) -> Result<Option<Image>, FrameError> {
        let Some(path) = self.files.get(self.next) else { return Ok(None) };
        self.next += 1;
        let bytes = fs::read(path).map_err(|why| FrameError::File(path.clone(), why))?;
        let image = Image::decode(&bytes).map_err(|why| FrameError::Image(path.clone(), why))?;
        Ok(Some(image))
    }

    pub(super) fn rewind(&mut self) {
        self.next = 0;
    }
}

fn is_image(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
    extension.is_some_and(|known| ["jpg", "jpeg", "png"].iter().any(|name| known == *name))
        && !path.is_dir()
}
