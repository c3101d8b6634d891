//! The tokens of CEL text, without their meaning.
//!
//! They suffice to measure an expression before it is parsed and to rename its variables. The parser implements the
//! grammar. The ranges of the tokens are adjacent and cover the whole text.

use std::ops::Range;

/// The kinds of tokens that are distinguishable without a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// White space or a comment.
    Blank,
    /// A name or a keyword.
    Word,
    /// A number literal.
    Number,
    /// A string or bytes literal with its prefix and quotes, possibly unterminated.
    Text,
    /// An operator, a bracket, or a character that is illegal in CEL.
    Sign,
}

/// One token and its range in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

/// The operators of two characters. Every other sign is one character long.
const PAIRS: [&str; 6] = ["==", "!=", "<=", ">=", "&&", "||"];

/// Returns all tokens of `source`, in order.
pub(super) fn tokens(source: &str) -> impl Iterator<Item = Token> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = source.get(start..).filter(|rest| !rest.is_empty())?;
        let (kind, length) = first(rest);
        let range = start..start + length;
        start = range.end;
        Some(Token { kind, range })
    })
}

/// Returns the kind and the length of the token at the start of `rest`.
fn first(rest: &str) -> (Kind, usize) {
    let mut characters = rest.chars();
    let head = characters.next().unwrap_or(' ');
    if let Some(length) = text(rest) {
        return (Kind::Text, length);
    }
    match head {
        _ if rest.starts_with("//") => (Kind::Blank, rest.find('\n').unwrap_or(rest.len())),
        _ if head.is_whitespace() => (Kind::Blank, span(rest, char::is_whitespace)),
        _ if head == '_' || head.is_ascii_alphabetic() => (Kind::Word, span(rest, is_word)),
        _ if head.is_ascii_digit() => (Kind::Number, number(rest)),
        '.' if characters.next().is_some_and(|next| next.is_ascii_digit()) => (Kind::Number, number(rest)),
        _ if PAIRS.iter().any(|pair| rest.starts_with(pair)) => (Kind::Sign, 2),
        _ => (Kind::Sign, head.len_utf8()),
    }
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_ascii_alphanumeric()
}

fn span(rest: &str, belongs: impl Fn(char) -> bool) -> usize {
    rest.find(|character| !belongs(character)).unwrap_or(rest.len())
}

/// Returns a number's length: digits, letters (`0x1f`, `7u`, `1e9`), a fraction, the sign of an exponent.
fn number(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let hexadecimal = rest.starts_with("0x");
    let mut end = 1;
    while let Some(&byte) = bytes.get(end) {
        let digit_follows = bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        let after_exponent = !hexadecimal && matches!(bytes[end - 1], b'e' | b'E');
        let belongs = byte.is_ascii_alphanumeric()
            || (byte == b'.' && digit_follows)
            || (matches!(byte, b'+' | b'-') && after_exponent && digit_follows);
        if !belongs {
            break;
        }
        end += 1;
    }
    end
}

/// Returns the length of the string or bytes literal at the start of `rest`, if there is one.
fn text(rest: &str) -> Option<usize> {
    let prefix = rest.bytes().take(2).take_while(|byte| matches!(byte, b'r' | b'R' | b'b' | b'B')).count();
    let raw = rest[..prefix].contains(['r', 'R']);
    let body = &rest[prefix..];
    let quote = ["'''", "\"\"\"", "'", "\""].into_iter().find(|quote| body.starts_with(quote))?;
    let mut at = quote.len();
    while at < body.len() {
        if body.as_bytes()[at] == b'\\' && !raw {
            at += 2;
        } else if body.as_bytes()[at..].starts_with(quote.as_bytes()) {
            return Some(prefix + at + quote.len());
        } else {
            at += 1;
        }
    }
    Some(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        let shown: Vec<String> = tokens(source)
            .filter(|token| token.kind != Kind::Blank)
            .map(|token| format!("{:?}:{}", token.kind, &source[token.range]))
            .collect();
        assert_eq!(shown.join(" "), expected, "{source}");
    }

    #[test]
    fn text_is_split_into_tokens() {
        check("a.b >= 1.5e-3", "Word:a Sign:. Word:b Sign:>= Number:1.5e-3");
        check("1-2", "Number:1 Sign:- Number:2");
        check("0x1e-2", "Number:0x1e Sign:- Number:2");
        check("'a\\'b' + r'\\' // + c", "Text:'a\\'b' Sign:+ Text:r'\\'");
        check("'''it's''' == rb\"x\"", "Text:'''it's''' Sign:== Text:rb\"x\"");
        check("bread", "Word:bread");
        check("a ? é : 'ü'", "Word:a Sign:? Sign:é Sign:: Text:'ü'");
        check("'open \\", "Text:'open \\");
    }

    #[test]
    fn tokens_cover_the_text_and_end_at_character_boundaries() {
        for source in ["'\\é", "é'é\\'é", "a\u{a0}b // é", "\"\"\"\\é\"\"", "1.é", "r'", "b", "\\", "''''"] {
            let joined: String = tokens(source).map(|token| source[token.range].to_owned()).collect();
            assert_eq!(joined, source);
        }
    }
}
