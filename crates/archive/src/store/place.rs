//! Addresses of stores, and the objects below them.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Once};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreScheme, RetryConfig};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use super::StoreError;

/// The forms of addresses, with their stores.
pub const SCHEMES: [(&str, &str); 4] = [
    (
        "s3://BUCKET/FOLDER",
        "Amazon S3 and compatible stores: AWS_ENDPOINT, AWS_REGION, AWS_ACCESS_KEY_ID",
    ),
    ("gs://BUCKET/FOLDER", "Google Cloud Storage: GOOGLE_APPLICATION_CREDENTIALS"),
    (
        "az://CONTAINER/FOLDER",
        "Azure Blob Storage: AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY",
    ),
    ("file:///FOLDER", "a folder of this machine, used as a store"),
];

/// An address in a store.
#[derive(Clone)]
pub struct Store {
    objects: Arc<dyn ObjectStore>,
    /// The folder of this machine that is the store, if it is one.
    folder: Option<PathBuf>,
    root: Path,
    address: String,
    runtime: Arc<Runtime>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.address).finish()
    }
}

impl Store {
    /// Opens `address`, with credentials and settings from the environment variables of each store's own
    /// tools. Sends no request to the store yet.
    ///
    /// # Errors
    /// If the address is invalid, or settings are missing.
    pub fn open(address: &str) -> Result<Store, StoreError> {
        let address = address.trim_end_matches('/');
        let refuse = |why: String| StoreError::Address { address: address.to_owned(), why };
        let failed = |why| StoreError::Store { address: address.to_owned(), why: Box::new(why) };
        let url: Url = address.parse().map_err(|why: url::ParseError| refuse(why.to_string()))?;
        let (scheme, root) = ObjectStoreScheme::parse(&url)
            .map_err(|_| refuse("unknown kind of store".to_owned()))?;
        encryption();
        let retry = RetryConfig {
            max_retries: RETRIES_MAX,
            retry_timeout: RETRY_FOR,
            ..RetryConfig::default()
        };
        let mut folder = None;
        let objects: Arc<dyn ObjectStore> = match scheme {
            ObjectStoreScheme::AmazonS3 => {
                let store = AmazonS3Builder::from_env().with_url(address).with_retry(retry);
                Arc::new(store.build().map_err(failed)?)
            }
            ObjectStoreScheme::GoogleCloudStorage => {
                let store =
                    GoogleCloudStorageBuilder::from_env().with_url(address).with_retry(retry);
                Arc::new(store.build().map_err(failed)?)
            }
            ObjectStoreScheme::MicrosoftAzure => {
                let store = MicrosoftAzureBuilder::from_env().with_url(address).with_retry(retry);
                Arc::new(store.build().map_err(failed)?)
            }
            ObjectStoreScheme::Local => {
                folder = url.to_file_path().ok();
                Arc::new(LocalFileSystem::new())
            }
            _ => return Err(refuse("unknown kind of store".to_owned())),
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|why| StoreError::System(why.to_string()))?;
        Ok(Store { objects, folder, root, address: address.to_owned(), runtime: Arc::new(runtime) })
    }

    /// The folder `name` below this address.
    #[must_use]
    pub fn child(&self, name: &str) -> Store {
        Store {
            root: self.root.clone().join(name),
            folder: self.folder.as_ref().map(|folder| folder.join(name)),
            address: format!("{}/{name}", self.address),
            ..self.clone()
        }
    }

    /// The address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// All objects below this address, sorted by name.
    pub(crate) fn list(&self) -> Result<Vec<ObjectMeta>, StoreError> {
        if let Some(folder) = &self.folder {
            check_files(folder).map_err(StoreError::file(folder))?;
        }
        let listed = self.wait(async { self.objects.list(Some(&self.root)).try_collect().await });
        let mut all: Vec<ObjectMeta> = listed.map_err(|why| self.failed(&self.root, why))?;
        all.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(all)
    }

    pub(crate) fn parts_of(&self, location: &Path) -> Vec<String> {
        let parts = location.prefix_match(&self.root).into_iter().flatten();
        parts.map(|part| part.as_ref().to_owned()).collect()
    }

    pub(crate) fn location(&self, parts: &[&str]) -> Path {
        parts.iter().fold(self.root.clone(), |path, part| path.join(*part))
    }

    pub(crate) fn objects(&self) -> &Arc<dyn ObjectStore> {
        &self.objects
    }

    /// Blocks until the store has answered.
    pub(crate) fn wait<T>(&self, what: impl Future<Output = T>) -> T {
        self.runtime.block_on(what)
    }

    pub(crate) fn failed(&self, location: &Path, why: object_store::Error) -> StoreError {
        let parts = self.parts_of(location);
        let address = [vec![self.address.clone()], parts].concat().join("/");
        StoreError::Store { address, why: Box::new(why) }
    }
}

/// Rejects links, which the store would follow out of its folder, and pipes, which never end.
fn check_files(folder: &std::path::Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            check_files(&path)?;
        } else if !kind.is_file() {
            let path = path.display();
            return Err(io::Error::other(format!("{path} is not a regular file; delete it")));
        }
    }
    Ok(())
}

/// Selects the library for TLS that the rest of the program uses too.
fn encryption() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Another caller may have installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// After this many retries, the error is reported.
const RETRIES_MAX: usize = 5;
const RETRY_FOR: Duration = Duration::from_secs(30);
