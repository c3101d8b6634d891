//! Renders a run as `active_context.md`: front matter, goal, queue, scratchpad and history. Pure.

use std::fmt::Write as _;

use interlock_activity::RunState;
use interlock_journal::moment;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

use crate::{
    Mark, Status, Task,
    tasks::{counts, mark_of},
};

/// The path of the file, relative to the directory that a run works in.
pub const ACTIVE_CONTEXT: &str = ".agent/memory/active_context.md";

/// The machine whose runs have such a file.
pub const MACHINE: &str = "prd";

/// The states that the file names. While a permission is missing a person is needed, so the run counts as blocked.
const STATES: [&str; 7] = ["IDLE", "PLANNING", "CONFIRMING", "EXECUTING", "AUTO_FIX", "BLOCKED", "ARCHIVING"];

/// The most lines of the scratchpad and of the history.
const SCRATCHPAD_MAX: usize = 20;
const HISTORY_MAX: usize = 5;

/// The data of a run that the file and `interlock context` show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    /// The name of the run.
    pub session_id: String,
    /// The top state.
    pub task_status: String,
    /// The automatic fixes of the current task.
    pub auto_fix_attempts: u32,
    /// The name of the last checkpoint, or `None` before the first one.
    pub last_checkpoint: Option<String>,
    /// True if work that a roll-back set aside was brought back. Interlock never does that by itself.
    pub stash_applied: bool,
    /// The time when the session ended, or `None` while it lasts.
    pub last_session_end: Option<String>,
    /// The requirement that is being worked on, or empty.
    pub goal: String,
    /// The path of the PRD, or empty.
    pub prd: String,
    /// The queue.
    pub tasks: Vec<Shown>,
    /// The numbers of tasks that are done, blocked and pending.
    pub done: usize,
    /// The number of blocked tasks.
    pub blocked: usize,
    /// The number of pending tasks.
    pub pending: usize,
    /// The share of tasks that are done, in percent.
    pub percent: usize,
    /// The last error, or empty.
    pub last_error: String,
    /// Notes about the current task, oldest first.
    pub scratchpad: Vec<String>,
    /// The last five finished requirements, newest first.
    pub history: Vec<String>,
}

/// A task of the queue with its status.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// The task as it was confirmed.
    #[serde(flatten)]
    pub task: Task,
    /// The current status.
    pub status: Status,
    /// The reason of the status, or empty.
    pub summary: String,
    /// The commit, or empty.
    pub commit: String,
}

impl View {
    /// Reads the view of a run.
    pub fn of(run: &RunState) -> Self {
        let text = |name: &str| run.context.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let (tasks, marks): (Vec<Task>, Vec<Mark>) = (read(run, "tasks"), read(run, "marks"));
        let (done, blocked, pending) = counts(&tasks, &marks);
        let shown = tasks.iter().map(|task| {
            let Mark { status, summary, commit, .. } = mark_of(task, &marks);
            Shown { task: task.clone(), status, summary, commit }
        });
        let checkpoint = text("last_checkpoint");
        View {
            session_id: run.run.to_string(),
            task_status: status(run),
            auto_fix_attempts: run.counters.get("auto_fix_attempts").copied().unwrap_or(0),
            last_checkpoint: (!checkpoint.is_empty()).then_some(checkpoint),
            stash_applied: false,
            last_session_end: run.is_over.then(|| moment::rfc3339(run.at_ms)),
            goal: text("requirement"),
            prd: text("prd"),
            tasks: shown.collect(),
            done,
            blocked,
            pending,
            percent: if tasks.is_empty() { 0 } else { done * 100 / tasks.len() },
            last_error: text("last_error"),
            scratchpad: last(read(run, "scratchpad"), SCRATCHPAD_MAX),
            history: first(read(run, "history"), HISTORY_MAX),
        }
    }

    /// Renders the file. `edits` are the reports of hand edits that were overruled.
    pub fn markdown(&self, edits: &[String]) -> String {
        let known = |value: &Option<String>| value.as_ref().map_or("null".to_owned(), |value| format!("\"{value}\""));
        let mut text = format!(
            "---\nsession_id: \"{}\"\ntask_status: {}\nauto_fix_attempts: {}\nlast_checkpoint: {}\nstash_applied: {}\n\
             last_session_end: {}\n---\n\n",
            self.session_id,
            self.task_status,
            self.auto_fix_attempts,
            known(&self.last_checkpoint),
            self.stash_applied,
            known(&self.last_session_end)
        );
        text.push_str(
            "<!-- A view of the journal, written by Interlock after every record. Edits are overruled. -->\n\n",
        );
        text.push_str("## 1. Current Goal\n\n");
        if !self.goal.is_empty() {
            let _ = writeln!(text, "{}\n", line(&self.goal));
        }
        if !self.prd.is_empty() {
            let _ = writeln!(text, "PRD: {}\n", self.prd);
        }
        text.push_str("## 2. Task Queue\n\n");
        self.tasks.iter().for_each(|task| text.push_str(&task.line()));
        text.push_str(if self.tasks.is_empty() { "" } else { "\n" });
        text.push_str("## 3. Scratchpad\n\n");
        let error = (!self.last_error.is_empty()).then(|| format!("Last error: {}", self.last_error));
        list(&mut text, self.scratchpad.iter().chain(error.iter()).chain(edits));
        text.push_str("## 4. History\n\n");
        list(&mut text, self.history.iter());
        format!("{}\n", text.trim_end())
    }
}

