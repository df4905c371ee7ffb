//! Chromium: loads a page as users see it, without a screen.
//!
//! It is started with a separate profile, loads the page by the DevTools protocol when it is idle,
//! and reports its own measurements.

mod devtools;

use std::ffi::OsString;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};
use webpki::EndEntityCert;

use self::devtools::Conversation;
use super::{ClientProgram, Does, Session, Visit};
use crate::error::ProgramError;
use crate::program::{About, Launch};

pub(super) struct Chromium;

impl ClientProgram for Chromium {
    fn about(&self) -> &About {
        &About {
            name: "chromium",
            summary: "Chromium without a screen; it loads the workload's page and reports its own times",
            package: Some("chromium"),
            executables: &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
            speaks: &["http1", "http2", "http3"],
        }
    }

    fn does(&self) -> Does {
        Does::LoadsPage
    }

    fn prepare(&self, visit: &Visit<'_>) -> Result<Launch, ProgramError> {
        let Visit { folder, address, port, name, .. } = visit;
        let mut arguments: Vec<OsString> = FLAGS.split_whitespace().map(OsString::from).collect();
        let mut profile = OsString::from("--user-data-dir=");
        profile.push(folder.join("profile"));
        arguments.push(profile);
        arguments
            .push(format!("--ignore-certificate-errors-spki-list={}", pin(visit.trust)?).into());
        // No other name has an address: its own background traffic stays off the link.
        let rules = format!("--host-resolver-rules=MAP {name} {address}, MAP * ~NOTFOUND");
        arguments.push(rules.into());
        // The server may offer other versions than the one to use.
        match visit.protocol {
            "http1" => arguments.extend(["--disable-http2", "--disable-quic"].map(OsString::from)),
            "http2" => arguments.push("--disable-quic".into()),
            _ => arguments.push(format!("--origin-to-force-quic-on={name}:{port}").into()),
        }
        arguments.push(BLANK.into());
        let mut places = vec!["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"];
        // What it leaves there when it is killed is removed with the folder.
        if folder.as_os_str().len() <= TEMPORARY_LEN_MAX {
            places.push("TMPDIR");
        }
        let environment = places.into_iter().map(|name| (name.into(), folder.into())).collect();
        Ok(Launch { environment, ..Launch::new(arguments, None, *port) })
    }

    fn session(&self, visit: &Visit<'_>) -> Option<Box<dyn Session>> {
        let page = visit.wanted.first().map_or("/", |page| &page.path);
        Some(Box::new(Conversation::about(visit.url(page))))
    }

    fn has_channel(&self) -> bool {
        true
    }
}

/// Its identifier for a key: the digest of the `SubjectPublicKeyInfo` (RFC 7469 section 2.4).
fn pin(certificate: &[u8]) -> Result<String, ProgramError> {
    let certificate = certificate.into();
    let read = EndEntityCert::try_from(&certificate);
    let read = read.map_err(|why| ProgramError::Certificate(why.to_string()))?;
    Ok(BASE64_STANDARD.encode(Sha256::digest(read.subject_public_key_info())))
}

const BLANK: &str = "about:blank";

/// It creates a socket in a folder below `TMPDIR`, and does not start if the socket's path is
/// longer than 107 bytes (unix(7)).
const TEMPORARY_LEN_MAX: usize = 107 - "/org.chromium.Chromium.XXXXXX/SingletonSocket".len();

/// It only shows our own content, and its sandbox does not work for root or in a namespace.
const FLAGS: &str = "--headless=new --remote-debugging-pipe --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --no-first-run --no-default-browser-check --disable-background-networking --disable-component-update \
    --disable-default-apps --disable-domain-reliability --disable-extensions --disable-sync \
    --disable-crash-reporter --disable-breakpad --metrics-recording-only --no-pings --password-store=basic \
    --log-level=3";

#[cfg(test)]
mod tests {
    use rcgen::PublicKeyData as _;

    use super::super::Wanted;
    use super::super::visit::tests::visit;
    use super::*;
    use crate::certificate::Certificate;

    #[test]
    fn it_is_told_the_key_the_address_and_the_protocol() {
        let certificate = Certificate::for_names(["server.test".to_owned()]).unwrap();
        let wanted = [Wanted { path: "/page".to_owned(), bytes: 1 }];
        let arguments = |protocol| {
            let visit = Visit { trust: certificate.as_der(), ..visit(protocol, &wanted) };
            let launch = Chromium.prepare(&visit).unwrap();
            let words: Vec<_> =
                launch.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            words.join(" ")
        };
        let key = pem::parse(certificate.key_pem()).unwrap();
        let key = rcgen::KeyPair::try_from(key.contents()).unwrap();
        let pin = BASE64_STANDARD.encode(Sha256::digest(key.subject_public_key_info()));
        let http2 = arguments("http2");
        assert!(http2.contains(&format!("spki-list={pin} ")), "{http2}");
        assert!(http2.contains("MAP server.test 10.0.0.1, MAP * ~NOTFOUND"), "{http2}");
        assert!(http2.contains("--user-data-dir=/some/folder/profile"), "{http2}");
        assert!(http2.contains("--disable-quic") && !http2.contains("--disable-http2"), "{http2}");
        assert!(arguments("http1").contains("--disable-http2"));
        assert!(arguments("http3").contains("quic-on=server.test:443"));
    }

    #[test]
    fn a_certificate_that_is_none_is_told() {
        let visit = Visit { trust: b"nonsense", ..visit("http2", &[]) };
        assert!(matches!(Chromium.prepare(&visit), Err(ProgramError::Certificate(_))));
    }
}
