//! Finds the commands in a shell text.

use super::{BYTES_MAX, DEPTH_MAX, ITEMS_MAX, Item, Link, Part, Redirect, Script, Simple, Way, Word};

/// Keywords that structure commands. The structured commands are read as if they stood alone.
const SHAPES: [&str; 13] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "coproc"];
/// Keywords after which redirections of the whole compound may follow.
const ENDS: [&str; 4] = ["fi", "done", "}", "esac"];

/// Parses a shell text. It never fails: unreadable parts are recorded.
pub(crate) fn parse(text: &str) -> Script {
    let mut script = Script::default();
    if text.len() > BYTES_MAX {
        script.unclear.push("it is too long to be read");
        return script;
    }
    nested(text, 0, &mut script);
    script
}

pub(super) fn nested(text: &str, depth: usize, script: &mut Script) {
    let mut parser = Parser::within(text, depth, script);
    while parser.peek().is_some() {
        parser.list(End::Text);
        // A surplus bracket ends a list early; the rest is parsed nevertheless.
        if parser.peek().is_some() {
            parser.unclear("a bracket is not opened");
            parser.at += 1;
        }
    }
}

/// The end of a command list.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Text,
    Bracket,
    Case,
}

/// A here-document that begins after this line.
struct Here {
    ends_with: String,
    is_literal: bool,
    drops_tabs: bool,
    /// The index of the command that reads it.
    item: usize,
}

pub(super) struct Parser<'s> {
    pub(super) letters: Vec<char>,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) script: &'s mut Script,
    here: Vec<Here>,
    is_tail: bool,
    /// The number of open braces.
    braces: usize,
    /// The functions in whose bodies the parser is, with the number of braces outside of each.
    bodies: Vec<(String, usize)>,
}

