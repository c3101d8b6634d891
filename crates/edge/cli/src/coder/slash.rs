//! The commands that a person types in a conversation, such as `/undo`.

use interlock_activity::Writes;
use interlock_judge::settings;
use interlock_runtime::TakeBackOrder;
use serde_json::json;

use super::{Conversation, happening::context, paint::Painter};
use crate::{
    failure::Failure,
    follow::Follower,
    machine,
    store::{Store, home, user},
};

/// The commands and their meaning.
pub(super) const NAMES: [(&str, &str); 9] = [
    ("/undo", "undo the file changes of the last turn"),
    ("/diff", "show the file changes of the last turn"),
    ("/plan", "show the plan with its steps"),
    ("/cost", "show tokens and cost of this conversation"),
    ("/model", "list the models, or choose one: /model NAME"),
    ("/commit", "commit the verified turn on a branch of its own: /commit [MESSAGE]"),
    ("/help", "show these commands"),
    ("/exit", "leave; the conversation can be continued later"),
    ("/close", "end the conversation"),
];

/// The consequence of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask for the next message.
    Message,
    /// Move the run: it has received an event.
    Advance,
    /// Leave the conversation.
    Leave,
}

/// Carries out a command that changes nothing, so that it can be given at a question. Returns false if it is another one.
pub(super) fn look(line: &str, talk: &Conversation, store: &Store, painter: &mut Painter<'_>) -> Result<bool, Failure> {
    match line.split_whitespace().next().unwrap_or_default() {
        "/diff" => diff(talk, painter)?,
        "/plan" => plan(painter),
        "/cost" => cost(talk, store, painter)?,
        "/help" => NAMES.iter().for_each(|(name, what)| painter.say(&format!("  {name:<8} {what}"))),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Carries out a command.
pub(super) async fn obey(
    line: &str,
    talk: &Conversation,
    store: &Store,
    painter: &mut Painter<'_>,
) -> Result<Next, Failure> {
    if look(line, talk, store, painter)? {
        return Ok(Next::Message);
    }
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match name {
        "/undo" => undo(talk, painter).await?,
        "/model" => model(rest.trim(), painter),
        "/exit" | "/quit" => return Ok(Next::Leave),
        "/commit" => {
            let data = if rest.trim().is_empty() { json!({}) } else { json!({ "message": rest.trim() }) };
            return Ok(sent(
                talk.send("COMMIT", data).await,
                "a turn is committed after its changes are verified",
                painter,
            ));
        }
        "/close" => return Ok(sent(talk.send("CLOSE", json!({})).await, "", painter)),
        other => {
            let names = NAMES.iter().map(|(name, _)| *name);
            let hint = interlock_suggest::did_you_mean(other, names);
            let hint = hint.unwrap_or_else(|| "/help lists the commands".to_owned());
            painter.say(&format!("there is no command {other}; {hint}"));
        }
    }
    Ok(Next::Message)
}

fn sent(result: Result<(), Failure>, why: &str, painter: &mut Painter<'_>) -> Next {
    match result {
        Ok(()) => Next::Advance,
        Err(failure) => {
            painter.say(&failure.words());
            if !why.is_empty() {
                painter.say(&format!("Hint: {why}"));
            }
            Next::Message
        }
    }
}

async fn undo(talk: &Conversation, painter: &mut Painter<'_>) -> Result<(), Failure> {
    let order = TakeBackOrder { writes: Writes::Turn, paths: Vec::new(), is_dry: false, skip_conflicts: false };
    let undid = talk.runtime.undo(talk.head(), order, user()).await?;
    talk.let_go().await?;
    for conflict in &undid.conflicts {
        painter.say(&format!("E_CONFLICT {}: {}", conflict.path.display(), conflict.why));
    }
    if undid.has_conflicts() {
        painter.say("nothing was undone, because files or branches were changed since");
    } else if undid.is_empty() {
        painter.say("there is nothing to undo");
    } else {
        undid.files.iter().for_each(|file| painter.say(&format!("  restored {}", file.path.display())));
        undid.commits.iter().for_each(|commit| painter.say(&format!("  {}", branch_back(&commit.moved))));
    }
    Ok(())
}

/// Describes a branch that an undo has moved back.
fn branch_back(moved: &interlock_runtime::Moved) -> String {
    let name = moved.reference.strip_prefix("refs/heads/").unwrap_or(&moved.reference);
    match &moved.before {
        Some(before) => format!("moved branch {name} back to {before}"),
        None => format!("removed branch {name}; its commit is {}", moved.after),
    }
}

/// Shows the change of the turn; before it is verified, all changes since the tree that the turn began with.
fn diff(talk: &Conversation, painter: &mut Painter<'_>) -> Result<(), Failure> {
    let text = |name: &str| context(&talk.follower.live, name).as_str().unwrap_or_default().to_owned();
    let (base, change) = (text("base"), text("change"));
    let diff = match (base.is_empty(), change.is_empty()) {
        (true, _) => String::new(),
        (false, false) => talk.diff(&base, &change)?,
        (false, true) => {
            let workspace = interlock_workspace::Workspace::new(home()?);
            talk.diff(&base, &workspace.kept_tree(&talk.follower.live.folder).map_err(Failure::failed)?)?
        }
    };
    match diff.is_empty() {
        true => painter.say("the turn has changed no files"),
        false => painter.diff(&diff, usize::MAX),
    }
    Ok(())
}

fn plan(painter: &mut Painter<'_>) {
    match painter.plan().clone() {
        serde_json::Value::Null => painter.say("there is no plan yet"),
        plan => painter.list_plan(&plan),
    }
}

fn cost(talk: &Conversation, store: &Store, painter: &mut Painter<'_>) -> Result<(), Failure> {
    let mut run = Follower::from_start(store, talk.head().clone())?;
    let (mut judgements, mut tokens, mut cost) = (0, (0, 0), 0.0);
    for note in run.catch_up()?.iter().filter_map(|step| step.moves.first()?.judge.as_ref()) {
        judgements += 1;
        tokens = (tokens.0 + note.tokens.0, tokens.1 + note.tokens.1);
        cost += note.cost;
    }
    painter.say(&format!("{judgements} answers of models, {} tokens in, {} out, cost {cost:.4}", tokens.0, tokens.1));
    Ok(())
}

fn model(name: &str, painter: &mut Painter<'_>) {
    let known = match home()
        .and_then(|home| settings::Settings::load(Some(&home), &machine::here()).map_err(Failure::bad_input))
    {
        Ok(known) => known,
        Err(failure) => return painter.say(&failure.words()),
    };
    let names: Vec<&str> = known.judges.keys().map(String::as_str).collect();
    match name {
        "" if names.is_empty() => painter.say("no model is configured; docs/judges.md shows how to write judges.toml"),
        "" => {
            let used = known.chain("judge.step").join(", ");
            painter.say(&format!("models: {}; used: {used}", names.join(", ")));
        }
        name if names.contains(&name) => {
            settings::choose(Some(name));
            painter.say(&format!("{name} answers from now on"));
        }
        name => {
            let hint = interlock_suggest::did_you_mean_or_list(name, "the models are", names).unwrap_or_default();
            painter.say(&format!("there is no model {name}; {hint}"));
        }
    }
}
