//! What is said to a browser, and what it answers: the Chrome DevTools protocol, JSON messages that
//! end with a zero byte.
//!
//! A session of it, in order: a page of its own is made and attached to; when the browser has come
//! to rest, the page is led to its URL; after its `load` event its own measurements are asked for
//! (W3C Navigation Timing, Resource Timing, Paint Timing), and the browser is closed.

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
    /// The page's, once it is attached to.
    session: Option<String>,
    /// Whose answer is waited for.
    step: Step,
    /// The number of the command that was said last.
    command: u64,
    to_say: VecDeque<Vec<u8>>,
    /// What has come of the next message.
    heard: Vec<u8>,
    /// Whether the page's `load` event has come.
    is_loaded: bool,
    /// What the browser last complained of.
    complaint: Option<String>,
    begin: Time,
    visited: Option<Visited>,
}

/// The commands, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Make a page.
    Create,
    /// Speak to it.
    Attach,
    /// Be told of the `load` event.
    WatchPage,
    /// Be told if its process ends.
    WatchProcess,
    /// Be told of requests that fail.
    WatchLog,
    /// Have counters of it.
    WatchCounters,
    /// Have room for the timing of more than 250 objects.
    MakeRoom,
    /// Let the browser come to rest.
    Rest,
    /// Load the page; the answer comes when its first bytes are there.
    Navigate,
    /// Wait for the `load` event.
    Load,
    /// When, on the machine's clock, it began.
    AskBegin,
    /// What has become of each object.
    AskTimes,
    /// The end.
    Close,
}

impl Conversation {
    /// A conversation that leads a browser to `url`.
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

    /// Says the command that `step` is about.
    fn proceed(&mut self, step: Step) {
        self.step = step;
        let nothing = json!({});
        match step {
            // They need what the answer before brings, and are said with it.
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
                // It is the browser's command, not the page's.
                self.session = None;
                self.command("Browser.close", nothing);
            }
        }
    }

    fn message(&mut self, bytes: &[u8]) -> Result<(), String> {
        let message: Value = serde_json::from_slice(bytes)
            .map_err(|why| format!("the browser says what is no JSON: {why}"))?;
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
                // A page that brings no icon is asked for one all the same.
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
            return Err(format!("the browser refuses ({step:?}): {}", error["message"]));
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
                    return Err("the browser says a message without end".to_owned());
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

/// The beginning of the navigation on `CLOCK_MONOTONIC`, which Chromium's clock is on Linux.
fn begin(result: &Value) -> Result<Time, String> {
    let metrics = result["metrics"].as_array().into_iter().flatten();
    let mut named = metrics.filter(|metric| metric["name"] == "NavigationStart");
    let seconds = named.next().and_then(|metric| metric["value"].as_f64());
    let begin = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let missing = || "the browser does not tell when the navigation began".to_owned();
    begin.map(|begin| Time::ZERO + begin).ok_or_else(missing)
}

/// What [`TIMES`] returns: milliseconds from the beginning of the navigation.
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
        .map_err(|why| format!("the page's times are not understood: {why}"))?;
    let at = |millis: f64| {
        Duration::try_from_secs_f64(millis / 1e3)
            .map_err(|why| format!("the browser tells a time that makes no sense: {why}"))
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

/// Waits until the `load` event is over and something was painted, for the latter so many
/// milliseconds at most, and returns [`Times`] as text. An object that failed has no response.
const TIMES: &str = "limit => new Promise(done => {
    const [page] = performance.getEntriesByType('navigation');
    const tell = entry => ({
        url: entry.name, protocol: entry.nextHopProtocol, status: entry.responseStatus,
        bytes: entry.encodedBodySize, found: entry.startTime,
        requested: entry.requestStart, first: entry.responseStart, done: entry.responseEnd,
    });
    const look = left => {
        const [paint] = performance.getEntriesByType('paint');
        if (page.loadEventEnd === 0 || (!paint && left > 0)) {
            setTimeout(look, 20, left - 20);
            return;
        }
        const objects = [page, ...performance.getEntriesByType('resource')].map(tell);
        done(JSON.stringify({
            loaded: page.loadEventEnd, paint: paint ? paint.startTime : null, objects,
        }));
    };
    look(limit);
})";

/// What a browser takes to come to rest after its start.
const REST_MS: u32 = 500;

/// A page may show nothing at all.
const PAINT_WAIT_MS: u32 = 1_000;

/// Far more than the times of a page with tens of thousands of objects.
const MESSAGE_MAX: usize = 64 << 20;

#[cfg(test)]
mod tests;
