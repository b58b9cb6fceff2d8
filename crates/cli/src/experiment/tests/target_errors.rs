use super::*;

const GOOD: &str = "name = 'x'\ntitle = 'X'\n[launch]\nrun = './x'\nready = '/ping'\n";

fn refused_target(text: &str) -> Diagnostic {
    target(&source(text), Path::new("/zoo/x")).unwrap_err()
}

#[test]
fn each_mistake_is_told_at_its_place() {
    for (text, message, cure) in [
        ("«nam = 'x'\n".to_owned(), "unknown key `nam` in the file", "did you mean `name`?"),
        ("«title = 'X'\n".to_owned(), "the file has no `launch`", "[launch]"),
        ("name = 'x'\ntitle = 'X'\n«[launch]\nrun = 'x'\n".to_owned(), "[launch] has no `ready`", "/ping"),
        (format!("{GOOD}«[toolchain]\ncommand = 'go'\n"), "[toolchain] has no `version`", "go version"),
        (
            format!("{GOOD}[build]\nrun = 'go build'\ninputs = ['.', «3]\n"),
            "`inputs` must be text, not a whole number",
            "",
        ),
        (
            format!("{GOOD}[settings.a]\nenv = 'A'\ntype = «'text '\n"),
            "`text ` is not a `type`",
            "did you mean `text`?",
        ),
        (format!("{GOOD}«[settings.a]\nenv = 'A'\n"), "[settings.a] has no `type`", "duration"),
        (format!("{GOOD}[settings.a]\nenv = «'A-B'\ntype = 'text'\n"), "`A-B` cannot be an environment variable", ""),
        (
            format!("{GOOD}[settings.a]\nenv = 'A'\ntype = 'duration'\ndefault = «'10'\n"),
            "`10` has no unit",
            "`10ms` or `10s`",
        ),
        (
            format!("{GOOD}[settings.a]\nenv = 'A'\ntype = 'integer'\ndefault = «'few'\n"),
            "`few` is not a whole number",
            "default = 4",
        ),
        (
            format!("{GOOD}[settings.a]\nenv = 'A'\ntype = 'integer'\nvalues = «['1', '2']\n"),
            "only a text has `values`",
            "type = \"text\"",
        ),
        (
            format!("{GOOD}[settings.«path]\nenv = 'A'\ntype = 'text'\n"),
            "`path` cannot be a setting: experiments use the word already",
            "",
        ),
        (format!("{GOOD}[runtimes.old]\n«envs = 3\n"), "unknown key `envs` in [runtimes.old]", "did you mean `env`?"),
        (GOOD.replace("'./x'", "«'$TARGET_BIN'"), "`$TARGET_BIN` is what the build makes, and nothing is built", ""),
    ] {
        assert_refused(&text, message, cure, refused_target);
    }
}

#[test]
fn paths_are_absolute() {
    let text =
        format!("{GOOD}[build]\nrun = 'go build -o \"$TARGET_BIN\" ./x'\ncwd = '..'\ninputs = ['../go.mod', '.']\n");
    let read = target(&source(&text), Path::new("/zoo/x")).unwrap();
    let build = read.build.unwrap();
    assert_eq!(build.run, ["go", "build", "-o", "$TARGET_BIN", "./x"]);
    assert_eq!(build.cwd, Path::new("/zoo/x/.."));
    assert_eq!(build.inputs, [Path::new("/zoo/x/../go.mod"), Path::new("/zoo/x")]);
    assert_eq!(read.launch.cwd, Path::new("/zoo/x"));
}

#[test]
fn a_level_that_a_setting_does_not_know_is_refused_where_it_stands() {
    let file = |level: &str| {
        let target = "[[target]]\nname = 'a'\nrun = './server $PORT'\n";
        let mode = "settings.mode = { env = 'M', type = 'text', values = ['x', 'y'] }\n";
        format!("question = 'x'\n[vary]\ntarget = 'a'\nmode = {level}\n{target}{mode}")
    };
    assert_refused(&file("«'z'"), "`z` is not a value that `a` knows", "there are x, y", refused);
    assert_eq!(resolved(&file("'y'")).cells[0].settings["M"], "y");
}
