//! A web page: each phone loads a page with its objects, as a browser does.
//!
//! An object is requested when it becomes known: at once, or when the object that names it has
//! arrived and has been parsed or executed or, in a document, has arrived up to its place. Nothing
//! is cached. What a browser does by itself, such as painting, scheduling scripts or speculative
//! loading, is left out, except for the time that a manifest gives an object.

mod connections;
mod content;
mod har;
mod loader;
mod manifest;
mod model;

use std::collections::BTreeMap;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::{Request, Response, Service};
use trackbed_core::{Arguments, EventLog, Parameter, parameters};

use crate::arguments::{few, positive};
use crate::contract::{PageObject, Prepared, Site, SiteFile, Stage, Workload, WorkloadError};
use crate::data::nothing_at;
use crate::warm_up::{self, WithWarmUp};
use content::Content;
use model::Page;

pub(crate) static ENTRY: Workload = Workload {
    name: "page",
    summary: "phones load a web page with its dependent objects, as browsers do",
    parameters: || PARAMETERS,
    communicates: true,
    follows_environment: false,
    ranking: &[("", &["plt_ms"])],
    prepare: |arguments, base| Ok(Box::new(Arc::new(Plan::new(arguments, base)?))),
};

struct Plan {
    page: Arc<Page>,
    phones: u32,
    /// The maximum connections of a phone; `None`: depends on the protocol.
    connections: Option<usize>,
    keep_alive: bool,
    priorities: bool,
    timeout: Duration,
}

impl Plan {
    fn new(arguments: &Arguments, base: &Path) -> Result<Plan, WorkloadError> {
        let timeout = positive(arguments, "timeout", "600 s")?;
        let connections = arguments.get("connections");
        let connections =
            connections.map(|count| few("connections", count, CONNECTIONS_MAX)).transpose()?;
        Ok(Plan {
            page: Arc::new(page(arguments, base)?),
            phones: few("phones", arguments.need("phones"), PHONES_MAX)?,
            connections: connections.map(|count| count as usize),
            keep_alive: arguments.need("keep_alive"),
            priorities: arguments.need("priorities"),
            timeout,
        })
    }
}

fn page(arguments: &Arguments, base: &Path) -> Result<Page, WorkloadError> {
    match (arguments.get::<PathBuf>("manifest"), arguments.get::<PathBuf>("har")) {
        (Some(_), Some(_)) => {
            let advice = "the manifest describes the page; remove `har` or `manifest`";
            Err(WorkloadError::new("har", advice))
        }
        (Some(file), None) => manifest::read(&base.join(file)),
        (None, Some(file)) => har::read(&base.join(file)),
        (None, None) => Ok(content::built_in_page()),
    }
}

impl Prepared for Arc<Plan> {
    fn phones(&self) -> u32 {
        self.phones
    }

    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(service(Arc::clone(&self.page))))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(loader::drive(Arc::clone(self), stage))
    }

    fn site(&self) -> Result<Site, String> {
        let page = &self.page;
        let file = |index: usize| {
            let content = Content::of(page, index);
            let (path, bytes) = (page.objects()[index].path.clone(), page.objects()[index].bytes);
            SiteFile { path, bytes, content: Arc::new(move |file| content.write(file)) }
        };
        let objects = (0..page.objects().len()).map(file);
        Ok(Site { files: [warm_up::site_file()].into_iter().chain(objects).collect() })
    }

    fn page(&self) -> Option<Vec<PageObject>> {
        let objects = self.page.objects().iter().map(|object| PageObject {
            path: object.path.clone(),
            kind: object.kind.name(),
            bytes: object.bytes,
            blocking: object.blocking,
        });
        Some(objects.collect())
    }
}

const PARAMETERS: &[Parameter] = parameters! {
    "manifest": File, optional =>
        "TOML file with an [[object]] for each object of the page, the page itself first: its \
         path, kind (html, css, js, image, font, other), size, found-in (path of the object that \
         names it), found-at (bytes of an html object before it), blocking (whether it blocks \
         painting) and execution (time until the objects it names are known); default: a page of \
         472 kB with html, css, js and five images";
    "har": File, optional =>
        "page recorded by a browser (HAR 1.2): its objects with their transferred sizes, all from \
         one server; dependencies from redirects and _initiator, else guessed from the times";
    "connections": Count { min: 1 }, optional =>
        "connections per phone; default: 6 if a connection carries one exchange at a time, as with \
         http1, else 1";
    "keep_alive": Flag = "true" =>
        "whether a connection is reused after its first exchange; if false, each object takes a \
         new connection";
    "priorities": Flag = "true" =>
        "whether objects are requested with Chromium's priorities (RFC 9218): over http3 and quic \
         the server sends in their order, elsewhere requests wait for connections in their order";
    "phones": Count { min: 1 } = "1" =>
        "phones that load the page at the same time, each on a separate host, up to 1000";
    "timeout": Time = "600 s" =>
        "a page that is incomplete after this long is given up, and the run fails";
};

const PHONES_MAX: u32 = 1_000;
const CONNECTIONS_MAX: u32 = 256;

/// Answers a request for an object, `/` being the document, any other with 404. Ignores queries.
fn service(page: Arc<Page>) -> impl Service {
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
