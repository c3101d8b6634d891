//! The text of a prompt: a template file of the machine, the text of the state, and notes about earlier turns.
//!
//! A template has the syntax of the judges' prompts (Jinja). Its variables are the fields of `with`.

use interlock_activity::{Arguments, Attempt, BadArgument, Outcome};
use interlock_chart::Value;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, value::Serde};
use serde_json::Value as Json;

use crate::session::{Round, Session};

/// The maximum number of template steps: enough for any text, and a bound for endless loops.
const FUEL: u64 = 100_000;

/// The fields of `with`.
pub(crate) const KNOWN: [&str; 5] = ["text", "prompt", "from", "agent", "signal"];

/// The parsed input of an attempt.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) text: String,
    pub(crate) agent: Option<String>,
    /// The signal that a finished turn ends with.
    pub(crate) signal: String,
}

impl Order {
    pub(crate) fn read(attempt: &Attempt) -> Result<Self, Outcome> {
        let names = field_names(&attempt.with);
        let known: Vec<&str> = KNOWN.iter().copied().chain(names.iter().map(String::as_str)).collect();
        let given = Arguments::new(&attempt.with, &known)?;
        let text = given.text("text")?.unwrap_or_default();
        let text = match given.text("prompt")? {
            Some(path) => from_template(attempt, path, text, &names)?,
            None => unused(&names, &|_| false).map(|()| text.trim().to_owned())?,
        };
        if text.is_empty() {
            return Err(BadArgument::field("text", "is missing").into());
        }
        let mut names = attempt.invocation.signal_names();
        let signal = match given.text("signal")? {
            Some(name) if attempt.invocation.takes(name) => name,
            Some(name) => {
                return Err(
                    BadArgument::field("signal", format!("is `{name}`, which the state does not declare")).into()
                );
            }
            None => names
                .next()
                .ok_or_else(|| BadArgument::field("signal", "is missing, and the state declares no signal"))?,
        };
        let agent = given.text("agent")?.map(str::to_owned);
        Ok(Order { text, agent, signal: signal.to_owned() })
    }
}

fn field_names(with: &Value) -> Vec<String> {
    match with {
        Value::Map(fields) => fields.keys().map(|name| name.to_string()).collect(),
        _ => Vec::new(),
    }
}

/// Refuses a field that is neither known nor a variable of the prompt: it is probably misspelt.
fn unused(names: &[String], is_used: &dyn Fn(&str) -> bool) -> Result<(), BadArgument> {
    match names.iter().find(|name| !KNOWN.contains(&name.as_str()) && !is_used(name)) {
        Some(name) => Err(BadArgument::field(name, "is no field of agent.prompt and no variable of the prompt")),
        None => Ok(()),
    }
}

/// Renders a template file. The text of the state follows it, unless the template shows it itself.
fn from_template(attempt: &Attempt, path: &str, text: &str, names: &[String]) -> Result<String, Outcome> {
    let source = file(attempt, path)?;
    let wrong = |error: minijinja::Error| {
        let line = error.line().map(|line| format!(" line {line}")).unwrap_or_default();
        let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
        BadArgument::field("prompt", format!("cannot be used: {path}{line}: {}{detail}", error.kind()))
    };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    let template = environment.template_from_named_str(path, source).map_err(wrong)?;
    let used = template.undeclared_variables(false);
    unused(names, &|name| used.contains(name))?;
    let shown = template.render(Serde(Json::from(&attempt.with))).map_err(wrong)?;
    Ok(match (shown.trim(), text.trim()) {
        (shown, text) if text.is_empty() || used.contains("text") => shown.to_owned(),
        ("", text) => text.to_owned(),
        (shown, text) => format!("{shown}\n\n## Instruction\n\n{text}"),
    })
}

fn file<'a>(attempt: &'a Attempt, path: &str) -> Result<&'a str, Outcome> {
    let content = attempt.invocation.definition.file(path);
    let content = content
        .ok_or_else(|| BadArgument::field("prompt", format!("names {path}, which the machine does not have")))?;
    std::str::from_utf8(content)
        .map_err(|_| BadArgument::field("prompt", format!("names {path}, which is not text")).into())
}

/// The number of files that a note names.
const FILES_MAX: usize = 40;

/// The events since the agent's last turn, which it cannot know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// The files that differ from the state before a turn that did not end by itself; `None` if the last turn did.
    pub(crate) left: Option<Vec<String>>,
    /// The changes of the last turn that were taken back.
    pub(crate) taken_back: Vec<String>,
    /// The protected paths that it may change in this turn.
    pub(crate) granted: Vec<String>,
}

impl Notes {
    /// Returns the text with the notes before it, and with a summary of the rounds if the agent's session is lost.
    pub(crate) fn before(&self, text: &str, session: &Session, is_lost: bool) -> String {
        let mut notes = Vec::new();
        if is_lost && !session.rounds.is_empty() {
            let round = |round: &Round| format!("- asked: {}\n  reply: {}", round.prompt, round.reply);
            let rounds: Vec<String> = session.rounds.iter().map(round).collect();
            notes.push(format!(
                "Your earlier session could not be continued. The rounds so far, as recorded:\n{}",
                rounds.join("\n")
            ));
        }
        notes.extend(self.left.as_ref().map(|files| interrupted(files)));
        if !self.taken_back.is_empty() {
            notes.push(format!("These changes of your last turn were taken back:\n{}", list(&self.taken_back)));
        }
        if !self.granted.is_empty() {
            notes.push(format!(
                "A person has allowed you to change these protected paths in this turn. Repeat your change to them if the task needs it:\n{}",
                list(&self.granted)
            ));
        }
        notes.push(text.to_owned());
        notes.join("\n\n")
    }
}

/// Says what is left of a turn that did not end by itself, as it was measured.
fn interrupted(files: &[String]) -> String {
    let said = "Your last turn was interrupted.";
    match files.is_empty() {
        true => format!(
            "{said} The files are as they were before that turn: none of its edits is there. Read files again before you rely on them."
        ),
        false => {
            format!("{said} Its edits were kept. These files differ from the state before that turn:\n{}", list(files))
        }
    }
}

fn list(lines: &[String]) -> String {
    let mut shown: Vec<String> = lines.iter().take(FILES_MAX).map(|line| format!("- {line}")).collect();
    if lines.len() > FILES_MAX {
        shown.push(format!("- and {} more", lines.len() - FILES_MAX));
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_about_edits_says_what_was_measured() {
        let mut session = Session::default();
        session.remember("paint it", "It is blue.");
        let undone = Notes { left: Some(Vec::new()), ..Notes::default() };
        let text = undone.before("go on", &session, false);
        assert!(text.contains("none of its edits is there") && !text.contains("It is blue."), "{text}");
        let kept = Notes { left: Some(vec!["door.txt".into()]), ..Notes::default() };
        let text = kept.before("go on", &session, false);
        assert!(text.contains("edits were kept") && text.contains("- door.txt") && text.ends_with("go on"), "{text}");
        assert_eq!(Notes::default().before("go on", &session, false), "go on");
        assert!(Notes::default().before("go on", &session, true).contains("It is blue."));
    }
}
