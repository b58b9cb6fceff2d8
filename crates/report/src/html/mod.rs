//! A record as one page that opens from disk, mail and CI: readable without its script, and it asks nobody for anything.
//!
//! What it says are the sentences of the terminal and of Markdown, and its pictures those of `picture`. What others wrote is text.

mod choice;
mod comparison;
mod data;
mod diagnosis;
mod frame;
mod launches;
mod over_time;
mod profile;
mod run;
mod site;
mod soak;

use maud::{Markup, html};
use model::{Judged, Timeline};

use crate::bad::Bad;
use crate::format::counted;
use crate::page::Tint;
use crate::picture::{Picture, Subject, pictures, pictures_of_launches};
use crate::plain;

/// The page of what a record means, with its launches over time as far as they are given. The same gives the same bytes.
pub fn page(judged: &Judged, timelines: &[Timeline]) -> String {
    page_with(judged, timelines, None)
}

/// The same as a page of a site, with the way back to its index.
pub fn page_of_site(judged: &Judged, timelines: &[Timeline]) -> String {
    page_with(judged, timelines, Some(site::INDEX))
}

fn page_with(judged: &Judged, timelines: &[Timeline], index: Option<&str>) -> String {
    let pictures = [pictures(judged), pictures_of_launches(judged, timelines)].concat();
    match judged {
        Judged::Run(analysis) => run::page(analysis, &pictures, timelines, index),
        Judged::Comparison(analysis) => comparison::page(analysis, &pictures, timelines, index),
        Judged::Diagnosis(diagnosis) => diagnosis::page(diagnosis, &pictures, index),
        Judged::Soak(soak) => soak::page(soak, &pictures, index),
    }
}

pub use site::{SitePage, index};

/// Text of a sentence, without what acts instead of being seen.
fn text(said: &str) -> String {
    plain::isolated(&plain::words(said).replace('\u{a0}', " ")).into_owned()
}

/// The class of a sentence by what it is.
fn class(tint: Tint) -> &'static str {
    match tint {
        Tint::Plain | Tint::Bold => "",
        Tint::Dim => "dim",
        Tint::Good => "good",
        Tint::Bad => "bad",
        Tint::Unsure => "unsure",
    }
}

/// What made the answer a bad one.
fn bad(all: &[Bad]) -> Markup {
    html! {
        @for bad in all {
            div.alert.bad role="alert" {
                p { (text(bad.text())) }
                @if !bad.printed().is_empty() { pre { (plain::plain(bad.printed())) } }
            }
        }
    }
}

/// What takes sureness away from all of it.
fn cautions(all: impl IntoIterator<Item = String>) -> Markup {
    html! { @for caution in all { p.alert.unsure { (text(&caution)) } } }
}

/// Sentences as a list; nothing without one.
fn list(all: impl IntoIterator<Item = String>) -> Markup {
    let all: Vec<String> = all.into_iter().filter(|said| !said.is_empty()).collect();
    html! { @if !all.is_empty() { ul.notes { @for said in all { li { (text(&said)) } } } } }
}

/// The pictures that stand beside a table.
fn beside(pictures: &[Picture], subject: Subject) -> Markup {
    let those: Vec<&Picture> = pictures.iter().filter(|picture| picture.is_of(subject)).collect();
    html! {
        @if !those.is_empty() {
            div.pictures { @for picture in those { figure { (maud::PreEscaped(picture.within_a_page())) (values(picture)) } } }
        }
    }
}

/// Tables whose pictures stand open. Of more, the tables themselves would be too far from each other to be compared, and a browser
/// would be busy with what lies screens away.
const MOST_TABLES_WITH_PICTURES: usize = 6;

/// The pictures that stand beside one of so many tables.
fn of_table(pictures: &[Picture], (at, tables): (usize, usize)) -> Markup {
    let which = if tables > MOST_TABLES_WITH_PICTURES { folded } else { beside };
    which(pictures, Subject::Table(at))
}

/// The pictures that stand beside a table, to be opened.
fn folded(pictures: &[Picture], subject: Subject) -> Markup {
    let count = pictures.iter().filter(|picture| picture.is_of(subject)).count();
    html! {
        @if count > 0 {
            details { summary { (counted(count as u64, "picture", "pictures")) " of this table" } (beside(pictures, subject)) }
        }
    }
}

/// Rows that a table shows at once: nobody reads thousands, and each cell takes the browser its time. The values of a picture end there,
/// other tables are folded by the script, which has this number, too.
const MOST_ROWS: usize = 40;

/// What is drawn in a picture, as a table.
fn values(picture: &Picture) -> Markup {
    let values = picture.values().in_words();
    let (header, rows) = values.table();
    let more = rows.len().saturating_sub(MOST_ROWS);
    html! {
        details.values {
            summary { "Values" }
            (table(&format!("Values of: {}", picture.title), &header, &rows[..rows.len() - more], 1))
            @if more > 0 { p { (counted(more as u64, "more row is", "more rows are")) " in the CSV and the Markdown below." } }
            (copy("as CSV, every digit", &values.csv()))
            (copy("as Markdown", &values.markdown()))
        }
    }
}

/// A text to be copied.
fn copy(what: &str, whole: &str) -> Markup {
    html! { details.copy { summary { (what) } pre tabindex="0" { (plain::plain(whole)) } } }
}

/// A table whose first columns name the row. A frame that scrolls can be reached with the keyboard.
fn table(caption: &str, header: &[(&str, bool)], rows: &[Vec<String>], names: usize) -> Markup {
    html! {
        div.table tabindex="0" role="region" aria-label=(text(caption)) {
            table {
                caption { (text(caption)) }
                thead { tr { @for (name, is_figure) in header { th.figure[*is_figure] scope="col" { (text(name)) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @if at < names { th scope="row" { (text(cell)) } }
                                @else { td.figure[header.get(at).is_some_and(|(_, is_figure)| *is_figure)] { (text(cell)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
