//! The conversation with a browser by the Chrome DevTools protocol: JSON messages terminated by a
//! zero byte.
//!
//! A session, in order: create a page and attach to it; when the browser is idle, navigate to the
//! URL; after the `load` event, query the page's own measurements (W3C Navigation Timing, Resource
//! Timing, Paint Timing), and close the browser.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use trackbed_core::Time;

use super::super::visit::protocol_of_alpn;
use super::super::{Fetched, PageTimes, Session, Visited};

/// A conversation with a browser about one page.
pub(super) struct Conversation {
    url: String,
    /// The page's session, once attached.
    session: Option<String>,
    /// The step whose answer is awaited.
    step: Step,
    /// The number of the last command.
    command: u64,
    to_say: VecDeque<Vec<u8>>,
    /// The received part of the next message.
    heard: Vec<u8>,
    /// Whether the page's `load` event has arrived.
    is_loaded: bool,
    /// The browser's last complaint.
    complaint: Option<String>,
    begin: Time,
    visited: Option<Visited>,
}

/// The commands, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Create,
    Attach,
    /// Subscribe to the `load` event.
    WatchPage,
    /// Be notified if its process ends.
    WatchProcess,
    /// Be notified of failed requests.
    WatchLog,
    /// Enable its counters.
    WatchCounters,
    /// Make room for the timing of more than 250 objects.
    MakeRoom,
    /// Wait until the browser is idle.
    Rest,
    /// Load the page; the answer arrives with its first bytes.
    Navigate,
    Load,
    /// Query its start time on the machine's clock.
    AskBegin,
    /// Query the result of each object.
    AskTimes,
    Close,
}

impl Conversation {
    /// A conversation that loads `url`.
    pub(super) fn about(url: String) -> Conversation {
        let mut conversation = Conversation {
            url,
            session: None,
            step: Step::Create,
            command: 0,
            to_say: VecDeque::new(),
            heard: Vec::new(),
            is_loaded: false,
            complaint: None,
            begin: Time::ZERO,
            visited: None,
        };
        conversation.command("Target.createTarget", json!({ "url": super::BLANK }));
        conversation
    }

    fn command(&mut self, method: &str, parameters: Value) {
        self.command += 1;
        let mut message = json!({ "id": self.command, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to_say.push_back(bytes);
    }

    fn evaluate(&mut self, expression: String) {
        self.command(
            "Runtime.evaluate",
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true }),
        );
    }

    fn proceed(&mut self, step: Step) {
        self.step = step;
        let nothing = json!({});
        match step {
            // These need the result of the previous answer, and are sent with it.
            Step::Create | Step::Attach => {}
            Step::WatchPage => self.command("Page.enable", nothing),
            Step::WatchProcess => self.command("Inspector.enable", nothing),
            Step::WatchLog => self.command("Log.enable", nothing),
            Step::WatchCounters => self.command("Performance.enable", nothing),
            Step::MakeRoom => self.command(
                "Page.addScriptToEvaluateOnNewDocument",
                json!({ "source": "performance.setResourceTimingBufferSize(100000)" }),
            ),
            Step::Rest => self.evaluate(format!("new Promise(d => setTimeout(d, {REST_MS}))")),
            Step::Navigate => self.command("Page.navigate", json!({ "url": self.url })),
            Step::Load if self.is_loaded => self.proceed(Step::AskBegin),
            Step::Load => {}
            Step::AskBegin => self.command("Performance.getMetrics", nothing),
            Step::AskTimes => self.evaluate(format!("({TIMES})({PAINT_WAIT_MS})")),
            Step::Close => {
                // This command is for the browser, not the page.
                self.session = None;
                self.command("Browser.close", nothing);
            }
        }
    }

    fn message(&mut self, bytes: &[u8]) -> Result<(), String> {
        let message: Value = serde_json::from_slice(bytes)
            .map_err(|why| format!("the browser sent invalid JSON: {why}"))?;
        match message["method"].as_str() {
            Some(method) => self.event(method, &message["params"]),
            None if message["id"] == self.command => self.answer(&message),
            None => Ok(()),
        }
    }

