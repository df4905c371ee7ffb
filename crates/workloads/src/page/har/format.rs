//! The parts of an archive that are read: HAR 1.2 and, with an underscore, Chrome's additions.

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Archive {
    pub log: Log,
}

#[derive(Deserialize)]
pub(super) struct Log {
    pub pages: Option<Vec<PageOf>>,
    pub entries: Vec<Entry>,
}

#[derive(Deserialize)]
pub(super) struct PageOf {
    pub id: String,
}

#[derive(Deserialize)]
pub(super) struct Entry {
    pub pageref: Option<String>,
    #[serde(rename = "startedDateTime")]
    pub started: String,
    /// Milliseconds from the start to the end.
    pub time: Option<f64>,
    pub request: Request,
    pub response: Response,
    #[serde(default)]
    pub timings: Timings,
    #[serde(rename = "_initiator")]
    pub initiator: Option<Initiator>,
    #[serde(rename = "_resourceType")]
    pub resource_type: Option<String>,
    #[serde(rename = "_priority")]
    pub priority: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Request {
    pub url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    /// 0 where there was none.
    pub status: i64,
    #[serde(rename = "redirectURL")]
    pub redirect_url: Option<String>,
    /// -1 if unknown.
    pub body_size: Option<i64>,
    #[serde(default)]
    pub content: Content,
    #[serde(rename = "_transferSize")]
    pub transfer_size: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    pub size: Option<i64>,
    /// Bytes saved by compression.
    pub compression: Option<i64>,
    pub mime_type: Option<String>,
}

/// Milliseconds; -1 if not applicable.
#[derive(Default, Deserialize)]
pub(super) struct Timings {
    pub blocked: Option<f64>,
    pub dns: Option<f64>,
    pub connect: Option<f64>,
    pub send: Option<f64>,
    pub wait: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct Initiator {
    url: Option<String>,
    stack: Option<Stack>,
}

/// The script's call stack at the request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stack {
    #[serde(default)]
    call_frames: Vec<CallFrame>,
    /// What scheduled it, for example a timer.
    parent: Option<Box<Stack>>,
}

#[derive(Deserialize)]
struct CallFrame {
    url: Option<String>,
}

impl Initiator {
    /// The URL of the object that led to the request.
    pub fn url(&self) -> Option<&str> {
        let said = |url: &Option<String>| url.as_ref().is_some_and(|url| !url.is_empty());
        if said(&self.url) {
            return self.url.as_deref();
        }
        let mut stack = self.stack.as_ref();
        while let Some(Stack { call_frames, parent }) = stack {
            if let Some(frame) = call_frames.iter().find(|frame| said(&frame.url)) {
                return frame.url.as_deref();
            }
            stack = parent.as_deref();
        }
        None
    }
}
