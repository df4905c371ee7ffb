//! A measurement as text: a summary, then Tables 2 and 3 of the study.

use trackbed_outward::printable_line;
use trackbed_report::{Align, Table};

use super::document::{CellDocument, RateDocument, StudyDocument, VerifyDocument};
use super::study::NEED_HZ;

/// The complete output.
pub fn text(document: &VerifyDocument) -> String {
    let mut text = answer(document);
    for library in &document.libraries {
        text.push_str(&format!("{}: {}\n", library.library, library.version));
    }
    let main = main_division(document);
    text.push_str(&format!(
        "\nTable 2: threads ({main} division)\n{}\n\
         expected: if only cores limited threads. CPU left: idle share of all cores at {} verifications/s.\n",
        threads_table(document, main),
        thousands(NEED_HZ)
    ));
    if let Some(table) = division_table(document) {
        text.push_str(&format!(
            "\nTable 3: static and dynamic division compared\n{table}\n\
             The study's boards: OpenMP's static division, and one POSIX thread per core.\n"
        ));
    }
    text
}

/// The division of the first table.
fn main_division(document: &VerifyDocument) -> &str {
    document.cells.first().map_or("dynamic", |cell| &cell.division)
}

fn answer(document: &VerifyDocument) -> String {
    let mut text = format!("This machine ({} cores", document.cores);
    if document.slow_cores > 0 {
        text.push_str(&format!(
            ", {} of them slowed down to 1/{}",
            document.slow_cores, document.slowdown
        ));
    }
    if let Some(share) = document.disturbed_percent {
        let by = document.disturbed_by.as_deref().unwrap_or("an unknown program");
        return format!(
            "{text}) was disturbed: in one measurement, threads got {share:.0} % of their cores' time; {} used \
             most of the rest. Repeat this on an idle machine; the tables show what was measured.\n",
            printable_line(by)
        );
    }
    text.push_str(") verifies");
    for (number, library) in document.libraries.iter().enumerate() {
        let own = || document.cells.iter().filter(|cell| cell.library == library.library);
        let rate = |cell: &CellDocument| cell.rate.verifications_per_s;
        let most = own().map(rate).fold(0.0, f64::max);
        // The fewest threads whose rate is within 2 % of the best.
        let Some(best) = own().find(|cell| rate(cell) >= 0.98 * most) else { continue };
        let thread = if best.threads == 1 { "thread" } else { "threads" };
        text.push_str(&format!(
            "{}{} signatures/s with {} on {} {thread} ({:.0} % of one thread)",
            if number == 0 { " " } else { ";\n" },
            thousands(best.rate.verifications_per_s),
            best.library,
            best.threads,
            best.rate.percent_of_one_thread,
        ));
        let need = if number == 0 { "the crossing's 3,500/s" } else { "the need" };
        text.push_str(&match best.cpu_left_percent {
            Some(left) => format!("; {need} would take {:.1} % of all cores", 100.0 - left),
            None => format!(", {:.2} times {need}", best.rate.verifications_per_s / NEED_HZ),
        });
        if let Some(energy) = best.energy_uj_per_verification {
            text.push_str(&format!(", with {energy:.0} uJ per signature"));
        }
    }
    text.push_str(".\n");
    let ratios: Vec<f64> =
        pairs(document).map(|(fixed, shared)| percent(fixed.rate, shared.rate)).collect();
    if let Some(least) = ratios.iter().copied().min_by(f64::total_cmp) {
        let most = ratios.iter().copied().fold(least, f64::max);
        text.push_str(&format!(
            "A static division reaches {least:.0} to {most:.0} % of the rate of a dynamic one.\n"
        ));
    }
    text
}

