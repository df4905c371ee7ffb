//! The radio along a railway, compared with geometry, published laws and its own documentation.

mod drives;
mod geometry;
mod laws;
mod text;

use trackbed_core::parameter::{Arguments, Kind, Value};
use trackbed_railway::radio::{PARAMETERS, RadioError, Railway};

/// The railway with these parameters; for a file, its contents.
fn try_railway(pairs: &[(&str, &str)]) -> Result<Railway, RadioError> {
    let value = |&(name, text): &(&str, &str)| {
        let parameter = PARAMETERS.iter().find(|parameter| parameter.name == name).unwrap();
        match parameter.kind {
            Kind::File => Value::Contents(text.into()),
            kind => kind.parse(text).unwrap(),
        }
    };
    let given: Vec<_> = pairs.iter().map(|pair| (pair.0, value(pair))).collect();
    Railway::read(&Arguments::read(PARAMETERS, &given).unwrap())
}

pub fn railway(pairs: &[(&str, &str)]) -> Railway {
    try_railway(pairs).unwrap()
}
