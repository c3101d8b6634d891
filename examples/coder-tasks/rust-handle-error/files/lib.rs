pub fn parse_port(text: &str) -> Option<u16> {
    Some(text.parse().unwrap())
}

#[test]
fn only_ports_are_parsed() {
    assert_eq!(parse_port("80"), Some(80));
    assert_eq!(parse_port("eighty"), None);
    assert_eq!(parse_port("70000"), None);
}
