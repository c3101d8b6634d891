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

/// Tells whether a text is a Roman numeral.
pub fn is_roman(_text: &str) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers() {
        assert_eq!(write(1), "I");
        assert_eq!(write(3), "III");
    }

    #[test]
    fn roman() {
        assert!(is_roman("IV"));
    }

    #[test]
    fn subtractive_numbers() {
        assert_eq!(write(4), "IV");
        assert_eq!(write(1994), "MCMXCIV");
    }
}
