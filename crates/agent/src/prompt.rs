//! The text of a prompt: a template file of the machine, the text of the state, and notes about earlier turns.
//!
//! A template has the syntax of the judges' prompts (Jinja). Its variables are the fields of `with`.

use interlock_activity::{Arguments, Attempt, BadArgument, Outcome};
use interlock_chart::Value;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, value::Serde};
use serde_json::Value as Json;

use crate::session::Session;

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

/// Returns the text with notes that the agent cannot know: edits that were undone, and a summary if its session is lost.
pub(crate) fn with_notes(text: &str, session: &Session, is_lost: bool) -> String {
    let mut notes = Vec::new();
    if is_lost && !session.rounds.is_empty() {
        let rounds = session.rounds.iter().map(|round| format!("- asked: {}\n  reply: {}", round.prompt, round.reply));
        let rounds: Vec<String> = rounds.collect();
        notes.push(format!(
            "Your earlier session could not be continued. The rounds so far, as recorded:\n{}",
            rounds.join("\n")
        ));
    }
    if session.is_turn_open {
        notes.push(
            "Your last turn was interrupted. All edits of that turn were undone: read the files again before you rely on them."
                .to_owned(),
        );
    }
    match notes.is_empty() {
        true => text.to_owned(),
        false => format!("{}\n\n{text}", notes.join("\n\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_agent_is_told_that_its_edits_are_gone() {
        let mut session = Session { is_turn_open: true, ..Session::default() };
        session.remember("paint it", "It is blue.");
        let text = with_notes("go on", &session, false);
        assert!(
            text.contains("edits of that turn were undone") && !text.contains("It is blue.") && text.ends_with("go on"),
            "{text}"
        );
        session.is_turn_open = false;
        assert_eq!(with_notes("go on", &session, false), "go on");
        assert!(with_notes("go on", &session, true).contains("It is blue."));
    }
}
