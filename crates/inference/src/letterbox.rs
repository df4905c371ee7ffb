//! Preprocessing: fits an image to the model's input, as in Ultralytics
//! (`ultralytics/data/augment.py`, `LetterBox`, and `cv2.resize` with `INTER_LINEAR`).

use crate::image::Image;

/// How an image is placed in an input of another size: scaled evenly, centred, with grey around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Letterbox {
    image: (u32, u32),
    input: (u32, u32),
    /// Input pixels per image pixel.
    scale: f64,
    /// The part of the input that the image covers.
    left: u32,
    top: u32,
    width: u32,
    height: u32,
}

/// The source of an input pixel in the image, along one axis: between `first` and `second`, with
/// this share of the second.
#[derive(Clone, Copy, Debug)]
struct Between {
    first: usize,
    second: usize,
    share: f32,
}

impl Letterbox {
    /// Fits an image to an input; both are (width, height) in pixels, at least 1.
    pub fn new(image: (u32, u32), input: (u32, u32)) -> Letterbox {
        let scale = |input: u32, image: u32| f64::from(input) / f64::from(image.max(1));
        let scale = scale(input.0, image.0).min(scale(input.1, image.1));
        // Python rounds halves to even.
        let scaled = |side: u32, most: u32| {
            ((f64::from(side) * scale).round_ties_even() as u32).clamp(1, most.max(1))
        };
        let (width, height) = (scaled(image.0, input.0), scaled(image.1, input.1));
        let left = input.0.saturating_sub(width) / 2;
        let top = input.1.saturating_sub(height) / 2;
        Letterbox { image, input, scale, left, top, width, height }
    }

    /// Number of floats in an input: three planes (red, green, blue), one after another.
    pub fn input_len(&self) -> usize {
        3 * self.input.0 as usize * self.input.1 as usize
    }

    /// Writes the image to `input`, as values from 0 to 1.
    ///
    /// # Panics
    /// If the size of the image or the length of `input` ([`Self::input_len`]) does not match.
    pub fn fill(&self, image: &Image, input: &mut [f32]) {
        assert_eq!((image.width(), image.height()), self.image, "another size was fitted");
        assert_eq!(input.len(), self.input_len(), "the input has another size");
        let plane = input.len() / 3;
        let (red, rest) = input.split_at_mut(plane);
        let (green, blue) = rest.split_at_mut(plane);
        let row_length = self.input.0 as usize;
        let columns = between(self.image.0, self.width);
        let rows = between(self.image.1, self.height);
        let inside = self.top as usize..(self.top + self.height) as usize;
        for (number, ((red, green), blue)) in red
            .chunks_exact_mut(row_length)
            .zip(green.chunks_exact_mut(row_length))
            .zip(blue.chunks_exact_mut(row_length))
            .enumerate()
        {
            let planes = [red, green, blue];
            if inside.contains(&number) {
                let row = rows[number - inside.start];
                let pair = (image.row(row.first as u32), image.row(row.second as u32));
                self.fill_row(pair, row.share, &columns, planes);
            } else {
                planes.into_iter().for_each(|plane| plane.fill(GREY));
            }
        }
    }

    /// One row of the input, between two rows of the image.
    fn fill_row(
        &self,
        (above, below): (&[u8], &[u8]),
        share: f32,
        columns: &[Between],
        planes: [&mut [f32]; 3],
    ) {
        let inside = self.left as usize..(self.left + self.width) as usize;
        let unscaled = self.image == (self.width, self.height);
        for (channel, plane) in planes.into_iter().enumerate() {
            plane[..inside.start].fill(GREY);
            plane[inside.end..].fill(GREY);
            let plane = &mut plane[inside.clone()];
            if unscaled {
                for (value, pixel) in plane.iter_mut().zip(above.chunks_exact(3)) {
                    *value = f32::from(pixel[channel]) / 255.0;
                }
                continue;
            }
            for (value, column) in plane.iter_mut().zip(columns) {
                let (first, second) = (3 * column.first + channel, 3 * column.second + channel);
                let upper = mix(above[first], above[second], column.share);
                let lower = mix(below[first], below[second], column.share);
                *value = (upper + (lower - upper) * share) / 255.0;
            }
        }
    }

