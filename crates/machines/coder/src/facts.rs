//! `turn.facts`: the recorded facts of a turn, which its summary may state: changed files, the diff, the commands with
//! their exit codes, refused calls, the failure, and the command that undoes the turn.
//!
//! The facts also come as lines, which people see above the words of a model. If the failure is that of the model itself, the
//! lines are the summary, and no model is asked for one.

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, code, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_workspace::Workspace;
use serde_json::{Value as Json, json};

use crate::{
    Failure, begin,
    change::{Trees, TurnChange},
    claims::contradictions,
    record::TurnRecord,
    verify,
};

const KNOWN: [&str; 8] = ["base", "commands", "failure", "plan", "own_commands", "answer", "verified", "read_only"];

/// The most characters of the diff that a summary is made from; the whole diff is evidence.
const DIFF_CHARS_MAX: usize = 6_000;

/// The most files, calls and paths that are listed.
const LISTED_MAX: usize = 100;

/// The most items of one kind among the lines for people.
const LINES_MAX: usize = 20;

/// The errors of activities that say that the model cannot be asked.
const MODEL_ERRORS: [&str; 4] = ["MODEL_FAILURE", "BUDGET", "UNDECIDED", "BAD_SETTINGS"];

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
        let json = |name: &str| given.value(name).map(Json::from).unwrap_or_default();
        let is = |name: &str| given.value(name) == Some(&Value::Bool(true));
        let base = given.text("base")?.filter(|base| !base.is_empty());
        let record = if base.is_some() { TurnRecord::read(attempt)? } else { TurnRecord::default() };
        let plan = json("plan");
        let own = json("own_commands");
        let own = own.as_array().into_iter().flatten().filter_map(|own| own["command"].as_str()).map(str::to_owned);
        let policy = verify::policy_of(&plan).unwrap_or_default();
        let checks = verify::distinct(own.chain(policy.commands));
        let (change, diff) = match base {
            Some(base) => self.change(attempt, &record, base, &checks)?,
            None => (TurnChange::default(), String::new()),
        };
        let kept = attempt.evidence.put("diff", "text/x-diff", diff.as_bytes());
        let kept = kept.map_err(|error| Outcome::not_stored(format!("the diff could not be kept: {error}")))?;
        let failure = Failure::of(&json("failure"), &attempt.run);
        let mut commands = record.commands();
        commands.extend(json("commands").as_array().into_iter().flatten().cloned());
        let announced = if is("read_only") { Vec::new() } else { verify::artifacts(&plan) };
        let mut facts = json!({
            "files": listed(change.to_json()),
            "diff": diff.chars().take(DIFF_CHARS_MAX).collect::<String>(),
            "is_diff_cut": diff.chars().count() > DIFF_CHARS_MAX,
            "diff_evidence": kept.hash.to_string(),
            "commands": listed(commands),
            "verified": is("verified"),
            "refused": listed(record.refused()),
            "breaches": record.breaches(),
            "not_changed": verify::unchanged(&announced, &change),
            "others": listed(change.others.iter().map(|path| json!(path.display().to_string())).collect()),
            "products": listed(change.products.iter().map(|path| json!(path.display().to_string())).collect()),
            "files_count": change.files.len(),
            "failure": failure,
            "undo": (!diff.is_empty()).then(|| format!("interlock undo {}", attempt.run)),
        });
        let answer = given.text("answer")?.unwrap_or_default();
        facts["contradictions"] = json!(contradictions(answer, &facts, is("read_only")));
        let lines = lines(&facts, change.files.len());
        facts["lines"] = json!(lines);
        let failed = json("failure");
        let is_alone = failed["code"].as_str().is_some_and(|code| MODEL_ERRORS.contains(&code));
        let signal = if is_alone { "facts_alone" } else { "facts_collected" };
        let data = [
            ("facts", Value::from(facts)),
            ("failure", Value::from(json!(failure))),
            ("summary", Value::from(lines.join("\n"))),
        ];
        Ok(Outcome::signal(signal, Value::map(data)).with([kept]))
    }

    /// Returns the change of the turn and its diff.
    fn change(
        &self,
        attempt: &Attempt,
        record: &TurnRecord,
        base: &str,
        checks: &[String],
    ) -> Result<(TurnChange, String), Outcome> {
        let failed = |error: interlock_workspace::Error| Outcome::error(code::FAILED, error.to_string());
        let (_, now) = self.0.take_tree(&attempt.folder, &attempt.run).map_err(failed)?;
        let trees = Trees { base, now: &now, checks, checked: Default::default() };
        let change = TurnChange::find(&self.0, attempt, record, trees)?;
        let diff = self.0.diff_trees(&attempt.folder, base, &change.tree).map_err(failed)?;
        Ok((change, String::from_utf8_lossy(&diff).into_owned()))
    }
}

