//! `interlock context`: shows the queue of a `prd` run, and changes the status of a task.

use interlock_chart::Value;
use interlock_prd::{HandEdit, MACHINE, View, ViewFile};
use interlock_runtime::{fresh_id, run_state};
use serde_json::json;

use super::{Outcome, send};
use crate::{
    Exit,
    args::{Context, ContextAction},
    failure::Failure,
    follow::Follower,
    output::Output,
    store::Store,
};

/// Prints the context of a run, or sends `update_progress`.
pub(crate) fn run(args: &Context, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    if head.machine != MACHINE {
        let failure = Failure::bad_input(format!(
            "{} is a run of `{}`; only runs of `prd` have a queue",
            head.name, head.machine
        ));
        return Err(failure.hint(format!("`interlock show {}` shows it", head.name)));
    }
    if let Some(ContextAction::UpdateProgress { task, status, summary }) = &args.action {
        let data =
            json!({ "task": task, "status": status.to_uppercase(), "summary": summary.as_deref().unwrap_or_default() });
        let event = "update_progress".to_owned();
        let sending = send::Sending { event, data: Value::from(data), id: fresh_id(), is_left: false, granted: None };
        return send::deliver(&store, head, sending, output);
    }
    let follower = Follower::from_now(&store, head)?;
    let state = run_state(&follower.live, follower.phase().is_over());
    let (view, edits) = (View::of(&state), ViewFile::new(Some(store.home.clone())).edits(&state));
    if output.is_json() {
        let mut json = json!(view);
        json["hand_edits"] = json!(edits);
        output.json(&json)?;
    } else {
        output.data(&text(&view, &edits))?;
    }
    Ok(Exit::Good)
}

fn text(view: &View, edits: &[HandEdit]) -> String {
    let View { done, blocked, pending, percent, .. } = view;
    let mut text = format!(
        "{}: {}\n  goal        {}\n  tasks       {done} done, {pending} pending, {blocked} blocked ({percent} %)\n  fixes       {} of 3\n  \
         checkpoint  {}\n",
        view.session_id,
        view.task_status,
        if view.goal.is_empty() { "none" } else { &view.goal },
        view.auto_fix_attempts,
        view.last_checkpoint.as_deref().unwrap_or("none"),
    );
    if !view.last_error.is_empty() {
        text.push_str(&format!("  last error  {}\n", view.last_error));
    }
    section(
        &mut text,
        "queue",
        view.tasks.iter().map(|task| task.line().trim_start_matches("- ").trim_end().to_owned()),
    );
    section(&mut text, "notes", view.scratchpad.iter().cloned().chain(edits.iter().map(HandEdit::words)));
    section(&mut text, "history", view.history.iter().cloned());
    text
}

fn section(text: &mut String, name: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.map(|line| format!("  {line}\n")).collect();
    if !lines.is_empty() {
        text.push_str(&format!("\n{name}\n{}", lines.concat()));
    }
}
