//! `turn.facts`: the recorded facts of a turn, which its summary may state: changed files, the diff, the commands with
//! their exit codes, the failure, and the command that undoes the turn.

use interlock_activity::{Activity, Arguments, Attempt, EffectClass, Ending, Outcome, code, schema};
use interlock_chart::{Value, model::Schema};
use interlock_workspace::Workspace;
use serde_json::{Value as Json, json};

use crate::{begin, failure::explained};

const KNOWN: [&str; 3] = ["base", "commands", "failure"];

/// The most characters of the diff that a summary is made from; the whole diff is evidence.
const DIFF_CHARS_MAX: usize = 6_000;

/// The most files that are listed.
const FILES_MAX: usize = 100;

/// Collects the facts of a turn.
#[derive(Clone, Debug)]
pub struct TurnFacts(Workspace);

impl TurnFacts {
    /// Creates the activity. `workspace` compares the trees.
    pub fn new(workspace: Workspace) -> Self {
        TurnFacts(workspace)
    }

    fn collect(&self, attempt: &Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &KNOWN)?;
        let failed = |error: interlock_workspace::Error| Outcome::error(code::FAILED, error.to_string());
        let diff = match given.text("base")?.filter(|base| !base.is_empty()) {
            Some(base) => {
                let (_, tree) = self.0.take_tree(&attempt.folder, &attempt.run).map_err(failed)?;
                let diff = self.0.diff_trees(&attempt.folder, base, &tree).map_err(failed)?;
                String::from_utf8_lossy(&diff).into_owned()
            }
            None => String::new(),
        };
        let kept = attempt.evidence.put("diff", "text/x-diff", diff.as_bytes());
        let kept = kept.map_err(|error| Outcome::not_stored(format!("the diff could not be kept: {error}")))?;
        let facts = json!({
            "files": files(&diff),
            "diff": diff.chars().take(DIFF_CHARS_MAX).collect::<String>(),
            "is_diff_cut": diff.chars().count() > DIFF_CHARS_MAX,
            "diff_evidence": kept.hash.to_string(),
            "commands": given.value("commands").map(Json::from).unwrap_or_else(|| json!([])),
            "failure": given.value("failure").map(Json::from).and_then(|failure| explain(&failure, &attempt.run)),
            "undo": (!diff.is_empty()).then(|| format!("interlock undo {}", attempt.run)),
        });
        Ok(Outcome::signal("facts_collected", Value::map([("facts", Value::from(facts))])).with([kept]))
    }
}

fn explain(failure: &Json, run: &str) -> Option<Json> {
    // A failed tool call has its error in its payload.
    let error = failure.get("payload").and_then(|payload| payload.get("error")).unwrap_or(failure);
    let text = |name: &str| error.get(name).and_then(Json::as_str);
    let message = text("message").or_else(|| text("reason"))?;
    serde_json::to_value(explained(text("code").unwrap_or_default(), message, run)).ok()
}

/// Lists the files of a diff with the number of added and removed lines.
fn files(diff: &str) -> Vec<Json> {
    let mut files: Vec<(String, usize, usize)> = Vec::new();
    let mut is_header = true;
    for line in diff.lines() {
        if let Some(names) = line.strip_prefix("diff --git a/") {
            let name = names.split(" b/").next().unwrap_or(names);
            files.push((name.to_owned(), 0, 0));
            is_header = true;
        }
        is_header = is_header && !line.starts_with("@@");
        let Some((_, added, removed)) = files.last_mut().filter(|_| !is_header) else { continue };
        *added += usize::from(line.starts_with('+'));
        *removed += usize::from(line.starts_with('-'));
    }
    let told = |(path, added, removed)| json!({ "path": path, "added": added, "removed": removed });
    files.into_iter().take(FILES_MAX).map(told).collect()
}

impl Activity for TurnFacts {
    fn name(&self) -> &str {
        "turn.facts"
    }

    fn summary(&self) -> &str {
        "Collects the facts of a turn: changed files, commands, the failure, and how to undo it."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[&str] {
        &["facts_collected"]
    }

    fn schema(&self) -> Schema {
        schema::fields([
            ("base", schema::text()),
            ("commands", schema::list(schema::any())),
            ("failure", schema::object()),
        ])
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        begin(attempt, move |attempt| this.collect(attempt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_each_file_are_counted() {
        let diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-x\n+y\n+--- z\n z\n\
                    diff --git a/b c b/b c\nnew file mode 100644\n--- /dev/null\n+++ b/b c\n@@ -0,0 +1 @@\n+q\n";
        let expected =
            [json!({ "path": "a", "added": 2, "removed": 1 }), json!({ "path": "b c", "added": 1, "removed": 0 })];
        assert_eq!(files(diff), expected);
    }

    #[test]
    fn the_failure_of_a_tool_call_is_found_in_its_payload() {
        let failure = json!({ "name": "apply_patch", "ok": false,
            "payload": { "error": { "code": "E_CONFLICT", "message": "it does not apply" } } });
        let told = explain(&failure, "r").unwrap();
        assert_eq!((&told["code"], &told["message"]), (&json!("E_CONFLICT"), &json!("it does not apply")));
        assert_eq!(explain(&json!({ "code": "TIMEOUT", "message": "m" }), "r").unwrap()["code"], "E_TOOL_TIMEOUT");
        assert_eq!(explain(&json!(null), "r"), None);
    }
}
