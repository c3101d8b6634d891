use numerals::{grouped, roman};

#[test]
fn roman_year() {
    assert_eq!(roman::write(2024), "MMXXIV");
}

#[test]
fn grouped_million() {
    assert_eq!(grouped(1000000), "1,000,000");
}
