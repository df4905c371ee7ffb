//! The two endpoints in one combination: their keys, and the result of resolving them.

use trackbed_core::parameter::FromValue;
use trackbed_protocols::ParameterError;

use crate::plan::Endpoint;
use crate::spec::Spec;

/// A combination that can be run.
pub(crate) struct Resolved {
    pub endpoint: Endpoint,
    /// Keys that this protocol ignores.
    pub ignored: Vec<&'static str>,
}

/// Why a combination cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The key whose value conflicts with the others.
    pub path: &'static str,
    pub why: String,
}

impl From<ParameterError> for Refusal {
    fn from(ParameterError { parameter, why }: ParameterError) -> Refusal {
        Refusal { path: parameter, why }
    }
}

pub(crate) struct Settings<'a> {
    pub spec: &'a Spec,
    pub selection: &'a [usize],
}

impl Settings<'_> {
    /// The value of a key.
    pub fn get<T: FromValue>(&self, path: &str) -> Option<T> {
        T::from_value(self.spec.value(path, self.selection)?)
    }

    /// The value of a key that is one of several words.
    pub fn word(&self, path: &str) -> Option<&'static str> {
        self.get(path)
    }
}
