//! What `target.toml` and `[[target]]` have in common: command lines, environments, settings, runtimes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{BuildRecipe, READY_WITHIN_NS, Runtime, Setting, SettingKind, TargetTls, Tls, Trust, parse_duration};

use super::diagnostic::{Fault, Read, Span};
use super::factor::FactorKind;
use super::section::{Item, Section};
use super::value::Value;
use crate::bounded;

/// Stands for the file that the build makes.
pub(super) const TARGET_BIN: &str = "$TARGET_BIN";

/// A target's name, as a word of claims.
pub(super) fn name(item: Item) -> Read<String> {
    let name = item.text()?;
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.chars().all(is_word) {
        return Ok(name.to_owned());
    }
    let cure = "a name has letters, digits, `-`, `_` and `.`";
    Err(item.fault(format!("`{name}` cannot be the name of a target")).help(cure))
}

/// The words of a command line.
pub(super) fn words(item: Item) -> Read<Vec<String>> {
    let line = item.text()?;
    let split = shlex::split(line).filter(|words| !words.is_empty());
    split.ok_or_else(|| {
        let fault = item.fault(format!("`{}` cannot be split into words", item.name()));
        fault.help("close every quote; the command runs without a shell")
    })
}

/// The words of a launch, which may use what the build makes only if there is a build.
pub(super) fn launch_words(item: Item, build: Option<&BuildRecipe>) -> Read<Vec<String>> {
    let words = words(item)?;
    if build.is_none() && words.iter().any(|word| word.contains(TARGET_BIN)) {
        let fault = item.fault(format!("`{TARGET_BIN}` is what the build makes, and nothing is built"));
        return Err(fault.help("say how it is built, or name the file itself"));
    }
    Ok(words)
}

/// How long the target may take to become ready, in nanoseconds.
pub(super) fn ready_within_ns(section: &Section) -> Read<u64> {
    Ok(section.read("ready_within", |item| item.positive_duration())?.unwrap_or(READY_WITHIN_NS))
}

/// How long the target must be under load to be warm, in nanoseconds; none unless it says so.
pub(super) fn warm_within_ns(section: &Section) -> Read<u64> {
    Ok(section.read("warm_within", |item| item.duration())?.unwrap_or(0))
}

/// Environment variables.
pub(super) fn environment(item: Item) -> Read<BTreeMap<String, String>> {
    let section = item.section("`env`")?;
    let variable = |item: &Item| {
        check_variable(item.name(), item.key_span())?;
        Ok((item.name().to_owned(), item.any_text()?.to_owned()))
    };
    section.items().iter().map(variable).collect()
}

fn check_variable(name: &str, span: Span) -> Read<()> {
    if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(());
    }
    let message = format!("`{name}` cannot be an environment variable");
    Err(Fault::new(span, message).help("its name has letters, digits and `_`"))
}

/// A path relative to a folder, made absolute.
pub(super) fn path_in(folder: &Path, path: &str) -> PathBuf {
    let joined: PathBuf = folder.join(path).components().collect();
    std::path::absolute(&joined).unwrap_or(joined)
}

/// How a target serves TLS: `true` with the certificate that it is given, else with its own.
pub(super) fn tls(item: Item, folder: &Path) -> Read<Option<TargetTls>> {
    if !item.is_table() {
        return Ok(item.flag()?.then_some(TargetTls::Given));
    }
    let section = item.section("`tls`")?;
    section.only(&["ca", "insecure"])?;
    let (ca, insecure) = (section.get("ca"), section.read("insecure", |item| item.flag())?.unwrap_or_default());
    let trust = match ca {
        Some(file) if !insecure => authorities(file, folder)?,
        None if insecure => Trust::Anyone,
        _ => {
            let fault = item.fault("`tls` does not say how the target's own certificate is checked");
            return Err(fault.help("write `tls = { ca = \"ca.pem\" }`, or `tls = { insecure = true }` to take any"));
        }
    };
    Ok(Some(TargetTls::Own(trust)))
}

