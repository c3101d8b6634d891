//! `prd.archive`: moves a finished PRD to the archive, with the result of every task, and commits the move.

use std::path::{Path, PathBuf};

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, Requests, Signal, Site, code,
    report::{Account, RunRecord, reading::words},
    schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::{EvidenceStore, moment};
use interlock_workspace::{Error, Workspace, patch::Patch};

use crate::{
    Mark, Status, Task, begin,
    committing::commit_files,
    read_document,
    tasks::{counts, list, mark_of},
    value,
};

/// The most documents with the same name in the archive.
const NAMES_MAX: usize = 1_000;

/// The most entries of the history.
const HISTORY_MAX: usize = 5;

/// The heading that separates the document from its result.
const RESULT: &str = "## Result";

/// Archives a finished PRD.
#[derive(Clone, Debug)]
pub struct PrdArchive(Workspace);

const KNOWN: [&str; 7] = ["prd", "directory", "tasks", "marks", "checkpoint", "history", "title"];

impl PrdArchive {
    /// Creates the activity. `workspace` makes the commit.
    pub fn new(workspace: Workspace) -> Self {
        PrdArchive(workspace)
    }

    fn archive(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &KNOWN)?;
        let (prd, directory) = (given.need_text("prd")?, given.need_text("directory")?);
        let (tasks, marks): (Vec<Task>, Vec<Mark>) = (list(&given, "tasks")?, list(&given, "marks")?);
        let title = given.text("title")?.unwrap_or(prd);
        let now = moment::rfc3339(attempt.host.now_ms());
        let failed = |why: String| Outcome::error(code::FAILED, format!("the archive could not be written: {why}"));
        let old = read_document(attempt, prd).ok();
        let text = old.clone().unwrap_or_else(|| format!("# {title}\n"));
        let target = free_name(attempt, prd, directory)?;
        let within = self.within(attempt).map_err(|error| failed(error.to_string()))?;
        let result = match self.earlier(attempt, &within.join(&target)) {
            Some(earlier) => earlier,
            None => format!("{}\n\n{}", text.trim_end(), self.result(attempt, &tasks, &marks, &now)),
        };
        let removed = old.as_deref().map(|old| difference(&within.join(prd), Some(old), None)).unwrap_or_default();
        let patch = removed + &difference(&within.join(&target), None, Some(&result));
        self.write(attempt, &patch).map_err(|error| failed(error.to_string()))?;
        let message = format!("docs: archive {title}");
        let (mut commit, evidence) = commit_files(&self.0, attempt, &message, &[prd, &target])?;
        if commit.is_empty() {
            let tip = self.0.checked_out(&attempt.folder).map_err(|error| failed(error.to_string()))?;
            commit = tip.map(|(_, commit)| commit).unwrap_or_default();
        }
        let (done, blocked, _) = counts(&tasks, &marks);
        let line = format!("{} {title}: {done} done, {blocked} blocked; see {target}", now.get(..10).unwrap_or(&now));
        let mut history: Vec<String> = list(&given, "history")?;
        history.insert(0, line);
        history.truncate(HISTORY_MAX);
        let data = [
            ("path", Value::from(target)),
            ("commit", Value::from(commit)),
            ("at", Value::from(now)),
            ("history", value(&history)),
        ];
        Ok(Outcome::signal("ARCHIVE_COMPLETE", Value::map(data)).with(evidence))
    }

    /// Returns the document as an attempt of this run committed it that was interrupted before its end was recorded. With
    /// the same content there is nothing more to commit.
    fn earlier(&self, attempt: &Attempt, target: &Path) -> Option<String> {
        let committed = self.0.committed_file(&attempt.folder, target).ok()??;
        let text = String::from_utf8(committed).ok()?;
        text.contains(&format!(" by run {}.\n", attempt.run)).then_some(text)
    }

    /// Returns the path of the run's directory within its workspace.
    fn within(&self, attempt: &Attempt) -> Result<PathBuf, Error> {
        let root = self.0.root(&attempt.folder)?;
        let folder = attempt.folder.canonicalize().unwrap_or_else(|_| attempt.folder.clone());
        Ok(folder.strip_prefix(&root).unwrap_or(Path::new("")).to_owned())
    }

    /// Applies a patch, completely or not at all. The tree that it leads to is recorded first, so that a crash in the
    /// middle leaves no doubt about who changed the files.
    fn write(&self, attempt: &Attempt, patch: &str) -> Result<(), Error> {
        let patch = Patch::parse(patch.as_bytes()).map_err(|problem| Error::Patch(vec![problem]))?;
        if let Some(before) = &attempt.snapshot {
            let tree = self.0.tree_named(&attempt.folder, before)?;
            let after = self.0.apply_to_tree(&attempt.folder, &attempt.run, &tree, &patch)?;
            self.0.announce_tree(&attempt.folder, &attempt.run, before, &after)?;
        }
        self.0.apply(&attempt.folder, &patch, &Default::default()).map(drop)
    }

    /// Renders the result of every task: when it was completed, its commit and its files.
    fn result(&self, attempt: &Attempt, tasks: &[Task], marks: &[Mark], now: &str) -> String {
        let mut text = format!("{RESULT}\n\nArchived {now} by run {}.\n", attempt.run);
        for task in tasks {
            let mark = mark_of(task, marks);
            text.push_str(&format!("\n### {}: {}\n\n- Status: {}\n", task.id, task.title, mark.status));
            if !mark.summary.is_empty() {
                text.push_str(&format!("- Summary: {}\n", mark.summary));
            }
            if mark.status == Status::Done && !mark.commit.is_empty() {
                let files = self.0.commit_files(&attempt.folder, &mark.commit).unwrap_or_default();
                text.push_str(&format!("- Commit: {}\n- Files changed: {}\n", mark.commit, files.join(", ")));
            }
        }
        text
    }
}

