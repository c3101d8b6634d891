//! `workspace.changes`: collects the changes of a run for a review. The verification room judges changed checks.
//!
//! The tree and the diffs come from snapshots, so they do not depend on what an agent or a person reports.

use std::path::PathBuf;

use interlock_activity::{Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, schema};
use interlock_chart::{Value, model::Schema};
use interlock_codemap::{Survey, Wish};
use interlock_journal::Evidence;
use interlock_workspace::{Change, Workspace};
use serde_json::json;

use super::{begin, failed, keep};

/// Machines of older versions give `commands`, `defined` and `accepted`, which say nothing any more.
const KNOWN: [&str; 6] = ["base", "since", "commands", "defined", "accepted", "goal"];

/// The most bytes of a diff that a judge is shown.
const SHOWN_BYTES_MAX: usize = 256 * 1024;

/// The size of the map that a judge is shown.
const MAP_TOKENS: usize = 1_500;

/// The most files that are listed.
const FILES_MAX: usize = 200;

/// Collects the changes of a run. Repeating it is harmless: only a snapshot is written.
#[derive(Clone, Debug)]
pub struct WorkspaceChanges {
    workspace: Workspace,
    home: Option<PathBuf>,
}

impl WorkspaceChanges {
    /// Creates the activity. `workspace` takes the snapshots, and maps are cached below `home`.
    pub fn new(workspace: Workspace, home: Option<PathBuf>) -> Self {
        WorkspaceChanges { workspace, home }
    }

    fn collect(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &KNOWN)?;
        let (base, since) = (given.need_text("base")?, given.need_text("since")?);
        let (_, tree) = self.workspace.take_tree(&attempt.folder, &attempt.run).map_err(|error| failed(&error))?;
        let diff = |from: &str| self.workspace.diff_trees(&attempt.folder, from, &tree).map_err(|error| failed(&error));
        let (whole, round) = (textual(&diff(base)?), textual(&diff(since)?));
        let mut evidence = vec![kept(attempt, "diff", &round)?];
        if whole != round {
            evidence.push(kept(attempt, "diff_since_start", &whole)?);
        }
        let changes = self.workspace.changes_between(&attempt.folder, base, &tree).map_err(|error| failed(&error))?;
        let map = given.text("goal")?.map(|goal| self.map(attempt, goal, &changes)).transpose()?.flatten();
        let data = json!({
            "tree": tree,
            "map": map.iter().map(|file| file.hash.to_string()).collect::<Vec<_>>(),
            "files": files(&changes),
            "evidence_refs": evidence.iter().map(|file| file.hash.to_string()).collect::<Vec<_>>(),
            "summary": summary(&changes),
        });
        evidence.extend(map);
        Ok(COLLECTED.outcome(Value::from(data)).with(evidence))
    }

    /// Stores a map of the repository, ranked for the goal and the changed files. A repository that cannot be surveyed has
    /// no map: a review is possible without it.
    fn map(&self, attempt: &Attempt, goal: &str, changes: &[Change]) -> Result<Option<Evidence>, Outcome> {
        let root = self.workspace.root(&attempt.folder).map_err(|error| failed(&error))?;
        let Ok(survey) = Survey::of(&root, self.home.as_deref()) else { return Ok(None) };
        let paths: Vec<_> = changes.iter().take(FILES_MAX).map(|change| change.path.to_string_lossy()).collect();
        let text = survey.rank(&Wish::goal(format!("{goal}\n{}", paths.join("\n")))).map(MAP_TOKENS).to_text();
        keep(attempt, "map", "text/plain", text.as_bytes()).map(Some)
    }
}

fn is_binary(section: &str) -> bool {
    section.contains("\nGIT binary patch\n")
}

/// Replaces the changes of binary files in a diff by a note: only text can be read and reviewed.
fn textual(diff: &[u8]) -> String {
    let diff = String::from_utf8_lossy(diff);
    let mut text = String::new();
    for section in sections(&diff) {
        match is_binary(section) {
            true => text.push_str(&format!("# binary: {}", section.lines().next().unwrap_or_default())),
            false => text.push_str(section.trim_end_matches('\n')),
        }
        text.push('\n');
    }
    text
}

/// Splits a diff into its files.
fn sections(diff: &str) -> Vec<&str> {
    let starts = diff.match_indices("diff --git ").map(|(at, _)| at);
    let starts: Vec<usize> = starts.filter(|at| *at == 0 || diff.as_bytes()[at - 1] == b'\n').collect();
    let ends = starts.iter().skip(1).copied().chain([diff.len()]);
    starts.iter().zip(ends).map(|(from, to)| &diff[*from..to]).collect()
}

