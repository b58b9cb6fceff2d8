//! What others wrote (names, questions, claims, what a server says) is shown and does nothing else: no control
//! character and no mark of direction reaches a terminal, whichever way a text takes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{FILE, Lab, Outcome, beside_a_specimen};

/// Clears a screen, sets a title, turns the rest of a line around, and again with a single C1 character.
const HOSTILE: &str = "a\u{1b}[2J\u{1b}]0;pwned\u{7}b\u{202e}c\u{9b}31md\u{2066}";

#[track_caller]
fn assert_harmless(outcome: &Outcome) {
    let acts = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    for text in [&outcome.stdout, &outcome.stderr] {
        let found = text.char_indices().find(|(_, c)| acts(*c));
        assert!(found.is_none(), "{found:?} in {text:?}");
    }
}

/// The same in the notation of TOML.
fn in_toml(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_graphic() { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) })
        .collect()
}

#[test]
fn what_an_experiment_and_its_server_say_is_shown_and_does_nothing() {
    let hostile = in_toml(HOSTILE);
    let experiment = beside_a_specimen("run = \"sh speak.sh $BOURDON\"\ntitle = \"TITLE\"")
        .replace("TITLE", &hostile)
        .replace("Does the one", &format!("{hostile} Does the one"))
        + &format!(
            "[[claim]]\nname = \"x\"\nsays = \"{hostile} [a](http://b) `c`\"\nexpect = \"throughput(odd) > 0\"\n"
        );
    let lab = Lab::new().experiment(experiment).file("speak.sh", format!("printf '%s\\n' '{HOSTILE}' >&2\nexit 1\n"));
    let ran = lab.run(&[]).exits(4).says(&["a␛[2J␛]0;pwned␇b�c�31md�"]);
    assert_harmless(&ran);
    let folder = lab.record().name().to_owned();
    for format in ["text", "json", "markdown"] {
        let shown = lab.bourdon(&["report", &folder, "--format", format]);
        assert_harmless(&shown);
        if format == "markdown" {
            shown.shows(&["a␛\\[2J␛\\]0;pwned␇b�c�31md�", "\\[a\\](http:<!-- -->//b) \\`c\\`"]);
        }
    }
}

#[test]
fn errors_show_what_was_wrong_and_do_nothing() {
    let lab = Lab::new().experiment(format!("\"{}\" = 1\n", in_toml(HOSTILE)));
    let toml = lab.run(&[]).exits(2).says(&["unknown key"]);
    assert_harmless(&toml);
    for arguments in [
        &["load", HOSTILE][..],
        &["load", "-d", HOSTILE, "http://h/"],
        &[HOSTILE],
        &["compare", "--run", "x", "--rev", HOSTILE, "--rev", "HEAD"],
        &["report", HOSTILE],
        &["run", HOSTILE],
        &["run", FILE, "--target", HOSTILE],
        &["audit", HOSTILE],
        &["targets", "check", HOSTILE],
    ] {
        let refused = lab.bourdon(arguments);
        assert_ne!(refused.status, Some(0), "{refused:?}");
        assert_harmless(&refused);
    }
}

#[test]
fn names_in_a_text_that_is_audited_do_nothing_and_are_no_longer_than_they_are_read() {
    let long = "x".repeat(10_000);
    let table = format!("name,rate,connections,mean_ms\n{HOSTILE},100,10,100\n{long},100,10,100\n");
    let wrk = include_str!("audit/wrk.txt").replace("http://", &format!("http://{HOSTILE}{long}"));
    let lab = Lab::new().file("table.csv", &table).file("wrk.txt", &wrk);
    for file in ["table.csv", "wrk.txt"] {
        let text = lab.bourdon(&["audit", file]).exits(0);
        assert_harmless(&text);
        let longest = text.stdout.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= 300, "{longest} characters in a line");
        let json = lab.bourdon(&["audit", file, "--format", "json"]).exits(0);
        assert_harmless(&json);
        let names = json.json()["results"].to_string();
        assert!(names.contains(&long) && names.contains('\u{202e}'), "a document loses nothing");
    }
}
