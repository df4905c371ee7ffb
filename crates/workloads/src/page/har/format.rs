//! The parts of an archive that are read: HAR 1.2 and, with an underscore, additions of the tools that write it.
//! They differ from tool to tool and version to version, so their form is never a reason to refuse a file.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The value if it is of the expected form.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    Ok(T::deserialize(Value::deserialize(from)?).ok())
}

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
    /// Absent where a load generator recorded its script.
    #[serde(rename = "startedDateTime")]
    pub started: Option<String>,
    /// Milliseconds from the start to the end.
    pub time: Option<f64>,
    pub request: Request,
    pub response: Response,
    pub timings: Option<Timings>,
    #[serde(rename = "_initiator", default, deserialize_with = "lenient")]
    pub initiator: Option<Initiator>,
    #[serde(rename = "_resourceType", default, deserialize_with = "lenient")]
    pub resource_type: Option<String>,
    #[serde(rename = "_priority", default, deserialize_with = "lenient")]
    pub priority: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Request {
    /// CONNECT has no object.
    pub method: Option<String>,
    pub url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    /// 0 where there was none.
    pub status: Option<f64>,
    #[serde(rename = "redirectURL")]
    pub redirect_url: Option<String>,
    /// -1 if unknown.
    pub body_size: Option<f64>,
    pub content: Option<Content>,
    #[serde(default, deserialize_with = "lenient")]
    pub headers: Option<Vec<Header>>,
    #[serde(rename = "_transferSize", default, deserialize_with = "lenient")]
    pub transfer_size: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct Header {
    pub name: String,
    pub value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    pub size: Option<f64>,
    /// Bytes saved by compression.
    pub compression: Option<f64>,
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
#[serde(untagged)]
pub(super) enum Initiator {
    /// As WebPageTest and sitespeed.io write it.
    Url(String),
    Chrome {
        url: Option<String>,
        stack: Option<Stack>,
    },
}

/// The script's call stack at the request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stack {
    #[serde(default)]
    call_frames: Vec<CallFrame>,
    /// What scheduled it, for example a timer.
    parent: Option<Box<Stack>>,
}

#[derive(Deserialize)]
pub(super) struct CallFrame {
    url: Option<String>,
}

impl Initiator {
    /// The URL of the object that led to the request.
    pub fn url(&self) -> Option<&str> {
        let said = |url: &Option<String>| url.as_ref().is_some_and(|url| !url.is_empty());
        let mut stack = match self {
            Initiator::Url(url) => {
                return Some(url).filter(|url| !url.is_empty()).map(String::as_str);
            }
            Initiator::Chrome { url, .. } if said(url) => return url.as_deref(),
            Initiator::Chrome { stack, .. } => stack.as_ref(),
        };
        while let Some(Stack { call_frames, parent }) = stack {
            if let Some(frame) = call_frames.iter().find(|frame| said(&frame.url)) {
                return frame.url.as_deref();
            }
            stack = parent.as_deref();
        }
        None
    }
}
