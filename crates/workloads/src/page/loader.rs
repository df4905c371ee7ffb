//! The browsers: each loads the page once, and each object when it becomes known.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use futures_channel::oneshot;
use futures_util::StreamExt as _;
use trackbed_connection::{Error, Request, body};
use trackbed_core::Event;
use trackbed_core::units::format_duration;
use trackbed_substrate::{Task, before, now, sleep, spawn_named};

use super::Plan;
use super::connections::{Connections, Lease, Usage};
use super::model::Object;
use crate::contract::Stage;
use crate::phone::{Phone, check_status};
use crate::tasks;
use crate::warm_up::warm_up;

pub(super) async fn drive(plan: Arc<Plan>, stage: Stage) {
    if !warm_up(&stage).await {
        return;
    }
    stage.log.record(now(), Event::Started);
    let usage = plan.usage(stage.capabilities.multiplexed);
    let browsers: Vec<_> = Phone::all(&stage, &stage.log)
        .into_iter()
        .map(|phone| {
            let name = format!("phone {}", phone.number);
            let connections = Connections::new(Rc::clone(&phone), usage, stage.handshake);
            let loader = Loader::new(Arc::clone(&plan), phone, connections);
            spawn_named(name, loader.load())
        })
        .collect();
    let mut closing = Vec::with_capacity(browsers.len());
    for browser in browsers {
        let connections = browser.await;
        closing.push(spawn_named("closing", async move { connections.close().await }));
    }
    stage.log.record(now(), Event::Finished);
    tasks::join(closing).await;
}

struct Loader {
    plan: Arc<Plan>,
    phone: Rc<Phone>,
    connections: Rc<Connections>,
    /// The objects known so far, and the number that are not ready yet.
    known: RefCell<Vec<bool>>,
    missing: Cell<usize>,
    loading: RefCell<Vec<Task<()>>>,
    end: Cell<Option<oneshot::Sender<Outcome>>>,
}

/// The outcome of loading: if incomplete, the object that was given up and the reason.
type Outcome = Result<(), (usize, String)>;

impl Loader {
    fn new(plan: Arc<Plan>, phone: Rc<Phone>, connections: Rc<Connections>) -> Rc<Loader> {
        let objects = plan.page.objects().len();
        Rc::new(Loader {
            plan,
            phone,
            connections,
            known: RefCell::new(vec![false; objects]),
            missing: Cell::new(objects),
            loading: RefCell::default(),
            end: Cell::default(),
        })
    }

    /// Loads the page and returns its connections, some of which may still be open.
    async fn load(self: Rc<Self>) -> Rc<Connections> {
        let (sender, receiver) = oneshot::channel();
        self.end.set(Some(sender));
        for (index, object) in self.plan.page.objects().iter().enumerate() {
            if object.found.is_none() {
                self.find(index);
            }
        }
        let phone = &self.phone;
        match before(now() + self.plan.timeout, receiver).await {
            Some(Ok(Ok(()))) => phone.record(Event::PageLoaded { phone: phone.number }),
            Some(Ok(Err((object, reason)))) => phone.give_up(object as u32, reason),
            Some(Err(_)) | None => {
                let (timeout, missing) = (format_duration(self.plan.timeout), self.missing.get());
                let of = self.plan.page.objects().len();
                let reason = format!(
                    "{missing} of the page's {of} objects were missing after {timeout} (workload.timeout)"
                );
                phone.give_up(0, reason);
            }
        }
        self.loading.take();
        Rc::clone(&self.connections)
    }

    fn find(self: &Rc<Self>, index: usize) {
        if std::mem::replace(&mut self.known.borrow_mut()[index], true) {
            return;
        }
        let object = &self.plan.page.objects()[index];
        self.phone.record(Event::ObjectFound {
            phone: self.phone.number,
            object: index as u32,
            path: object.path.clone(),
            kind: object.kind.name().to_owned(),
            bytes: object.bytes,
            blocking: object.blocking,
        });
        let loader = Rc::clone(self);
        let name = format!("{} for phone {}", object.path, self.phone.number);
        let task = spawn_named(name, async move {
            if let Err(reason) = loader.fetch(index).await {
                let path = &loader.plan.page.objects()[index].path;
                return loader.finish(Err((index, format!("{path}: {reason}"))));
            }
            loader.take_in(index).await;
        });
        self.loading.borrow_mut().push(task);
    }

