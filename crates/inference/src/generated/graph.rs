//! Builds graphs of ONNX operators (`onnx.proto`,
//! <https://github.com/onnx/onnx/blob/main/onnx/onnx.proto>).

use trackbed_core::seed::Rng;

use super::protobuf::Message;

/// A tensor of the graph: its name and shape `[1, channels, height, width]`.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) channels: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Convolution {
    pub(crate) channels: usize,
    /// Side of the kernel; the input is padded so that a stride of 1 keeps its size.
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    /// Independent groups of channels.
    pub(crate) groups: usize,
    pub(crate) bias: f32,
    /// Weights are normal numbers of variance `gain` / inputs of each output.
    pub(crate) gain: f32,
}

pub(crate) enum Attribute {
    Integer(&'static str, i64),
    Integers(&'static str, Vec<i64>),
    Text(&'static str, &'static str),
}

pub(crate) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    names: u32,
    random: Rng,
    pub(crate) parameters: u64,
    /// Multiply-add operations of convolutions.
    pub(crate) multiply_adds: u64,
}

impl Graph {
    pub(crate) fn new(random: Rng) -> Graph {
        Graph {
            nodes: Vec::new(),
            constants: Vec::new(),
            names: 0,
            random,
            parameters: 0,
            multiply_adds: 0,
        }
    }

    pub(crate) fn convolve(&mut self, input: &Tensor, how: Convolution) -> Tensor {
        let per_group = input.channels / how.groups;
        let fan_in = per_group * how.kernel * how.kernel;
        let deviation = f64::from(how.gain) / fan_in as f64;
        let weights: Vec<f32> = (0..how.channels * fan_in)
            .map(|_| (self.random.normal() * deviation.sqrt()) as f32)
            .collect();
        let shape = [how.channels, per_group, how.kernel, how.kernel].map(|side| side as i64);
        let weights = self.floats(&shape, &weights);
        let biases = self.floats(&[how.channels as i64], &vec![how.bias; how.channels]);
        let (kernel, stride) = (how.kernel as i64, how.stride as i64);
        let name = self.node(
            "Conv",
            &[&input.name, &weights, &biases],
            &[
                Attribute::Integers("kernel_shape", vec![kernel; 2]),
                Attribute::Integers("strides", vec![stride; 2]),
                Attribute::Integers("pads", vec![kernel / 2; 4]),
                Attribute::Integer("group", how.groups as i64),
            ],
        );
        let output = Tensor {
            name,
            channels: how.channels,
            height: input.height / how.stride,
            width: input.width / how.stride,
        };
        self.parameters += (how.channels * (fan_in + 1)) as u64;
        self.multiply_adds += (output.height * output.width * how.channels * fan_in) as u64;
        output
    }

    /// An operator on tensors of the same shape, with a result of that shape.
    pub(crate) fn elementwise(&mut self, operator: &str, inputs: &[&Tensor]) -> Tensor {
        let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        let name = self.node(operator, &names, &[]);
        Tensor { name, ..inputs[0].clone() }
    }

    pub(crate) fn concatenate(&mut self, inputs: &[&Tensor]) -> Tensor {
        let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
        let name = self.node("Concat", &names, &[Attribute::Integer("axis", 1)]);
        let channels = inputs.iter().map(|input| input.channels).sum();
        Tensor { name, channels, ..inputs[0].clone() }
    }

    pub(crate) fn halves(&mut self, input: &Tensor) -> (Tensor, Tensor) {
        let half = input.channels / 2;
        let names = self.split(&input.name, [half, half], 1);
        names.map(|name| Tensor { name, channels: half, ..input.clone() }).into()
    }

    /// The maximum of each 5 x 5 square.
    pub(crate) fn pool(&mut self, input: &Tensor) -> Tensor {
        let attributes = [
            Attribute::Integers("kernel_shape", vec![5; 2]),
            Attribute::Integers("strides", vec![1; 2]),
            Attribute::Integers("pads", vec![2; 4]),
        ];
        let name = self.node("MaxPool", &[&input.name], &attributes);
        Tensor { name, ..input.clone() }
    }

    pub(crate) fn double(&mut self, input: &Tensor) -> Tensor {
        let scales = self.floats(&[4], &[1.0, 1.0, 2.0, 2.0]);
        let attributes = [
            Attribute::Text("mode", "nearest"),
            Attribute::Text("coordinate_transformation_mode", "asymmetric"),
            Attribute::Text("nearest_mode", "floor"),
        ];
        let name = self.node("Resize", &[&input.name, "", &scales], &attributes);
        Tensor { name, height: 2 * input.height, width: 2 * input.width, ..input.clone() }
    }