impl Shown {
    /// Renders `- [STATUS] ID: [P0] title (files)`.
    pub fn line(&self) -> String {
        let Task { id, priority, title, files, .. } = &self.task;
        let files = if files.is_empty() { String::new() } else { format!(" ({})", files.join(", ")) };
        let commit = self.commit.get(..12).map(|short| format!(", commit {short}")).unwrap_or_default();
        let summary = if self.summary.is_empty() { String::new() } else { format!(", {}", line(&self.summary)) };
        format!("- [{}] {id}: [{priority}] {title}{files}{commit}{summary}\n", self.status)
    }
}

fn status(run: &RunState) -> String {
    let top = run.states.first().map_or("", String::as_str);
    match top {
        _ if run.is_over => "IDLE".to_owned(),
        "AWAITING_GRANT" => "BLOCKED".to_owned(),
        top if STATES.contains(&top) => top.to_owned(),
        _ => "IDLE".to_owned(),
    }
}

fn read<T: DeserializeOwned>(run: &RunState, name: &str) -> Vec<T> {
    run.context.get(name).and_then(|data| serde_json::from_value(data.clone()).ok()).unwrap_or_default()
}

fn last(mut lines: Vec<String>, max: usize) -> Vec<String> {
    lines.split_off(lines.len().saturating_sub(max))
}

fn first(mut lines: Vec<String>, max: usize) -> Vec<String> {
    lines.truncate(max);
    lines
}

fn list<'l>(text: &mut String, lines: impl Iterator<Item = &'l String>) {
    let before = text.len();
    lines.for_each(|each| {
        let _ = writeln!(text, "- {}", line(each));
    });
    if text.len() > before {
        text.push('\n');
    }
}

/// Joins a text into one line, so that no value can begin a section of its own.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    pub(crate) fn state() -> RunState {
        let context = json!({
            "requirement": "make it\ndark", "prd": "docs/prd/dark.md", "last_checkpoint": "chk-202611170930",
            "last_error": "the test a failed", "scratchpad": ["fix 1 of T-002: no"], "history": ["2026-11-01 light: 1 done"],
            "tasks": [
                { "id": "T-001", "priority": "P0", "title": "A switch", "files": ["a.css"] },
                { "id": "T-002", "priority": "P1", "title": "Remember it", "files": [] },
            ],
            "marks": [{ "task": "T-001", "status": "DONE", "summary": "", "commit": "0123456789abcdef" }],
        });
        RunState {
            run: "p1".into(),
            machine: MACHINE.into(),
            states: vec!["AUTO_FIX".into(), "APPLY_FIX".into()],
            context: context.as_object().cloned().unwrap_or_default(),
            counters: [("auto_fix_attempts".to_owned(), 1)].into(),
            ..RunState::default()
        }
    }

    #[test]
    fn a_run_is_rendered_in_the_layout_of_the_file() {
        let expected = "---\nsession_id: \"p1\"\ntask_status: AUTO_FIX\nauto_fix_attempts: 1\nlast_checkpoint: \"chk-202611170930\"\n\
            stash_applied: false\nlast_session_end: null\n---\n\n\
            <!-- A view of the journal, written by Interlock after every record. Edits are overruled. -->\n\n\
            ## 1. Current Goal\n\nmake it dark\n\nPRD: docs/prd/dark.md\n\n## 2. Task Queue\n\n\
            - [DONE] T-001: [P0] A switch (a.css), commit 0123456789ab\n- [PENDING] T-002: [P1] Remember it\n\n\
            ## 3. Scratchpad\n\n- fix 1 of T-002: no\n- Last error: the test a failed\n- edited\n\n\
            ## 4. History\n\n- 2026-11-01 light: 1 done\n";
        assert_eq!(View::of(&state()).markdown(&["edited".to_owned()]), expected);
    }

    #[test]
    fn a_session_that_is_over_is_idle_and_has_an_end() {
        let over = RunState { is_over: true, states: vec!["CLOSED".into()], ..state() };
        let view = View::of(&over);
        assert_eq!((view.task_status.as_str(), view.percent), ("IDLE", 50));
        assert_eq!(view.last_session_end.as_deref(), Some("1970-01-01T00:00:00.000Z"));
    }
}