/// Stores a diff as evidence. A judge is shown the first part of one that is too long.
fn kept(attempt: &Attempt, name: &str, diff: &str) -> Result<Evidence, Outcome> {
    let diff = attempt.evidence.redactor().text(diff);
    if diff.len() <= SHOWN_BYTES_MAX {
        return keep(attempt, name, "text/x-diff", diff.as_bytes());
    }
    let end = diff.char_indices().map(|(at, _)| at).take_while(|at| *at <= SHOWN_BYTES_MAX).last().unwrap_or(0);
    let cut = diff[..end].rfind('\n').map_or(end, |at| at + 1);
    let shown = format!("{}# {} more bytes are not shown\n", &diff[..cut], diff.len() - cut);
    keep(attempt, name, "text/x-diff", shown.as_bytes())
}

/// Lists the changed files, and counts those that are too many to be listed.
fn files(changes: &[Change]) -> Vec<String> {
    let more = changes.len().saturating_sub(FILES_MAX);
    let rest = (more > 0).then(|| format!("and {more} more files"));
    changes.iter().take(FILES_MAX).map(listed).chain(rest).collect()
}

fn listed(change: &Change) -> String {
    let lines = change.lines.map_or_else(|| "binary".to_owned(), |(added, removed)| format!("+{added} -{removed}"));
    let how = match (&change.before, &change.after, &change.renamed_from) {
        (_, _, Some(from)) => format!(", renamed from {}", from.display()),
        (None, _, _) => ", new".to_owned(),
        (_, None, _) => ", deleted".to_owned(),
        _ => String::new(),
    };
    format!("{} ({lines}{how})", change.path.display())
}

fn summary(changes: &[Change]) -> String {
    let lines = changes.iter().filter_map(|change| change.lines);
    let (added, removed) = lines.fold((0, 0), |sum, lines| (sum.0 + lines.0, sum.1 + lines.1));
    let binary = match changes.iter().filter(|change| change.lines.is_none()).count() {
        0 => String::new(),
        count => format!(", {count} binary"),
    };
    match changes.len() {
        0 => "no file differs from the start".to_owned(),
        1 => format!("1 file differs from the start: +{added} -{removed} lines{binary}"),
        count => format!("{count} files differ from the start: +{added} -{removed} lines{binary}"),
    }
}

const COLLECTED: Signal = Signal::new("collected", || {
    schema::fields([
        ("tree", schema::text()),
        ("map", schema::list(schema::text())),
        ("files", schema::list(schema::any())),
        ("evidence_refs", schema::list(schema::text())),
        ("summary", schema::text()),
    ])
});

impl Activity for WorkspaceChanges {
    fn name(&self) -> &str {
        "workspace.changes"
    }

    fn summary(&self) -> &str {
        "Collects the diff since a tree, for a review."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        &[COLLECTED]
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([
            ("base", schema::text()),
            ("since", schema::text()),
            ("commands", schema::list(schema::text())),
            ("defined", schema::list(schema::any())),
            ("accepted", schema::list(schema::text())),
            ("goal", schema::text()),
        ]);
        schema::needing(fields, &["base", "since"])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.collect(attempt))
    }
}

#[cfg(test)]
mod tests {
    use interlock_workspace::{Version, patch::Kind};

    use super::*;

    #[test]
    fn binary_changes_are_replaced_by_a_note() {
        let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/i.png b/i.png\nindex 1..2\nGIT binary patch\nliteral 3\nabc\n\n";
        let text = textual(diff.as_bytes());
        assert!(text.ends_with("+b\n# binary: diff --git a/i.png b/i.png\n"), "{text}");
    }

    #[test]
    fn every_changed_file_is_listed_or_counted() {
        let version = || Some(Version { kind: Kind::File, hash: "0".into() });
        let change = |path: &str, lines| Change {
            path: path.into(),
            before: version(),
            after: version(),
            renamed_from: None,
            lines,
        };
        let few = [
            change("a", Some((1, 2))),
            Change { before: None, ..change("i.png", None) },
            Change { renamed_from: Some("b".into()), ..change("c", Some((0, 0))) },
        ];
        assert_eq!(files(&few), ["a (+1 -2)", "i.png (binary, new)", "c (+0 -0, renamed from b)"]);
        assert_eq!(summary(&few), "3 files differ from the start: +1 -2 lines, 1 binary");
        let many: Vec<Change> = (0..FILES_MAX + 13).map(|at| change(&at.to_string(), Some((1, 0)))).collect();
        let listed = files(&many);
        assert_eq!((listed.len(), listed.last().map(String::as_str)), (FILES_MAX + 1, Some("and 13 more files")));
    }
}
