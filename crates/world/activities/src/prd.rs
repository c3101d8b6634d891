//! `judge.prd`: lets a judge draft a product requirement document, and writes it as Markdown.
//!
//! The judge supplies only the content. This module decides the form of the file and its path, and policy decides if it
//! may be written there.

use std::{fs, path::Path, sync::Arc};

use interlock_activity::{
    Activity, Attempt, EffectClass, Ending, HandledSignal, Invocation, Outcome, OutcomeKind, Requests, Signal, Site,
    code, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_judge::Judge;
use interlock_policy::{PathOp, Request};
use interlock_workspace::{Error, Workspace, patch::Patch};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::policy::Gate;

/// The signal that the judge is asked for instead of the machine's own: a judge cannot know the path of the written
/// file.
const DRAFTED: &str = "prd_drafted";

/// The signal that the machine receives.
const WRITTEN: Signal =
    Signal::new("prd_written", || schema::fields([("path", schema::text()), ("text", schema::text())]));

/// The code of the error that no judge had a verdict.
const NO_VERDICT: &str = "MODEL_FAILURE";

/// The directory of documents if the machine sets none.
const DIRECTORY: &str = "docs/prd";

/// The longest existing document that is compared with the new one; the patch refuses a longer one.
const DOCUMENT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Lets a judge draft a PRD, and writes it.
#[derive(Clone, Debug)]
pub struct JudgePrd {
    judge: Judge,
    workspace: Workspace,
    gate: Gate,
}

/// The content of a PRD, as in its schema.
#[derive(Deserialize)]
struct Prd {
    slug: String,
    title: String,
    context_and_goals: String,
    technical_approach: String,
    tasks: Vec<Task>,
    risks: Vec<String>,
}

#[derive(Deserialize)]
struct Task {
    id: String,
    priority: String,
    title: String,
    files: Vec<String>,
    verify: Vec<String>,
}

impl JudgePrd {
    /// Creates the activity: `judge` drafts, `workspace` writes, and `gate` decides if it may.
    pub fn new(judge: Judge, workspace: Workspace, gate: &Gate) -> Self {
        JudgePrd { judge, workspace, gate: gate.clone() }
    }

    async fn run(self, attempt: Attempt) -> Outcome {
        let drafted = self.judge.start(asking(&attempt)).await;
        let data = match &drafted.kind {
            OutcomeKind::Signal { data, .. } => data,
            // Without a model a person writes the document.
            OutcomeKind::Error { data } if data.get("code").and_then(Value::as_str) == Some(NO_VERDICT) => {
                let message = drafted.message();
                let why = format!("{message}; write the PRD by hand and report `{}` with its path", WRITTEN.name);
                return Outcome::needs_person(why).with(drafted.evidence);
            }
            _ => return drafted,
        };
        let written = self.write(attempt, Json::from(data)["prd"].take()).await;
        written.unwrap_or_else(|error| error).with(drafted.evidence)
    }

    async fn write(self, attempt: Attempt, prd: Json) -> Result<Outcome, Outcome> {
        let failed = |why: String| Outcome::error(code::FAILED, format!("the PRD could not be written: {why}"));
        let prd: Prd = serde_json::from_value(prd).map_err(|error| failed(error.to_string()))?;
        let directory = attempt.with.get("directory").and_then(Value::as_str).unwrap_or(DIRECTORY);
        let path = format!("{}/{}.md", directory.trim_end_matches('/'), prd.slug);
        self.gate.allow(&attempt, vec![Request::Path { op: PathOp::Write, path: path.clone() }]).await?;
        let (workspace, folder, place, text) = (self.workspace, attempt.folder, path.clone(), prd.markdown());
        let written = text.clone();
        let done = tokio::task::spawn_blocking(move || put(&workspace, &folder, &place, &written));
        done.await.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))?;
        Ok(WRITTEN.outcome(Value::map([("path", Value::from(path)), ("text", Value::from(text))])))
    }
}

/// Returns the same attempt with the signal that the judge is asked for.
fn asking(attempt: &Attempt) -> Attempt {
    let data = json!({ "required": ["prd"], "properties": { "prd": { "type": "object" } } });
    let signals = vec![HandledSignal { name: DRAFTED.to_owned(), data }];
    let invocation = Invocation { signals, ..(*attempt.invocation).clone() };
    Attempt { invocation: Arc::new(invocation), ..attempt.clone() }
}

