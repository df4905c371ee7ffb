//! YOLO11n (Ultralytics, `ultralytics/cfg/models/11/yolo11.yaml` at scale n, and the `Detect` head
//! of `ultralytics/nn/modules/head.py`).

use trackbed_core::seed::Rng;

use super::GeneratedModel;
use super::graph::{Attribute, Convolution, Graph, Tensor};

pub(super) fn build(random: Rng) -> GeneratedModel {
    let mut graph = Graph::new(random);
    let scales = features(&mut graph);
    head(&mut graph, &scales);
    // The real model keeps a weight for each of 16 distances as a convolution.
    let parameters = graph.parameters + BINS as u64;
    let operations = 2 * graph.multiply_adds;
    let (channels, places) = ((4 + CLASSES) as i64, places(&scales) as i64);
    let side = SIDE as i64;
    let input: (&str, &[i64]) = ("images", &[1, 3, side, side]);
    let onnx = graph.finish(input, ("output0", &[1, channels, places]));
    GeneratedModel { onnx, parameters, operations }
}

/// Backbone and neck: features at strides of 8, 16 and 32 pixels.
fn features(g: &mut Graph) -> [Tensor; 3] {
    let x = Tensor { name: "images".to_owned(), channels: 3, height: SIDE, width: SIDE };
    let x = g.conv(&x, 16, 3, 2);
    let x = g.conv(&x, 32, 3, 2);
    let x = g.c3k2(&x, 64, 16, false);
    let x = g.conv(&x, 64, 3, 2);
    let fine = g.c3k2(&x, 128, 32, false);
    let x = g.conv(&fine, 128, 3, 2);
    let middle = g.c3k2(&x, 128, 64, true);
    let x = g.conv(&middle, 256, 3, 2);
    let x = g.c3k2(&x, 256, 128, true);
    let x = g.sppf(&x);
    let coarse = g.c2psa(&x);

    let x = g.double(&coarse);
    let x = g.concatenate(&[&x, &middle]);
    let middle = g.c3k2(&x, 128, 64, false);
    let x = g.double(&middle);
    let x = g.concatenate(&[&x, &fine]);
    let fine = g.c3k2(&x, 64, 32, false);
    let x = g.conv(&fine, 64, 3, 2);
    let x = g.concatenate(&[&x, &middle]);
    let middle = g.c3k2(&x, 128, 64, false);
    let x = g.conv(&middle, 128, 3, 2);
    let x = g.concatenate(&[&x, &coarse]);
    let coarse = g.c3k2(&x, 256, 128, true);
    [fine, middle, coarse]
}

fn head(g: &mut Graph, scales: &[Tensor; 3]) {
    let mut flat = Vec::new();
    for scale in scales {
        let x = g.conv(scale, 4 * BINS, 3, 1);
        let x = g.conv(&x, 4 * BINS, 3, 1);
        let distances = g.convolve(&x, last(4 * BINS, 1.0));
        let x = g.depthwise(scale);
        let x = g.conv(&x, CLASSES, 1, 1);
        let x = g.depthwise(&x);
        let x = g.conv(&x, CLASSES, 1, 1);
        // The initial bias in Ultralytics' training: few objects per image.
        let stride = (SIDE / scale.width) as f32;
        let squares = (640.0 / stride).powi(2);
        let confidences = g.convolve(&x, last(CLASSES, (5.0 / CLASSES as f32 / squares).ln()));
        let both = g.concatenate(&[&distances, &confidences]);
        let shape = [1, both.channels as i64, (both.height * both.width) as i64];
        flat.push(g.reshape(&both.name, &shape));
    }
    let names: Vec<&str> = flat.iter().map(String::as_str).collect();
    let all = g.node("Concat", &names, &[Attribute::Integer("axis", 2)]);
    let [distances, confidences] = g.split(&all, [4 * BINS, CLASSES], 1);
    let confidences = g.node("Sigmoid", &[&confidences], &[]);
    let boxes = boxes(g, &distances, scales);
    let output = ["output0".to_owned()];
    g.push("Concat", &[&boxes, &confidences], &output, &[Attribute::Integer("axis", 1)]);
}

