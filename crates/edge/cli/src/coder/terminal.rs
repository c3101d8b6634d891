//! A conversation on a terminal.
//!
//! Ctrl-C once cancels the turn, twice leaves the run, which can be resumed. A confirmation shows exactly what will be
//! done, and nothing is preselected: a yes is always typed, and it is typed after the question was shown (`keyboard.rs`).

use interlock_tools::preview;
use serde_json::{Value as Json, json};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

use super::{
    Conversation,
    conversation::{Control, PlannedCommit, Stand},
    editor::{Messages, Typed},
    happening::{self, Call},
    paint::{Painter, line_of},
    slash::{self, Next},
};
use crate::{Exit, escape, failure::Failure, output::Output, store::Store, waiting};

/// The most lines of a diff that a confirmation shows.
const DIFF_LINES_MAX: usize = 400;

/// The prompt of the next message.
const PROMPT: &str = "› ";

/// The choices of a confirmation.
const CHOICES: &str = "yes, [s]ession, [w]orkspace, no, or what to do instead › ";

/// The answers that a question takes besides its own.
const HELP: &str = "yes allows what is shown and nothing else, s the same until the conversation ends, w the same in this \
                    workspace, no ends the turn; anything else says what to do instead. /diff shows the changes so far, /plan the \
                    plan, /help all commands, /exit leaves";

/// Asks for the first message. Returns `None` if the person leaves.
pub(crate) async fn first_message(messages: &mut Messages, output: &Output) -> Result<Option<String>, Failure> {
    output.talk("What should be done? (/help lists commands, Ctrl-D leaves)\n");
    loop {
        match messages.read(PROMPT).await {
            Typed::Line(line) if line == "/help" => {
                slash::NAMES.iter().for_each(|(name, what)| output.talk(&format!("  {name:<8} {what}\n")));
            }
            Typed::Line(line) if line == "/exit" || line == "/quit" || line == "/close" => return Ok(None),
            Typed::Line(line) if line.starts_with('/') => output.talk("the conversation has not begun yet\n"),
            Typed::Line(line) if !line.is_empty() => return Ok(Some(line)),
            Typed::Line(_) => {}
            Typed::Interrupt | Typed::Closed => return Ok(None),
        }
    }
}

/// Talks until the run ends or is left.
pub(crate) async fn converse(
    mut talk: Conversation,
    store: &Store,
    messages: Messages,
    output: &Output,
) -> Result<Exit, Failure> {
    let mut desk = Desk { painter: Painter::new(output), messages, output, store };
    let mut controls = controls()?;
    loop {
        let stand = talk.advance(&mut controls, &mut |happening| desk.painter.show(happening)).await?;
        desk.painter.end_line();
        // Orders that came too late for their turn do not hit the next one.
        while controls.try_recv().is_ok() {}
        let is_answered = match &stand {
            Stand::Message => desk.message(&talk).await?,
            Stand::Questions(questions) => desk.answer(&talk, questions).await?,
            Stand::Plan { plan, permissions } => desk.confirm_plan(&talk, plan, permissions).await?,
            Stand::Call { call, permissions } => desk.confirm_call(&talk, call, permissions).await?,
            Stand::Commit { commit, permissions } => desk.confirm_commit(&talk, commit, permissions).await?,
            Stand::Grant(offer) => desk.grant(&talk, offer).await?,
            Stand::Other => {
                output.talk(&waiting::text(&talk.follower));
                false
            }
            Stand::Over(phase) => return Ok((*phase).into()),
            Stand::Left => false,
        };
        if !is_answered {
            let run = &talk.head().name;
            output.talk(&format!("Continue this conversation with `interlock coder --resume {run}`\n"));
            return Ok(if stand == Stand::Message { Exit::Good } else { Exit::Waiting });
        }
    }
}

