pub fn slug(title: &str) -> String {
    title.to_lowercase().replace(' ', "-")
}

#[test]
fn words_are_joined_by_one_dash() {
    assert_eq!(slug("Hello World"), "hello-world");
    assert_eq!(slug("  a   b "), "a-b");
}
