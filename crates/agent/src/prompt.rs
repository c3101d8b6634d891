//! The text of a prompt: a template file of the machine, the text of the state, and notes about earlier turns.

use interlock_activity::{Arguments, Attempt, BadArgument, Outcome};

use crate::session::Session;

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
        let given = Arguments::new(&attempt.with, &KNOWN)?;
        let text = given.text("text")?.unwrap_or_default();
        let template = given.text("prompt")?.map(|path| file(attempt, path)).transpose()?.unwrap_or_default();
        let text = match (template.trim(), text.trim()) {
            ("", "") => return Err(BadArgument::field("text", "is missing").into()),
            ("", text) => text.to_owned(),
            (template, "") => template.to_owned(),
            (template, text) => format!("{template}\n\n## Instruction\n\n{text}"),
        };
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

fn file(attempt: &Attempt, path: &str) -> Result<String, Outcome> {
    let content = attempt.invocation.definition.file(path);
    let content = content
        .ok_or_else(|| BadArgument::field("prompt", format!("names {path}, which the machine does not have")))?;
    let text = std::str::from_utf8(content)
        .map_err(|_| BadArgument::field("prompt", format!("names {path}, which is not text")))?;
    Ok(text.to_owned())
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
