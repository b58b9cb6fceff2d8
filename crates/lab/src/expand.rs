use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Values of the contract's variables, by name without `$`.
pub(crate) type Variables = BTreeMap<&'static str, String>;

/// Replaces `$NAME` and `${NAME}` by the contract's variables; other names stay as they are. No shell is involved.
pub(crate) fn expand(text: &str, variables: &Variables) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        expanded.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, length) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((name, _)) => (name, name.len() + 2),
            None => {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                (&after[..end], end)
            }
        };
        match variables.get(name) {
            Some(value) => expanded.push_str(value),
            None => expanded.push_str(&rest[at..at + 1 + length]),
        }
        rest = &after[length..];
    }
    expanded.push_str(rest);
    expanded
}

/// What others call an executable by: the name of its file. Where that has been replaced, as by a rebuild during a run, it
/// is a link of this process that leads to what runs.
pub(crate) fn callable(executable: &Path) -> PathBuf {
    let Ok(file) = std::fs::read_link(executable) else { return executable.to_owned() };
    let identity = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
    if identity(&file) == identity(executable) {
        return file;
    }
    PathBuf::from(format!("/proc/{}/exe", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_contracts_variables_are_replaced() {
        let variables = Variables::from([("PORT", "8080".to_owned()), ("TARGET_BIN", "/x/y".to_owned())]);
        for (text, expected) in [
            ("$TARGET_BIN", "/x/y"),
            ("--port=$PORT", "--port=8080"),
            ("${PORT}0", "80800"),
            ("$HOME/$PORT", "$HOME/8080"),
            ("$PORTS", "$PORTS"),
            ("100$", "100$"),
            ("${open", "${open"),
            ("", ""),
        ] {
            assert_eq!(expand(text, &variables), expected, "{text}");
        }
    }
}
