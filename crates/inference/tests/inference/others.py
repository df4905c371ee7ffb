import onnx
from onnx import helper as h, TensorProto as T
def save(name, kind, shape, type=T.FLOAT):
    i = h.make_tensor_value_info('x', type, shape)
    o = h.make_tensor_value_info('y', type, shape)
    g = h.make_graph([h.make_node(kind, ['x'], ['y'])], 'g', [i], [o])
    onnx.save(h.make_model(g, opset_imports=[h.make_opsetid('', 17)], ir_version=8), name)
save('open.onnx', 'Identity', ['n', 3, 'h', 'w'])
save('grey.onnx', 'Identity', [1, 1, 28, 28])
save('batch.onnx', 'Identity', [8, 3, 64, 64])
save('last.onnx', 'Identity', [1, 64, 64, 3])
save('flat.onnx', 'Identity', [1, 1000])
save('bytes.onnx', 'Identity', [1, 3, 64, 64], T.UINT8)
save('unknown.onnx', 'NoSuchOperator', [1, 3, 64, 64])