    fn event(&mut self, method: &str, parameters: &Value) -> Result<(), String> {
        match method {
            "Page.loadEventFired" => {
                self.is_loaded = true;
                if self.step == Step::Load {
                    self.proceed(Step::AskBegin);
                }
                Ok(())
            }
            "Log.entryAdded" => {
                let entry = &parameters["entry"];
                let words = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
                // Browsers request an icon even if the page has none.
                if !words("url").ends_with("/favicon.ico") {
                    self.complaint = Some(format!("{} {}", words("text"), words("url")));
                }
                Ok(())
            }
            "Inspector.targetCrashed" | "Target.targetCrashed" => {
                Err("the process of the browser that shows the page has crashed".to_owned())
            }
            "Inspector.detached" if self.step != Step::Close => {
                Err("the browser has closed the page".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn answer(&mut self, message: &Value) -> Result<(), String> {
        if let Some(error) = message.get("error") {
            let step = self.step;
            return Err(format!("the browser refused {step:?}: {}", error["message"]));
        }
        let result = &message["result"];
        let text = |key: &str| {
            let text = result[key].as_str().map(str::to_owned);
            text.ok_or_else(|| format!("the browser's answer has no {key}: {result}"))
        };
        match self.step {
            Step::Create => {
                let target = json!({ "targetId": text("targetId")?, "flatten": true });
                self.command("Target.attachToTarget", target);
                self.step = Step::Attach;
            }
            Step::Attach => {
                self.session = Some(text("sessionId")?);
                self.proceed(Step::WatchPage);
            }
            Step::WatchPage => self.proceed(Step::WatchProcess),
            Step::WatchProcess => self.proceed(Step::WatchLog),
            Step::WatchLog => self.proceed(Step::WatchCounters),
            Step::WatchCounters => self.proceed(Step::MakeRoom),
            Step::MakeRoom => self.proceed(Step::Rest),
            Step::Rest => {
                // The blank page has had its own.
                self.is_loaded = false;
                self.proceed(Step::Navigate);
            }
            Step::Navigate => {
                if let Some(why) = result["errorText"].as_str().filter(|why| !why.is_empty()) {
                    return Err(format!("the page could not be loaded: {why}"));
                }
                self.proceed(Step::Load);
            }
            Step::AskBegin => {
                self.begin = begin(result)?;
                self.proceed(Step::AskTimes);
            }
            Step::AskTimes => {
                self.visited = Some(visited(self.begin, result)?);
                self.proceed(Step::Close);
            }
            Step::Load | Step::Close => {}
        }
        Ok(())
    }
}

impl Session for Conversation {
    fn say(&mut self) -> Option<Vec<u8>> {
        self.to_say.pop_front()
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<(), String> {
        for byte in bytes {
            match byte {
                0 => {
                    let message = std::mem::take(&mut self.heard);
                    self.message(&message)?;
                }
                _ if self.heard.len() >= MESSAGE_MAX => {
                    return Err("the browser sent an endless message".to_owned());
                }
                byte => self.heard.push(*byte),
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Visited, String> {
        let step = self.step;
        let complaint = self.complaint.map(|why| format!(": {why}")).unwrap_or_default();
        let ended = || format!("the browser ended before its page was there ({step:?}){complaint}");
        let visited = self.visited.ok_or_else(ended)?;
        match visited.fetched.iter().find(|fetched| fetched.status == 0) {
            Some(failed) => Err(format!("{} could not be fetched{complaint}", failed.path)),
            None => Ok(visited),
        }
    }
}

/// The start of the navigation on `CLOCK_MONOTONIC`, which is Chromium's clock on Linux.
fn begin(result: &Value) -> Result<Time, String> {
    let metrics = result["metrics"].as_array().into_iter().flatten();
    let mut named = metrics.filter(|metric| metric["name"] == "NavigationStart");
    let seconds = named.next().and_then(|metric| metric["value"].as_f64());
    let begin = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let missing = || "the browser does not report when the navigation began".to_owned();
    begin.map(|begin| Time::ZERO + begin).ok_or_else(missing)
}

/// The result of [`TIMES`]: milliseconds since the start of the navigation.
#[derive(Deserialize)]
struct Times {
    loaded: f64,
    paint: Option<f64>,
    objects: Vec<Object>,
}

#[derive(Deserialize)]
struct Object {
    url: String,
    protocol: String,
    status: u16,
    bytes: u64,
    found: f64,
    requested: f64,
    first: f64,
    done: f64,
}

fn visited(begin: Time, result: &Value) -> Result<Visited, String> {
    if let Some(exception) = result.get("exceptionDetails") {
        return Err(format!("the page has no times: {exception}"));
    }
    let times = result["result"]["value"].as_str().unwrap_or_default();
    let times: Times = serde_json::from_str(times)
        .map_err(|why| format!("the page's times cannot be parsed: {why}"))?;
    let at = |millis: f64| {
        Duration::try_from_secs_f64(millis / 1e3)
            .map_err(|why| format!("the browser reports an invalid time: {why}"))
    };
    let fetched = times.objects.iter().map(|object| {
        Ok(Fetched {
            path: path_of(&object.url).to_owned(),
            protocol: protocol_of_alpn(&object.protocol).to_owned(),
            status: object.status,
            bytes: object.bytes,
            found: at(object.found)?,
            requested: at(object.requested)?,
            first_byte: at(object.first)?,
            done: at(object.done)?,
        })
    });
    let mut fetched = fetched.collect::<Result<Vec<_>, String>>()?;
    fetched.sort_by_key(|fetched| fetched.found);
    let first_paint = times.paint.map(at).transpose()?;
    let page = Some(PageTimes { first_paint, loaded: at(times.loaded)? });
    Ok(Visited { begin: Some(begin), fetched, page })
}

/// The path of a URL, with its query.
fn path_of(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, behind)| behind);
    behind.find('/').map_or("/", |at| &behind[at..])
}

/// Waits until the `load` event is over and something was painted (for the latter at most this
/// number of milliseconds), and returns [`Times`] as text. A failed object has no response.
const TIMES: &str = include_str!("times.js");

/// How long a browser takes to become idle after its start.
const REST_MS: u32 = 500;

/// A page may paint nothing at all.
const PAINT_WAIT_MS: u32 = 1_000;

/// Much more than the times of a page with tens of thousands of objects.
const MESSAGE_MAX: usize = 64 << 20;

#[cfg(test)]
mod tests;
