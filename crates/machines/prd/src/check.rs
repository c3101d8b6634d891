//! `prd.check`: reads a PRD, and refuses it if a task has no id, no priority or no way to verify it.
//!
//! It also decides the commands that verify the project, so that a person confirms both together.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, RunView, Signal, Site, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_project::Detected;

use crate::{Document, ViewFile, begin, hash, parse, read_document, value};

/// The most characters of a document that a person is shown before they confirm it.
const TEXT_CHARS_MAX: usize = 64 * 1024;

/// Checks a PRD. As the first activity of the machine it also provides the file that shows a run.
#[derive(Clone, Debug)]
pub struct PrdCheck(ViewFile);

impl PrdCheck {
    /// Creates the activity. `home` is the store's directory.
    pub fn new(home: Option<PathBuf>) -> Self {
        PrdCheck(ViewFile::new(home))
    }
}

fn check(attempt: &Attempt) -> Result<Outcome, Outcome> {
    let given = Arguments::new(&attempt.with, &["path", "verify"])?;
    let path = given.need_text("path")?;
    let configured = given.texts("verify")?.unwrap_or_default();
    let text = match read_document(attempt, path) {
        Ok(text) => text,
        Err(why) => return Ok(refused(&[why])),
    };
    let document = parse(&text);
    let mut problems: Vec<String> = document.problems.iter().map(|problem| format!("{path} {problem}")).collect();
    let detected = interlock_project::commands(&attempt.folder, &configured);
    problems.extend(unverifiable(&document, &detected));
    if !problems.is_empty() {
        return Ok(refused(&problems));
    }
    let kept = attempt.evidence.put("prd", "text/markdown", text.as_bytes());
    let kept = kept.map_err(|error| Outcome::not_stored(format!("the PRD could not be kept: {error}")))?;
    Ok(accepted(&text, &document, &detected).with([kept]))
}

/// Returns the tasks that no command verifies: the project has none, and the task names none.
fn unverifiable(document: &Document, detected: &Detected) -> Vec<String> {
    if !detected.commands.is_empty() {
        return Vec::new();
    }
    let without = document.tasks.iter().filter(|task| task.commands.is_empty() && !task.verify.is_empty());
    let mut problems: Vec<String> = without
        .map(|task| {
            let id = &task.id;
            format!(
                "{id}: no command verifies it; write one in backquotes (`Verify: `…``), or set `verify` in the input"
            )
        })
        .collect();
    if !problems.is_empty() {
        problems.extend(detected.problems.iter().cloned());
    }
    problems
}

fn refused(problems: &[String]) -> Outcome {
    let data = [("summary", Value::from(problems.join("; "))), ("problems", value(&problems))];
    Outcome::signal("prd_refused", Value::map(data))
}

fn accepted(text: &str, document: &Document, detected: &Detected) -> Outcome {
    let lines: Vec<String> =
        detected.commands.iter().map(|command| format!("{} ({})", command.command, command.found_by)).collect();
    let shown: String = text.chars().take(TEXT_CHARS_MAX).collect();
    let data = [
        ("hash", Value::from(hash(text))),
        ("title", Value::from(document.title.as_str())),
        ("text", Value::from(shown)),
        ("tasks", value(&document.tasks)),
        ("count", Value::from(document.tasks.len() as i64)),
        ("commands", value(&detected.commands)),
        ("verified_by", Value::from(lines.join("\n"))),
    ];
    Outcome::signal("PRD_GENERATED", Value::map(data))
}

impl Activity for PrdCheck {
    fn name(&self) -> &str {
        "prd.check"
    }

    fn summary(&self) -> &str {
        "Reads the tasks of a PRD, and refuses one with a task that cannot be verified."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("PRD_GENERATED"), Signal::open("prd_refused")] }
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([("path", schema::text()), ("verify", schema::list(schema::plain()))]);
        schema::needing(fields, &["path"])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn objections(&self, _input: &Value, folder: &Path) -> Vec<String> {
        let is_repository = folder.ancestors().any(|above| above.join(".git").exists());
        match is_repository {
            true => Vec::new(),
            false => vec![format!(
                "{} is in no git repository, and every task becomes a commit; run `git init`",
                folder.display()
            )],
        }
    }

    fn view(&self) -> Option<Arc<dyn RunView>> {
        Some(Arc::new(self.0.clone()))
    }

    fn start(&self, attempt: Attempt) -> Ending {
        begin(attempt, check)
    }
}
