//! Pre- and post-processing compared with NumPy.

use trackbed_core::seed::{Rng, Seed};
use trackbed_inference::detection::{Head, Thresholds, decode};
use trackbed_inference::image::Image;
use trackbed_inference::letterbox::Letterbox;

use crate::Scratch;

/// Ultralytics' `LetterBox` with `cv2.resize(..., interpolation=cv2.INTER_LINEAR)`, in double
/// precision and without OpenCV's intermediate rounding to integers.
const LETTERBOX: &str = include_str!("letterbox.py");

#[test]
fn images_are_fitted_as_numpy_fits_them() {
    let scratch = Scratch::new();
    let mut random = Seed::of_run(1, 0).stream("images");
    let sizes = [
        ((640, 480), (640, 640)),
        ((1920, 1080), (640, 640)),
        ((333, 517), (640, 384)),
        ((31, 17), (320, 320)),
        ((1, 5), (32, 64)),
    ];
    for ((width, height), (input_width, input_height)) in sizes {
        let mut pixels = vec![0; 3 * width as usize * height as usize];
        random.fill(&mut pixels);
        std::fs::write(scratch.path("image"), &pixels).unwrap();
        let text = format!("{width} {height} {input_width} {input_height}");
        std::fs::write(scratch.path("sizes"), &text).unwrap();
        if scratch.python(&["numpy"], LETTERBOX).is_none() {
            return;
        }
        let letterbox = Letterbox::new((width, height), (input_width, input_height));
        let mut ours = vec![0.0; letterbox.input_len()];
        letterbox.fill(&Image::new(width, height, pixels).unwrap(), &mut ours);
        let theirs = scratch.read_floats("out");
        assert_eq!(ours.len(), theirs.len());
        for (place, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert!((ours - theirs).abs() < 1e-5, "{text}: {ours} for {theirs} at {place}");
        }
        let ours = letterbox.to_image([0.0, 0.0, input_width as f32, input_height as f32]);
        for (ours, theirs) in ours.iter().zip(scratch.read_floats("sides")) {
            assert!((ours - theirs).abs() < 1e-3, "{text}: {ours} for {theirs}");
        }
    }
}

/// Confidences, boxes and greedy suppression per class.
const DETECTIONS: &str = include_str!("detections.py");

/// An output in which several places stand for the same few objects.
fn output(random: &mut Rng, head: Head) -> Vec<f32> {
    let Head { classes, places } = head;
    let mut output = vec![0.0; (4 + classes) * places];
    for place in 0..places {
        let thing = random.below(12) as f32;
        let mut near = |value: f32, by: f64| value + ((random.unit() - 0.5) * by) as f32;
        let sides =
            [near(50.0 * thing, 8.0), near(30.0 * thing, 8.0), near(40.0, 6.0), near(80.0, 9.0)];
        for (row, side) in sides.into_iter().enumerate() {
            output[row * places + place] = side;
        }
        for class in 0..classes {
            // About one in eight has a sufficient confidence.
            let sure = random.below(8 * classes as u64) == 0;
            let confidence = random.unit() * if sure { 1.0 } else { 0.24 };
            output[(4 + class) * places + place] = confidence as f32;
        }
    }
    output
}

#[test]
fn boxes_are_found_as_numpy_finds_them() {
    let scratch = Scratch::new();
    let mut random = Seed::of_run(1, 0).stream("boxes");
    for head in [Head { classes: 3, places: 700 }, Head { classes: 80, places: 1_500 }] {
        let output = output(&mut random, head);
        scratch.write_floats("output", &output);
        std::fs::write(scratch.path("head"), format!("{} {}", head.classes, head.places)).unwrap();
        let Some(said) = scratch.python(&["numpy"], DETECTIONS) else { return };
        let ours = decode(&output, head, Thresholds::default());
        assert!(ours.len() > 20, "{} things are not much to compare", ours.len());
        assert_eq!(ours.len(), said.lines().count());
        for (ours, line) in ours.iter().zip(said.lines()) {
            let words: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            assert_eq!(f64::from(ours.class), words[0], "{line}");
            assert!((f64::from(ours.confidence) - words[1]).abs() < 1e-6, "{line}");
            for (ours, theirs) in ours.sides.iter().zip(&words[2..]) {
                assert!((f64::from(*ours) - theirs).abs() < 1e-3, "{line}");
            }
        }
    }
}
