//! The two endpoints in one combination: the result of resolving them.

use trackbed_protocols::ParameterError;

use crate::plan::Endpoint;

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