    pub(crate) fn reshape(&mut self, input: &str, shape: &[i64]) -> String {
        let shape = self.integers(shape);
        self.node("Reshape", &[input, &shape], &[])
    }

    /// Splits into parts of these sizes along `axis`.
    pub(crate) fn split<const N: usize>(
        &mut self,
        input: &str,
        sizes: [usize; N],
        axis: i64,
    ) -> [String; N] {
        let lengths = self.integers(&sizes.map(|size| size as i64));
        let outputs = sizes.map(|_| self.name());
        let attributes = [Attribute::Integer("axis", axis)];
        self.push("Split", &[input, &lengths], &outputs, &attributes);
        outputs
    }

    pub(crate) fn integers(&mut self, values: &[i64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(INT64, &[values.len() as i64], &bytes)
    }

    pub(crate) fn floats(&mut self, shape: &[i64], values: &[f32]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(FLOAT, shape, &bytes)
    }

    pub(crate) fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: &[Attribute],
    ) -> String {
        let output = self.name();
        self.push(operator, inputs, std::slice::from_ref(&output), attributes);
        output
    }

    /// The model as the content of a file; `outputs` and `inputs` are names with shapes.
    pub(crate) fn finish(self, input: (&str, &[i64]), output: (&str, &[i64])) -> Vec<u8> {
        let mut graph = Message::default();
        for node in &self.nodes {
            graph.message(1, node);
        }
        graph.bytes(2, "trackbed");
        for constant in &self.constants {
            graph.message(5, constant);
        }
        graph.message(11, &value_info(input.0, input.1));
        graph.message(12, &value_info(output.0, output.1));
        let mut model = Message::default();
        model.integer(1, IR_VERSION).bytes(2, "trackbed").bytes(3, env!("CARGO_PKG_VERSION"));
        model.message(7, &graph);
        model.message(8, Message::default().bytes(1, "").integer(2, OPERATOR_SET));
        model.into_bytes()
    }

    /// Adds an operator with the names of its outputs.
    pub(crate) fn push(
        &mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[String],
        attributes: &[Attribute],
    ) {
        let mut node = Message::default();
        for input in inputs {
            node.bytes(1, input);
        }
        for output in outputs {
            node.bytes(2, output);
        }
        node.bytes(3, format!("{operator}_{}", self.nodes.len())).bytes(4, operator);
        for attribute in attributes {
            node.message(5, &attribute.encode());
        }
        self.nodes.push(node);
    }

    fn constant(&mut self, data_type: i64, shape: &[i64], little_endian: &[u8]) -> String {
        let name = self.name();
        let mut tensor = Message::default();
        for side in shape {
            tensor.integer(1, *side);
        }
        tensor.integer(2, data_type).bytes(8, &name).bytes(9, little_endian);
        self.constants.push(tensor);
        name
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("t{}", self.names)
    }
}

impl Attribute {
    fn encode(&self) -> Message {
        let mut message = Message::default();
        match self {
            Attribute::Integer(name, value) => {
                message.bytes(1, name).integer(3, *value).integer(20, ATTRIBUTE_INT)
            }
            Attribute::Integers(name, values) => {
                message.bytes(1, name);
                for value in values {
                    message.integer(8, *value);
                }
                message.integer(20, ATTRIBUTE_INTS)
            }
            Attribute::Text(name, text) => {
                message.bytes(1, name).bytes(4, text).integer(20, ATTRIBUTE_STRING)
            }
        };
        message
    }
}

/// A `ValueInfoProto` of a float tensor.
fn value_info(name: &str, shape: &[i64]) -> Message {
    let mut dimensions = Message::default();
    for side in shape {
        dimensions.message(1, Message::default().integer(1, *side));
    }
    let mut tensor = Message::default();
    tensor.integer(1, FLOAT).message(2, &dimensions);
    let mut info = Message::default();
    info.bytes(1, name).message(2, Message::default().message(1, &tensor));
    info
}

/// `TensorProto.DataType`.
const FLOAT: i64 = 1;
const INT64: i64 = 7;
/// `AttributeProto.AttributeType`.
const ATTRIBUTE_INT: i64 = 2;
const ATTRIBUTE_STRING: i64 = 3;
const ATTRIBUTE_INTS: i64 = 7;
/// Old enough for ONNX Runtime 1.17, new enough for the operators above.
const OPERATOR_SET: i64 = 17;
const IR_VERSION: i64 = 8;
