//! The page in a browser, and tables read back by their format's reader.

mod page;
#[cfg(feature = "parquet")]
mod parquet;
