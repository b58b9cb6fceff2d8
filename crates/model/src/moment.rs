//! Moments, as records write them: RFC 3339.

use jiff::fmt::temporal::Pieces;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// Reads a moment, of whatever offset.
///
/// # Errors
/// When it is none, with what was there instead.
pub fn read_moment<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    Ok(read::<D>(from)?.timestamp())
}

/// A moment beside the clock on the wall: to the second, with the offset from UTC and no name of a place.
pub(crate) mod local {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(moment: &Zoned, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&moment.strftime("%Y-%m-%dT%H:%M:%S%:z"))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Zoned, D::Error> {
        read::<D>(from)
    }
}

fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Zoned, D::Error> {
    let text = String::deserialize(from)?;
    let moment = || {
        let offset = Pieces::parse(&text).ok()?.to_numeric_offset().unwrap_or(Offset::UTC);
        Some(text.parse::<Timestamp>().ok()?.to_zoned(TimeZone::fixed(offset)))
    };
    moment().ok_or_else(|| D::Error::custom(format!("`{text}` is not a time, as 2026-11-20T09:12:33Z is")))
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Both {
        #[serde(deserialize_with = "read_moment")]
        utc: Timestamp,
        #[serde(with = "local")]
        local: Zoned,
    }

    #[test]
    fn moments_are_written_as_they_were_read() {
        for written in [
            "utc = \"2026-11-22T21:23:22.974545347Z\"\nlocal = \"2026-11-20T00:12:33+01:00\"\n",
            "utc = \"2026-11-22T21:23:22Z\"\nlocal = \"2026-11-20T09:12:33-03:30\"\n",
            "utc = \"1970-01-01T00:00:00Z\"\nlocal = \"1970-01-01T00:00:00+00:00\"\n",
        ] {
            let read: Both = toml::from_str(written).unwrap();
            assert_eq!(toml::to_string(&read).unwrap(), written);
        }
        let read: Both =
            toml::from_str("utc = \"2026-11-20T00:12:33+01:00\"\nlocal = \"2026-11-20T00:12:33Z\"").unwrap();
        assert_eq!(read.utc.to_string(), "2026-11-19T23:12:33Z");
        assert_eq!(read.local.date().to_string(), "2026-11-20");
    }

    #[test]
    fn what_is_not_a_moment_is_refused() {
        for wrong in ["", "yesterday", "2026-11-20", "2026-11-20T09:12:33", "2026-13-20T09:12:33Z"] {
            let written = format!("utc = \"{wrong}\"\nlocal = \"2026-11-20T09:12:33Z\"");
            let said = toml::from_str::<Both>(&written).unwrap_err().to_string();
            assert!(said.contains(&format!("`{wrong}` is not a time")), "{said}");
        }
    }
}
