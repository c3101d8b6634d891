//! The queue of tasks: `tasks.next` takes the next one, `tasks.mark` marks one.
//!
//! The queue is data of the run: the tasks as a person confirmed them, and a list of marks that only grows. The status of
//! a task is that of its last mark. Both activities compute and change nothing, so they may be repeated.

use std::fmt;

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, Requests, Signal, Site, code, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_verification::{asked_files, is_same_file};
use interlock_workspace::{Change, Workspace};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{begin, value};

/// A task of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Task {
    /// The id, unique within the document, such as `T-001`.
    pub id: String,
    /// The priority; `P0` comes first.
    pub priority: String,
    /// The title in one line.
    pub title: String,
    /// The files that the document names.
    pub files: Vec<String>,
    /// The ways to verify it, as the document states them.
    pub verify: Vec<String>,
    /// The verifications that are commands.
    pub commands: Vec<String>,
}

impl Task {
    /// Returns what the task asks for by name and a change does not do. `is_known` tells if a file is committed already: the
    /// task may leave such a file as it is, unless its words say that it is to be written.
    pub(crate) fn missing(&self, changes: &[Change], is_known: impl Fn(&str) -> bool) -> Vec<String> {
        let with = |is_there: bool| {
            changes.iter().filter(move |change| change.after.is_some() == is_there).map(|change| change.path.as_path())
        };
        let request = [&[format!("{} ({})", self.title, self.files.join(", "))][..], &self.verify[..]].concat();
        let mut missing = asked_files(&request.join("\n")).missing(with(true), with(false));
        let is_changed =
            |path: &str| changes.iter().any(|change| is_same_file(&change.path, path) || change.path.starts_with(path));
        let is_file =
            |path: &&String| path.rsplit('/').next().is_some_and(|name| name.contains('.')) && !path.contains('*');
        let absent = self.files.iter().filter(is_file).filter(|path| !is_changed(path) && !is_known(path));
        for path in absent {
            if missing.iter().all(|line| !line.contains(&format!("`{path}`"))) {
                missing.push(format!("the task names `{path}`, which was not made"));
            }
        }
        missing
    }

    /// Describes the task to a coding agent.
    fn brief(&self) -> String {
        let files = if self.files.is_empty() { String::new() } else { format!("\nFiles: {}", self.files.join(", ")) };
        let verify: String = self.verify.iter().map(|way| format!("\n- {way}")).collect();
        format!("Task {}: {}{files}\nIt is done if:{verify}", self.id, self.title)
    }
}

/// The status of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// The task is still to be done.
    #[default]
    Pending,
    /// The task is done.
    Done,
    /// The task was skipped.
    Blocked,
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Status::Pending => "PENDING",
            Status::Done => "DONE",
            Status::Blocked => "BLOCKED",
        })
    }
}

/// A change of a task's status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mark {
    /// The id of the task.
    pub task: String,
    /// The new status.
    pub status: Status,
    /// The reason in one line, or empty.
    pub summary: String,
    /// The commit of a task that is done, or empty.
    pub commit: String,
}

/// Returns the last mark of a task; a task without a mark is pending.
pub(crate) fn mark_of(task: &Task, marks: &[Mark]) -> Mark {
    marks.iter().rev().find(|mark| mark.task == task.id).cloned().unwrap_or_default()
}

/// Counts the tasks of each status: done, blocked, pending.
pub(crate) fn counts(tasks: &[Task], marks: &[Mark]) -> (usize, usize, usize) {
    let count = |status| tasks.iter().filter(|task| mark_of(task, marks).status == status).count();
    (count(Status::Done), count(Status::Blocked), count(Status::Pending))
}

/// Returns the next task: of the pending ones the first in the document with the first priority.
pub(crate) fn next<'t>(tasks: &'t [Task], marks: &[Mark]) -> Option<&'t Task> {
    let pending = tasks.iter().filter(|task| mark_of(task, marks).status == Status::Pending);
    pending.min_by(|one, other| one.priority.cmp(&other.priority))
}

/// Reads a list of the input.
pub(crate) fn list<T: DeserializeOwned>(given: &Arguments<'_>, name: &str) -> Result<Vec<T>, BadArgument> {
    let Some(found) = given.value(name) else { return Ok(Vec::new()) };
    serde_json::from_value(found.into()).map_err(|error| BadArgument::field(name, format!("does not fit: {error}")))
}

/// Takes the next task of the queue.
#[derive(Clone, Debug)]
pub struct TasksNext(Workspace);

impl TasksNext {
    /// Creates the activity. `workspace` keeps the tree that the task begins with.
    pub fn new(workspace: Workspace) -> Self {
        TasksNext(workspace)
    }

