use super::scene::{Item, Text};
use super::*;

/// 200 points wide, at size 10.
fn drawn(plot: &Plot) -> Scene {
    plot.on(Paper { width: 200.0, size: 10.0, font: &Font::bundled() })
}

fn panel(scale: Scale, marks: Vec<Mark>) -> Panel {
    let title = String::new();
    Panel { title, x: Axis::new("time (s)", Scale::Ends(0.0, 4.0)), y: Axis::new("", scale), marks }
}

fn texts(scene: &Scene) -> Vec<&Text> {
    let texts = scene.items.iter().filter_map(|item| match item {
        Item::Text(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

/// Values are placed in proportion between the ticks of the axes, which the texts give away.
#[test]
fn marks_are_where_the_axes_say() {
    let dot = Mark::Dot(Look::default(), [3.0, 40.0], Fill::Full);
    let panels = vec![panel(Scale::Ends(0.0, 100.0), vec![dot])];
    let scene = drawn(&Plot { panels, aspect: 0.5, panel_width_min: 1.0, ..Plot::default() });
    let place = |label: &str| texts(&scene).into_iter().find(|text| text.text == label).unwrap().at;
    let discs = scene.items.iter().filter_map(|item| match item {
        Item::Disc { at, .. } => Some(*at),
        _ => None,
    });
    let [at] = discs.collect::<Vec<_>>()[..] else { panic!("one disc") };
    let x = (place("2")[0] + place("4")[0]) / 2.0;
    let y = place("20")[1] + (place("60")[1] - place("20")[1]) / 2.0 - 0.36 * 10.0;
    assert!((at[0] - x).abs() < 1e-9 && (at[1] - y).abs() < 1e-9, "{at:?}, expected {x} {y}");
}

/// Long names of rows and of the legend are wrapped, and nothing leaves the paper or covers other text.
#[test]
fn texts_stay_on_the_paper_and_apart() {
    let font = Font::bundled();
    let name = "QUIC completes ten messages sooner than HTTP/2 over a new connection";
    let rows = Scale::Names(vec![name.to_owned(), "b".to_owned()]);
    let look = Look::default();
    let keys =
        vec![Key::curve(look, true, &name.repeat(2)), Key::interval(look, false, "95 % interval")];
    let few = vec![Mark::Dot(look, [1.0, 0.0], Fill::Full)];
    let wide = panel(Scale::Zero, vec![Mark::Dot(look, [1.0, 123_456.0], Fill::Full)]);
    let plots = [
        Plot { keys: keys.clone(), panels: vec![panel(rows, few)], ..Plot::default() },
        Plot {
            keys,
            panels: vec![wide.clone(), wide],
            aspect: 0.6,
            panel_width_min: 10.0,
            ..Plot::default()
        },
    ];
    for scene in plots.iter().map(drawn) {
        let boxes: Vec<[f64; 4]> = texts(&scene)
            .into_iter()
            .filter(|text| !text.is_upright)
            .map(|Text { at: [x, y], anchor, text, .. }| {
                let (width, left) = (10.0 * font.width(text), x - anchor * 10.0 * font.width(text));
                [left, left + width, y - 7.0, *y]
            })
            .collect();
        for (number, [left, right, top, bottom]) in boxes.iter().enumerate() {
            assert!(*left >= -0.1 && *right <= 200.1, "{:?}", texts(&scene)[number]);
            assert!(*top >= 0.0 && *bottom <= scene.height);
            let covers = |[l, r, t, b]: &[f64; 4]| l < right && left < r && t < bottom && top < b;
            assert!(!boxes[..number].iter().any(covers), "{:?} {boxes:?}", texts(&scene)[number]);
        }
    }
}

/// Adobe's font metrics of Helvetica, to which Arial and its relatives are equal: T 611, r 333, a and n 556.
#[test]
fn text_is_as_wide_as_in_helvetica() {
    assert!((Font::bundled().width("Tran") - 2.056).abs() < 2e-3);
    assert_eq!(Font::bundled().wrapped("Tran Tran Tran", 5.0), ["Tran Tran", "Tran"]);
    assert!(Font::new(b"no font".to_vec()).is_err());
}

/// One disc of two inches at the middle of three: ink in the middle, none in the corners, and a text that
/// darkens the pixels on its left or above it by its anchor.
#[test]
fn a_png_has_its_shapes_where_the_scene_has_them() {
    let paint = scene::Paint { fill: Some(scene::Tone::Series(0)), ..scene::Paint::default() };
    let disc = Item::Disc { at: [108.0, 108.0], radius: 72.0, paint };
    let text =
        |is_upright, at| Item::Text(Text { at, anchor: 1.0, is_upright, text: "MM".to_owned() });
    let items = vec![disc, text(false, [216.0, 216.0]), text(true, [216.0, 0.0])];
    let scene = Scene { width: 216.0, height: 216.0, size: 10.0, items, axes: Vec::new() };
    let file = scene.png(&Font::bundled()).unwrap();
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (1800, 1800));
    assert_eq!(reader.info().pixel_dims.unwrap().xppu, 23_622);
    let at = |x: usize, y: usize| &pixels[(y * 1800 + x) * 3..][..3];
    assert_eq!(
        [at(900, 900), at(310, 900), at(290, 900)],
        [&[11, 70, 168], &[11, 70, 168], &[255; 3]]
    );
    let dark = |xs: std::ops::Range<usize>, ys: std::ops::Range<usize>| {
        ys.flat_map(|y| xs.clone().map(move |x| (x, y)))
            .filter(|&(x, y)| at(x, y) == [0; 3])
            .count()
    };
    // Two letters of 0.833 em each, 0.716 em high.
    let [wide, high] =
        [1.67 * 10.0 / 72.0 * 600.0, 0.72 * 10.0 / 72.0 * 600.0].map(|x: f64| x as usize);
    let (flat, upright) =
        (dark(1800 - wide..1800, 1800 - high..1800), dark(1800 - high..1800, 0..wide));
    assert!(flat > wide * high / 5 && flat.abs_diff(upright) < flat / 20, "{flat} {upright}");
    assert_eq!(flat + upright, dark(0..1800, 0..1800));
}

/// A line, a marker of each shape, text with signs outside of ASCII: one page with an embedded TrueType font.
#[test]
fn a_pdf_has_its_font_and_no_type_3() {
    let dots = (0..8).map(|n| Mark::Dot(Look::series(n), [n as f64 / 2.0, 1.0], Fill::Full));
    let panels = vec![panel(Scale::Ends(0.0, 2.0), dots.collect())];
    let keys = vec![Key::curve(Look::series(9), true, "RTT (µs), median ± 95 % \u{1f600}")];
    let scene = drawn(&Plot { keys, panels, aspect: 0.5, panel_width_min: 1.0, ..Plot::default() });
    let pdf = scene.pdf(&Font::bundled()).unwrap();
    let text = String::from_utf8_lossy(&pdf);
    let parts =
        "%PDF-1.7, /MediaBox [0 0 200 , /CIDFontType2, /FontFile2, /ToUnicode, TRACKB+Arimo";
    for part in parts.split(", ") {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("/Type3") && pdf.len() < 20_000, "{}", pdf.len());
    assert_eq!(pdf, scene.pdf(&Font::bundled()).unwrap(), "the same picture, the same bytes");
}
