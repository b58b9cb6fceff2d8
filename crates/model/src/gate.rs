//! Gates: how much worse a server may become, `cpu_per_request<+3%, throughput>-5%`.

use serde::{Deserialize, Serialize};

use crate::{Metric, Scale};

/// A limit on the change of a metric from old to new.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// The metric.
    pub metric: Metric,
    /// Whether the change must stay below the limit, or above it.
    pub side: GateSide,
    /// The limit: 0.03 for +3 %. Of shares these are percentage points (see [`Metric::scale`]).
    pub change: f64,
}

/// Where a gate wants the change to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateSide {
    /// Below the limit.
    Below,
    /// Above the limit.
    Above,
}

impl std::fmt::Display for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.side == GateSide::Below { '<' } else { '>' };
        // A thousandth of a percent is more than anybody asks for.
        let percent = (self.change * 1e5).round() / 1e3;
        write!(f, "{}{sign}{percent:+}%", self.metric.id())
    }
}

/// Reads gates, separated by commas.
///
/// # Errors
/// With the word that is wrong and how it is written right.
pub fn parse_gates(text: &str) -> Result<Vec<Gate>, String> {
    text.split(',').map(|term| parse_gate(term.trim())).collect()
}

fn parse_gate(term: &str) -> Result<Gate, String> {
    let cure = "a gate is written like `p99<+10%` or `throughput>-5%`";
    let at = term.find(['<', '>']).ok_or_else(|| format!("`{term}` has neither `<` nor `>`; {cure}"))?;
    let (name, rest) = term.split_at(at);
    let (side, limit) = rest.split_at(1);
    let metric = Metric::from_id(name.trim()).ok_or_else(|| {
        let known: Vec<&str> = Metric::ALL.iter().map(|metric| metric.id()).collect();
        format!("unknown metric `{}`; there are {}", name.trim(), known.join(", "))
    })?;
    let percent = limit.trim().strip_suffix('%').ok_or_else(|| format!("`{term}` has no `%` at its end; {cure}"))?;
    let percent: f64 = percent.trim().parse().map_err(|_| format!("`{}` is not a number; {cure}", percent.trim()))?;
    let side = if side == "<" { GateSide::Below } else { GateSide::Above };
    let gate = Gate { metric, side, change: percent / 100.0 };
    match gate.fault() {
        None => Ok(gate),
        Some(fault) => Err(format!("{fault}; {cure}")),
    }
}

impl Gate {
    /// Why nobody can have meant it; none of one that can be held or broken.
    pub(crate) fn fault(&self) -> Option<String> {
        if !self.change.is_finite() || self.change <= -1.0 {
            return Some(format!("nothing changes by {} %", (self.change * 1e8).round() / 1e6));
        }
        if self.metric.scale() == Scale::Difference && self.change >= 1.0 {
            return Some("a share cannot become greater by more than 100 points".to_owned());
        }
        let better = if self.metric.more_is_better() { GateSide::Above } else { GateSide::Below };
        (self.side != better).then(|| {
            let side = if better == GateSide::Above { "above" } else { "below" };
            format!("`{self}` would let it become worse: {} is to stay {side} a limit", self.metric.id())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_read_and_written_alike() {
        let gates = parse_gates("cpu_per_request<+3%, p99 < 10 %,throughput>-5%").unwrap();
        let written: Vec<String> = gates.iter().map(ToString::to_string).collect();
        assert_eq!(written, ["cpu_per_request<+3%", "p99<+10%", "throughput>-5%"]);
        assert_eq!(gates[2].change, -0.05);
    }

    #[test]
    fn what_is_no_gate_is_told_with_its_cure() {
        for (text, said) in [
            ("p99", "neither"),
            ("p98<+3%", "unknown metric `p98`; there are throughput"),
            ("p99<+3", "no `%`"),
            ("p99<much%", "`much` is not a number"),
            ("p99<-100%", "nothing changes by -100 %"),
            ("throughput<+3%", "stay above a limit"),
            ("errors<+100%", "a share cannot become greater by more than 100 points"),
            ("p99>-3%", "stay below a limit"),
            ("", "neither"),
        ] {
            let error = parse_gates(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
