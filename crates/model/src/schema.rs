/// A document whose shape this version does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown schema `{found}`: this bourdon reads `{known}`; use the version of bourdon that wrote it")]
pub struct UnknownSchema {
    found: String,
    known: &'static str,
}

/// How much of an unknown schema is repeated.
const SHOWN_CHARS: usize = 60;

/// Refuses a document of another schema than the one that is read: a newer shape read as a known one is misread.
///
/// # Errors
/// When it is another.
pub fn check_schema(found: &str, known: &'static str) -> Result<(), UnknownSchema> {
    if found == known {
        return Ok(());
    }
    Err(UnknownSchema { found: found.chars().take(SHOWN_CHARS).collect(), known })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_known_schema_is_read() {
        assert_eq!(check_schema("bourdon.plan/1", "bourdon.plan/1"), Ok(()));
        for other in ["bourdon.plan/9", "bourdon.trial/1", "", "bourdon.plan/1 "] {
            let error = check_schema(other, "bourdon.plan/1").unwrap_err().to_string();
            assert!(
                error.contains(&format!("unknown schema `{other}`")) && error.contains("use the version"),
                "{error}"
            );
        }
        assert!(check_schema(&"x".repeat(1_000_000), "bourdon.plan/1").unwrap_err().to_string().len() < 200);
    }
}