/// Writes a file by means of a patch: completely or not at all, and only at a path that a patch may write.
fn put(workspace: &Workspace, folder: &Path, path: &str, text: &str) -> Result<(), Error> {
    let root = workspace.root(folder)?;
    let within = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let within = within.strip_prefix(&root).unwrap_or(Path::new("")).join(path);
    // The patch refuses a file that is not text.
    let old = interlock_beneath::read_text(&root, &within, DOCUMENT_BYTES_MAX).ok().flatten();
    if old.as_deref() == Some(text) {
        return Ok(());
    }
    let patch = Patch::parse(difference(&within.display().to_string(), old.as_deref(), text).as_bytes());
    let patch = patch.map_err(|problem| Error::Patch(vec![problem]))?;
    workspace.apply(folder, &patch, &Default::default()).map(drop)
}

/// Returns the diff that replaces one text with another.
fn difference(path: &str, old: Option<&str>, new: &str) -> String {
    let lines = |sign: char, text: &str| text.lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
    let before = old.unwrap_or_default();
    let from = old.map_or_else(|| "/dev/null".to_owned(), |_| format!("a/{path}"));
    let begin = |text: &str| usize::from(!text.is_empty());
    let cut = if before.is_empty() || before.ends_with('\n') { "" } else { "\\ No newline at end of file\n" };
    format!(
        "--- {from}\n+++ b/{path}\n@@ -{},{} +{},{} @@\n{}{cut}{}",
        begin(before),
        before.lines().count(),
        begin(new),
        new.lines().count(),
        lines('-', before),
        lines('+', new),
    )
}

impl Prd {
    /// Renders the Markdown from which tasks are read later: see the machine's prompt.
    fn markdown(&self) -> String {
        let tasks: String = self.tasks.iter().map(Task::markdown).collect();
        let risks: String = self.risks.iter().map(|risk| format!("- {}\n", line(risk))).collect();
        let (context, approach) = (self.context_and_goals.trim(), self.technical_approach.trim());
        format!(
            "# {}\n\n## 1. Context and goals\n\n{context}\n\n## 2. Technical approach\n\n{approach}\n\n## 3. Tasks\n\n{tasks}\n## 4. Risks\n\n{risks}",
            line(&self.title)
        )
    }
}

impl Task {
    fn markdown(&self) -> String {
        let files = if self.files.is_empty() { String::new() } else { format!(" ({})", line(&self.files.join(", "))) };
        let verify: String = self.verify.iter().map(|way| format!("  * Verify: {}\n", line(way))).collect();
        format!("- [ ] {}: [{}] {}{files}\n{verify}", self.id, self.priority, line(&self.title))
    }
}

/// Joins a text into one line: a task is one line, and the lines after it belong to it.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Activity for JudgePrd {
    fn name(&self) -> &str {
        "judge.prd"
    }

    fn summary(&self) -> &str {
        "Has a product requirement document drafted by a judge, and writes it."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        &[WRITTEN]
    }

    fn schema(&self) -> Schema {
        schema::also(self.judge.schema(), &schema::fields([("directory", schema::text())]))
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn takes(&self, name: &str, folder: &Path) -> bool {
        self.judge.takes(name, folder)
    }

    fn not_taken_because(&self) -> &str {
        self.judge.not_taken_because()
    }

    fn uses_cores(&self) -> bool {
        false
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(this.run(attempt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_written_in_the_form_that_tasks_are_read_from() {
        let prd = json!({
            "slug": "dark-mode", "title": "Dark\nmode", "context_and_goals": "Eyes.", "technical_approach": "A theme.\n",
            "tasks": [
                { "id": "T-001", "priority": "P0", "title": "A switch\n- [ ] T-666: [P0] evil", "files": ["a.css", "b.css"], "verify": ["make test"] },
                { "id": "T-002", "priority": "P1", "title": "Remember it", "files": [], "verify": ["make e2e", "it is dark"] },
            ],
            "risks": ["too dark"],
        });
        let prd: Prd = serde_json::from_value(prd).unwrap();
        let expected = "# Dark mode\n\n## 1. Context and goals\n\nEyes.\n\n## 2. Technical approach\n\nA theme.\n\n## 3. Tasks\n\n\
            - [ ] T-001: [P0] A switch - [ ] T-666: [P0] evil (a.css, b.css)\n  * Verify: make test\n\
            - [ ] T-002: [P1] Remember it\n  * Verify: make e2e\n  * Verify: it is dark\n\n## 4. Risks\n\n- too dark\n";
        assert_eq!(prd.markdown(), expected);
    }

    #[test]
    fn one_document_takes_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path().join("home"));
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        let file = project.join("docs/prd/x.md");
        for text in ["one\n", "one\ntwo\n", "three\n"] {
            put(&workspace, &project, "docs/prd/x.md", text).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        fs::write(&file, "by a person, without an end").unwrap();
        put(&workspace, &project, "docs/prd/x.md", "three\n").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "three\n");
        for wrong in ["../x.md", "/tmp/x.md", ".git/x.md"] {
            assert!(put(&workspace, &project, wrong, "evil\n").is_err(), "{wrong}");
        }
    }
}