fn listed(mut items: Vec<Json>) -> Vec<Json> {
    items.truncate(LISTED_MAX);
    items
}

/// Returns the facts as lines for people. `files` is the number of all changed files.
fn lines(facts: &Json, files: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut list = |name: &str, all: Option<usize>, line: &dyn Fn(&Json) -> String| {
        let items = facts[name].as_array().map_or(&[][..], Vec::as_slice);
        lines.extend(items.iter().take(LINES_MAX).map(line));
        let more = all.unwrap_or(items.len()).saturating_sub(LINES_MAX);
        lines.extend((more > 0).then(|| format!("… {more} more")));
    };
    let text = |of: &Json, name: &str| of[name].as_str().unwrap_or_default().to_owned();
    list("files", Some(files), &|file| match (file["added"].as_u64(), file["removed"].as_u64()) {
        (Some(added), Some(removed)) => format!("{} {}  +{added} -{removed}", text(file, "how"), text(file, "path")),
        _ => format!("{} {}  (binary)", text(file, "how"), text(file, "path")),
    });
    list("commands", None, &|command| {
        let code = command["exit_code"].as_i64().map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
        let cases = match (command["passed"].as_u64(), command["failed"].as_u64()) {
            (Some(passed), Some(failed)) => format!(", {passed} tests passed, {failed} failed"),
            _ => String::new(),
        };
        let by = if command["by"] == "verification" { "verified by" } else { "ran" };
        format!("{by} `{}`: {code}{cases}", text(command, "command"))
    });
    list("refused", None, &|call| {
        let (name, subject) = (text(call, "name"), text(call, "subject"));
        format!("refused {}: {}: {}", format!("{name} {subject}").trim_end(), text(call, "code"), text(call, "reason"))
    });
    let plain = |word: &'static str| move |item: &Json| format!("{word}: {}", item.as_str().unwrap_or_default());
    list("breaches", None, &plain("repaired"));
    list("not_changed", None, &plain("announced and not changed"));
    list("others", None, &plain("changed meanwhile, not by this turn"));
    list("products", None, &plain("left by a check, no part of the change"));
    list("contradictions", None, &plain("contradiction"));
    if files == 0 {
        lines.insert(0, "no file was changed".to_owned());
    }
    if facts["commands"].as_array().is_none_or(Vec::is_empty) {
        lines.insert(usize::from(files == 0).max(files.min(LINES_MAX + 1)), "no command was run".to_owned());
    }
    lines
}

impl Activity for TurnFacts {
    fn name(&self) -> &str {
        "turn.facts"
    }

    fn summary(&self) -> &str {
        "Collects the facts of a turn: changed files, commands, refused calls, the failure, and how to undo it."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("facts_collected"), Signal::open("facts_alone")] }
    }

    fn schema(&self) -> Schema {
        schema::fields([
            ("base", schema::text()),
            ("commands", schema::list(schema::any())),
            ("failure", schema::object()),
            ("plan", schema::object()),
            ("own_commands", schema::list(schema::any())),
            ("answer", schema::text()),
            ("verified", schema::flag()),
            ("read_only", schema::flag()),
        ])
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
    use super::*;

    #[test]
    fn the_facts_are_lines_for_people() {
        let facts = json!({
            "files": [
                { "path": "a.c", "added": 2, "removed": 1, "how": "changed" },
                { "path": "b.png", "added": null, "removed": null, "how": "added" },
            ],
            "commands": [
                { "command": "sh x.sh", "exit_code": 3, "by": "model" },
                { "command": "make test", "exit_code": 0, "by": "verification", "passed": 4, "failed": 0 },
            ],
            "refused": [{ "name": "write_file", "subject": "infra/a", "code": "E_POLICY_DENIED", "reason": "not allowed" }],
        });
        let expected = [
            "changed a.c  +2 -1",
            "added b.png  (binary)",
            "ran `sh x.sh`: exit code 3",
            "verified by `make test`: exit code 0, 4 tests passed, 0 failed",
            "refused write_file infra/a: E_POLICY_DENIED: not allowed",
        ];
        assert_eq!(lines(&facts, 2), expected);
        assert_eq!(lines(&json!({}), 0), ["no file was changed", "no command was run"]);
    }
}