/// Returns the path of the archived document: the directory and the document's name, with a number if that is taken.
fn free_name(attempt: &Attempt, prd: &str, directory: &str) -> Result<String, Outcome> {
    let bad = |why: &str| Outcome::from(BadArgument::field("directory", why));
    let is_inside =
        |path: &str| Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if !is_inside(directory) || !is_inside(prd) {
        return Err(bad("and `with.prd` are to be paths within the run's directory"));
    }
    let is_link = |path: &Path| attempt.folder.join(path).symlink_metadata().is_ok_and(|about| about.is_symlink());
    if Path::new(directory).ancestors().any(is_link) {
        return Err(bad("is reached by a symbolic link"));
    }
    let stem = Path::new(prd).file_stem().and_then(|stem| stem.to_str()).unwrap_or("prd");
    let directory = directory.trim_end_matches('/');
    let names = (2..NAMES_MAX).map(|number| format!("{directory}/{stem}-{number}.md"));
    let mut names = std::iter::once(format!("{directory}/{stem}.md")).chain(names);
    let free = names.find(|name| attempt.folder.join(name).symlink_metadata().is_err());
    free.ok_or_else(|| bad("has too many documents of this name"))
}

/// Returns the diff that creates or removes a file.
fn difference(path: &Path, old: Option<&str>, new: Option<&str>) -> String {
    let path = path.display();
    let side = |text: Option<&str>, letter: char| match text {
        Some(_) => format!("{letter}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let lines = |sign: char, text: Option<&str>| {
        let text = text.unwrap_or_default();
        let cut = if text.is_empty() || text.ends_with('\n') { "" } else { "\\ No newline at end of file\n" };
        text.lines().map(|line| format!("{sign}{line}\n")).collect::<String>() + cut
    };
    let count = |text: Option<&str>| text.map_or(0, |text| text.lines().count());
    let first = |text: Option<&str>| usize::from(count(text) > 0);
    format!(
        "--- {}\n+++ {}\n@@ -{},{} +{},{} @@\n{}{}",
        side(old, 'a'),
        side(new, 'b'),
        first(old),
        count(old),
        first(new),
        count(new),
        lines('-', old),
        lines('+', new),
    )
}

impl Activity for PrdArchive {
    fn name(&self) -> &str {
        "prd.archive"
    }

    fn summary(&self) -> &str {
        "Moves a finished PRD to the archive, with the commit and the files of every task, and commits that."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("ARCHIVE_COMPLETE")] }
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([
            ("prd", schema::text()),
            ("directory", schema::text()),
            ("tasks", schema::list(schema::any())),
            ("marks", schema::list(schema::any())),
            ("checkpoint", schema::text()),
            ("history", schema::list(schema::plain())),
            ("title", schema::text()),
        ]);
        schema::needing(fields, &["prd", "directory"])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    /// The document and its place in the archive are records of the machine.
    fn account(&self, record: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        let ended = record.ended()?;
        let records = [&ended.with["prd"], &ended.data["path"]].into_iter().filter_map(words).collect();
        Some(Account { records, ..Account::default() })
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.archive(attempt))
    }
}
