//! Expressions that refer to their data by bare names, as in SCXML.

use std::ops::Range;

use super::{
    reference::VARIABLES,
    tokens::{Kind, Token, tokens},
};

/// The reason why bare names could not be converted to paths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QualifyError {
    /// A data id is also the name of one of our variables, so it would be ambiguous.
    #[error("the data id `{0}` is the name of a variable of every expression")]
    Ambiguous(String),
}

/// The macros whose first argument declares a variable for the rest of the call.
const MACROS: [&str; 6] = ["all", "exists", "exists_one", "existsOne", "map", "filter"];

/// Rewrites bare names that are data ids: `x + 1` becomes `context.x + 1`. Everything else is unchanged: strings,
/// fields (`a.x`), functions (`x(…)`), the variables of comprehensions, and text that is not an expression.
pub fn qualify(source: &str, names: &[String]) -> Result<String, QualifyError> {
    let words: Vec<Token> = tokens(source).filter(|token| token.kind != Kind::Blank).collect();
    let mut reader = Reader { source, words: &words, open: Vec::new() };
    let mut qualified = String::with_capacity(source.len());
    let mut copied = 0;
    for (index, word) in words.iter().enumerate() {
        let text = reader.text(index);
        if reader.is_variable(index) && names.iter().any(|name| name == text) {
            if VARIABLES.contains(&text) {
                return Err(QualifyError::Ambiguous(text.to_owned()));
            }
            let Range { start, end } = word.range;
            qualified.push_str(&source[copied..start]);
            qualified.push_str("context.");
            qualified.push_str(text);
            copied = end;
        }
        reader.follow(index);
    }
    qualified.push_str(&source[copied..]);
    Ok(qualified)
}

struct Reader<'a> {
    source: &'a str,
    words: &'a [Token],
    /// The variable that a macro call declares inside each open bracket.
    open: Vec<Option<&'a str>>,
}

impl<'a> Reader<'a> {
    /// Returns the token's text, or an empty string after the last token.
    fn text(&self, index: usize) -> &'a str {
        self.words.get(index).map_or("", |token| &self.source[token.range.clone()])
    }

    fn before(&self, index: usize) -> &'a str {
        index.checked_sub(1).map_or("", |before| self.text(before))
    }

    /// Returns true if the token is the name of a variable.
    fn is_variable(&self, index: usize) -> bool {
        let is_key = self.text(index + 1) == ":" && self.is_field_of_message(index);
        self.words[index].kind == Kind::Word
            && self.before(index) != "."
            && self.text(index + 1) != "("
            && !is_key
            && !self.open.contains(&Some(self.text(index)))
    }

    /// Returns true for a key of `Name{field: value}`, which is a name. The keys of a map are expressions.
    fn is_field_of_message(&self, index: usize) -> bool {
        let opens = |index: usize| self.text(index) == "{" && index > 0 && self.words[index - 1].kind == Kind::Word;
        matches!(self.before(index), "{" | ",") && (0..index).rev().find(|&at| self.text(at) == "{").is_some_and(opens)
    }

    fn follow(&mut self, index: usize) {
        match self.text(index) {
            "(" => self.open.push(self.declared(index)),
            "[" | "{" => self.open.push(None),
            ")" | "]" | "}" => _ = self.open.pop(),
            _ => {}
        }
    }

    /// Returns the variable that the call with this bracket declares: `x` in `list.all(x, …)`.
    fn declared(&self, bracket: usize) -> Option<&'a str> {
        let is_macro = bracket >= 2 && MACROS.contains(&self.text(bracket - 1)) && self.text(bracket - 2) == ".";
        let names_variable = self.words.get(bracket + 1).is_some_and(|token| token.kind == Kind::Word);
        (is_macro && names_variable && self.text(bracket + 2) == ",").then(|| self.text(bracket + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        let names = ["x", "y", "size", "list"].map(str::to_owned);
        assert_eq!(qualify(source, &names).as_deref(), Ok(expected), "{source}");
    }

    #[test]
    fn bare_data_ids_become_fields_of_the_context() {
        check("x", "context.x");
        check("x+y == xy", "context.x+context.y == xy");
        check("  -x /* y */", "  -context.x /* context.y */");
        check("x[y].x", "context.x[context.y].x");
        check("x.y . x", "context.x.y . x");
        check("{'x': x, x: 'y'}", "{'x': context.x, context.x: 'y'}");
        check("x ? y : x", "context.x ? context.y : context.x");
        check("x in [x]", "context.x in [context.x]");
        check("x // x\n+ y", "context.x // x\n+ context.y");
    }

    #[test]
    fn other_text_is_unchanged() {
        check("'x' + \"y\" + r'x' + '''y'''", "'x' + \"y\" + r'x' + '''y'''");
        check("input.x + event.y + _event.data.x", "input.x + event.y + _event.data.x");
        check("size(x)", "size(context.x)");
        check("size (size)", "size (context.size)");
        check("x.size()", "context.x.size()");
        check("In('x')", "In('x')");
        check("Point{x: x}", "Point{x: context.x}");
        check("not an ! expression ) ü", "not an ! expression ) ü");
        check("", "");
    }

    #[test]
    fn variables_of_comprehensions_are_unchanged() {
        check("list.all(x, x > y) && x", "context.list.all(x, x > context.y) && context.x");
        check("list.map(x, list.map(y, x + y)) + y", "context.list.map(x, context.list.map(y, x + y)) + context.y");
        check("[x].exists(z, z == x)", "[context.x].exists(z, z == context.x)");
        check("all(x, y)", "all(context.x, context.y)");
        check("list.filter(x, [x, (x)] == x)", "context.list.filter(x, [x, (x)] == x)");
    }

    #[test]
    fn an_ambiguous_data_id_is_refused_if_it_is_used() {
        let names = ["event".to_owned()];
        assert_eq!(qualify("event + 1", &names), Err(QualifyError::Ambiguous("event".to_owned())));
        assert_eq!(qualify("a.event + 1", &names).as_deref(), Ok("a.event + 1"));
    }
}
