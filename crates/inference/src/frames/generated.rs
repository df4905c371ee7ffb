//! Generated frames.

use trackbed_core::seed::Seed;

use crate::image::Image;

/// Boxes that move over a plain background and bounce off the edges. Frame k of a seed is the same
/// on every machine.
#[derive(Debug)]
pub struct Generated {
    boxes: Vec<Box>,
    next: u64,
}

#[derive(Debug)]
struct Box {
    width: u32,
    height: u32,
    /// In pixels at frame 0, and pixels per frame.
    x: (u32, u32),
    y: (u32, u32),
    colour: [u8; 3],
}

impl Generated {
    /// Starts at frame 0 of this seed.
    pub fn new(seed: u64) -> Generated {
        let mut random = Seed::of_run(seed, 0).stream("inference/frames");
        let mut draw = |low: u64, high: u64| (low + random.below(high - low + 1)) as u32;
        let boxes = (0..BOXES).map(|_| Box {
            // Upright, like people.
            width: draw(20, 60),
            height: draw(60, 160),
            x: (draw(0, WIDTH.into()), draw(1, 6)),
            y: (draw(0, HEIGHT.into()), draw(0, 2)),
            colour: [draw(0, 255) as u8, draw(0, 255) as u8, draw(0, 255) as u8],
        });
        Generated { boxes: boxes.collect(), next: 0 }
    }

    pub(super) fn next(&mut self) -> Image {
        let frame = self.next;
        self.next += 1;
        let row_length = 3 * WIDTH as usize;
        let mut rgb = vec![GROUND; row_length * HEIGHT as usize];
        for thing in &self.boxes {
            let left = place(thing.x, frame, WIDTH - thing.width);
            let top = place(thing.y, frame, HEIGHT - thing.height);
            let columns = 3 * left as usize..3 * (left + thing.width) as usize;
            for row in
                rgb.chunks_exact_mut(row_length).skip(top as usize).take(thing.height as usize)
            {
                for pixel in row[columns.clone()].chunks_exact_mut(3) {
                    pixel.copy_from_slice(&thing.colour);
                }
            }
        }
        Image::new(WIDTH, HEIGHT, rgb).expect("there are three bytes for each pixel")
    }

    pub(super) fn rewind(&mut self) {
        self.next = 0;
    }
}

/// The position of something that starts at a place and moves back and forth between 0 and `most`.
fn place((begin, speed): (u32, u32), frame: u64, most: u32) -> u32 {
    let period = u128::from(2 * most);
    let gone = u128::from(begin) + u128::from(speed) * u128::from(frame);
    let phase = gone.checked_rem(period).unwrap_or(0) as u32;
    phase.min(2 * most - phase)
}

const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;
const BOXES: usize = 8;
const GROUND: u8 = 96;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_turns_back_at_both_edges() {
        let places: Vec<u32> = (0..9).map(|frame| place((1, 2), frame, 5)).collect();
        // 1, 3, 5, then 7 is reflected to 3.
        assert_eq!(places, [1, 3, 5, 3, 1, 1, 3, 5, 3]);
    }

    #[test]
    fn frames_change_and_come_again() {
        let mut frames = Generated::new(1);
        let first: Vec<Image> = (0..3).map(|_| frames.next()).collect();
        assert!(first[0] != first[1]);
        assert_eq!((first[0].width(), first[0].height()), (640, 480));
        frames.rewind();
        assert!((0..3).map(|_| frames.next()).eq(first.iter().cloned()));
        assert!(Generated::new(2).next() != first[0]);
        assert!(first[0].rgb().iter().any(|value| *value != GROUND));
    }
}
