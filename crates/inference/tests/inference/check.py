import onnx
model = onnx.load('model.onnx')
onnx.checker.check_model(model, full_check=True)
shape = lambda v: [d.dim_value for d in v.type.tensor_type.shape.dim]
count = 0
for t in model.graph.initializer:
    if t.data_type == onnx.TensorProto.FLOAT and len(t.dims) in (1, 4) and max(t.dims) > 1:
        size = 1
        for d in t.dims:
            size *= d
        count += size
# Scales of the two enlargements are no weights.
print(shape(model.graph.input[0]), shape(model.graph.output[0]), count - 2 * 4)
