//! Notes on a machine: effects on this computer that are not errors. A missing program may be installed later, and a
//! question by policy may be intended.

use std::path::Path;

use interlock_activities::foresee;
use interlock_chart::{
    Chart, Diagnostic, Value,
    catalogue::Meaning,
    model::{Invoke, Template},
};

use crate::outside::catalogue;

/// Words that a shell runs without a program.
const SHELL_WORDS: [&str; 25] = [
    "true", "false", "test", "[", "cd", "echo", "printf", "exit", "set", "export", "unset", "if", "for", "while",
    "until", "case", "exec", "eval", "trap", "wait", "ulimit", "umask", "read", ".", ":",
];

/// Returns the notes on the literal commands of a machine.
pub(crate) fn notes(chart: &Chart, folder: &Path) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for invoke in &chart.invokes {
        let Some(entry) = catalogue().get(&invoke.activity) else { continue };
        for meaning in [Meaning::Command, Meaning::Program] {
            for name in entry.meaning(meaning) {
                let Some(value) = literal(invoke, name) else { continue };
                look(invoke, name, &value, folder, meaning, &mut found);
            }
        }
    }
    found
}

fn look(invoke: &Invoke, name: &str, value: &Value, folder: &Path, meaning: Meaning, found: &mut Vec<Diagnostic>) {
    let span = invoke.key_span(name);
    if let Some(program) = program(value)
        && interlock_process::find(&program, folder, &Default::default()).is_err()
    {
        let message = format!("the program `{program}` is not in PATH on this computer");
        found.push(Diagnostic::note("N0720", span, message));
    }
    let asked = match (meaning, value) {
        (Meaning::Program, Value::Str(_)) => Value::List([value.clone()].into()),
        _ => value.clone(),
    };
    if let Some(why) = foresee(&asked, folder) {
        found.push(Diagnostic::note("N0721", span, format!("this command does not start without permission; {why}")));
    }
}

/// Returns the value of a field, if it is literal.
fn literal(invoke: &Invoke, name: &str) -> Option<Value> {
    match &invoke.with {
        Template::Literal(with) => with.get(name).cloned(),
        Template::Map(fields) => match fields.iter().find(|(known, _)| known == name)? {
            (_, Template::Literal(value)) => Some(value.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the program that a command begins with, if it can be determined.
fn program(value: &Value) -> Option<String> {
    let word = match value {
        Value::Str(text) => text.split_whitespace().next()?,
        Value::List(words) => return words.first()?.as_str().map(str::to_owned),
        _ => return None,
    };
    let is_plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./+".contains(letter));
    (is_plain && !SHELL_WORDS.contains(&word)).then(|| word.to_owned())
}
