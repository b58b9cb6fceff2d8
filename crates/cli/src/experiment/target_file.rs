//! `target.toml`: a server of the zoo.

use std::path::Path;

use model::{BuildRecipe, ENDPOINTS, LaunchRecipe, Target, Toolchain};

use super::diagnostic::{Diagnostic, Read};
use super::recipe::{
    environment, launch_words, name, path_in, ready_within_ns, runtimes, settings, tls, warm_within_ns, words,
};
use super::section::{Item, Section, parse};
use super::{Source, load};

/// Where every target tells of its runtime, by the contract.
const METRICS: &str = "/metrics";

const KEYS: [&str; 13] = [
    "name",
    "title",
    "language",
    "framework",
    "about",
    "reconstruction",
    "serves",
    "tls",
    "toolchain",
    "build",
    "launch",
    "settings",
    "runtimes",
];

/// Reads a `target.toml`; its relative paths start at `folder`, which holds it.
///
/// # Errors
/// When the file is not a target, with the place and the cure.
pub(crate) fn target(source: &Source, folder: &Path) -> Result<Target, Diagnostic> {
    read(&source.text, folder).map_err(|fault| fault.within(&source.name, &source.text))
}

fn read(text: &str, folder: &Path) -> Read<Target> {
    let document = parse(text)?;
    let file = Section::file(&document, text);
    file.only(&KEYS)?;
    let text_of = |key| file.read(key, |item| item.text().map(str::to_owned));
    let build = file.read("build", |item| build(&item.section("[build]")?, folder))?;
    let launch = file.require("launch", "say how it starts: `[launch]` with `run` and `ready`")?;
    let serves = file.read("serves", serves)?.unwrap_or_default();
    let tells = serves.is_empty() || serves.iter().any(|endpoint| endpoint == METRICS);
    let mut launch = launch_recipe(&launch.section("[launch]")?, build.as_ref(), folder)?;
    launch.metrics = tells.then(|| METRICS.to_owned());
    Ok(Target {
        name: name(file.require("name", "write `name = \"…\"`, the word used in experiments")?)?,
        title: file.require("title", "write `title = \"…\"`, the name for people")?.text()?.to_owned(),
        language: text_of("language")?.unwrap_or_default(),
        framework: text_of("framework")?.unwrap_or_default(),
        about: text_of("about")?.unwrap_or_default(),
        reconstruction: text_of("reconstruction")?,
        serves,
        tls: file.read("tls", |item| tls(item, folder))?.flatten(),
        toolchain: file.read("toolchain", |item| toolchain(&item.section("[toolchain]")?))?,
        launch,
        build,
        settings: file.read("settings", settings)?.unwrap_or_default(),
        runtimes: file.read("runtimes", runtimes)?.unwrap_or_default(),
    })
}

fn serves(item: Item) -> Read<Vec<String>> {
    item.values()?.iter().map(|one| Ok(one.word(&ENDPOINTS)?.to_owned())).collect()
}

fn toolchain(section: &Section) -> Read<Toolchain> {
    section.only(&["command", "version", "get"])?;
    let text = |key, cure| Ok(section.require(key, cure)?.text()?.to_owned());
    Ok(Toolchain {
        command: text("command", "name the tool looked for on PATH: `command = \"go\"`")?,
        version: text("version", "write the command line that prints its version: `version = \"go version\"`")?,
        get: text("get", "say where to get it")?,
    })
}

fn build(section: &Section, folder: &Path) -> Read<BuildRecipe> {
    section.only(&["run", "cwd", "inputs", "env"])?;
    let inputs = section.read("inputs", |item| {
        item.values()?.iter().map(|one| Ok(path_in(folder, one.text()?))).collect::<Read<Vec<_>>>()
    })?;
    Ok(BuildRecipe {
        run: words(section.require("run", "write the command: `run = \"go build -o $TARGET_BIN .\"`")?)?,
        cwd: path_in(folder, section.read("cwd", |item| item.text())?.unwrap_or(".")),
        inputs: inputs.unwrap_or_default(),
        env: section.read("env", environment)?.unwrap_or_default(),
    })
}

fn launch_recipe(section: &Section, build: Option<&BuildRecipe>, folder: &Path) -> Read<LaunchRecipe> {
    section.only(&["run", "ready", "ready_within", "warm_within", "cwd", "env"])?;
    let run = section.require("run", "write the command: `run = \"$TARGET_BIN\"`")?;
    let ready = section.require("ready", "name a path that answers once it is ready: `ready = \"/ping\"`")?;
    Ok(LaunchRecipe {
        run: launch_words(run, build)?,
        cwd: path_in(folder, section.read("cwd", |item| item.text())?.unwrap_or(".")),
        env: section.read("env", environment)?.unwrap_or_default(),
        ready: load::path(ready)?.to_owned(),
        metrics: None,
        ready_within_ns: ready_within_ns(section)?,
        warm_within_ns: warm_within_ns(section)?,
    })
}
