//! Writes numbers as Roman numerals.

/// Writes a number as a Roman numeral.
pub fn write(number: u32) -> String {
    let place = |digit: u32, one: &str, five: &str, ten: &str| match digit {
        9 => format!("{one}{ten}"),
        4 => format!("{one}{five}"),
        digit if digit >= 5 => format!("{five}{}", one.repeat(digit as usize - 5)),
        digit => one.repeat(digit as usize),
    };
    let thousands = "M".repeat((number / 1000) as usize);
    thousands
        + &place(number / 100 % 10, "C", "D", "M")
        + &place(number / 10 % 10, "X", "L", "C")
        + &place(number % 10, "I", "V", "X")
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
