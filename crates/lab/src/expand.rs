use std::collections::BTreeMap;

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
