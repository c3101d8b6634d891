use numerals::{grouped, roman};

#[test]
fn roman_year() {
    assert_eq!(roman::write(2026), "MMXXVI");
}

#[test]
fn grouped_million() {
    assert_eq!(grouped(1000000), "1,000,000");
}