impl<'s> Parser<'s> {
    pub(super) fn within(text: &str, depth: usize, script: &'s mut Script) -> Self {
        Parser {
            letters: text.chars().collect(),
            at: 0,
            depth,
            script,
            here: Vec::new(),
            is_tail: false,
            braces: 0,
            bodies: Vec::new(),
        }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    pub(super) fn ahead(&self, by: usize) -> Option<char> {
        self.letters.get(self.at + by).copied()
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let is_next = text.chars().enumerate().all(|(by, letter)| self.ahead(by) == Some(letter));
        if is_next {
            self.at += text.chars().count();
        }
        is_next
    }

    pub(super) fn unclear(&mut self, why: &'static str) {
        if !self.script.unclear.contains(&why) {
            self.script.unclear.push(why);
        }
    }

    fn push(&mut self, item: Item) {
        match self.script.items.len() < ITEMS_MAX {
            true => self.script.items.push(item),
            false => self.unclear("it holds too many commands"),
        }
    }

    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.ahead(1) == Some('\n') => self.at += 2,
                Some('#')
                    if self.at == 0
                        || self.letters[self.at - 1].is_whitespace()
                        || is_operator(self.letters[self.at - 1]) =>
                {
                    while self.peek().is_some_and(|letter| letter != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Parses commands up to their end, which is consumed.
    fn list(&mut self, end: End) {
        if self.depth > DEPTH_MAX {
            self.unclear("it is nested too deeply to be read");
            self.at = self.letters.len();
            return;
        }
        loop {
            self.blanks();
            match self.peek() {
                None => return,
                Some('\n') => {
                    self.at += 1;
                    self.here_documents();
                }
                Some(')') => {
                    if end == End::Bracket {
                        self.at += 1;
                    }
                    return;
                }
                Some(';') if self.ahead(1) == Some(';') || self.ahead(1) == Some('&') => {
                    if end == End::Case {
                        return;
                    }
                    self.at += 1;
                }
                Some(';' | '&' | '|') => self.at += 1,
                Some('(') => {
                    self.at += 1;
                    self.inside(End::Bracket);
                    self.is_tail = true;
                }
                Some(_) if end == End::Case && self.is_word("esac") => return,
                Some(_) => self.command(),
            }
        }
    }

    /// Parses a subshell or a substitution, up to its bracket.
    pub(super) fn substitution(&mut self) {
        self.inside(End::Bracket);
    }

    fn inside(&mut self, end: End) {
        self.push(Item::Open);
        self.depth += 1;
        self.list(end);
        self.depth -= 1;
        self.push(Item::Close);
    }

    fn is_word(&self, word: &str) -> bool {
        let ends = self.ahead(word.chars().count());
        word.chars().enumerate().all(|(by, letter)| self.ahead(by) == Some(letter))
            && ends.is_none_or(|letter| letter.is_whitespace() || is_operator(letter))
    }

    fn command(&mut self) {
        if let Some(shape) = SHAPES.into_iter().chain(["esac"]).find(|shape| self.is_word(shape)) {
            self.at += shape.len();
            self.is_tail = ENDS.contains(&shape);
            self.brace(shape);
            return;
        }
        match () {
            () if self.is_word("for") || self.is_word("select") => self.each(),
            () if self.is_word("case") => self.case(),
            () if self.is_word("[[") => self.test(),
            () if self.is_word("function") => {
                self.at += "function".len();
                self.blanks();
                let name = self.word();
                self.function(&name);
                self.blanks();
                self.eat("()");
            }
            () => self.simple(),
        }
    }

    /// Counts braces, to know in which function's body a command stands.
    fn brace(&mut self, shape: &str) {
        match shape {
            "{" => self.braces += 1,
            "}" => {
                self.braces = self.braces.saturating_sub(1);
                self.bodies.retain(|(_, outside)| *outside < self.braces);
            }
            _ => {}
        }
    }

    fn function(&mut self, name: &Word) {
        match name.bare() {
            Some(name) => {
                self.script.functions.push(name.to_owned());
                self.bodies.push((name.to_owned(), self.braces));
            }
            None => self.unclear("a function has a name that cannot be read"),
        }
    }

    /// Parses `for NAME in WORDS`; the body follows as ordinary commands.
    fn each(&mut self) {
        while self.peek().is_some_and(char::is_alphabetic) {
            self.at += 1;
        }
        self.blanks();
        if self.eat("((") {
            self.unclear("a loop counts by arithmetic");
            return;
        }
        let name = self.word();
        let mut values = Vec::new();
        self.blanks();
        if self.is_word("in") {
            self.at += 2;
            self.blanks();
            while self.peek().is_some_and(|letter| letter != '\n' && !is_operator(letter)) {
                values.push(self.word());
                self.blanks();
            }
        } else {
            values.push(Word { parts: vec![Part::Unknown { quoted: false }] });
        }
        if let Some(name) = name.bare() {
            let name = name.to_owned();
            self.push(Item::Bind { name, values });
        }
    }

    fn case(&mut self) {
        self.at += "case".len();
        self.blanks();
        self.word();
        self.blanks();
        while self.eat("\n") {
            self.blanks();
        }
        self.eat("in");
        while self.peek().is_some() {
            self.blanks();
            if self.eat("\n") || self.eat(";") || self.eat("&") {
                continue;
            }
            if self.is_word("esac") {
                self.at += "esac".len();
                self.is_tail = true;
                return;
            }
            self.pattern();
            self.list(End::Case);
        }
    }

    /// Parses the pattern of a branch, up to its bracket.
    fn pattern(&mut self) {
        self.eat("(");
        loop {
            self.blanks();
            match self.peek() {
                None => return,
                Some(')') => {
                    self.at += 1;
                    return;
                }
                Some(letter) if is_operator(letter) || letter == '\n' => self.at += 1,
                Some(_) => drop(self.word()),
            }
        }
    }

    /// Parses `[[ … ]]`: only its substitutions matter.
    fn test(&mut self) {
        self.at += 2;
        loop {
            self.blanks();
            if self.is_word("]]") {
                self.at += 2;
                self.is_tail = true;
                return;
            }
            match self.peek() {
                None | Some('\n' | ';') => return,
                Some(letter) if is_operator(letter) => self.at += 1,
                Some(_) => drop(self.word()),
            }
        }
    }

    fn simple(&mut self) {
        let mut simple = Simple { is_tail: std::mem::take(&mut self.is_tail), ..Simple::default() };
        let mut here = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | ';' | ')' | '|') => break,
                Some('&') if self.ahead(1) != Some('>') => break,
                Some('(') if simple.words.len() == 1 && simple.sets.is_empty() && self.ends_brackets() => {
                    self.function(&simple.words[0]);
                    return;
                }
                Some('(') => {
                    self.unclear("a bracket stands where none is expected");
                    self.at += 1;
                    self.substitution();
                }
                Some('<' | '>') if self.ahead(1) != Some('(') => self.redirect(&mut simple, &mut here),
                Some('&') => self.redirect(&mut simple, &mut here),
                Some(_) => self.one_word(&mut simple, &mut here),
            }
        }
        simple.then = self.link();
        if let Some(name) = simple.words.first().and_then(Word::bare) {
            let calls = self.bodies.iter().map(|(body, _)| (body.clone(), name.to_owned()));
            self.script.calls.extend(calls);
        }
        let is_nothing = simple.words.is_empty() && simple.sets.is_empty() && simple.redirects.is_empty();
        let item = self.script.items.len();
        self.here.extend(here.into_iter().map(|here| Here { item, ..here }));
        if !is_nothing || simple.fed.is_some() || self.here.iter().any(|here| here.item == item) {
            self.push(Item::Simple(simple));
        }
    }

    /// Consumes `()` or `( )` after a name, if it follows.
    fn ends_brackets(&mut self) -> bool {
        let start = self.at;
        self.at += 1;
        self.blanks();
        if self.eat(")") {
            return true;
        }
        self.at = start;
        false
    }

