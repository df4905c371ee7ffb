//! Contrasts by WCAG 2.2, and colour differences as seen with colour-vision deficiencies.

use super::*;

fn linear(colour: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

/// Contrast ratio (WCAG 2.2, "contrast ratio" and "relative luminance").
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |colour| {
        let [r, g, b] = linear(colour);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn the_contrast_is_that_of_the_guidelines() {
    assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
    // The lightest grey that passes on white, as is well known.
    assert!(contrast("#767676", "#ffffff") > 4.5 && contrast("#777777", "#ffffff") < 4.5);
}

#[test]
fn text_has_a_contrast_of_four_and_a_half_and_graphics_of_three() {
    for palette in [LIGHT, DARK] {
        let grounds = [palette.page, palette.card, palette.inset];
        let texts = [palette.ink, palette.quiet, palette.accent, palette.bad, palette.warn];
        for (text, ground) in texts.iter().flat_map(|text| grounds.map(|ground| (text, ground))) {
            let ratio = contrast(text, ground);
            assert!(ratio >= 4.5, "{text} on {ground}: {ratio:.2}");
        }
        for series in palette.series {
            let ratio = contrast(series, palette.card);
            assert!(ratio >= 3.0, "{series} on {}: {ratio:.2}", palette.card);
        }
    }
}

/// Machado et al., severity 1.0, on linear RGB: none, protanopia, deuteranopia, tritanopia.
const SIGHTS: [[[f64; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
];

/// Oklab coordinates (B. Ottosson, 2020), whose distances approximate perceived differences.
fn oklab([r, g, b]: [f64; 3]) -> [f64; 3] {
    let cone =
        |weights: [f64; 3]| (weights[0] * r + weights[1] * g + weights[2] * b).max(0.0).cbrt();
    let l = cone([0.4122214708, 0.5363325363, 0.0514459929]);
    let m = cone([0.2119034982, 0.6806995451, 0.1073969566]);
    let s = cone([0.0883024619, 0.2817188376, 0.6299787005]);
    [
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    ]
}

fn seen(colour: &str, sight: &[[f64; 3]; 3]) -> [f64; 3] {
    let rgb = linear(colour);
    oklab(sight.map(|row| {
        let value: f64 = row.iter().zip(rgb).map(|(weight, part)| weight * part).sum();
        value.clamp(0.0, 1.0)
    }))
}

fn distance(one: [f64; 3], other: [f64; 3]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Any two series differ by at least a tenth of the distance from black to white, also with a
/// colour-vision deficiency. The best known palette of eight colours (Okabe and Ito's) reaches less
/// on either background.
#[test]
fn series_differ_for_every_kind_of_colour_vision() {
    for palette in [LIGHT, DARK] {
        for sight in &SIGHTS {
            for (index, one) in palette.series.iter().enumerate() {
                for other in &palette.series[..index] {
                    let apart = distance(seen(one, sight), seen(other, sight));
                    assert!(apart >= 0.1, "{one} and {other}: {apart:.3}");
                }
            }
        }
    }
}
