//! A web page: each phone loads a page with its objects, as a browser does.
//!
//! An object is requested when it becomes known: at once, or when what names it has arrived, has
//! been parsed or executed, or, in a document, has come so far. Nothing is cached. What a browser
//! does on its own account, such as painting, scheduling scripts or guessing what comes next, is
//! left out, except for the time that a manifest gives an object.

mod built_in;
mod connections;
mod content;
mod har;
mod loader;
mod manifest;
mod model;
mod service;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{Arguments, EventLog, Parameter, parameters};

use crate::contract::{PageObject, Prepared, Site, SiteFile, Stage, Workload, WorkloadError};
use crate::warm_up::{self, WithWarmUp};
use content::Content;
use service::PageService;

/// The entry of the registry.
pub(crate) struct WebPage;

impl Workload for WebPage {
    fn name(&self) -> &'static str {
        "page"
    }

    fn summary(&self) -> &'static str {
        "phones load a web page, whose objects lead to one another, as browsers do"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn prepare(
        &self,
        arguments: &Arguments,
        base: &Path,
    ) -> Result<Box<dyn Prepared>, WorkloadError> {
        Ok(Box::new(Pages(Arc::new(Plan::new(arguments, base)?))))
    }
}

/// What the runs of a cell share.
struct Plan {
    page: Arc<model::Page>,
    phones: u32,
    /// Connections of a phone at once; `None` leaves it to what the protocol can do.
    connections: Option<usize>,
    keep_alive: bool,
    priorities: bool,
    timeout: Duration,
}

impl Plan {
    fn new(arguments: &Arguments, base: &Path) -> Result<Plan, WorkloadError> {
        let timeout: Duration = arguments.need("timeout");
        if timeout.is_zero() {
            let advice = "no page loads in no time; write \"600 s\"";
            return Err(WorkloadError::new("timeout", advice));
        }
        let at_most = |parameter: &'static str, count: u64, max: u32| {
            u32::try_from(count).ok().filter(|count| *count <= max).ok_or_else(|| {
                let advice = format!("{count} is too many; write at most {max}");
                WorkloadError::new(parameter, advice)
            })
        };
        let connections = arguments.get("connections");
        let connections =
            connections.map(|count| at_most("connections", count, CONNECTIONS_MAX)).transpose()?;
        Ok(Plan {
            page: Arc::new(page(arguments, base)?),
            phones: at_most("phones", arguments.need("phones"), PHONES_MAX)?,
            connections: connections.map(|count| count as usize),
            keep_alive: arguments.need("keep_alive"),
            priorities: arguments.need("priorities"),
            timeout,
        })
    }
}

fn page(arguments: &Arguments, base: &Path) -> Result<model::Page, WorkloadError> {
    match (arguments.get::<PathBuf>("manifest"), arguments.get::<PathBuf>("har")) {
        (Some(_), Some(_)) => {
            let advice = "the page is described by the manifest; leave out `har` or `manifest`";
            Err(WorkloadError::new("har", advice))
        }
        (Some(file), None) => manifest::read(&base.join(file)),
        (None, Some(file)) => har::read(&base.join(file)),
        (None, None) => Ok(built_in::page()),
    }
}

/// Page loads with everything resolved.
struct Pages(Arc<Plan>);

impl Prepared for Pages {
    fn phones(&self) -> u32 {
        self.0.phones
    }

    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(PageService::new(Arc::clone(&self.0.page))))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(loader::drive(Arc::clone(&self.0), stage))
    }

    fn site(&self) -> Result<Site, String> {
        let page = &self.0.page;
        let file = |index: usize| {
            let content = Content::of(page, index);
            let path = page.objects()[index].path.clone();
            SiteFile { path, content: Arc::new(move |file| content.write(file)) }
        };
        let objects = (0..page.objects().len()).map(file);
        Ok(Site { files: [warm_up::site_file()].into_iter().chain(objects).collect() })
    }

    fn page(&self) -> Option<Vec<PageObject>> {
        let objects = self.0.page.objects().iter().map(|object| PageObject {
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
        "a TOML file with an [[object]] for each object of the page, the page itself first: its \
         path, kind (html, css, js, image, font, other) and size, found-in: the path of the \
         object that names it, found-at: how much of that, if it is html, must have come, \
         blocking: whether painting waits for it, and execution: the time until what it names is \
         known; without it a page of 472 kB: html, css, js and five images";
    "har": File, optional =>
        "a page that a browser has recorded (HAR 1.2): its objects with their transferred sizes, \
         whatever their origins, from one server; what led to what is Chrome's _initiator, or \
         else guessed from the times";
    "connections": Count { min: 1 }, optional =>
        "connections of a phone at once; 6 where a connection carries one exchange at a time, as \
         with http1, and 1 where exchanges share it";
    "keep_alive": Flag = "true" =>
        "whether a connection carries another exchange after the first; with false each object \
         takes a connection of its own";
    "priorities": Flag = "true" =>
        "whether objects are requested with priorities (RFC 9218), those of Chromium: over http3 \
         and quic the server sends by them, and what waits for a connection does so in their order";
    "phones": Count { min: 1 } = "1" =>
        "phones that load the page at once, each on a host of its own, up to 1000";
    "timeout": Time = "600 s" =>
        "a page that is not complete after this long is given up, and the run has failed";
};

const PHONES_MAX: u32 = 1_000;
const CONNECTIONS_MAX: u32 = 256;
