//! Counts as people write them, the same in every sentence.

/// A whole number with commas between thousands: `9,214`.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 launch`, `2 launches`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

/// How often: `once`, `twice`, `3 times`.
pub fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{} times", thousands(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (value, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (9_214, "9,214"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(value), text);
        }
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!(
            [0, 1, 1_000].map(|count| counted(count, "reply", "replies")),
            ["0 replies", "1 reply", "1,000 replies"]
        );
        assert_eq!([1, 2, 3, 1_000].map(times), ["once", "twice", "3 times", "1,000 times"]);
    }
}
