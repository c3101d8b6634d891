//! Diagnostics for text that is not an expression.
//!
//! The parser's own messages refer to its grammar. These messages name the unexpected token instead, and CEL's
//! equivalent of operators from other languages.

use cel::parser::ParseError;

use super::{
    bounds::Excess,
    syntax::{Text, error},
    tokens::{Kind, Token, tokens},
};
use crate::Diagnostic;

pub(super) fn too_large(text: Text, excess: Excess) -> Diagnostic {
    let span = match excess {
        Excess::Characters(_) => text.span,
        Excess::Nesting(at) | Excess::Operators(at) => text.at(at..text.end_of_character(at)),
    };
    let hint = "compute parts of it in an `assign` first, or move the data behind it into one field".to_owned();
    error("E0302", span, excess.message(), Some(hint))
}

/// Reports only the first error: later errors are mostly consequences of the parser's recovery.
pub(super) fn refused(text: Text, errors: &[ParseError]) -> Diagnostic {
    let is_token = |token: &Token| token.kind != Kind::Blank;
    let Some(first) = errors.first().filter(|_| tokens(text.source).any(|token| is_token(&token))) else {
        return error("E0301", text.span, "the expression is empty".to_owned(), None);
    };
    let start = text.offset(first.pos);
    match tokens(text.source).filter(is_token).find(|token| token.range.contains(&start)) {
        Some(token) => {
            let word = &text.source[token.range.clone()];
            let message = own_message(&first.msg, word).unwrap_or_else(|| unexpected(token.kind, word));
            error("E0301", text.at(token.range), message, usual_word(word))
        }
        None => {
            let message = "the expression ends before it is complete".to_owned();
            error("E0301", text.at(start..text.end_of_character(start)), message, None)
        }
    }
}

fn unexpected(kind: Kind, word: &str) -> String {
    let closed = word.len() > 1 && word.ends_with(['\'', '"']);
    match kind {
        Kind::Text if !closed => "the string has no end".to_owned(),
        _ => format!("`{}` cannot stand here", word.replace(['\n', '\r'], " ")),
    }
}

/// Returns a plain message if the parser reports more than an unexpected token.
fn own_message(message: &str, word: &str) -> Option<String> {
    let plain = match message {
        _ if message.starts_with("Syntax error") => return None,
        _ if message.starts_with("reserved identifier") => format!("`{word}` is a reserved word of CEL"),
        "invalid argument to has() macro" => "`has` takes a field: `has(x.field)`".to_owned(),
        "invalid int literal" | "invalid uint literal" | "invalid double literal" => {
            format!("`{word}` is too large a number")
        }
        _ => message.replace(['\n', '\r'], " "),
    };
    Some(plain)
}

/// Returns CEL's equivalent of a word from other languages.
fn usual_word(word: &str) -> Option<String> {
    let cel = match word.to_ascii_lowercase().as_str() {
        "=" => "`==` compares; values are set under `assign`",
        "and" | "&" => "CEL writes `&&`",
        "or" | "|" => "CEL writes `||`",
        "not" => "CEL writes `!`",
        "if" | "then" | "else" => "CEL writes `condition ? a : b`",
        "$" => "`${…}` is for texts; this is an expression already",
        _ => return None,
    };
    Some(cel.to_owned())
}
