//! Images from the files of a folder, in the order of the numbers in their names.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::FrameError;
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

/// Compares names so that `frame2` comes before `frame10`: consecutive digits are one number. Names
/// that differ only in leading zeros are compared as text.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        match (left.chars().next(), right.chars().next()) {
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let ((first, left_rest), (second, right_rest)) = (number(left), number(right));
                // Without leading zeros, the longer number is the larger one.
                match first.len().cmp(&second.len()).then_with(|| first.cmp(second)) {
                    Ordering::Equal => (left, right) = (left_rest, right_rest),
                    unequal => return unequal,
                }
            }
            (Some(x), Some(y)) if x == y => {
                (left, right) = (&left[x.len_utf8()..], &right[y.len_utf8()..]);
            }
            (None, None) => return a.cmp(b),
            (x, y) => return x.cmp(&y),
        }
    }
}

/// The leading digits without leading zeros, and the rest.
fn number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_by_their_value() {
        let sorted = ["000001.jpg", "1.jpg", "2.jpg", "10.jpg", "a", "a1b2", "a1b10", "a02", "ä"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(compare(a, b), i.cmp(&j), "{a} {b}");
            }
        }
        let huge = "9".repeat(400);
        assert_eq!(compare(&huge, "1"), Ordering::Greater);
    }
}
