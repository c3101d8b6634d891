//! One turn without a terminal: lines of text, or lines of JSON for programs.

use interlock_coder::Failure;
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

use super::{
    Conversation,
    conversation::{Control, Stand},
    happening::Happening,
    paint::Painter,
};
use crate::{Exit, failure::Failure as Stop, output::Output, waiting};

/// Plays one turn. The exit code says how it ended.
pub(crate) async fn play(mut talk: Conversation, output: &Output) -> Result<Exit, Stop> {
    let mut controls = controls()?;
    let mut painter = Painter::new(output);
    let (mut ending, mut failure) = (String::new(), None);
    let mut broken = None;
    let stand = talk
        .advance(&mut controls, &mut |happening| {
            if let Happening::TurnEnded { ending: how, failure: why, .. } = &happening {
                (ending, failure) = (how.clone(), why.clone());
            }
            match output.is_json() {
                true => {
                    let line = happening.to_json();
                    broken = line.and_then(|line| output.json_line(&line).err()).or(broken.take());
                }
                // Without a terminal, text that arrives in pieces is shown when it is complete.
                false if matches!(happening, Happening::Streaming(_) | Happening::Note(_)) => {}
                false => painter.show(happening),
            }
        })
        .await?;
    if let Some(error) = broken {
        return Err(error.into());
    }
    let exit = match &stand {
        Stand::Over(phase) => (*phase).into(),
        // A run that keeps the conversation open waits after its turn.
        Stand::Message => by_ending(&ending),
        _ => Exit::Waiting,
    };
    match output.is_json() {
        true => output.json_line(&end(&talk, &stand, &ending, failure.as_ref(), exit))?,
        false => {
            if exit == Exit::Waiting {
                output.talk(&waiting::text(&talk.follower));
            }
            output.data(&format!("{}  {}\n", talk.head().name, if ending.is_empty() { "waiting" } else { &ending }))?;
        }
    }
    Ok(exit)
}

fn by_ending(ending: &str) -> Exit {
    match ending {
        "completed" | "planned" => Exit::Good,
        "unverified" => Exit::Incomplete,
        "cancelled" => Exit::Aborted,
        "" => Exit::Waiting,
        _ => Exit::Failed,
    }
}

/// The last line: where the run stands.
fn end(talk: &Conversation, stand: &Stand, ending: &str, failure: Option<&Failure>, exit: Exit) -> Json {
    let waits_for = (exit == Exit::Waiting).then(|| waiting::json(&talk.follower));
    let asked = match stand {
        Stand::Questions(questions) => json!({ "questions": questions }),
        Stand::Plan { plan, permissions } => json!({ "plan": plan, "permissions": permissions }),
        Stand::Call { call, permissions } => json!({ "call": call, "permissions": permissions }),
        Stand::Commit { commit, permissions } => {
            json!({ "branch": commit.branch, "message": commit.message, "permissions": permissions })
        }
        Stand::Grant(offer) => json!({ "scopes": offer.scopes }),
        Stand::Message | Stand::Other | Stand::Over(_) | Stand::Left => Json::Null,
    };
    json!({
        "type": "end",
        "run": talk.head().name,
        "ending": if ending.is_empty() { "waiting" } else { ending },
        "place": talk.follower.live.place(),
        "exit_code": exit.code(),
        "failure": failure,
        "asks": asked,
        "waits_for": waits_for,
    })
}

/// Turns signals into orders: Ctrl-C leaves, because nobody is there to go on.
fn controls() -> Result<mpsc::Receiver<Control>, Stop> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |error: std::io::Error| Stop::failed(format!("cannot listen for signals: {error}"));
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt()).map_err(failed)?, signal(SignalKind::terminate()).map_err(failed)?);
    let (sender, receiver) = mpsc::channel(8);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if sender.send(Control::Leave).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}
