//! The page in a browser, and tables read back by the reader of their format.

mod page;
#[cfg(feature = "parquet")]
mod parquet;
