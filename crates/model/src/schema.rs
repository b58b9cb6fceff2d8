/// A document whose shape this version does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown schema `{found}`: this bourdon reads `{newest}`; use the version of bourdon that wrote it")]
pub struct UnknownSchema {
    found: String,
    newest: &'static str,
}

/// How much of an unknown schema is repeated.
const SHOWN_CHARS: usize = 60;

/// Refuses a document of another schema than those that are read, the newest first: a newer shape read as a known one is
/// misread.
///
/// # Errors
/// When it is another.
pub fn check_schema(found: &str, known: &[&'static str]) -> Result<(), UnknownSchema> {
    if known.contains(&found) {
        return Ok(());
    }
    let newest = known.first().copied().unwrap_or_default();
    Err(UnknownSchema { found: found.chars().take(SHOWN_CHARS).collect(), newest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_schemas_are_read() {
        let known = ["bourdon.plan/2", "bourdon.plan/1"];
        assert!(known.iter().all(|schema| check_schema(schema, &known).is_ok()));
        for other in ["bourdon.plan/9", "bourdon.trial/1", "", "bourdon.plan/1 "] {
            let error = check_schema(other, &known).unwrap_err().to_string();
            assert!(
                error.contains(&format!(
                    "unknown schema `{other}`: this bourdon reads `bourdon.plan/2`; use the version"
                )),
                "{error}"
            );
        }
        assert!(check_schema(&"x".repeat(1_000_000), &known).unwrap_err().to_string().len() < 200);
    }
}
