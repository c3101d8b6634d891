//! No text makes the reader panic, overflow the stack or hang.

use super::read;

#[test]
fn chains_of_twenty_thousand_links_are_refused_and_short_ones_of_the_largest_size_are_read() {
    let chains: [(&str, &str, &str); 9] = [
        ("context.a", "+context.a", ""),
        ("", "!", "true"),
        ("", "(", "1"),
        ("context", ".b", ""),
        ("", "true?1:", "2"),
        ("", "[", "1"),
        ("context", "[0]", ""),
        ("", "-", "context.a"),
        ("", "true && ", "true"),
    ];
    for (head, link, tail) in chains {
        for links in [20_000, 300] {
            let problems = read(&format!("{head}{}{tail}", link.repeat(links))).unwrap_err();
            assert_eq!(problems[0].code, "E0302", "{link}");
        }
        let closing = link.replace('[', "]").replace('(', ")");
        let closed = if "([".contains(link) { closing.repeat(64) } else { String::new() };
        assert!(read(&format!("{head}{}{tail}{closed}", link.repeat(64))).is_ok(), "{link}");
    }
}
