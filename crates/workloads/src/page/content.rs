//! The content of a page's objects: files that make a real browser load the same objects.
//!
//! Documents, style sheets and scripts actually name the objects found in them, and images can be
//! displayed; blanks pad each object to its size. What does not fit into an object is left out, and
//! other kinds of objects name nothing: a browser then loads fewer objects than the page has.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use trackbed_connection::Body;

use super::model::{Found, Kind, Object, Page};

#[derive(Clone, Debug)]
pub(super) struct Content(Vec<Part>);

/// Some bytes, and the number of blanks after them.
type Part = (Bytes, u64);

impl Content {
    pub(super) fn of(page: &Page, index: usize) -> Content {
        let object = &page.objects()[index];
        let mut writer = Writer { parts: Vec::new(), at: 0, end: object.bytes };
        match object.kind {
            Kind::Html => write_document(page, index, &mut writer),
            Kind::Css => write_sheet(page, index, &mut writer),
            Kind::Js => {
                for child in named(page, index) {
                    writer.put(&script_line(child));
                }
            }
            Kind::Image => writer.put_bytes(Bytes::from_static(GIF)),
            Kind::Font | Kind::Other => {}
        }
        writer.fill_to(object.bytes);
        Content(writer.parts)
    }

    pub(super) fn body(self) -> Body {
        Box::pin(stream::iter(self.into_pieces().map(Ok)))
    }

    pub(super) fn write(&self, file: &mut dyn io::Write) -> io::Result<()> {
        self.clone().into_pieces().try_for_each(|piece| file.write_all(&piece))
    }

    fn into_pieces(self) -> impl Iterator<Item = Bytes> {
        self.0.into_iter().flat_map(|(text, blanks)| {
            let mut left = blanks;
            let blanks = std::iter::from_fn(move || {
                let len = left.min(BLANKS.len() as u64) as usize;
                left -= len as u64;
                (len > 0).then(|| Bytes::from_static(&BLANKS[..len]))
            });
            [text].into_iter().filter(|text| !text.is_empty()).chain(blanks)
        })
    }
}

/// Concatenates texts and blanks.
struct Writer {
    parts: Vec<Part>,
    at: u64,
    end: u64,
}

impl Writer {
    fn put(&mut self, text: &str) {
        self.put_bytes(Bytes::copy_from_slice(text.as_bytes()));
    }

    fn put_bytes(&mut self, bytes: Bytes) {
        let len = bytes.len() as u64;
        if len <= self.end - self.at {
            self.at += len;
            self.parts.push((bytes, 0));
        }
    }

    /// Adds blanks up to offset `at`, unless that is already passed.
    fn fill_to(&mut self, at: u64) {
        let blanks = at.min(self.end).saturating_sub(self.at);
        if blanks > 0 {
            self.at += blanks;
            self.parts.push((Bytes::new(), blanks));
        }
    }
}

/// The tag of each object ends where it is found; those of objects without a place come last.
fn write_document(page: &Page, index: usize, writer: &mut Writer) {
    writer.put("<!doctype html><meta charset=utf-8><title>Trackbed</title>\n");
    let mut children: Vec<usize> = page.children(index).to_vec();
    let place = |child: &usize| page.objects()[*child].found.and_then(|found| found.at);
    children.sort_by_key(|child| place(child).unwrap_or(u64::MAX));
    let mut ending: Vec<String> = Vec::new();
    for child in children {
        let tag = tag(&page.objects()[child]);
        match place(&child) {
            Some(at) => {
                writer.fill_to(at.saturating_sub(tag.len() as u64));
                writer.put(&tag);
            }
            None => ending.push(tag),
        }
    }
    // A style sheet's images are only fetched if it applies to something.
    let sheets = page.objects().iter().enumerate().filter(|(_, object)| object.kind == Kind::Css);
    ending.extend(sheets.map(|(sheet, _)| format!("<p class=o{sheet}>Trackbed</p>\n")));
    let len: usize = ending.iter().map(String::len).sum();
    writer.fill_to(writer.end.saturating_sub(len as u64));
    ending.iter().for_each(|text| writer.put(text));
}

fn tag(object: &Object) -> String {
    let Object { path, blocking, .. } = object;
    match object.kind {
        Kind::Css if *blocking => format!("<link rel=stylesheet href=\"{path}\">\n"),
        Kind::Css => format!("<link rel=stylesheet href=\"{path}\" media=print>\n"),
        Kind::Js if *blocking => format!("<script src=\"{path}\"></script>\n"),
        Kind::Js => format!("<script src=\"{path}\" async></script>\n"),
        Kind::Image => format!("<img src=\"{path}\" alt=\"\">\n"),
        Kind::Html => format!("<iframe src=\"{path}\"></iframe>\n"),
        Kind::Font => format!("<link rel=preload as=font href=\"{path}\" crossorigin>\n"),
        Kind::Other => format!("<link rel=preload as=fetch href=\"{path}\" crossorigin>\n"),
    }
}

fn write_sheet(page: &Page, index: usize, writer: &mut Writer) {
    let (sheets, others): (Vec<&Object>, Vec<&Object>) =
        named(page, index).partition(|child| child.kind == Kind::Css);
    let (fonts, images): (Vec<&Object>, Vec<&Object>) =
        others.into_iter().partition(|child| child.kind == Kind::Font);
    // Imports come before all rules (CSS Cascading and Inheritance, section 2).
    for sheet in sheets {
        writer.put(&format!("@import url(\"{}\");\n", sheet.path));
    }
    let family = |number| format!("f{index}-{number}");
    for (number, font) in fonts.iter().enumerate() {
        let (family, path) = (family(number), &font.path);
        writer.put(&format!("@font-face{{font-family:{family};src:url(\"{path}\")}}\n"));
    }
    if !fonts.is_empty() {
        let families = (0..fonts.len()).map(family).collect::<Vec<_>>().join(",");
        writer.put(&format!(".o{index}{{font-family:{families}}}\n"));
    }
    if !images.is_empty() {
        let urls = images.iter().map(|image| format!("url(\"{}\")", image.path));
        let urls = urls.collect::<Vec<_>>().join(",");
        writer.put(&format!(".o{index}{{background-image:{urls}}}\n"));
    }
}

