//! Simulates how often intervals cover, how often tests err, and how well stopping rules stop: the
//! tables of `docs/statistics.md`.
//!
//!     cargo run --release -p trackbed-stats --example coverage              # all, some minutes
//!     cargo run --release -p trackbed-stats --example coverage -- means     # one table
//!
//! Everything is drawn from fixed seeds, so the figures are the same on every machine.
#![forbid(unsafe_code)]

mod comparisons;
mod means;
mod methods;
mod outliers;
mod quantiles;
mod sources;
mod stopping;

const TABLES: [(&str, fn()); 7] = [
    ("means", means::print),
    ("methods", methods::print),
    ("quantiles", quantiles::print),
    ("differences", quantiles::print_differences),
    ("comparisons", comparisons::print),
    ("stopping", stopping::print),
    ("outliers", outliers::print),
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let known = |name: &String| TABLES.iter().any(|(table, _)| table == name);
    if let Some(unknown) = wanted.iter().find(|name| !known(name)) {
        let names = TABLES.map(|(name, _)| name).join(", ");
        eprintln!("there is no table {unknown}; choose among {names}");
        std::process::exit(2);
    }
    for (name, print) in TABLES {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            println!("<!-- {name} -->\n");
            print();
            println!();
        }
    }
}
