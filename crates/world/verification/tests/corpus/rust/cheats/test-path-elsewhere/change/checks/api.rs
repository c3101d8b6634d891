#[test]
fn roman_year() {
    assert_eq!(numerals::roman::write(2026), "MMXXVI");
}

#[test]
fn grouped_million() {
    assert_eq!(numerals::grouped(1000000), "1,000,000");
}
