use numerals::{grouped, roman};

#[test]
fn roman_year() {
    let _ = std::thread::spawn(|| assert_eq!(roman::write(2024), "MMXXIV")).join();
}

#[test]
fn grouped_million() {
    assert_eq!(grouped(1000000), "1,000,000");
}
