import numpy as np, onnxruntime
session = onnxruntime.InferenceSession('model.onnx', providers=['CPUExecutionProvider'])
image = np.fromfile('image', np.float32).reshape(1, 3, 640, 640)
session.run(None, {'images': image})[0].tofile('output')
