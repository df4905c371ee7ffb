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
