//! The default page.

use std::time::Duration;

use super::model::{Found, Kind, Object, Page};

/// A small page of the kind used in studies: a document, a style sheet and a script named in its
/// head, and five images, 472 kB in all. Three images are in the document, one in the style sheet,
/// and one is added by the script, so that the last requests leave in the third round.
///
/// The style sheet and the script are known once the first 2 kB of the document have arrived, its
/// images are spread over the rest. The sizes are assumptions, of the order of such objects on the
/// web after compression; parsing and execution take no time.
pub(super) fn page() -> Page {
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
    use super::*;

    #[test]
    fn it_is_what_its_description_says() {
        let page = page();
        assert_eq!(page.objects().iter().map(|object| object.bytes).sum::<u64>(), 472_000);
        let kinds = page.objects().iter().map(|object| object.kind);
        assert_eq!(kinds.filter(|kind| *kind == Kind::Image).count(), 5);
        assert_eq!([0, 1, 2].map(|index| page.children(index).len()), [5, 1, 1]);
    }
}
