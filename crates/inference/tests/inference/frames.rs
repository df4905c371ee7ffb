//! Frames from realistic folders and videos.

use std::fs;
use std::process::{Command, Stdio};

use trackbed_inference::frames::{FrameError, Frames};
use trackbed_inference::image::Image;

use crate::Scratch;

fn image(scratch: &Scratch, name: &str, grey: u8) {
    let path = scratch.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut encoder = png::Encoder::new(fs::File::create(path).unwrap(), 1, 1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&[grey; 3]).unwrap();
}

/// The red of the first pixel of each image.
fn reds(frames: &mut Frames) -> Vec<u8> {
    std::iter::from_fn(|| frames.read().unwrap()).map(|image| image.rgb()[0]).collect()
}

#[test]
fn a_sequence_of_motchallenge_comes_in_its_order_and_again() {
    let scratch = Scratch::new();
    for number in [11, 2, 1, 10] {
        image(&scratch, &format!("img1/{number:06}.png"), number);
    }
    fs::create_dir_all(scratch.path("det")).unwrap();
    fs::write(scratch.path("det/det.txt"), "1,-1,0,0,1,1,1\n").unwrap();
    fs::write(scratch.path("img1/notes.txt"), "none").unwrap();
    fs::write(scratch.path("seqinfo.ini"), "[Sequence]\n").unwrap();
    let mut frames = Frames::open(scratch.0.path()).unwrap();
    assert_eq!(reds(&mut frames), [1, 2, 10, 11]);
    assert!(frames.read().unwrap().is_none());
    frames.rewind().unwrap();
    assert_eq!(reds(&mut frames), [1, 2, 10, 11]);
    // The folder itself works too.
    assert_eq!(reds(&mut Frames::open(&scratch.path("img1")).unwrap()), [1, 2, 10, 11]);
}

#[test]
fn mistakes_name_the_file_and_the_remedy() {
    let scratch = Scratch::new();
    let error = Frames::open(scratch.0.path()).unwrap_err();
    assert!(matches!(error, FrameError::Empty(_)), "{error}");
    assert!(error.to_string().contains("img1/"), "{error}");
    let error = Frames::open(&scratch.path("missing")).unwrap_err().to_string();
    assert!(error.contains("missing"), "{error}");
    image(&scratch, "1.png", 9);
    fs::write(scratch.path("2.jpg"), b"\xff\xd8\xff\xe0 damaged").unwrap();
    let mut frames = Frames::open(scratch.0.path()).unwrap();
    assert!(frames.read().unwrap().is_some());
    let error = frames.read().unwrap_err().to_string();
    assert!(error.contains("2.jpg") && error.contains("damaged"), "{error}");
}

/// A JPEG of one colour, 16 x 8, written by libjpeg-turbo (Pillow 13, quality 95, no subsampling).
const JPEG: &[u8] = include_bytes!("orange.jpg");

#[test]
fn a_jpeg_has_the_colours_that_went_in() {
    let scratch = Scratch::new();
    fs::write(scratch.path("1.JPG"), JPEG).unwrap();
    let image = Frames::open(scratch.0.path()).unwrap().read().unwrap().unwrap();
    assert_eq!((image.width(), image.height()), (16, 8));
    for pixel in image.rgb().chunks_exact(3) {
        for (ours, theirs) in pixel.iter().zip([230, 120, 20_u8]) {
            assert!(ours.abs_diff(theirs) <= 3, "{pixel:?}");
        }
    }
    for length in [3, JPEG.len() / 2, JPEG.len() - 10] {
        fs::write(scratch.path("1.JPG"), &JPEG[..length]).unwrap();
        let read = Frames::open(scratch.0.path()).unwrap().read();
        assert!(matches!(read, Err(FrameError::Image(..))), "{length}: {read:?}");
    }
}

#[test]
fn damage_anywhere_in_a_file_is_an_error_at_worst() {
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, 16, 8);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&[99; 3 * 16 * 8]).unwrap();
    for whole in [JPEG, &png] {
        for place in 0..whole.len() {
            for change in [0x01, 0x10, 0x80, 0xff, whole[place]] {
                let mut damaged = whole.to_vec();
                damaged[place] ^= change;
                // Damaged data that can still be decoded may have any size.
                if let Ok(image) = Image::decode(&damaged) {
                    let pixels = image.width() as usize * image.height() as usize;
                    assert_eq!(image.rgb().len(), 3 * pixels);
                }
            }
        }
    }
}

#[test]
fn a_video_is_decoded_by_ffmpeg() {
    let scratch = Scratch::new();
    let ffmpeg = |words: &[&str]| {
        let mut command = Command::new("ffmpeg");
        command.args(["-v", "error", "-nostdin"]).args(words).current_dir(scratch.0.path());
        command.stdin(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    // Three images of 32 x 16, of one colour each.
    let images =
        [255, 0, 255].map(|red| [&b"P6 32 16 255 "[..], &[red, 0, 0].repeat(512)].concat());
    fs::write(scratch.path("images.ppm"), images.concat()).unwrap();
    let words = ["-f", "image2pipe", "-c:v", "ppm", "-i", "images.ppm", "-c:v", "mjpeg", "a.avi"];
    if !ffmpeg(&words) {
        return crate::programs::skip("ffmpeg is not installed (Debian package ffmpeg)");
    }
    let mut frames = Frames::open(&scratch.path("a.avi")).unwrap();
    for _ in 0..2 {
        let reds = reds(&mut frames);
        let is_red: Vec<bool> = reds.iter().map(|red| *red > 128).collect();
        assert_eq!(is_red, [true, false, true], "{reds:?}");
        frames.rewind().unwrap();
    }
    let text = scratch.path("text.mp4");
    fs::write(&text, "this is no video").unwrap();
    let error = Frames::open(&text).unwrap().read().unwrap_err().to_string();
    assert!(error.contains("text.mp4"), "{error}");
}
