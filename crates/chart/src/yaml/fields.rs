//! Reading single values out of the tree, each with its complaint where it is something else.

use super::{
    code,
    node::{Entry, Kind, Node, Scalar},
    scalar,
    suggest::did_you_mean,
};
use crate::{Diagnostic, Span};
use serde_json::Value as Json;

/// The keys of a map that is known to have the right ones.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'n> {
    pub entries: &'n [Entry],
    pub span: Span,
}

impl<'n> Fields<'n> {
    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&'n Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// A key with its value.
    pub(crate) fn entry(&self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| entry.key.text == key)
    }
}

/// Collects problems while a tree is read.
pub(crate) struct Decoder<'p> {
    pub problems: &'p mut Vec<Diagnostic>,
}

impl Decoder<'_> {
    /// Notes a problem.
    pub(crate) fn report(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    /// Notes that something else was expected. What is broken was complained about before.
    pub(crate) fn wrong_kind(&mut self, node: &Node, expected: &str) {
        if matches!(node.kind, Kind::Broken) {
            return;
        }
        let message = format!("expected {expected}, found {}", node.word());
        let quotable = expected.contains("text") && matches!(&node.kind, Kind::Scalar(_)) && !node.is_null();
        let problem = Diagnostic::error(code::WRONG_KIND, node.span, message);
        self.report(if quotable { problem.hint("put it in quotes to make it text") } else { problem });
    }

    /// A map with any keys.
    pub(crate) fn map<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Entry]> {
        match &node.kind {
            Kind::Map(entries) => Some(entries),
            _ => {
                self.wrong_kind(node, what);
                None
            }
        }
    }

    /// A map with none but these keys.
    pub(crate) fn fields<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Option<Fields<'n>> {
        let entries = self.map(node, what)?;
        self.only(entries, what, known);
        Some(Fields { entries, span: node.span })
    }

    /// Complains about every key that is not known.
    pub(crate) fn only(&mut self, entries: &[Entry], what: &str, known: &[&str]) {
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.text.as_str())) {
            let message = format!("{what} has no key `{}`", entry.key.text);
            let hint = did_you_mean(&entry.key.text, known.iter().copied())
                .unwrap_or_else(|| format!("the keys are {}", listed(known)));
            self.report(Diagnostic::error(code::UNKNOWN_KEY, entry.key.span, message).hint(hint));
        }
    }

    /// Complains about a key that must be there.
    pub(crate) fn missing(&mut self, span: Span, what: &str, key: &str) {
        self.report(Diagnostic::error(code::MISSING_KEY, span, format!("{what} needs `{key}`")));
    }

    /// Text.
    pub(crate) fn scalar<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n Scalar> {
        match &node.kind {
            Kind::Scalar(text) if matches!(scalar::typed(text), Some(Json::String(_))) => Some(text),
            _ => {
                self.wrong_kind(node, what);
                None
            }
        }
    }

    /// Text of a key that may be missing.
    pub(crate) fn text(&mut self, fields: &Fields<'_>, key: &str) -> Option<String> {
        let node = fields.get(key)?;
        self.scalar(node, "text").map(|scalar| scalar.text.clone())
    }

    /// `true` or `false`.
    pub(crate) fn flag(&mut self, node: &Node) -> Option<bool> {
        if let Kind::Scalar(text) = &node.kind
            && let Some(Json::Bool(value)) = scalar::typed(text)
        {
            return Some(value);
        }
        self.wrong_kind(node, "`true` or `false`");
        None
    }

    /// A whole number from `least` to what 32 bits hold.
    pub(crate) fn number(&mut self, node: &Node, least: u32) -> Option<u32> {
        let Kind::Scalar(text) = &node.kind else {
            self.wrong_kind(node, "a whole number");
            return None;
        };
        let whole = match scalar::typed(text) {
            Some(Json::Number(number)) => number.as_i64(),
            None => None,
            Some(_) => {
                self.wrong_kind(node, "a whole number");
                return None;
            }
        };
        let fitting = whole.and_then(|whole| u32::try_from(whole).ok()).filter(|whole| *whole >= least);
        if fitting.is_none() {
            let message = format!("expected a whole number from {least} to {}", u32::MAX);
            self.report(Diagnostic::error(code::BAD_NUMBER, node.span, message));
        }
        fitting
    }

    /// One value, or a list of them.
    pub(crate) fn one_or_many<'n>(&mut self, node: &'n Node) -> Vec<&'n Node> {
        match &node.kind {
            Kind::List(items) => items.iter().collect(),
            Kind::Broken => Vec::new(),
            _ => vec![node],
        }
    }

    /// One text, or a list of texts.
    pub(crate) fn texts<'n>(&mut self, node: &'n Node, what: &str) -> Vec<&'n Scalar> {
        self.one_or_many(node).into_iter().filter_map(|item| self.scalar(item, what)).collect()
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(&mut self, node: &Node, what: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.scalar(node, what)?;
        let found = words.iter().find(|(word, _)| *word == text.text).map(|(_, value)| *value);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let message = format!("`{}` is not {what}", text.text);
            let hint = did_you_mean(&text.text, names.iter().copied())
                .unwrap_or_else(|| format!("it is one of {}", listed(&names)));
            self.report(Diagnostic::error(code::UNKNOWN_WORD, node.span, message).hint(hint));
        }
        found
    }

    /// Any value, as JSON.
    pub(crate) fn json(&mut self, node: &Node) -> Json {
        match &node.kind {
            Kind::Broken => Json::Null,
            Kind::List(items) => items.iter().map(|item| self.json(item)).collect::<Vec<_>>().into(),
            Kind::Map(entries) => {
                Json::Object(entries.iter().map(|entry| (entry.key.text.clone(), self.json(&entry.value))).collect())
            }
            Kind::Scalar(text) => scalar::typed(text).unwrap_or_else(|| {
                let message = format!("`{}` is a number that JSON cannot hold", text.text);
                let hint = "put it in quotes to make it text";
                self.report(Diagnostic::error(code::BAD_NUMBER, node.span, message).hint(hint));
                Json::Null
            }),
        }
    }
}

/// Words as a sentence lists them.
pub(crate) fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