/// Turns Ctrl-C into orders: the first cancels the turn, the second leaves.
fn controls() -> Result<mpsc::Receiver<Control>, Failure> {
    let failed = |error: std::io::Error| Failure::failed(format!("cannot listen for signals: {error}"));
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt()).map_err(failed)?, signal(SignalKind::terminate()).map_err(failed)?);
    let (sender, receiver) = mpsc::channel(8);
    tokio::spawn(async move {
        let mut last: Option<tokio::time::Instant> = None;
        loop {
            let control = tokio::select! {
                _ = interrupt.recv() => match last.replace(tokio::time::Instant::now()) {
                    Some(before) if before.elapsed() < AGAIN => Control::Leave,
                    _ => Control::Cancel,
                },
                _ = terminate.recv() => Control::Leave,
            };
            if sender.send(control).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

/// The time within which a second Ctrl-C leaves the run.
const AGAIN: std::time::Duration = std::time::Duration::from_secs(10);

/// The person's side of the conversation. Its functions return false if the person leaves.
struct Desk<'o> {
    painter: Painter<'o>,
    messages: Messages,
    output: &'o Output,
    store: &'o Store,
}

impl Desk<'_> {
    async fn message(&mut self, talk: &Conversation) -> Result<bool, Failure> {
        let mut is_warned = false;
        loop {
            match self.messages.read(PROMPT).await {
                Typed::Line(line) if line.is_empty() => {}
                Typed::Line(line) if line.starts_with('/') => {
                    match slash::obey(&line, talk, self.store, &mut self.painter).await {
                        Ok(Next::Message) => {}
                        Ok(Next::Advance) => return Ok(true),
                        Ok(Next::Leave) => return Ok(false),
                        Err(failure) => drop(failure.tell(self.output)),
                    }
                }
                Typed::Line(line) => match talk.send("USER_MESSAGE", json!({ "text": line })).await {
                    Ok(()) => return Ok(true),
                    Err(failure) => drop(failure.tell(self.output)),
                },
                Typed::Interrupt if !is_warned => {
                    is_warned = true;
                    self.painter.say("press Ctrl-C again, or type /exit, to leave");
                }
                Typed::Interrupt | Typed::Closed => return Ok(false),
            }
        }
    }

    /// Keeps what was typed before a question from answering it.
    fn begin_question(&mut self) {
        if self.messages.set_aside() {
            self.painter.say("(what you typed before this question is kept for your next message)");
        }
    }

    /// Obeys a command that is given at a question. Returns false if the line is an answer.
    fn obeys(&mut self, line: &str, talk: &Conversation) -> bool {
        match line {
            "?" => self.painter.say(HELP),
            line if line.starts_with('/') => match slash::look(line, talk, self.store, &mut self.painter) {
                Ok(true) => {}
                Ok(false) => {
                    self.painter.say(&format!("{} cannot be used at a question; ? shows what can", escape::line(line)))
                }
                Err(failure) => drop(failure.tell(self.output)),
            },
            _ => return false,
        }
        true
    }

    async fn answer(&mut self, talk: &Conversation, questions: &[String]) -> Result<bool, Failure> {
        questions.iter().for_each(|question| self.painter.say(&format!("? {}", escape::line(question))));
        self.begin_question();
        loop {
            match self.messages.answer("answer › ").await {
                Typed::Line(line) if line.is_empty() => {}
                Typed::Line(line) if line == "/exit" => return Ok(false),
                Typed::Line(line) if self.obeys(&line, talk) => {}
                Typed::Line(line) => {
                    talk.send("CLARIFICATION_ANSWER", json!({ "text": line })).await?;
                    return Ok(true);
                }
                Typed::Interrupt => return self.cancel(talk).await,
                Typed::Closed => return Ok(false),
            }
        }
    }

    async fn confirm_plan(&mut self, talk: &Conversation, plan: &Json, asked: &[String]) -> Result<bool, Failure> {
        self.painter.say("This plan needs your yes:");
        let text = |value: &Json, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        for step in plan["steps"].as_array().into_iter().flatten() {
            self.painter.say(&format!("  ○ {}", escape::line(&text(step, "title"))));
            for artifact in step["expected_artifacts"].as_array().into_iter().flatten() {
                let (kind, value) = (text(artifact, "type"), text(artifact, "value"));
                self.painter.say(&format!("      {kind} {}", escape::line(&value)));
            }
            for call in step["tool_calls"].as_array().into_iter().flatten() {
                let args = call.get("args_hint").cloned().unwrap_or(Json::Null);
                let call = Call { id: String::new(), name: text(call, "name"), args };
                self.painter.say(&format!("      {}", escape::line(&line_of(&call))));
            }
        }
        for command in plan["verification"]["commands"].as_array().into_iter().flatten().filter_map(Json::as_str) {
            self.painter.say(&format!("  then verify with: {}", escape::line(command)));
        }
        self.confirm(talk, asked).await
    }

    async fn confirm_call(&mut self, talk: &Conversation, call: &Json, asked: &[String]) -> Result<bool, Failure> {
        let name = call["name"].as_str().unwrap_or_default().to_owned();
        let call = Call { id: String::new(), name, args: call["args"].clone() };
        self.painter.say(&format!("This call needs your yes: {}", escape::line(&line_of(&call))));
        if let Some(command) = call.args["command"].as_str() {
            command.lines().for_each(|line| self.painter.say(&format!("    {}", escape::line(line))));
        }
        if let Some(diff) = preview(&talk.follower.live.folder, &call.name, &call.args) {
            self.painter.diff(&diff, DIFF_LINES_MAX);
        }
        self.confirm(talk, asked).await
    }

    async fn confirm_commit(
        &mut self,
        talk: &Conversation,
        commit: &PlannedCommit,
        asked: &[String],
    ) -> Result<bool, Failure> {
        let diff = talk.diff(&commit.from, &commit.to)?;
        self.painter.say("This commit needs your yes:");
        self.painter.say(&format!("  branch   {}", escape::line(&commit.branch)));
        commit.message.lines().for_each(|line| self.painter.say(&format!("  message  {}", escape::line(line))));
        let facts = happening::context(&talk.follower.live, "facts");
        for file in facts["files"].as_array().into_iter().flatten() {
            let (path, how) = (file["path"].as_str().unwrap_or("?"), file["how"].as_str().unwrap_or_default());
            let lines = match (file["added"].as_u64(), file["removed"].as_u64()) {
                (Some(added), Some(removed)) => format!("+{added} -{removed}"),
                _ => "binary".to_owned(),
            };
            self.painter.say(&format!("  file     {how} {}  {lines}", escape::line(path)));
        }
        self.painter.diff(&diff, DIFF_LINES_MAX);
        self.painter.say("  hooks    those of the repository run before and after; their results are shown");
        self.confirm(talk, asked).await
    }

    async fn confirm(&mut self, talk: &Conversation, asked: &[String]) -> Result<bool, Failure> {
        asked.iter().for_each(|permission| self.painter.say(&format!("  it needs {}", escape::line(permission))));
        self.begin_question();
        loop {
            let data = match self.messages.ask(CHOICES).await {
                Typed::Line(line) if line == "/exit" => return Ok(false),
                Typed::Line(line) if self.obeys(&line, talk) => continue,
                Typed::Line(line) => match choice(&line) {
                    Some(data) => data,
                    None => continue,
                },
                Typed::Interrupt => return self.cancel(talk).await,
                Typed::Closed => return Ok(false),
            };
            talk.send("CONFIRM", data).await?;
            return Ok(true);
        }
    }

    async fn grant(&mut self, talk: &Conversation, offer: &interlock_runtime::GrantOffer) -> Result<bool, Failure> {
        self.painter.say("Policy asks for a permission:");
        offer.scopes.iter().for_each(|scope| self.painter.say(&format!("  {}", escape::line(scope))));
        self.begin_question();
        loop {
            match self.messages.ask("grant it once? yes, no › ").await {
                Typed::Line(line) if matches!(line.as_str(), "y" | "yes") => {
                    talk.grant(offer).await?;
                    return Ok(true);
                }
                Typed::Line(line) if matches!(line.as_str(), "n" | "no") => {
                    talk.send("GRANT_REFUSED", json!({})).await?;
                    return Ok(true);
                }
                Typed::Line(line) if line == "/exit" => return Ok(false),
                Typed::Line(line) => drop(self.obeys(&line, talk)),
                Typed::Interrupt => return self.cancel(talk).await,
                Typed::Closed => return Ok(false),
            }
        }
    }

    async fn cancel(&mut self, talk: &Conversation) -> Result<bool, Failure> {
        talk.send("CANCEL", json!({})).await?;
        Ok(true)
    }
}

/// Returns the data of CONFIRM for an answer; `None` for an empty one.
fn choice(line: &str) -> Option<Json> {
    let yes = |scope: &str| json!({ "answer": "yes", "scope": scope });
    Some(match line.to_lowercase().as_str() {
        "" => return None,
        "y" | "yes" => yes("single_action"),
        "s" | "session" => yes("session"),
        "w" | "workspace" => yes("workspace"),
        "n" | "no" => json!({ "answer": "no" }),
        _ => json!({ "answer": "no", "feedback": line }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_is_typed_and_other_words_are_feedback() {
        assert_eq!(choice(""), None);
        assert_eq!(choice("Y"), Some(json!({ "answer": "yes", "scope": "single_action" })));
        assert_eq!(choice("w"), Some(json!({ "answer": "yes", "scope": "workspace" })));
        assert_eq!(choice("no"), Some(json!({ "answer": "no" })));
        assert_eq!(choice("keep the API"), Some(json!({ "answer": "no", "feedback": "keep the API" })));
    }
}