    fn take(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &["tasks", "marks"])?;
        let (tasks, marks): (Vec<Task>, Vec<Mark>) = (list(&given, "tasks")?, list(&given, "marks")?);
        let Some(task) = next(&tasks, &marks) else {
            let (done, blocked, _) = counts(&tasks, &marks);
            let summary = Value::from(format!("{done} done, {blocked} blocked"));
            let skipped = Value::Int(i64::try_from(blocked).unwrap_or(i64::MAX));
            let data = Value::map([("summary", summary), ("skipped", skipped)]);
            return Ok(Outcome::signal("ALL_TASKS_DONE", data));
        };
        let taken = self.0.take_tree(&attempt.folder, &attempt.run);
        let (_, tree) = taken.map_err(|error| Outcome::error(code::FAILED, error.to_string()))?;
        let data = [
            ("id", Value::from(task.id.as_str())),
            ("title", Value::from(task.title.as_str())),
            ("priority", Value::from(task.priority.as_str())),
            ("files", value(&task.files)),
            ("verify", value(&task.verify)),
            ("commands", value(&task.commands)),
            ("brief", Value::from(task.brief())),
            ("tree", Value::from(tree)),
        ];
        Ok(Outcome::signal("task_taken", Value::map(data)))
    }
}

impl Activity for TasksNext {
    fn name(&self) -> &str {
        "tasks.next"
    }

    fn summary(&self) -> &str {
        "Takes the next pending task of the queue, and keeps the tree that it begins with."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("task_taken"), Signal::open("ALL_TASKS_DONE")] }
    }

    fn schema(&self) -> Schema {
        schema::fields([("tasks", schema::list(schema::any())), ("marks", schema::list(schema::any()))])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.take(attempt))
    }
}

/// Marks a task of the queue.
#[derive(Clone, Copy, Debug)]
pub struct TasksMark;

/// The code of an error: the queue has no such task.
const NO_TASK: &str = "NO_TASK";

fn mark(attempt: &Attempt) -> Result<Outcome, Outcome> {
    let given = Arguments::new(&attempt.with, &["tasks", "marks", "task", "status", "summary", "commit"])?;
    let (tasks, mut marks): (Vec<Task>, Vec<Mark>) = (list(&given, "tasks")?, list(&given, "marks")?);
    let (id, status) = (given.need_text("task")?, given.need_text("status")?);
    if tasks.iter().all(|task| task.id != id) {
        return Err(Outcome::error(NO_TASK, format!("the queue has no task {id}")));
    }
    let status: Status = serde_json::from_value(status.into())
        .map_err(|_| BadArgument::field("status", "is to be PENDING, DONE or BLOCKED"))?;
    let text = |name: &str| given.text(name).map(|text| text.unwrap_or_default().to_owned());
    let mark = Mark { task: id.to_owned(), status, summary: text("summary")?, commit: text("commit")? };
    marks.push(mark.clone());
    let (done, blocked, pending) = counts(&tasks, &marks);
    let summary = format!("{id} is {status}; {done} done, {blocked} blocked, {pending} pending");
    let data = [("mark", value(&mark)), ("summary", Value::from(summary))];
    Ok(Outcome::signal("progress_updated", Value::map(data)))
}

impl Activity for TasksMark {
    fn name(&self) -> &str {
        "tasks.mark"
    }

    fn summary(&self) -> &str {
        "Computes the mark of a task that is done or skipped; the machine adds it to the queue."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("progress_updated")] }
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([
            ("tasks", schema::list(schema::any())),
            ("marks", schema::list(schema::any())),
            ("task", schema::text()),
            ("status", schema::one_of(&["PENDING", "DONE", "BLOCKED"])),
            ("summary", schema::text()),
            ("commit", schema::text()),
        ]);
        schema::needing(fields, &["task", "status"])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        begin(attempt, mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, priority: &str) -> Task {
        Task { id: id.into(), priority: priority.into(), ..Task::default() }
    }

    fn mark(task: &str, status: Status) -> Mark {
        Mark { task: task.into(), status, ..Mark::default() }
    }

    #[test]
    fn priority_comes_before_the_order_of_the_document() {
        let tasks = [task("T-001", "P1"), task("T-002", "P0"), task("T-003", "P0")];
        let mut marks = vec![];
        let mut order = vec![];
        while let Some(next) = next(&tasks, &marks) {
            order.push(next.id.clone());
            marks.push(mark(&next.id, Status::Done));
        }
        assert_eq!(order, ["T-002", "T-003", "T-001"]);
        assert_eq!(counts(&tasks, &marks), (3, 0, 0));
    }

    #[test]
    fn the_last_mark_counts() {
        let tasks = [task("T-001", "P0")];
        let marks = [mark("T-001", Status::Done), mark("T-001", Status::Pending)];
        assert_eq!(next(&tasks, &marks).map(|task| task.id.as_str()), Some("T-001"));
        assert_eq!(next(&tasks, &marks[..1]), None);
    }
}
