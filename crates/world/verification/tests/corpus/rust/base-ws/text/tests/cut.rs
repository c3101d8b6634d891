use text::cut;

#[test]
fn short_text_stays() {
    assert_eq!(cut("abc", 3), "abc");
}

#[test]
fn long_text_is_cut() {
    assert_eq!(cut("abcdef", 4), "abc…");
}

#[test]
fn characters_are_counted() {
    assert_eq!(cut("ääää", 4), "ääää");
}