    fn link(&mut self) -> Link {
        match () {
            () if self.eat("&&") => Link::And,
            () if self.eat("||") => Link::Or,
            () if self.eat("|&") || self.eat("|") => Link::Pipe,
            () => Link::Next,
        }
    }

    fn one_word(&mut self, simple: &mut Simple, here: &mut Vec<Here>) {
        let start = self.at;
        let word = self.word();
        if self.at == start {
            // No word can begin here; the character is skipped so that parsing continues.
            self.unclear("a letter stands where none is expected");
            self.at += 1;
            return;
        }
        let is_number = word.bare().is_some_and(|text| text.chars().all(|letter| letter.is_ascii_digit()))
            || word.bare().is_some_and(|text| text.starts_with('{') && text.ends_with('}'));
        if is_number && matches!(self.peek(), Some('<' | '>')) && self.ahead(1) != Some('(') {
            return self.redirect(simple, here);
        }
        match set(&word).filter(|_| simple.words.is_empty()) {
            Some((name, value)) if value.parts.is_empty() && self.peek() == Some('(') => {
                self.at += 1;
                simple.sets.push((name, self.array()));
            }
            Some(set) => simple.sets.push(set),
            None => simple.words.push(word),
        }
    }

    /// Parses the values of an array, which count as unknown if there are several.
    fn array(&mut self) -> Word {
        let mut values = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                None => break,
                Some(')') => {
                    self.at += 1;
                    break;
                }
                Some(letter) if is_operator(letter) || letter == '\n' => self.at += 1,
                Some(_) => values.push(self.word()),
            }
        }
        match values.len() {
            1 => values.remove(0),
            _ => Word { parts: vec![Part::Unknown { quoted: false }] },
        }
    }

    fn redirect(&mut self, simple: &mut Simple, here: &mut Vec<Here>) {
        if self.eat("<<<") {
            self.blanks();
            simple.fed = Some(self.word());
            return;
        }
        if self.eat("<<") {
            return self.here_begins(here);
        }
        const WAYS: [(&str, Way); 9] = [
            ("&>>", Way::Append),
            ("&>", Way::Overwrite),
            ("<>", Way::Append),
            ("<&", Way::Read),
            ("<", Way::Read),
            (">>", Way::Append),
            (">|", Way::Overwrite),
            (">&", Way::Overwrite),
            (">", Way::Overwrite),
        ];
        let Some((sign, way)) = WAYS.into_iter().find(|(sign, _)| self.eat(sign)) else {
            self.at += 1;
            return;
        };
        self.blanks();
        let target = self.word();
        let is_number = |text: &str| text.trim_end_matches('-').chars().all(|letter| letter.is_ascii_digit());
        let is_descriptor = sign.len() == 2 && sign.ends_with('&') && target.bare().is_some_and(is_number);
        if !is_descriptor {
            simple.redirects.push(Redirect { way, target });
        }
    }

    fn here_begins(&mut self, here: &mut Vec<Here>) {
        let drops_tabs = self.eat("-");
        self.blanks();
        let word = self.word();
        let is_literal = word.bare().is_none();
        let ends_with = word
            .parts
            .iter()
            .map(|part| match part {
                Part::Text { text, .. } => text.clone(),
                Part::Var { name, .. } => format!("${name}"),
                Part::Default { .. } | Part::Unknown { .. } => String::new(),
            })
            .collect();
        here.push(Here { ends_with, is_literal, drops_tabs, item: 0 });
    }

    /// Parses the here-documents that begin on this line.
    fn here_documents(&mut self) {
        for here in std::mem::take(&mut self.here) {
            let mut body = String::new();
            let mut is_ended = false;
            while self.at < self.letters.len() && !is_ended {
                let rest = &self.letters[self.at..];
                let line: String = rest.iter().take_while(|letter| **letter != '\n').collect();
                self.at += (line.chars().count() + 1).min(rest.len());
                let line = if here.drops_tabs { line.trim_start_matches('\t') } else { &line };
                is_ended = line == here.ends_with;
                if !is_ended {
                    body.push_str(line);
                    body.push('\n');
                }
            }
            let fed = if here.is_literal { Word::quoted(&body) } else { self.text(&body) };
            if let Some(Item::Simple(simple)) = self.script.items.get_mut(here.item) {
                simple.fed = Some(fed);
            }
        }
    }
}

pub(super) fn is_operator(letter: char) -> bool {
    matches!(letter, ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// Splits `NAME=value` or `NAME+=value`.
fn set(word: &Word) -> Option<(String, Word)> {
    let Some((Part::Text { text, quoted: false }, rest)) = word.parts.split_first() else { return None };
    let (name, value) = text.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let first = Part::Text { text: value.to_owned(), quoted: false };
    let parts = std::iter::once(first).filter(|part| !matches!(part, Part::Text { text, .. } if text.is_empty()));
    is_name.then(|| (name.to_owned(), Word { parts: parts.chain(rest.iter().cloned()).collect() }))
}
