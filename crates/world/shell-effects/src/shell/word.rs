//! Parses one word: quotes, variables, substitutions.

use super::{
    Part, Word,
    parse::{Parser, is_operator, nested},
};

/// The end of a quoted part.
#[derive(Clone, Copy, PartialEq)]
enum Until {
    Quote,
    Brace,
    Text,
}

impl Parser<'_> {
    /// Parses a word, up to a blank or an operator.
    pub(super) fn word(&mut self) -> Word {
        let mut word = Word::default();
        while let Some(letter) = self.peek() {
            match letter {
                '<' | '>' if word.parts.is_empty() && self.ahead(1) == Some('(') => {
                    self.at += 2;
                    self.substitution();
                    word.parts.push(Part::Unknown { quoted: true });
                }
                letter if letter.is_whitespace() || is_operator(letter) => break,
                '\\' => self.escaped(&mut word),
                '\'' => self.single(&mut word),
                '"' => {
                    self.at += 1;
                    word.add("", true);
                    self.quoted(&mut word, Until::Quote);
                }
                '$' => self.dollar(&mut word, false),
                '`' => self.backticks(&mut word, false),
                letter => {
                    self.at += 1;
                    word.add(letter.encode_utf8(&mut [0; 4]), false);
                }
            }
        }
        word
    }

    /// Parses a text in which only variables and substitutions are special.
    pub(super) fn text(&mut self, text: &str) -> Word {
        let depth = self.depth + 1;
        let mut word = Word::default();
        let mut inner = super::Script::default();
        let mut parser = Parser::within(text, depth, &mut inner);
        parser.quoted(&mut word, Until::Text);
        self.take(inner);
        word
    }

    fn take(&mut self, inner: super::Script) {
        self.script.items.extend(inner.items);
        self.script.functions.extend(inner.functions);
        inner.unclear.into_iter().for_each(|why| self.unclear(why));
    }

    fn escaped(&mut self, word: &mut Word) {
        self.at += 1;
        match self.peek() {
            None => word.add("\\", true),
            Some('\n') => self.at += 1,
            Some(letter) => {
                self.at += 1;
                word.add(letter.encode_utf8(&mut [0; 4]), true);
            }
        }
    }

    fn single(&mut self, word: &mut Word) {
        self.at += 1;
        let rest = &self.letters[self.at..];
        let Some(length) = rest.iter().position(|letter| *letter == '\'') else {
            return self.open_quote(word);
        };
        word.add(&rest[..length].iter().collect::<String>(), true);
        self.at += length + 1;
    }

    fn open_quote(&mut self, word: &mut Word) {
        self.unclear("a quote is not closed");
        self.at = self.letters.len();
        word.parts.push(Part::Unknown { quoted: true });
    }

    /// Parses the text between double quotes, or in the braces of a variable.
    fn quoted(&mut self, word: &mut Word, until: Until) {
        loop {
            match self.peek() {
                None if until == Until::Text => return,
                None => return self.open_quote(word),
                Some('"') if until == Until::Quote => break,
                Some('}') if until == Until::Brace => break,
                Some('\\') if matches!(self.ahead(1), Some('$' | '`' | '"' | '\\' | '\n' | '}')) => self.escaped(word),
                Some('\'') if until == Until::Brace => self.single(word),
                Some('"') if until == Until::Brace => {
                    self.at += 1;
                    self.quoted(word, Until::Quote);
                }
                Some('$') => self.dollar(word, true),
                Some('`') => self.backticks(word, true),
                Some(letter) => {
                    self.at += 1;
                    word.add(letter.encode_utf8(&mut [0; 4]), true);
                }
            }
        }
        self.at += 1;
    }

    fn dollar(&mut self, word: &mut Word, quoted: bool) {
        self.at += 1;
        match self.peek() {
            Some('(') => {
                if !self.arithmetic() {
                    self.at += 1;
                    self.substitution();
                }
                word.parts.push(Part::Unknown { quoted });
            }
            Some('{') => self.braces(word, quoted),
            Some('\'') if !quoted => self.ansi(word),
            Some('"') if !quoted => {}
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
                let rest = self.letters[self.at..].iter();
                let name: String =
                    rest.take_while(|letter| letter.is_ascii_alphanumeric() || **letter == '_').collect();
                self.at += name.len();
                word.parts.push(Part::Var { name, quoted });
            }
            Some(letter) if letter.is_ascii_digit() || "@*#?$!-".contains(letter) => {
                self.at += 1;
                word.parts.push(Part::Var { name: letter.to_string(), quoted });
            }
            _ => word.add("$", quoted),
        }
    }

    /// Consumes `$((…))`, if it contains only arithmetic.
    fn arithmetic(&mut self) -> bool {
        if self.ahead(1) != Some('(') {
            return false;
        }
        let mut open = 0usize;
        for (by, letter) in self.letters[self.at..].iter().enumerate() {
            match letter {
                '(' => open += 1,
                ')' => open = open.saturating_sub(1),
                letter if letter.is_ascii_alphanumeric() || " \t_$+-*/%<>=!&|?:,~^".contains(*letter) => {}
                _ => return false,
            }
            if open == 0 {
                let is_whole = by > 0 && self.ahead(by - 1) == Some(')');
                if is_whole {
                    self.at += by + 1;
                }
                return is_whole;
            }
        }
        false
    }

    /// Parses `${…}`: a plain variable, or an expression that depends on one.
    fn braces(&mut self, word: &mut Word, quoted: bool) {
        self.at += 1;
        let rest = &self.letters[self.at..];
        let name: String = rest.iter().take_while(|letter| letter.is_ascii_alphanumeric() || **letter == '_').collect();
        if !name.is_empty() && rest.get(name.len()) == Some(&'}') {
            self.at += name.len() + 1;
            word.parts.push(Part::Var { name, quoted });
            return;
        }
        let mut inside = Word::default();
        self.depth += 1;
        match self.depth > super::DEPTH_MAX {
            true => self.open_quote(word),
            false => self.quoted(&mut inside, Until::Brace),
        }
        self.depth -= 1;
        word.parts.push(match alternative(inside, &name) {
            Some(other) => Part::Default { word: other, quoted },
            None => Part::Unknown { quoted },
        });
    }

    fn backticks(&mut self, word: &mut Word, quoted: bool) {
        self.at += 1;
        let mut inside = String::new();
        loop {
            match self.peek() {
                None => return self.open_quote(word),
                Some('`') => break,
                Some('\\') if matches!(self.ahead(1), Some('$' | '`' | '\\')) => {
                    self.at += 1;
                    inside.extend(self.peek());
                }
                Some(letter) => inside.push(letter),
            }
            self.at += 1;
        }
        self.at += 1;
        word.parts.push(Part::Unknown { quoted });
        if self.depth >= super::DEPTH_MAX {
            return self.unclear("it is nested too deeply to be read");
        }
        self.script.items.push(super::Item::Open);
        nested(&inside, self.depth + 1, self.script);
        self.script.items.push(super::Item::Close);
    }

    /// Parses `$'…'` with its escapes.
    fn ansi(&mut self, word: &mut Word) {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return self.open_quote(word),
                Some('\'') => break,
                Some('\\') => {
                    self.at += 1;
                    self.escape(&mut text);
                }
                Some(letter) => {
                    self.at += 1;
                    text.push(letter);
                }
            }
        }
        self.at += 1;
        word.add(&text, true);
    }

    fn escape(&mut self, text: &mut String) {
        let Some(letter) = self.peek() else { return };
        self.at += 1;
        let (radix, most) = match letter {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => {
                self.at -= 1;
                (8, 3)
            }
            letter => {
                let plain = [('n', '\n'), ('t', '\t'), ('r', '\r'), ('a', '\x07'), ('b', '\x08'), ('e', '\x1b')];
                text.push(plain.into_iter().find(|(name, _)| *name == letter).map_or(letter, |(_, is)| is));
                return;
            }
        };
        let digits: String =
            self.letters[self.at..].iter().take(most).take_while(|letter| letter.is_digit(radix)).collect();
        self.at += digits.len();
        text.extend(u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32));
    }
}

/// Returns the word of `${NAME:-word}`, `${NAME-word}`, `${NAME:=word}`, `${NAME=word}`, `${NAME:+word}` and
/// `${NAME+word}`.
fn alternative(mut inside: Word, name: &str) -> Option<Word> {
    let Some(Part::Text { text, .. }) = inside.parts.first_mut() else { return None };
    let rest = text.strip_prefix(name).filter(|_| !name.is_empty())?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    *text = rest.strip_prefix(['-', '=', '+'])?.to_owned();
    Some(inside)
}

impl Word {
    fn add(&mut self, more: &str, is_quoted: bool) {
        match self.parts.last_mut() {
            Some(Part::Text { text, quoted }) if *quoted == is_quoted => text.push_str(more),
            _ => self.parts.push(Part::Text { text: more.to_owned(), quoted: is_quoted }),
        }
    }
}
