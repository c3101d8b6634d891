//! Reads single values from the tree and reports a problem if a value has the wrong kind.

use super::{
    code,
    node::{Entry, Kind, Node, Scalar},
    scalar,
};
use crate::{Diagnostic, Span};
use interlock_suggest::did_you_mean;
use serde_json::Value as Json;

/// The keys of a map whose keys have been checked.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'n> {
    pub entries: &'n [Entry],
    pub span: Span,
}

impl<'n> Fields<'n> {
    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&'n Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns a key with its value.
    pub(crate) fn entry(&self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| entry.key.text == key)
    }
}

/// Collects problems while a tree is read.
pub(crate) struct Decoder<'p> {
    pub problems: &'p mut Vec<Diagnostic>,
}

impl Decoder<'_> {
    /// Adds a problem to the list.
    pub(crate) fn report(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    /// Reports that another kind of value was expected. Broken nodes were reported before.
    pub(crate) fn wrong_kind(&mut self, node: &Node, expected: &str) {
        if matches!(node.kind, Kind::Broken) {
            return;
        }
        let message = format!("expected {expected}, found {}", node.word());
        let quotable = expected.contains("text") && matches!(&node.kind, Kind::Scalar(_)) && !node.is_null();
        let problem = Diagnostic::error(code::WRONG_KIND, node.span, message);
        self.report(if quotable { problem.hint("put it in quotes to make it text") } else { problem });
    }

    /// Reads a map with any keys.
    pub(crate) fn map<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Entry]> {
        match &node.kind {
            Kind::Map(entries) => Some(entries),
            _ => {
                self.wrong_kind(node, what);
                None
            }
        }
    }

    /// Reads a map that may have only these keys.
    pub(crate) fn fields<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Option<Fields<'n>> {
        let entries = self.map(node, what)?;
        self.only(entries, what, known);
        Some(Fields { entries, span: node.span })
    }

    /// Reports every unknown key.
    pub(crate) fn only(&mut self, entries: &[Entry], what: &str, known: &[&str]) {
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.text.as_str())) {
            let message = format!("{what} has no key `{}`", entry.key.text);
            let hint = did_you_mean(&entry.key.text, known.iter().copied())
                .unwrap_or_else(|| format!("the keys are {}", listed(known)));
            self.report(Diagnostic::error(code::UNKNOWN_KEY, entry.key.span, message).hint(hint));
        }
    }

    /// Reports a missing key.
    pub(crate) fn missing(&mut self, span: Span, what: &str, key: &str) {
        self.report(Diagnostic::error(code::MISSING_KEY, span, format!("{what} needs `{key}`")));
    }

    /// Reads a scalar that is text.
    pub(crate) fn scalar<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n Scalar> {
        match &node.kind {
            Kind::Scalar(text) if matches!(scalar::typed(text), Some(Json::String(_))) => Some(text),
            _ => {
                self.wrong_kind(node, what);
                None
            }
        }
    }

    /// Reads the text of an optional key.
    pub(crate) fn text(&mut self, fields: &Fields<'_>, key: &str) -> Option<String> {
        let node = fields.get(key)?;
        self.scalar(node, "text").map(|scalar| scalar.text.clone())
    }

    /// Reads `true` or `false`.
    pub(crate) fn flag(&mut self, node: &Node) -> Option<bool> {
        if let Kind::Scalar(text) = &node.kind
            && let Some(Json::Bool(value)) = scalar::typed(text)
        {
            return Some(value);
        }
        self.wrong_kind(node, "`true` or `false`");
        None
    }

    /// Reads a whole number from `least` to the 32-bit maximum.
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

    /// Reads one value or a list of values.
    pub(crate) fn one_or_many<'n>(&mut self, node: &'n Node) -> Vec<&'n Node> {
        match &node.kind {
            Kind::List(items) => items.iter().collect(),
            Kind::Broken => Vec::new(),
            _ => vec![node],
        }
    }

    /// Reads one text or a list of texts.
    pub(crate) fn texts<'n>(&mut self, node: &'n Node, what: &str) -> Vec<&'n Scalar> {
        self.one_or_many(node).into_iter().filter_map(|item| self.scalar(item, what)).collect()
    }

    /// Reads one of the given words.
    pub(crate) fn word<T: Copy>(&mut self, node: &Node, what: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.scalar(node, what)?;
        let found = words.iter().find(|(word, _)| *word == text.text).map(|(_, value)| *value);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let message = format!("`{}` is not {what}", text.text);
            let hint = did_you_mean(&text.text, names.iter().copied())
                .unwrap_or_else(|| format!("use one of {}", listed(&names)));
            self.report(Diagnostic::error(code::UNKNOWN_WORD, node.span, message).hint(hint));
        }
        found
    }

    /// Reads any value as JSON.
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

/// Formats words as a list for a sentence.
pub(crate) fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
