//! The page around its content: one file, with all that it needs in it.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::Environment;
use sha2::{Digest, Sha256};

use super::{MOST_ROWS, list, text};
use crate::picture::CSS;
use crate::words;

const STYLE: &str = include_str!("page.css");
const OVER_TIME_STYLE: &str = include_str!("over_time.css");

/// What draws time series; README.md beside it says where it is from.
const UPLOT: &str = include_str!("vendor/uPlot-1.6.32.iife.min.js");
const UPLOT_STYLE: &str = include_str!("vendor/uPlot-1.6.32.min.css");
const UPLOT_LICENSE: &str = include_str!("vendor/uPlot-LICENSE");

/// Our own scripts, in this order, after that.
const SCRIPTS: [&str; 4] =
    [include_str!("figures.js"), include_str!("panels.js"), include_str!("tables.js"), include_str!("page.js")];

/// The parts of a page that can be gone to, in its order.
const PARTS: [(&str, &str); 11] = [
    ("claims", "Claims"),
    ("choice", "Which one here?"),
    ("each", "Claim by claim"),
    ("gates", "Gates"),
    ("figures", "Figures"),
    ("time", "Over time"),
    ("profile", "CPU profile"),
    ("findings", "Findings"),
    ("notes", "Notes"),
    ("void", "Void"),
    ("setting", "Setting"),
];

/// A whole page of what was measured somewhere, with its script; in a site with the way back to its index.
pub(super) fn page(title: &str, environment: &Environment, content: &Markup, index: Option<&str>) -> String {
    let style = format!("{UPLOT_STYLE}\n{STYLE}{CSS}{OVER_TIME_STYLE}");
    let ours = format!("\"use strict\";\nconst MOST_ROWS = {MOST_ROWS};\n{}", SCRIPTS.concat());
    let script = format!("/*! uPlot 1.6.32\n{UPLOT_LICENSE}*/\n{UPLOT}\n(() => {{\n{ours}}})();\n");
    let content = html! { (content) (setting(environment)) };
    let links = html! {
        @if let Some(index) = index { nav aria-label="Site" { a href=(index) { "All verdicts" } } }
        (parts(&content))
    };
    whole(title, &environment.bourdon, (style, Some(script)), &html! { (links) main { (content) } })
}

/// A whole page by a version of bourdon in which nothing runs.
pub(super) fn bare(title: &str, bourdon: &str, content: &Markup) -> String {
    whole(title, bourdon, (format!("{STYLE}{CSS}"), None), &html! { main { (content) } })
}

/// Nothing may be loaded into a page; its own style and its own script alone are let through, by their digests.
fn whole(title: &str, bourdon: &str, (style, script): (String, Option<String>), body: &Markup) -> String {
    let digest = |text: &String| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let scripts = script.as_ref().map_or(String::new(), |script| format!(" script-src {};", digest(script)));
    let policy =
        format!("default-src 'none'; style-src {};{scripts} base-uri 'none'; form-action 'none'", digest(&style));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "bourdon " (text(bourdon)) };
                meta name="color-scheme" content="light dark";
                title { (text(title)) }
                style { (PreEscaped(style)) }
            }
            body {
                (body)
                @if let Some(script) = script {
                    script { (PreEscaped(script)) }
                }
            }
        }
    }
    .into_string()
}

/// Links to the parts of a page that it has; nothing where these are few.
fn parts(content: &Markup) -> Markup {
    let has = |(id, _): &(&str, &str)| content.0.contains(&format!("<section id=\"{id}\""));
    let there: Vec<(&str, &str)> = PARTS.into_iter().filter(has).collect();
    html! {
        @if there.len() > 2 {
            nav aria-label="On this page" { @for (id, name) in there { a href={ "#" (id) } { (name) } " " } }
        }
    }
}

/// A command line that a shell takes as it was given.
fn command(words: &[String]) -> String {
    let quoted = |word| shlex::try_quote(word).unwrap_or(Cow::Borrowed(word));
    words.iter().map(String::as_str).map(quoted).collect::<Vec<_>>().join(" ")
}

/// Where and with what it was measured.
fn setting(environment: &Environment) -> Markup {
    let Environment { bourdon, command_line, governor, smt, memory_bytes, kernel, open_files, .. } = environment;
    let memory = (*memory_bytes > 0).then(|| crate::format::bytes(*memory_bytes as f64));
    let rows = [
        ("Machine", Some(words::machine(environment))),
        ("Memory", memory),
        ("Kernel", Some(kernel.clone())),
        ("Governor", governor.clone()),
        ("Two threads a core", smt.map(|on| if on { "yes" } else { "no" }.to_owned())),
        ("Open files at most", (*open_files > 0).then(|| open_files.to_string())),
        ("Begun", Some(environment.started_at.strftime("%Y-%m-%d %H:%M %:z").to_string())),
        ("bourdon", Some(bourdon.clone())),
    ];
    let said = rows.into_iter().filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)));
    html! {
        section #setting {
            h2 { "Setting" }
            dl.setting { @for (name, value) in said { div { dt { (name) } dd { (text(&value)) } } } }
            (list(words::toolchains(environment)))
            @if !command_line.is_empty() {
                p { "Measured by" }
                pre tabindex="0" { (crate::plain::plain(&command(command_line))) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ours_is_as_its_table_has_it_and_cannot_end_its_element() {
        let table = include_str!("vendor/README.md");
        for (name, content) in [("iife.min.js", UPLOT), ("min.css", UPLOT_STYLE), ("LICENSE", UPLOT_LICENSE)] {
            let digest = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            assert!(table.lines().any(|line| line.contains(name) && line.contains(&digest)), "{name}: {digest}");
        }
        let scripts = [UPLOT].into_iter().chain(SCRIPTS).map(str::to_lowercase);
        assert!(scripts.into_iter().all(|script| !script.contains("</script") && !script.contains("<!--")));
    }
}
