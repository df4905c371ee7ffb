//! Tests of the page in a browser, and of tables by reading them back with their format's own
//! reader.

mod browser;
mod page;
#[cfg(feature = "parquet")]
mod parquet;
