//! Figures in words, the same in every sentence of a judgement.

pub(crate) use model::{counted, thousands as count};

/// `0.43` as `43 %`; below 10 % with one digit after the point, and what is smaller than that digit as such. What is not all
/// is never shown as 100 %.
pub(crate) fn percent(share: f64) -> String {
    match share.abs() * 100.0 {
        0.0 => "0 %".to_owned(),
        v if v < 0.05 => "less than 0.1 %".to_owned(),
        v if v < 9.95 || (99.5..99.95).contains(&v) => format!("{:.1} %", share * 100.0),
        v if (99.95..100.0).contains(&v) => "more than 99.9 %".to_owned(),
        _ => format!("{:.0} %", share * 100.0),
    }
}

/// A positive figure with about three significant digits: `9,214`, `97.2`, `0.97`.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 1_000.0 => count(value.round() as u64),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.2e}"),
    }
}

/// Microseconds in the unit that suits them: `12.1 ms`.
pub(crate) fn micros(us: f64) -> String {
    match us {
        v if v >= 1e6 => format!("{} s", figure(us / 1e6)),
        v if v >= 1e3 => format!("{} ms", figure(us / 1e3)),
        _ => format!("{} µs", figure(us)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(
            [percent(0.43), percent(-0.031), percent(0.0), percent(1e-5)],
            ["43 %", "-3.1 %", "0 %", "less than 0.1 %"]
        );
        assert_eq!([percent(0.998), percent(0.999_9), percent(1.0)], ["99.8 %", "more than 99.9 %", "100 %"]);
        assert_eq!([figure(9214.4), figure(97.21), figure(0.971), figure(0.0)], ["9,214", "97.2", "0.97", "0.00"]);
        assert_eq!([micros(12_100.0), micros(31.0), micros(1_020_000.0)], ["12.1 ms", "31.0 µs", "1.02 s"]);
    }
}
