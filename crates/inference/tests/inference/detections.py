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
