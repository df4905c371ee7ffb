//! Where images come from: files, a video, or thin air.

mod error;
mod folder;
mod generated;
mod names;
mod video;

use std::path::Path;

use crate::image::Image;

pub use error::FrameError;
use folder::Folder;
pub use generated::Generated;
use video::Video;

/// Images in their order, of one size or several.
#[derive(Debug)]
pub struct Frames(Source);

#[derive(Debug)]
enum Source {
    Folder(Folder),
    Video(Video),
    Generated(Generated),
}

impl Frames {
    /// Frames of 640 x 480 pixels with boxes that move, drawn from a seed; they do not end.
    pub fn generated(seed: u64) -> Frames {
        Frames(Source::Generated(Generated::new(seed)))
    }

    /// The images of a folder, or of its folder `img1` as MOTChallenge has it, by name, numbers in
    /// names by their value; or the images of a video, which ffmpeg decodes.
    ///
    /// # Errors
    /// If there is nothing, or no image in it.
    pub fn open(path: &Path) -> Result<Frames, FrameError> {
        let data = std::fs::metadata(path).map_err(|why| FrameError::File(path.to_owned(), why))?;
        Ok(Frames(match data.is_dir() {
            true => Source::Folder(Folder::open(path)?),
            false => Source::Video(Video::open(path)?),
        }))
    }

    /// The next image; `None` at the end.
    ///
    /// # Errors
    /// If it cannot be read. Do not call it again then.
    pub fn read(&mut self) -> Result<Option<Image>, FrameError> {
        match &mut self.0 {
            Source::Folder(folder) => folder.next(),
            Source::Video(video) => video.next(),
            Source::Generated(generated) => Ok(Some(generated.next())),
        }
    }

    /// Goes back to the first image.
    ///
    /// # Errors
    /// If a video cannot be opened again.
    pub fn rewind(&mut self) -> Result<(), FrameError> {
        match &mut self.0 {
            Source::Folder(folder) => folder.rewind(),
            Source::Video(video) => video.rewind()?,
            Source::Generated(generated) => generated.rewind(),
        }
        Ok(())
    }
}
