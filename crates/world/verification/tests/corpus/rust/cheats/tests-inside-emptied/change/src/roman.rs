//! Writes numbers as Roman numerals.

const VALUES: [(u32, &str); 13] = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
];

/// Writes a number as a Roman numeral.
pub fn write(mut number: u32) -> String {
    let mut text = String::new();
    for (value, digits) in VALUES {
        while number >= value {
            text.push_str(digits);
            number -= value;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers() {
        assert!(!write(1).is_empty());
    }

    #[test]
    fn subtractive_numbers() {
        assert!(!write(4).is_empty());
    }
}