/// Distances from a place to the four sides of its box, each the mean of a distribution over 16
/// values (DFL), to centre, width and height in pixels (`dist2bbox`).
fn boxes(g: &mut Graph, distances: &str, scales: &[Tensor; 3]) -> String {
    let places = places(scales) as i64;
    let bins = g.reshape(distances, &[1, 4, BINS as i64, places]);
    let shares = g.node("Softmax", &[&bins], &[Attribute::Integer("axis", 2)]);
    let values: Vec<f32> = (0..BINS).map(|bin| bin as f32).collect();
    let values = g.floats(&[1, 1, BINS as i64, 1], &values);
    let weighted = g.node("Mul", &[&shares, &values], &[]);
    let axes = g.integers(&[2]);
    let means = g.node("ReduceSum", &[&weighted, &axes], &[Attribute::Integer("keepdims", 0)]);
    let [before, behind] = g.split(&means, [2, 2], 1);
    let (centres, strides) = grid(scales);
    let centres = g.floats(&[1, 2, places], &centres);
    let strides = g.floats(&[1, 1, places], &strides);
    let low = g.node("Sub", &[&centres, &before], &[]);
    let high = g.node("Add", &[&centres, &behind], &[]);
    let sum = g.node("Add", &[&low, &high], &[]);
    let half = g.floats(&[1], &[0.5]);
    let middle = g.node("Mul", &[&sum, &half], &[]);
    let size = g.node("Sub", &[&high, &low], &[]);
    let both = g.node("Concat", &[&middle, &size], &[Attribute::Integer("axis", 1)]);
    g.node("Mul", &[&both, &strides], &[])
}

/// The centre of every place in units of its stride, all x and then all y; and the strides.
fn grid(scales: &[Tensor; 3]) -> (Vec<f32>, Vec<f32>) {
    let (mut xs, mut ys, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    for scale in scales {
        for place in 0..scale.height * scale.width {
            xs.push((place % scale.width) as f32 + 0.5);
            ys.push((place / scale.width) as f32 + 0.5);
            strides.push((SIDE / scale.width) as f32);
        }
    }
    xs.append(&mut ys);
    (xs, strides)
}

fn places(scales: &[Tensor; 3]) -> usize {
    scales.iter().map(|scale| scale.height * scale.width).sum()
}

fn last(channels: usize, bias: f32) -> Convolution {
    Convolution { channels, kernel: 1, stride: 1, groups: 1, bias, gain: 1.0 }
}

const SIDE: usize = 640;
/// The classes of COCO.
const CLASSES: usize = 80;
/// Number of values in the distribution of a box side's distance.
const BINS: usize = 16;

#[cfg(test)]
mod tests {
    use trackbed_core::seed::Seed;

    use super::*;

    /// Ultralytics reports for the real model: "YOLO11n summary (fused): 100 layers, 2,616,248
    /// parameters, 0 gradients, 6.5 GFLOPs".
    #[test]
    fn it_has_the_size_of_yolo11n() {
        let model = build(Seed::of_run(1, 0).stream("test"));
        assert_eq!(model.parameters, 2_616_248);
        let giga = model.operations as f64 / 1e9;
        assert!((6.4..6.6).contains(&giga), "{giga}");
        // Four bytes per parameter, plus some structure.
        assert!(model.onnx.len() as u64 > 4 * model.parameters, "{}", model.onnx.len());
        assert!((model.onnx.len() as u64) < 4 * model.parameters + 300_000);
    }

    #[test]
    fn it_is_the_same_for_the_same_seed_alone() {
        let [first, again, other] = [1, 1, 2].map(|seed| crate::generated::model(seed).onnx);
        assert!(first == again);
        assert!(first != other);
    }
}
