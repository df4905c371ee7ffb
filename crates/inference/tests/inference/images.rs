//! Pre- and post-processing compared with NumPy.

use trackbed_core::seed::{Rng, Seed};
use trackbed_inference::detection::{Head, Thresholds, decode};
use trackbed_inference::image::Image;
use trackbed_inference::letterbox::Letterbox;

use crate::Scratch;

/// Ultralytics' `LetterBox` with `cv2.resize(..., interpolation=cv2.INTER_LINEAR)`, in double
/// precision and without OpenCV's intermediate rounding to integers.
const LETTERBOX: &str = "
import numpy as np
w, h, W, H = (int(v) for v in open('sizes').read().split())
image = np.fromfile('image', np.uint8).reshape(h, w, 3).astype(np.float64)
r = min(W / w, H / h)
nw, nh = int(round(w * r)), int(round(h * r))
def axis(n, m):
    p = np.clip((np.arange(m) + 0.5) * n / m - 0.5, 0, n - 1)
    a = np.floor(p).astype(int)
    return a, np.minimum(a + 1, n - 1), p - a
x0, x1, fx = axis(w, nw)
y0, y1, fy = axis(h, nh)
rows = image[y0] * (1 - fy)[:, None, None] + image[y1] * fy[:, None, None]
small = rows[:, x0] * (1 - fx)[None, :, None] + rows[:, x1] * fx[None, :, None]
left, top = int(round((W - nw) / 2 - 0.1)), int(round((H - nh) / 2 - 0.1))
out = np.full((H, W, 3), 114.0)
out[top:top + nh, left:left + nw] = small
(out / 255).transpose(2, 0, 1).astype(np.float32).tofile('out')
# `scale_boxes`, of the corners of the input.
b = np.array([0, 0, W, H], float)
b = (b - [left, top, left, top]) / r
b[[0, 2]] = b[[0, 2]].clip(0, w)
b[[1, 3]] = b[[1, 3]].clip(0, h)
b.astype(np.float32).tofile('sides')
";

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
const DETECTIONS: &str = "
import numpy as np
c, n = (int(v) for v in open('head').read().split())
out = np.fromfile('output', np.float32).reshape(4 + c, n).astype(np.float64)
scores, classes = out[4:].max(0), out[4:].argmax(0)
x, y, w, h = out[:4]
boxes = np.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], 1)
found = []
for k in range(c):
    places = np.where((scores > 0.25) & (classes == k))[0]
    places = places[np.argsort(-scores[places], kind='stable')]
    while len(places):
        best, places = places[0], places[1:]
        found.append((best, k))
        size = np.minimum(boxes[best, 2:], boxes[places, 2:]) - np.maximum(boxes[best, :2], boxes[places, :2])
        both = size.clip(0).prod(1)
        area = lambda b: (b[..., 2:] - b[..., :2]).clip(0).prod(-1)
        places = places[both / (area(boxes[best]) + area(boxes[places]) - both) <= 0.7]
found.sort(key=lambda f: -scores[f[0]])
for place, k in found:
    print(k, scores[place], *boxes[place])
";

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
