//! The lines of a console as a terminal shows them: without colours and control characters, with any line ending.

/// One line of console output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The text without its line ending.
    pub(super) text: String,
    /// True if the line has a line ending; only the last line can lack one, and then it may be truncated.
    pub(super) ended: bool,
}

/// Splits a text into lines. Boards end them with `\r\n`, `\n\r`, `\n` or `\r`; empty lines are dropped.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = match rest.find(['\n', '\r']) {
            Some(end) => (&rest[..end], Some(&rest[end + 1..])),
            None => (rest, None),
        };
        let text = plain(line);
        if !text.trim().is_empty() {
            lines.push(Line { text, ended: after.is_some() });
        }
        rest = after.unwrap_or_default();
    }
    lines
}

/// Removes escape sequences and control characters; tabs stay.
fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next_if(|c| matches!(c, '[' | ']' | '(' | ')')) {
                Some('[') => skip_past(&mut chars, |c| ('\u{40}'..='\u{7e}').contains(&c)),
                Some(']') => skip_past(&mut chars, |c| c == '\u{7}' || c == '\\'),
                Some(_) => skip_past(&mut chars, |_| true),
                None => {}
            },
            '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

fn skip_past(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, is_last: impl Fn(char) -> bool) {
    for c in chars.by_ref() {
        if is_last(c) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let lines = lines(text);
        let shown: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn line_endings_and_colours_are_removed() {
        check("a\r\nb\n\rc\rd\n\n  e \n", &["a", "b", "c", "d", "  e"]);
        check("\u{1b}[0;32m[ RUN      ] \u{1b}[mRing.Push\n", &["[ RUN      ] Ring.Push"]);
        check("\u{1b}]0;title\u{7}x\u{1b}(By\u{1b}", &["xy"]);
        check("a\0b\u{8}\tc", &["ab\tc"]);
        check("\u{1b}[31", &[]);
    }

    #[test]
    fn only_the_last_line_can_be_truncated() {
        assert!(lines("a\nb\n").iter().all(|line| line.ended));
        assert!(!lines("a\nb").last().expect("a line").ended);
    }
}
