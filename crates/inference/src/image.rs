//! Images, and decoding of JPEG and PNG files.

use std::fmt;
use std::io::Cursor;

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

/// Three bytes (red, green, blue) per pixel, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

/// Why an image cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum ImageError {
    #[error("neither a JPEG nor a PNG file")]
    Unknown,
    #[error("damaged: {0}")]
    Damaged(String),
    #[error("{width} x {height} pixels; sides must be from 1 to {SIDE_MAX}")]
    Size { width: usize, height: usize },
}

/// The longest side of an image, in pixels: limits the memory that a damaged header can request.
pub const SIDE_MAX: usize = 8192;

impl Image {
    /// An image with these pixels; `None` if the number of bytes does not match, or a side is zero
    /// or longer than [`SIDE_MAX`].
    pub fn new(width: u32, height: u32, rgb: Vec<u8>) -> Option<Image> {
        let (columns, rows) = (width as usize, height as usize);
        let fits = is_allowed(columns, rows) && rgb.len() == 3 * columns * rows;
        fits.then_some(Image { width, height, rgb })
    }

    /// Decodes a JPEG or PNG file. A PNG's transparency and a JPEG's orientation (EXIF) are
    /// ignored.
    ///
    /// # Errors
    /// If it is neither, damaged (including truncated) or too large.
    pub fn decode(bytes: &[u8]) -> Result<Image, ImageError> {
        match bytes {
            [0xff, 0xd8, ..] => decode_jpeg(bytes),
            [0x89, b'P', b'N', b'G', ..] => decode_png(bytes),
            _ => Err(ImageError::Unknown),
        }
    }

    /// The width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All pixels, row by row.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    /// A row of pixels.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: u32) -> &[u8] {
        let length = 3 * self.width as usize;
        &self.rgb[row as usize * length..][..length]
    }
}

fn is_allowed(width: usize, height: usize) -> bool {
    (1..=SIDE_MAX).contains(&width) && (1..=SIDE_MAX).contains(&height)
}

fn decode_jpeg(bytes: &[u8]) -> Result<Image, ImageError> {
    let damaged = |why: &dyn fmt::Display| ImageError::Damaged(why.to_string());
    let options = DecoderOptions::default()
        .set_max_width(SIDE_MAX)
        .set_max_height(SIDE_MAX)
        .set_strict_mode(true)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|why| damaged(&why))?;
    let Some(info) = decoder.info() else { return Err(damaged(&"it has no header")) };
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    check_size(width, height)?;
    let rgb = decoder.decode().map_err(|why| damaged(&why))?;
    finish(width, height, rgb)
}

fn decode_png(bytes: &[u8]) -> Result<Image, ImageError> {
    let damaged = |why: png::DecodingError| ImageError::Damaged(why.to_string());
    let limits = png::Limits { bytes: 8 * SIDE_MAX * SIDE_MAX };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(damaged)?;
    let (width, height) = reader.info().size();
    let (width, height) = (width as usize, height as usize);
    check_size(width, height)?;
    let size = reader.output_buffer_size().ok_or(ImageError::Size { width, height })?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(damaged)?;
    reader.finish().map_err(damaged)?;
    pixels.truncate(info.buffer_size());
    let rgb = match info.color_type {
        png::ColorType::Rgb => pixels,
        png::ColorType::Rgba => pixels.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect(),
        png::ColorType::Grayscale => pixels.iter().flat_map(|grey| [*grey; 3]).collect(),
        png::ColorType::GrayscaleAlpha => pixels.chunks_exact(2).flat_map(|p| [p[0]; 3]).collect(),
        png::ColorType::Indexed => {
            return Err(ImageError::Damaged("its palette is missing".to_owned()));
        }
    };
    finish(width, height, rgb)
}

fn check_size(width: usize, height: usize) -> Result<(), ImageError> {
    if is_allowed(width, height) { Ok(()) } else { Err(ImageError::Size { width, height }) }
}

fn finish(width: usize, height: usize, rgb: Vec<u8>) -> Result<Image, ImageError> {
    let found = rgb.len();
    Image::new(width as u32, height as u32, rgb).ok_or_else(|| {
        ImageError::Damaged(format!("{found} bytes of pixels for {width} x {height}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png_file(color: png::ColorType, width: u32, height: u32, data: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(color);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().unwrap().write_image_data(data).unwrap();
        file
    }

    #[test]
    fn png_of_every_kind_comes_out_as_red_green_and_blue() {
        let rgb = [1, 2, 3, 40, 50, 60];
        let image = Image::decode(&png_file(png::ColorType::Rgb, 2, 1, &rgb)).unwrap();
        assert_eq!((image.width(), image.height(), image.rgb()), (2, 1, &rgb[..]));
        let rgba = [1, 2, 3, 0, 40, 50, 60, 255];
        let image = Image::decode(&png_file(png::ColorType::Rgba, 2, 1, &rgba)).unwrap();
        assert_eq!(image.rgb(), rgb);
        let image = Image::decode(&png_file(png::ColorType::Grayscale, 1, 2, &[7, 9])).unwrap();
        assert_eq!(image.rgb(), [7, 7, 7, 9, 9, 9]);
        let grey = png_file(png::ColorType::GrayscaleAlpha, 1, 1, &[7, 0]);
        assert_eq!(Image::decode(&grey).unwrap().rgb(), [7, 7, 7]);
    }

    #[test]
    fn a_png_that_is_cut_short_or_changed_anywhere_is_refused() {
        let data: Vec<u8> = (0..3 * 16 * 16).map(|i| (i % 251) as u8).collect();
        let file = png_file(png::ColorType::Rgb, 16, 16, &data);
        for length in 0..file.len() {
            assert!(Image::decode(&file[..length]).is_err(), "{length} of {}", file.len());
        }
        let mut huge = file.clone();
        huge[16..20].copy_from_slice(&0x7fff_ffff_u32.to_be_bytes());
        assert!(Image::decode(&huge).is_err());
        let mut changed = file;
        let middle = changed.len() / 2;
        changed[middle] ^= 0x55;
        assert!(matches!(Image::decode(&changed), Err(ImageError::Damaged(_))));
    }

    #[test]
    fn what_is_neither_jpeg_nor_png_is_refused() {
        assert_eq!(Image::decode(b"GIF89a"), Err(ImageError::Unknown));
        assert_eq!(Image::decode(b""), Err(ImageError::Unknown));
        assert!(matches!(Image::decode(&[0xff, 0xd8, 0xff]), Err(ImageError::Damaged(_))));
    }

    #[test]
    fn pixels_and_sides_must_agree() {
        assert!(Image::new(2, 2, vec![0; 12]).is_some());
        assert!(Image::new(2, 2, vec![0; 11]).is_none());
        assert!(Image::new(0, 2, vec![]).is_none());
    }
}
