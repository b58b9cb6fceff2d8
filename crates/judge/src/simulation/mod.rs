//! The statistics, shown right on sessions whose truth is known: every number here goes through the functions that
//! judge real runs. docs/STATISTICS.md holds the tables; a test keeps them, `make statistics` writes them.

mod comparison;
mod errors;
mod launches;
mod machine;
mod noise;
mod rotation;
mod sessions;
mod tables;

use std::path::PathBuf;

/// Where the tables stand in the page.
const BEGIN: &str = "<!-- The tables below are written by `make statistics`. -->\n";
const END: &str = "<!-- End of the tables. -->";

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/STATISTICS.md")
}

/// What the simulations show is what the page says, to the last digit; and it is what the method promises.
#[test]
fn the_page_of_statistics_is_what_the_simulations_show() {
    let tables = tables::all();
    let text = std::fs::read_to_string(page()).expect("docs/STATISTICS.md is there");
    let (before, rest) = text.split_once(BEGIN).expect("the page marks where its tables begin");
    let (kept, after) = rest.split_once(END).expect("the page marks where its tables end");
    if std::env::var_os("STATISTICS_UPDATE").is_some() {
        std::fs::write(page(), format!("{before}{BEGIN}{tables}{END}{after}")).expect("the page can be written");
    } else {
        assert!(kept == tables, "docs/STATISTICS.md is out of date: run `make statistics`, and read what it changes");
    }
}
