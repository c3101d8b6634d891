//! The lines of a console, as a person would see them: without colours and control characters, whatever ends them.

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// What it says.
    pub(super) text: String,
    /// Whether something ended it; only the last one can lack that, and then it may have been cut off.
    pub(super) ended: bool,
}

/// The lines of a text. Boards end them with `\r\n`, `\n\r`, `\n` or `\r`; what that leaves empty is dropped.
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

/// The text without escape sequences and control characters; tabs stay.
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
    fn whatever_ends_lines_and_colours_them_is_gone() {
        check("a\r\nb\n\rc\rd\n\n  e \n", &["a", "b", "c", "d", "  e"]);
        check("\u{1b}[0;32m[ RUN      ] \u{1b}[mRing.Push\n", &["[ RUN      ] Ring.Push"]);
        check("\u{1b}]0;title\u{7}x\u{1b}(By\u{1b}", &["xy"]);
        check("a\0b\u{8}\tc", &["ab\tc"]);
        check("\u{1b}[31", &[]);
    }

    #[test]
    fn only_a_last_line_can_be_cut_off() {
        assert!(lines("a\nb\n").iter().all(|line| line.ended));
        assert!(!lines("a\nb").last().expect("a line").ended);
    }
}
