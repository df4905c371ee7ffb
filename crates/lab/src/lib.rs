//! From a scenario to a plan to runs: the crate that wires all the others.