    /// Converts a box in the input (left, top, right, bottom) to the image, clipped at its edges.
    pub fn to_image(&self, sides: [f32; 4]) -> [f32; 4] {
        let along = |value: f32, begin: u32, length: u32| {
            let value = (f64::from(value) - f64::from(begin)) / self.scale;
            value.clamp(0.0, f64::from(length)) as f32
        };
        let x = |value| along(value, self.left, self.image.0);
        let y = |value| along(value, self.top, self.image.1);
        [x(sides[0]), y(sides[1]), x(sides[2]), y(sides[3])]
    }
}

/// The source of each of `scaled` pixels among `length`: pixel centres are aligned, and clamped at
/// the edges.
fn between(length: u32, scaled: u32) -> Vec<Between> {
    let step = f64::from(length) / f64::from(scaled);
    let last = f64::from(length - 1);
    let place = |number: u32| {
        let place = ((f64::from(number) + 0.5) * step - 0.5).clamp(0.0, last);
        let first = place.floor();
        let second = (first + 1.0).min(last) as usize;
        Between { first: first as usize, second, share: (place - first) as f32 }
    };
    (0..scaled).map(place).collect()
}

fn mix(first: u8, second: u8, share: f32) -> f32 {
    let (first, second) = (f32::from(first), f32::from(second));
    first + (second - first) * share
}

/// Ultralytics' padding colour.
const GREY: f32 = 114.0 / 255.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(image: &Image, input: (u32, u32)) -> Vec<f32> {
        let letterbox = Letterbox::new((image.width(), image.height()), input);
        let mut values = vec![-1.0; letterbox.input_len()];
        letterbox.fill(image, &mut values);
        values
    }

    #[test]
    fn a_frame_of_640_by_480_lies_80_rows_down_and_is_not_scaled() {
        let letterbox = Letterbox::new((640, 480), (640, 640));
        assert_eq!((letterbox.left, letterbox.top), (0, 80));
        assert_eq!((letterbox.width, letterbox.height, letterbox.scale), (640, 480, 1.0));
        assert_eq!(letterbox.to_image([0.0, 80.0, 640.0, 560.0]), [0.0, 0.0, 640.0, 480.0]);
        assert_eq!(letterbox.to_image([-5.0, 0.0, 700.0, 600.0]), [0.0, 0.0, 640.0, 480.0]);
    }

    #[test]
    fn an_odd_rest_goes_to_the_right_and_below() {
        // 4 x 3 in 8 x 7: twice as large, 8 x 6, and one row is left.
        let letterbox = Letterbox::new((4, 3), (8, 7));
        assert_eq!((letterbox.top, letterbox.height, letterbox.scale), (0, 6, 2.0));
        assert_eq!(letterbox.to_image([2.0, 2.0, 4.0, 6.0]), [1.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn colours_go_to_planes_and_the_rest_is_grey() {
        let image = Image::new(2, 1, vec![255, 0, 51, 0, 255, 102]).unwrap();
        let grey = GREY;
        assert_eq!(
            filled(&image, (2, 3)),
            [
                [grey, grey, 1.0, 0.0, grey, grey],
                [grey, grey, 0.0, 1.0, grey, grey],
                [grey, grey, 0.2, 0.4, grey, grey],
            ]
            .concat()
        );
    }

    #[test]
    fn twice_the_size_lies_between_neighbours_by_quarters() {
        let image = Image::new(2, 2, [0, 255, 255, 0].iter().flat_map(|v| [*v; 3]).collect());
        let values = filled(&image.unwrap(), (4, 4));
        let expected = [0.0, 0.25, 0.75, 1.0];
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-6, "{values:?}");
        }
        // The second row is a quarter of the way to the row below, which is the first one reversed.
        for (value, share) in values[4..8].iter().zip(expected) {
            assert!((value - (0.75 * share + 0.25 * (1.0 - share))).abs() < 1e-6, "{values:?}");
        }
    }

    #[test]
    fn sides_of_one_pixel_are_no_trouble() {
        for (image, input) in [((1, 1), (1, 1)), ((1, 8000), (32, 32)), ((5, 1), (64, 32))] {
            let pixels = vec![51; 3 * image.0 as usize * image.1 as usize];
            let values = filled(&Image::new(image.0, image.1, pixels).unwrap(), input);
            let known = |value: &f32| (value - 0.2).abs() < 1e-6 || *value == GREY;
            assert!(values.iter().all(known), "{image:?}");
        }
    }
}
