//! The machine's files that `with` names: prompts with their variables, and schemas.

use interlock_suggest::did_you_mean;
use std::collections::BTreeSet;

use interlock_chart::{
    Diagnostic, Value,
    catalogue::{Entry, Meaning},
    model::{Invoke, Template},
};
use minijinja::Environment;

use super::{Outside, texts};

/// Names that templates define by themselves.
const GLOBALS: [&str; 6] = ["range", "dict", "debug", "namespace", "loop", "self"];

/// Reports files that are missing or cannot be used.
pub(super) fn check(invoke: &Invoke, entry: &Entry, outside: &Outside<'_>, found: &mut Vec<Diagnostic>) {
    for (key, path) in texts(invoke, entry, Meaning::Prompt) {
        if let Some(text) = text(invoke, key, path, outside, found) {
            prompt(invoke, entry, (key, path), text, found);
        }
    }
    for (key, path) in texts(invoke, entry, Meaning::SchemaFile) {
        if let Some(text) = text(invoke, key, path, outside, found) {
            schema(invoke, (key, path), text, found);
        }
    }
}

/// Returns the text of a file, and reports the file if it is missing.
fn text<'o>(
    invoke: &Invoke,
    key: &str,
    path: &str,
    outside: &'o Outside<'_>,
    found: &mut Vec<Diagnostic>,
) -> Option<&'o str> {
    let mut missing = |message: String, hint: Option<String>| {
        found.push(Diagnostic::error("E0706", invoke.key_span(key), message).maybe_hint(hint));
        None
    };
    match outside.file(path).map(std::str::from_utf8) {
        Some(Ok(text)) => Some(text),
        Some(Err(_)) => missing(format!("the file {path} of the machine is not UTF-8 text"), None),
        None => {
            let known = outside.files.iter().map(|(path, _)| path.as_str());
            let hint = did_you_mean(path, known)
                .unwrap_or_else(|| "a machine's files are in `prompts/` and `schemas/` beside machine.yaml".to_owned());
            missing(format!("the machine has no file {path}"), Some(hint))
        }
    }
}

/// Reports a prompt that is not a valid template, and variables that `with` does not set.
fn prompt(invoke: &Invoke, entry: &Entry, (key, path): (&str, &str), text: &str, found: &mut Vec<Diagnostic>) {
    let span = invoke.key_span(key);
    let environment = Environment::new();
    let template = match environment.template_from_named_str(path, text) {
        Ok(template) => template,
        Err(error) => {
            let line = error.line().map(|line| format!(", line {line}")).unwrap_or_default();
            let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
            let message = format!("the prompt {path}{line} cannot be used: {}{detail}", error.kind());
            found.push(Diagnostic::error("E0707", span, message));
            return;
        }
    };
    let given = variables(invoke, entry);
    let used: BTreeSet<String> = template.undeclared_variables(false).into_iter().collect();
    let missing = used.iter().filter(|name| {
        !given.contains(name.as_str()) && !GLOBALS.contains(&name.as_str()) && !may_be_missing(text, name)
    });
    for name in missing {
        let message = format!("the prompt {path}{} uses `{name}`, which is not given", line_of(text, name));
        let hint = did_you_mean(name, given.iter().copied())
            .unwrap_or_else(|| format!("write `{name}: …` under `with`, or remove it from the prompt"));
        found.push(Diagnostic::error("E0708", span, message).hint(hint));
    }
}

/// The fields of `with` that a prompt can read. A field that is literally null exists and is empty.
fn variables<'i>(invoke: &'i Invoke, entry: &Entry) -> BTreeSet<&'i str> {
    let is_fact = |name: &&str| entry.field(name).is_none_or(|field| Meaning::of(field).is_none());
    let names: Vec<&str> = match &invoke.with {
        Template::Map(fields) => fields.iter().map(|(name, _)| name.as_str()).collect(),
        Template::Literal(Value::Map(fields)) => fields.keys().map(|name| &**name).collect(),
        _ => Vec::new(),
    };
    names.into_iter().filter(is_fact).collect()
}

/// Returns true if a template tests a variable for existence before it uses it.
fn may_be_missing(text: &str, name: &str) -> bool {
    let close: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let asks = [" is defined", " is not defined", "|default", " | default", " |default", "| default"];
    asks.iter().any(|ask| close.contains(&format!("{name}{ask}")))
}

/// Returns the first line that contains a name as a word.
fn line_of(text: &str, name: &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let has = |line: &&str| line.split(|letter| !is_part(letter)).any(|word| word == name);
    match text.lines().position(|line| has(&line)) {
        Some(at) => format!(", line {},", at + 1),
        None => String::new(),
    }
}

/// Reports a file that is not a JSON Schema.
fn schema(invoke: &Invoke, (key, path): (&str, &str), text: &str, found: &mut Vec<Diagnostic>) {
    let wrong = match serde_json::from_str::<serde_json::Value>(text) {
        Err(error) => format!("is not JSON: {error}"),
        Ok(json) => match jsonschema::validator_for(&json) {
            Ok(_) => return,
            Err(error) => format!("is not a JSON Schema: {error}"),
        },
    };
    found.push(Diagnostic::error("E0709", invoke.key_span(key), format!("the file {path} {wrong}")));
}