fn threads_table(document: &VerifyDocument, division: &str) -> Table {
    let titles = "library|threads|us per\nverification|verifications\nper second|% of one\nthread|expected\n%|CPU left\n%|verified";
    let mut table = table(titles);
    let row = |name: &str, threads: usize, rate: RateDocument, rest: [String; 3]| {
        let rate = [
            format!("{:.2}", rate.us_per_verification),
            format!("{:.0}", rate.verifications_per_s),
            format!("{:.1}", rate.percent_of_one_thread),
        ];
        [name.to_owned(), threads.to_string()].into_iter().chain(rate).chain(rest)
    };
    for cell in document.cells.iter().filter(|cell| cell.division == division) {
        let expected = format!("{:.0}", cell.expected_percent);
        let rest = [expected, left(cell.cpu_left_percent), cell.verified.to_string()];
        table.row(row(&cell.library, cell.threads, cell.rate, rest));
    }
    for line in document.study.iter().filter(|line| line.method == "posix") {
        let rest = ["-".to_owned(), left(line.cpu_left_percent), "100000".to_owned()];
        table.row(row(&format!("study: {}", line.board), line.threads, line.rate, rest));
    }
    table
}

/// `None` if no cell was measured with both divisions.
fn division_table(document: &VerifyDocument) -> Option<Table> {
    let titles = "library|threads|static\nus|static\nper second|static, % of\none thread|dynamic, % of\none thread|static, % of\ndynamic|expected\n%";
    let mut table = table(titles);
    let row = |name: &str, threads: usize, rates: [RateDocument; 2], expected: String| {
        let [fixed, shared] = rates;
        [
            name.to_owned(),
            threads.to_string(),
            format!("{:.2}", fixed.us_per_verification),
            format!("{:.0}", fixed.verifications_per_s),
            format!("{:.1}", fixed.percent_of_one_thread),
            format!("{:.1}", shared.percent_of_one_thread),
            format!("{:.1}", percent(fixed, shared)),
            expected,
        ]
    };
    pairs(document).next()?;
    for (fixed, shared) in pairs(document) {
        let expected = 100.0 * fixed.expected_percent / shared.expected_percent;
        let rates = [fixed.rate, shared.rate];
        table.row(row(&fixed.library, fixed.threads, rates, format!("{expected:.1}")));
    }
    for line in document.study.iter().filter(|line| line.method == "openmp") {
        let is_same = |other: &&StudyDocument| {
            (&other.board, other.threads) == (&line.board, line.threads) && other.method == "posix"
        };
        let posix = document.study.iter().find(is_same)?;
        let rates = [line.rate, posix.rate];
        table.row(row(&format!("study: {}", line.board), line.threads, rates, "-".to_owned()));
    }
    Some(table)
}

/// A table of numbers with these titles; the first column has names.
fn table(titles: &'static str) -> Table {
    let align = |number| if number == 0 { Align::Left } else { Align::Right };
    Table::new(titles.split('|').enumerate().map(|(number, title)| (title, align(number))))
}

/// Pairs of cells that differ only in their division, the static one first.
fn pairs(document: &VerifyDocument) -> impl Iterator<Item = (&CellDocument, &CellDocument)> {
    let of = |division: &'static str| {
        document.cells.iter().filter(move |cell| cell.division == division)
    };
    of("static").filter_map(move |fixed| {
        let is_same = |other: &&CellDocument| {
            (&other.library, other.threads) == (&fixed.library, fixed.threads)
        };
        Some((fixed, of("dynamic").find(is_same)?))
    })
}

fn percent(fixed: RateDocument, shared: RateDocument) -> f64 {
    100.0 * fixed.verifications_per_s / shared.verifications_per_s
}

fn left(percent: Option<f64>) -> String {
    percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent:.1}"))
}

/// Three significant digits and commas, for a sentence.
fn thousands(rate: f64) -> String {
    let mut step = 1u64;
    let rate = rate.round() as u64;
    while rate / step >= 1_000 {
        step *= 10;
    }
    let digits = ((rate + step / 2) / step * step).to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_in_a_sentence_have_three_digits_and_commas() {
        for (rate, text) in
            [(3_500.0, "3,500"), (334_449.0, "334,000"), (999.6, "1,000"), (87.2, "87"), (0.0, "0")]
        {
            assert_eq!(thousands(rate), text);
        }
    }
}