/// The certificates that a file names, which must be ones that a load can be secured by.
fn authorities(item: Item, folder: &Path) -> Read<Trust> {
    let file = path_in(folder, item.text()?);
    let cure = "name a PEM file with the certificate of the authority that signed the server's";
    authorities_in(&file).map_err(|why| item.fault(why).help(cure))
}

/// The certificates in a file, which must be ones that a load can be secured by.
pub(crate) fn authorities_in(file: &Path) -> Result<Trust, String> {
    let shown = file.display();
    let pem = bounded::read_text(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let tls = Tls { server_name: "localhost".to_owned(), trust: Trust::Authorities(pem), resumption: false };
    engine::Secure::new(&tls).map_err(|error| format!("{shown}: {error}"))?;
    Ok(tls.trust)
}

/// The settings, by the word experiments use.
pub(super) fn settings(item: Item) -> Read<BTreeMap<String, Setting>> {
    let mut settings = BTreeMap::new();
    for item in item.section("[settings]")?.items() {
        if FactorKind::common_names().contains(&item.name()) {
            let message = format!("`{}` cannot be a setting: experiments use the word already", item.name());
            return Err(Fault::new(item.key_span(), message).help("choose another name"));
        }
        let title = format!("[settings.{}]", item.name());
        settings.insert(item.name().to_owned(), setting(&item.section(&title)?)?);
    }
    Ok(settings)
}

fn setting(section: &Section) -> Read<Setting> {
    section.only(&["env", "type", "default", "values"])?;
    let env = section.require("env", "name the variable that carries it: `env = \"WORKERS\"`")?;
    let kind = section.require("type", "write `type = \"duration\"`, `\"integer\"` or `\"text\"`")?;
    let kind = match kind.word(&["duration", "integer", "text"])? {
        "duration" => SettingKind::Duration,
        "integer" => SettingKind::Integer,
        _ => SettingKind::Text,
    };
    check_variable(env.text()?, env.span())?;
    let default = section.read("default", |item| default(kind, item))?.unwrap_or_default();
    let values = section.read("values", |item| values(kind, item))?.unwrap_or_default();
    Ok(Setting { env: env.text()?.to_owned(), kind, default, values })
}

/// All that a text may be.
fn values(kind: SettingKind, item: Item) -> Read<Vec<String>> {
    if kind != SettingKind::Text {
        return Err(item.fault("only a text has `values`").help("leave them out, or write `type = \"text\"`"));
    }
    item.values()?.into_iter().map(|item| Ok(item.text()?.to_owned())).collect()
}

/// A setting's default, as text; empty is none.
fn default(kind: SettingKind, item: Item) -> Read<String> {
    if kind == SettingKind::Integer && item.is_whole() {
        return Ok(item.whole(0, "1")?.to_string());
    }
    let text = item.any_text()?;
    match kind {
        _ if text.is_empty() => {}
        SettingKind::Duration => {
            item.duration()?;
        }
        SettingKind::Integer if text.parse::<u64>().is_err() => {
            return Err(item.fault(format!("`{text}` is not a whole number")).help("write for instance `default = 4`"));
        }
        SettingKind::Integer | SettingKind::Text => {}
    }
    Ok(text.to_owned())
}

/// A setting's default as a value; none when it is unset.
pub(super) fn default_value(setting: &Setting) -> Option<Value> {
    match setting.kind {
        SettingKind::Duration => parse_duration(&setting.default).ok().map(Value::DurationNs),
        SettingKind::Integer => setting.default.parse().ok().map(Value::Whole),
        SettingKind::Text => Some(setting.default.clone()).filter(|text| !text.is_empty()).map(Value::Text),
    }
}

/// The runtimes by name.
pub(super) fn runtimes(item: Item) -> Read<BTreeMap<String, Runtime>> {
    let mut runtimes = BTreeMap::new();
    for item in item.section("[runtimes]")?.items() {
        let section = item.section(&format!("[runtimes.{}]", item.name()))?;
        section.only(&["env"])?;
        let env = section.read("env", environment)?.unwrap_or_default();
        runtimes.insert(item.name().to_owned(), Runtime { env });
    }
    Ok(runtimes)
}
