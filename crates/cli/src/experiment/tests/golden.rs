//! Diagnostics as they are printed.

use super::*;

#[test]
fn a_mistyped_key() {
    let error = refused("question = 'Which?'\n\n[load]\nconections = 100\n");
    insta::assert_snapshot!(error.render(false), @r#"
    error: unknown key `conections` in [load]
     --> experiments/try.toml:4:1
      |
    4 | conections = 100
      | ^^^^^^^^^^
      |
      = help: did you mean `connections`?
      = help: [load] takes `model`, `headers`, `mix`, `path`, `method`, `body`, `rate`, `arrivals`, `connections`, `pipeline`, `keep_alive`, `tls`, `tls_resume`, `http`, `timeout`, `network_delay`, `expect_status`, `expect_body`, `requests`
    "#);
}

#[test]
fn a_word_inside_a_claim() {
    let error = refused(
        "question = 'Which?'\nload.path = '/index'\n[vary]\ntarget = ['alpha', 'beta']\nconnections = [10, 100]\n\n\
         [[claim]]\nname = 'same'\nsays = 'They are the same.'\nwhere = { connections = 10 }\n\
         expect = \"throughput(alpha) / throughput(betta) within 5% of 1\"\n",
    );
    insta::assert_snapshot!(error.render(false), @r#"
    error: unknown target `betta`
      --> experiments/try.toml:11:42
       |
    11 | expect = "throughput(alpha) / throughput(betta) within 5% of 1"
       |                                          ^^^^^
       |
       = help: did you mean `beta`?
       = help: the targets are alpha, beta
    "#);
}

#[test]
fn a_setting_that_one_target_lacks() {
    let error = refused("question = 'Which?'\n[vary]\ntarget = ['alpha', 'beta']\nmode = ['bare', 'full']\n");
    insta::assert_snapshot!(error.render(false), @r#"
    error: `beta` has no setting `mode`
     --> experiments/try.toml:4:1
      |
    4 | mode = ['bare', 'full']
      | ^^^^
      |
      = help: it has handler_delay; leave the target out of this table, or vary another
    "#);
}

#[test]
fn a_key_that_is_not_there() {
    let error = refused("source = 'somebody'\nseed = 3\n");
    insta::assert_snapshot!(error.render(false), @r#"
    error: the file has no `question`
     --> experiments/try.toml:1:1
      |
    1 | source = 'somebody'
      | ^^^^^^^^^^^^^^^^^^^
      |
      = help: ask it in one sentence: `question = "…?"`
    "#);
}

#[test]
fn an_argument() {
    let error = only(&["alpha", "betta"], "question = 'Which?'\n[vary]\ntarget = ['alpha', 'beta']\n").unwrap_err();
    insta::assert_snapshot!(error.render(false), @r#"
    error: unknown target `betta`
     --> command line:1:16
      |
    1 | --target alpha,betta
      |                ^^^^^
      |
      = help: did you mean `beta`?
      = help: its targets are alpha, beta
    "#);
}

#[test]
fn colour_only_when_asked() {
    let error = refused("");
    assert!(error.render(true).contains("\u{1b}["));
    assert!(!error.render(false).contains('\u{1b}'));
}
