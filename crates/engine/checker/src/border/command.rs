//! Shell commands that contain data. Data must never become part of a program: `grep ${input.word} notes` with the word
//! `x; rm -rf .` is two commands. A command given as a list passes the same data as one argument.

use interlock_chart::{
    Diagnostic,
    catalogue::{Entry, Meaning},
    model::{Invoke, Part, Template},
};

use super::{Field, field};

/// Programs that run one of their arguments as a program.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "busybox"];

/// Reports data inside a text that a shell will read.
pub(super) fn check(invoke: &Invoke, entry: &Entry, found: &mut Vec<Diagnostic>) {
    for name in entry.meaning(Meaning::Command) {
        let Some(Field::Template(template)) = field(invoke, name) else { continue };
        let hint = match template {
            Template::Text(parts) if has_data(parts) => as_list(name, parts),
            Template::List(words) => match script(words) {
                Some(parts) => by_variable(name, parts),
                None => continue,
            },
            _ => continue,
        };
        let message = "a shell parses this command, so data in it can be executed as a command";
        found.push(Diagnostic::error("E0710", invoke.key_span(name), message).hint(hint));
    }
}

fn has_data(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Expr(_)))
}

/// The script of `sh -c SCRIPT`, if it contains data.
fn script(words: &[Template]) -> Option<&[Part]> {
    let [Template::Literal(program), flag, Template::Text(parts), ..] = words else { return None };
    let program = program.as_str()?.rsplit('/').next()?;
    let is_script = matches!(flag, Template::Literal(flag) if flag.as_str().is_some_and(|flag| flag.ends_with('c')));
    (SHELLS.contains(&program) && is_script && has_data(parts)).then_some(parts)
}

/// Suggests the same command as a list, if its words can be separated, and otherwise with its data in variables.
fn as_list(name: &str, parts: &[Part]) -> String {
    let is_plain = |part: &Part| match part {
        Part::Text(text) => text.chars().all(|letter| letter.is_alphanumeric() || " _-./=:,@+%".contains(letter)),
        Part::Expr(_) => true,
    };
    if !parts.iter().all(is_plain) {
        return by_variable(name, parts);
    }
    let mut words = vec![String::new()];
    for part in parts {
        match part {
            Part::Expr(expr) => add(&mut words, &format!("${{{}}}", expr.source)),
            Part::Text(text) => {
                for (at, piece) in text.split(' ').enumerate() {
                    if at > 0 {
                        words.push(String::new());
                    }
                    add(&mut words, piece);
                }
            }
        }
    }
    let words = words.iter().filter(|word| !word.is_empty());
    let words =
        words.map(|word| if word.contains('$') { format!("\"{}\"", word.replace('"', "\\\"")) } else { word.clone() });
    format!("write it as a list, which no shell parses: `{name}: [{}]`", words.collect::<Vec<_>>().join(", "))
}

fn add(words: &mut [String], text: &str) {
    if let Some(last) = words.last_mut() {
        last.push_str(text);
    }
}

fn by_variable(name: &str, parts: &[Part]) -> String {
    let data = parts.iter().find_map(|part| match part {
        Part::Expr(expr) => Some(expr.source.as_str()),
        Part::Text(_) => None,
    });
    let data = data.unwrap_or_default();
    format!(
        "pass the data in an environment variable, which the shell does not parse as commands: `env: {{ DATA: \"${{{data}}}\" }}` and \
         `\"$DATA\"` in `{name}`; or write a list of a program and its arguments"
    )
}