    /// Requests an object until it has arrived, on another connection if one fails.
    async fn fetch(self: &Rc<Self>, index: usize) -> Result<(), String> {
        let object = &self.plan.page.objects()[index];
        let urgency = if self.plan.priorities { object.priority().urgency } else { 0 };
        let mut attempt = 1;
        loop {
            let lease = self.connections.take(urgency).await.map_err(|why| why.to_string())?;
            match self.exchange(index, object, &lease).await {
                Ok(()) => return Ok(()),
                Err(Refusal::Lasting(reason)) => return Err(reason),
                Err(Refusal::Failed(why)) => {
                    lease.put_away();
                    if !why.is_retryable() || attempt == ATTEMPTS_MAX {
                        return Err(format!("{why} (attempt {attempt})"));
                    }
                    attempt += 1;
                }
            }
        }
    }

    async fn exchange(
        self: &Rc<Self>,
        index: usize,
        object: &Object,
        lease: &Lease,
    ) -> Result<(), Refusal> {
        let (phone, number) = (self.phone.number, index as u32);
        let connection = lease.line().number;
        self.phone.record(Event::ObjectRequested { phone, object: number, connection });
        let priority = self.plan.priorities.then(|| object.priority());
        let request = Request { priority, ..Request::new(&object.path, body::empty()) };
        let mut response = lease.line().exchange(request).await.map_err(Refusal::Failed)?;
        check_status(response.status).map_err(|failure| Refusal::Lasting(failure.reason))?;
        self.phone.record(Event::ObjectBegun { phone, object: number });
        let mut arrived = 0;
        while let Some(piece) = response.body.next().await {
            arrived += piece.map_err(Refusal::Failed)?.len() as u64;
            self.find_children(index, |at| at.is_some_and(|at| at <= arrived));
        }
        if arrived != object.bytes {
            let reason = format!("{arrived} bytes arrived instead of {}", object.bytes);
            return Err(Refusal::Lasting(reason));
        }
        self.phone.record(Event::ObjectDone { phone, object: number });
        Ok(())
    }

    async fn take_in(self: &Rc<Self>, index: usize) {
        let execution = self.plan.page.objects()[index].execution;
        if !execution.is_zero() {
            sleep(execution).await;
        }
        let (phone, object) = (self.phone.number, index as u32);
        self.phone.record(Event::ObjectReady { phone, object });
        self.find_children(index, |_| true);
        self.missing.set(self.missing.get() - 1);
        if self.missing.get() == 0 {
            self.finish(Ok(()));
        }
    }

    /// Starts to load the objects found in object `index` at places for which `reached` is true.
    fn find_children(self: &Rc<Self>, index: usize, reached: impl Fn(Option<u64>) -> bool) {
        let page = &self.plan.page;
        for child in page.children(index) {
            if page.objects()[*child].found.is_some_and(|found| reached(found.at)) {
                self.find(*child);
            }
        }
    }

    fn finish(&self, outcome: Outcome) {
        if let Some(end) = self.end.take() {
            // The receiver is gone if the time was over first.
            let _too_late = end.send(outcome);
        }
    }
}

enum Refusal {
    Failed(Error),
    /// The server refused, and would refuse again.
    Lasting(String),
}

impl Plan {
    fn usage(&self, multiplexed: bool) -> Usage {
        let several = multiplexed && self.keep_alive;
        Usage {
            connections_max: self.connections.unwrap_or(match multiplexed {
                true => CONNECTIONS_MULTIPLEXED,
                false => CONNECTIONS_SINGLE,
            }),
            exchanges_max: if several { usize::MAX } else { 1 },
            keep_alive: self.keep_alive,
        }
    }
}

/// Maximum requests for an object, on different connections, before the page is given up.
const ATTEMPTS_MAX: u32 = 5;

/// Browsers open six connections to a server over HTTP/1.1, and one if exchanges share it.
const CONNECTIONS_SINGLE: usize = 6;
const CONNECTIONS_MULTIPLEXED: usize = 1;
