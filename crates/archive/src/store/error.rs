//! Errors of object stores.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use super::place::SCHEMES;

/// Why an object store cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum StoreError {
    #[error("{address}: {why}; an address is one of{}", schemes())]
    Address { address: String, why: String },
    #[error("{address}: {}", said(.why))]
    Store { address: String, why: Box<object_store::Error> },
    #[error("{path}: {why}")]
    File { path: PathBuf, why: io::Error },
    #[error("{why}; not stored yet: the last {bytes} B of {path}")]
    NotStored { why: Box<StoreError>, path: PathBuf, bytes: u64 },
    #[error("{address}: no objects found; `trackbed run SCENARIO --out {address}` creates them")]
    Empty { address: String },
    #[error(
        "{address}: {why}; delete it and repeat the command that created it: only its runs are \
         executed again"
    )]
    Damaged { address: String, why: String },
    #[error("{address}: another process started there at the same moment; repeat the command")]
    Taken { address: String },
    #[error("{0}")]
    System(String),
}

impl StoreError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.into();
        move |why| StoreError::File { path, why }
    }
}

fn schemes() -> String {
    SCHEMES.iter().map(|(example, what)| format!("\n  {example}  ({what})")).collect()
}

/// The error of a store, with the most likely remedy.
fn said(why: &object_store::Error) -> String {
    let why = causes(why);
    match hint(&why) {
        Some(hint) => format!("{why}; {hint}"),
        None => why,
    }
}

/// An error and its causes, without repetitions.
fn causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    text
}

/// The most likely remedy.
fn hint(why: &str) -> Option<&'static str> {
    let says = |words: &[&str]| words.iter().any(|word| why.contains(word));
    if says(&["169.254.169.254", "metadata", "credential", "Credential"]) {
        return Some(
            "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, \
             GOOGLE_APPLICATION_CREDENTIALS, or AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
        );
    }
    if says(&["403", "Forbidden", "AccessDenied", "Unauthenticated", "PermissionDenied"]) {
        return Some(
            "the credentials lack permissions; they must allow list, read, write and delete",
        );
    }
    if says(&["NoSuchBucket", "bucket does not exist", "ContainerNotFound"]) {
        return Some("create the bucket first");
    }
    if says(&["URL scheme is not allowed", "BadScheme"]) {
        return Some("to connect without encryption, set AWS_ALLOW_HTTP=true");
    }
    None
}
