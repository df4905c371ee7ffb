//! The server: it has only the page's objects.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;

use trackbed_connection::{Request, Response, Service};

use super::content::Content;
use super::model::Page;
use crate::answers::nothing_at;

/// Answers a request for an object, `/` being the document, any other with 404. Ignores queries.
pub(super) fn service(page: Arc<Page>) -> impl Service {
    let paths = page.objects().iter().map(|object| object.path.clone());
    let places: BTreeMap<String, usize> =
        [("/".to_owned(), 0)].into_iter().chain(paths.zip(0..)).collect();
    move |request: Request| {
        let path = request.path.split('?').next().unwrap_or_default();
        ready(match places.get(path) {
            Some(index) => Response { status: 200, body: Content::of(&page, *index).body() },
            None => nothing_at(path),
        })
    }
}
