//! Notes on a machine: effects on this computer that are not errors. A missing program may be installed later, and a
//! question by policy may be intended.

use std::path::Path;

use interlock_activities::Gate;
use interlock_chart::{
    Chart, Diagnostic, Value,
    catalogue::Meaning,
    model::{Invoke, Template},
};

use crate::{
    outside::catalogue,
    store::{allowed_hosts, registry},
};

/// Words that a shell runs without a program.
const SHELL_WORDS: [&str; 25] = [
    "true", "false", "test", "[", "cd", "echo", "printf", "exit", "set", "export", "unset", "if", "for", "while",
    "until", "case", "exec", "eval", "trap", "wait", "ulimit", "umask", "read", ".", ":",
];

/// Returns the notes on the literal arguments of a machine's activities.
pub(crate) fn notes(chart: &Chart, folder: &Path) -> Vec<Diagnostic> {
    let gate = Gate::new(allowed_hosts());
    let mut found = Vec::new();
    for invoke in &chart.invokes {
        let (Some(entry), Some(activity)) = (catalogue().get(&invoke.activity), registry().get(&invoke.activity))
        else {
            continue;
        };
        let with = literals(invoke);
        for name in [Meaning::Command, Meaning::Program].into_iter().flat_map(|meaning| entry.meaning(meaning)) {
            if let Some(program) = with.get(name).and_then(program)
                && interlock_process::find(&program, folder, &Default::default()).is_err()
            {
                let message = format!("the program `{program}` is not in PATH on this computer");
                found.push(Diagnostic::note("N0720", invoke.key_span(name), message));
            }
        }
        for (name, why) in gate.foresee(activity.as_ref(), &with, folder) {
            let what = if matches!(name, "command" | "program") { "command does" } else { "activity does" };
            let message = format!("this {what} not start without permission; {why}");
            found.push(Diagnostic::note("N0721", invoke.key_span(name), message));
        }
    }
    found
}

/// Returns the literal arguments of an activity.
fn literals(invoke: &Invoke) -> Value {
    match &invoke.with {
        Template::Literal(with) => with.clone(),
        Template::Map(fields) => Value::map(fields.iter().filter_map(|(name, field)| match field {
            Template::Literal(value) => Some((name.as_str(), value.clone())),
            _ => None,
        })),
        _ => Value::empty(),
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
