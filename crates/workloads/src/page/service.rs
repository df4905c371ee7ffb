//! The server: it has only the page's objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::{Request, Response, Service, body};

use super::content::Content;
use super::model::Page;

/// Answers a request for an object of the page, or for `/` with the document, and any other with
/// 404. A query is ignored.
pub(super) struct PageService {
    page: Arc<Page>,
    places: BTreeMap<String, usize>,
}

impl PageService {
    pub(super) fn new(page: Arc<Page>) -> PageService {
        let paths = page.objects().iter().map(|object| object.path.clone());
        let places = [("/".to_owned(), 0)].into_iter().chain(paths.zip(0..)).collect();
        PageService { page, places }
    }
}

impl Service for PageService {
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        let path = request.path.split('?').next().unwrap_or_default();
        let response = match self.places.get(path) {
            Some(index) => Response { status: 200, body: Content::of(&self.page, *index).body() },
            None => {
                let reason = format!("there is nothing at {path}");
                let answer = serde_json::json!({ "status": "refused", "reason": reason });
                Response { status: 404, body: body::full(answer.to_string()) }
            }
        };
        Box::pin(std::future::ready(response))
    }
}
