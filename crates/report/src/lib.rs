//! Tables, CSV and JSON from results.
