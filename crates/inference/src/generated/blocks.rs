//! The blocks of YOLO11 (Ultralytics, `ultralytics/nn/modules/block.py` and `conv.py`), with batch
//! normalisation folded into the convolutions, as in exported models.

use super::graph::{Attribute, Convolution, Graph, Tensor};

impl Graph {
    /// `Conv`: a convolution and SiLU.
    pub(super) fn conv(&mut self, x: &Tensor, out: usize, kernel: usize, stride: usize) -> Tensor {
        let y = self.convolve(x, plain(out, kernel, stride, 1));
        self.silu(&y)
    }

    /// `Conv(act=False)` with a kernel of one.
    pub(super) fn linear(&mut self, x: &Tensor, out: usize) -> Tensor {
        self.convolve(x, Convolution { gain: 1.0, ..plain(out, 1, 1, 1) })
    }

    /// `DWConv`: each channel separately, and SiLU.
    pub(super) fn depthwise(&mut self, x: &Tensor) -> Tensor {
        let y = self.convolve(x, plain(x.channels, 3, 1, x.channels));
        self.silu(&y)
    }

    /// `C3k2` with one inner block: `C3k` if `deep`, otherwise a bottleneck.
    pub(super) fn c3k2(&mut self, x: &Tensor, out: usize, inner: usize, deep: bool) -> Tensor {
        let t = self.conv(x, 2 * inner, 1, 1);
        let (first, second) = self.halves(&t);
        let third = if deep { self.c3k(&second) } else { self.bottleneck(&second, inner / 2) };
        let all = self.concatenate(&[&first, &second, &third]);
        self.conv(&all, out, 1, 1)
    }

    /// `SPPF`: three poolings in a row, with all stages kept.
    pub(super) fn sppf(&mut self, x: &Tensor) -> Tensor {
        let first = self.conv(x, x.channels / 2, 1, 1);
        let second = self.pool(&first);
        let third = self.pool(&second);
        let fourth = self.pool(&third);
        let all = self.concatenate(&[&first, &second, &third, &fourth]);
        self.conv(&all, x.channels, 1, 1)
    }

    /// `C2PSA` with one `PSABlock`.
    pub(super) fn c2psa(&mut self, x: &Tensor) -> Tensor {
        let t = self.conv(x, x.channels, 1, 1);
        let (first, second) = self.halves(&t);
        let attended = self.attention(&second);
        let second = self.elementwise("Add", &[&second, &attended]);
        let wide = self.conv(&second, 2 * second.channels, 1, 1);
        let narrow = self.linear(&wide, second.channels);
        let second = self.elementwise("Add", &[&second, &narrow]);
        let all = self.concatenate(&[&first, &second]);
        self.conv(&all, x.channels, 1, 1)
    }

    fn silu(&mut self, x: &Tensor) -> Tensor {
        let gate = self.elementwise("Sigmoid", &[x]);
        self.elementwise("Mul", &[x, &gate])
    }

    /// `Bottleneck` with its shortcut.
    fn bottleneck(&mut self, x: &Tensor, inner: usize) -> Tensor {
        let t = self.conv(x, inner, 3, 1);
        let y = self.conv(&t, x.channels, 3, 1);
        self.elementwise("Add", &[x, &y])
    }

    /// `C3k` with two bottlenecks.
    fn c3k(&mut self, x: &Tensor) -> Tensor {
        let inner = x.channels / 2;
        let mut deep = self.conv(x, inner, 1, 1);
        let flat = self.conv(x, inner, 1, 1);
        for _ in 0..2 {
            deep = self.bottleneck(&deep, inner);
        }
        let both = self.concatenate(&[&deep, &flat]);
        self.conv(&both, x.channels, 1, 1)
    }

    /// `Attention` with heads of 64 values and 32 keys, and a positional convolution.
    fn attention(&mut self, x: &Tensor) -> Tensor {
        let (heads, places) = (x.channels / HEAD, x.height * x.width);
        let mixed = self.linear(x, 2 * x.channels);
        let shape = [1, heads as i64, 2 * HEAD as i64, places as i64];
        let mixed = self.reshape(&mixed.name, &shape);
        let [queries, keys, values] = self.split(&mixed, [HEAD / 2, HEAD / 2, HEAD], 2);
        let transposed = || [Attribute::Integers("perm", vec![0, 1, 3, 2])];
        let rows = self.node("Transpose", &[&queries], &transposed());
        let likeness = self.node("MatMul", &[&rows, &keys], &[]);
        let scale = self.floats(&[1], &[((HEAD / 2) as f32).powf(-0.5)]);
        let scaled = self.node("Mul", &[&likeness, &scale], &[]);
        let weights = self.node("Softmax", &[&scaled], &[Attribute::Integer("axis", -1)]);
        let weights = self.node("Transpose", &[&weights], &transposed());
        let mixed = self.node("MatMul", &[&values, &weights], &[]);
        let shape = [1, x.channels as i64, x.height as i64, x.width as i64];
        let named = |name| Tensor { name, ..x.clone() };
        let mixed = named(self.reshape(&mixed, &shape));
        let values = named(self.reshape(&values, &shape));
        let how = Convolution { gain: 1.0, ..plain(x.channels, 3, 1, x.channels) };
        let position = self.convolve(&values, how);
        let sum = self.elementwise("Add", &[&mixed, &position]);
        self.linear(&sum, x.channels)
    }
}

/// Weights that roughly preserve the variance through SiLU.
fn plain(channels: usize, kernel: usize, stride: usize, groups: usize) -> Convolution {
    Convolution { channels, kernel, stride, groups, bias: 0.0, gain: 2.0 }
}

/// Values of an attention head.
const HEAD: usize = 64;
