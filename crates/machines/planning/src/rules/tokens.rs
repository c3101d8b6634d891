//! Splits texts into tokens. Every sign is a token of its own, so that nothing of a problem is dropped: `≠` and `%` are
//! read like words. Spaces and underscores only separate; a Chinese letter is a token; a quoted text is one token.

/// A token of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// The token as it is written, without quotation marks.
    pub(super) text: String,
    /// The token in small letters.
    pub(super) folded: String,
    pub(super) is_quoted: bool,
    /// True if no space is before the token: `cases` in `total_cases`.
    pub(super) is_joined: bool,
}

impl Token {
    fn new(text: &str, is_quoted: bool, is_joined: bool) -> Self {
        Token { text: text.to_owned(), folded: text.to_lowercase(), is_quoted, is_joined }
    }
}

/// Returns true if a token is a Chinese letter.
pub(super) fn is_chinese(token: &str) -> bool {
    token.chars().all(is_ideograph)
}

fn is_ideograph(one: char) -> bool {
    matches!(one, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Splits a text into tokens. Capitals within a word begin another token.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let letters: Vec<char> = text.chars().map(|one| if one == '’' { '\'' } else { one }).collect();
    let written = |from: usize, to: usize| letters[from..to].iter().collect::<String>();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(one) = letters.get(at).copied() {
        let follows = at.checked_sub(1).is_some_and(|before| letters[before].is_alphanumeric());
        let end = closing(one).filter(|_| one != '\'' || !follows).and_then(|mark| {
            let ends = |place: &usize| {
                letters[*place] == mark
                    && (mark != '\'' || !letters.get(place + 1).is_some_and(|one| one.is_alphanumeric()))
            };
            (at + 1..letters.len()).find(ends)
        });
        let start = at;
        let is_joined = start > 0 && !letters[start - 1].is_whitespace();
        at = match end {
            Some(end) => end + 1,
            None if is_ideograph(one) || !one.is_alphanumeric() => at + 1,
            None => end_of_word(&letters, at),
        };
        match end {
            Some(end) => found.push(Token::new(written(start + 1, end).trim(), true, is_joined)),
            None if one.is_whitespace() || one == '_' => {}
            None => found.push(Token::new(&written(start, at), false, is_joined)),
        }
    }
    found
}

/// Returns the place after the word that begins here.
fn end_of_word(letters: &[char], start: usize) -> usize {
    let goes_on = |at: &usize| {
        let (before, one) = (letters[*at - 1], letters[*at]);
        one.is_alphanumeric() && !is_ideograph(one) && !(one.is_uppercase() && before.is_lowercase())
    };
    (start + 1..letters.len()).find(|at| !goes_on(at)).unwrap_or(letters.len())
}

fn closing(open: char) -> Option<char> {
    match open {
        '"' | '`' | '\'' => Some(open),
        '“' => Some('”'),
        '«' => Some('»'),
        '「' => Some('」'),
        '《' => Some('》'),
        _ => None,
    }
}

/// Returns the words of a text, in small letters and without plural endings.
pub(super) fn stems(text: &str) -> Vec<String> {
    let words = tokens(text).into_iter().filter(|token| token.text.chars().any(char::is_alphanumeric));
    words.map(|token| stem(&token.folded)).collect()
}

/// Returns a word in small letters without its plural ending.
pub(super) fn stem(word: &str) -> String {
    match word.len() {
        5.. if word.ends_with("ies") => format!("{}y", &word[..word.len() - 3]),
        4.. if word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") => {
            word[..word.len() - 1].to_owned()
        }
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_is_a_token() {
        let split = |text: &str| tokens(text).into_iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
        assert_eq!(split("mean unitPrice, region≠North!"), "mean unit Price , region ≠ North !");
        assert_eq!(split("What's 'in' \"No. 1\" of order_id (%)?"), "What ' s in No. 1 of order id ( % ) ?");
        assert_eq!(split("各地区"), "各 地 区");
        assert_eq!(split("the \"open"), "the \" open");
        assert_eq!(stems("unitPrice of Cities, gas & class"), ["unit", "price", "of", "city", "gas", "class"]);
    }
}
