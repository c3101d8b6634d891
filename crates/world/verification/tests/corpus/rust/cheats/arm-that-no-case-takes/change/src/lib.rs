//! Writes numbers as text for people.

pub mod roman;

/// Groups the digits of a number by three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let spaced = |digits: &str| digits.as_bytes().rchunks(3).rev().map(|part| String::from_utf8_lossy(part).into_owned()).collect::<Vec<_>>().join(",");
    match digits.len() {
        0..=3 => digits,
        4..=7 => spaced(&digits),
        _ => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_three() {
        assert_eq!(grouped(1234567), "1,234,567");
    }

    #[test]
    fn short_numbers_have_no_groups() {
        assert_eq!(grouped(999), "999");
    }
}