fn script_line(object: &Object) -> String {
    let Object { path, kind, .. } = object;
    match kind {
        Kind::Image => format!("new Image().src=\"{path}\";\n"),
        Kind::Js => format!(
            "document.head.append(Object.assign(document.createElement(\"script\"),\
             {{src:\"{path}\"}}));\n"
        ),
        Kind::Css => format!(
            "document.head.append(Object.assign(document.createElement(\"link\"),\
             {{rel:\"stylesheet\",href:\"{path}\"}}));\n"
        ),
        Kind::Html | Kind::Font | Kind::Other => format!("fetch(\"{path}\");\n"),
    }
}

fn named(page: &Page, index: usize) -> impl Iterator<Item = &Object> {
    page.children(index).iter().map(|child| &page.objects()[*child])
}

/// A GIF of one transparent pixel (GIF89a specification). Data after its trailer is ignored.
const GIF: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\
                     \x01\0\x01\0\0\x02\x02D\x01\0;";

const BLANKS: &[u8] = &[b' '; 16 << 10];

/// A small page of the kind used in studies: a document, a style sheet and a script named in its
/// head, and five images, 472 kB in all. Three images are in the document, one in the style sheet,
/// and one is added by the script, so that the last requests leave in the third round.
///
/// The style sheet and the script are known once the first 2 kB of the document have arrived, its
/// images are spread over the rest. The sizes are assumptions, of the order of such objects on the
/// web after compression; parsing and execution take no time.
pub(super) fn built_in_page() -> Page {
    let objects = OBJECTS.map(|(path, kind, bytes, found)| Object {
        path: path.to_owned(),
        kind,
        bytes,
        found: found.map(|(by, at)| Found { by, at }),
        blocking: kind.blocks(),
        execution: Duration::ZERO,
    });
    Page::new(objects.to_vec()).expect("the built-in page is valid")
}

/// A path, its kind, its size, and the object, and the number of its bytes, in which it is found.
type Line = (&'static str, Kind, u64, Option<(usize, Option<u64>)>);

const OBJECTS: [Line; 8] = [
    ("/index.html", Kind::Html, 32_000, None),
    ("/style.css", Kind::Css, 24_000, Some((0, Some(2_000)))),
    ("/script.js", Kind::Js, 96_000, Some((0, Some(2_000)))),
    ("/images/1.gif", Kind::Image, 120_000, Some((0, Some(8_000)))),
    ("/images/2.gif", Kind::Image, 80_000, Some((0, Some(16_000)))),
    ("/images/3.gif", Kind::Image, 60_000, Some((0, Some(24_000)))),
    ("/images/4.gif", Kind::Image, 40_000, Some((1, None))),
    ("/images/5.gif", Kind::Image, 20_000, Some((2, None))),
];

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use trackbed_connection::body;

    use super::super::model::tests::object;
    use super::*;

    fn text(page: &Page, index: usize) -> String {
        let mut file = Vec::new();
        Content::of(page, index).write(&mut file).unwrap();
        let body = body::collect(Content::of(page, index).body(), 1 << 20).now_or_never().unwrap();
        assert_eq!(body.unwrap(), file);
        String::from_utf8_lossy(&file).into_owned()
    }

    #[test]
    fn objects_have_their_sizes_and_name_their_children() {
        let page = built_in_page();
        for (index, object) in page.objects().iter().enumerate() {
            let mut file = Vec::new();
            Content::of(&page, index).write(&mut file).unwrap();
            assert_eq!(file.len() as u64, object.bytes, "{}", object.path);
            let text = text(&page, index);
            for child in named(&page, index) {
                assert!(text.contains(&format!("\"{}\"", child.path)), "{}", child.path);
            }
        }
    }

    #[test]
    fn a_tag_ends_where_its_object_is_found() {
        let text = text(&built_in_page(), 0);
        let end = |tag: &str| text.find(tag).unwrap() + tag.len();
        assert!(end("<link rel=stylesheet href=\"/style.css\">\n") <= 2_000);
        assert!((1_900..2_100).contains(&end("<script src=\"/script.js\"></script>\n")));
        assert_eq!(end("<img src=\"/images/2.gif\" alt=\"\">\n"), 16_000);
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        for bytes in [0, 1, 60, 100] {
            let document = Object { kind: Kind::Html, bytes, ..object("/index.html", None) };
            let image = Object { kind: Kind::Image, bytes, ..object("/1.gif", Some(0)) };
            let page = Page::new(vec![document, image]).unwrap();
            assert_eq!(text(&page, 0).len() as u64, bytes);
            let mut image = Vec::new();
            Content::of(&page, 1).write(&mut image).unwrap();
            assert_eq!(image.len() as u64, bytes);
        }
    }

    #[test]
    fn it_is_what_its_description_says() {
        let page = built_in_page();
        assert_eq!(page.objects().iter().map(|object| object.bytes).sum::<u64>(), 472_000);
        let kinds = page.objects().iter().map(|object| object.kind);
        assert_eq!(kinds.filter(|kind| *kind == Kind::Image).count(), 5);
        assert_eq!([0, 1, 2].map(|index| page.children(index).len()), [5, 1, 1]);
    }
}
