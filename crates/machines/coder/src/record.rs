//! The record of a turn: the calls that the model asked for, how each ended, and the paths that each changed.
//!
//! It is folded from the recorded outcomes since `turn.open`. Nothing that a model says is read here.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use interlock_activity::{Attempt, Outcome, PastOutcome, code};
use interlock_journal::Evidence;
use interlock_workspace::Changes;
use serde_json::{Value as Json, json};

/// The activity that begins a turn.
pub(crate) const BEGIN: &str = "turn.open";

/// The most outcomes of a turn. The machine's limits allow fewer.
const OUTCOMES_MAX: usize = 20_000;

/// The evidence that lists the paths that an attempt changed, as the runtime names it.
const CHANGES: &str = "changes";

/// A call that the model asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) args: Json,
    pub(crate) end: CallEnd,
    /// The number of the request that it belongs to. Calls of one request are made side by side.
    request: usize,
}

/// The end of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallEnd {
    /// The tool answered.
    Answered { ok: bool, payload: Json },
    /// Policy or a person refused it.
    Refused { code: String, reason: String },
    /// It has no result: it was cut off, or is not made yet.
    Open,
}

/// The maker of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// A tool that writes files.
    Tool,
    /// A command of the model.
    Command(String),
    /// The verification.
    Check,
}

/// Changes that one attempt made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Made {
    pub(crate) by: Maker,
    pub(crate) paths: BTreeSet<PathBuf>,
    /// The number of calls that the model had asked for by then.
    pub(crate) calls: usize,
    /// Damage to the repository that was repaired, such as a hook that a command planted.
    pub(crate) breaches: Vec<String>,
}

/// The record of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TurnRecord {
    pub(crate) calls: Vec<Call>,
    pub(crate) made: Vec<Made>,
}

impl TurnRecord {
    /// Reads the record of the turn in progress. May block.
    pub(crate) fn read(attempt: &Attempt) -> Result<Self, Outcome> {
        let failed = |why: String| Outcome::error(code::FAILED, format!("the turn's records: {why}"));
        let outcomes = attempt.host.outcomes(&attempt.run, BEGIN, OUTCOMES_MAX).map_err(failed)?;
        let changes = |evidence: &Evidence| {
            let content = attempt.evidence.get(&evidence.hash).map_err(|error| failed(error.to_string()))?;
            // Evidence that only gives the reason why the changes are unknown lists no path.
            Ok::<_, Outcome>(serde_json::from_slice::<Changes>(&content).ok())
        };
        let mut record = TurnRecord::default();
        for outcome in &outcomes {
            record.add(outcome);
            let kept = outcome.evidence.iter().find(|kept| kept.name == CHANGES);
            if let Some(changes) = kept.map(changes).transpose()?.flatten() {
                let by = record.maker(&outcome.activity);
                let mut paths: BTreeSet<PathBuf> = changes.files.into_iter().map(|change| change.path).collect();
                // A tool lists the files that it writes. Others that changed meanwhile are somebody else's.
                if let (Maker::Tool, Some(written)) = (&by, record.written()) {
                    paths.retain(|path| path.to_str().is_none() || written.contains(path));
                }
                record.made.push(Made { by, paths, calls: record.calls.len(), breaches: changes.breaches });
            }
        }
        Ok(record)
    }

    fn add(&mut self, outcome: &PastOutcome) {
        let data = Json::from(&outcome.data);
        let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
        match (outcome.activity.as_str(), outcome.signal.as_deref()) {
            ("judge.step", Some("TOOL_CALL_REQUEST")) => {
                let request = self.calls.last().map_or(0, |call| call.request + 1);
                self.calls.extend(requested(&data, request));
            }
            ("policy.call", Some("DENY")) => self.end(&CallEnd::Refused { code: text("code"), reason: text("reason") }),
            // A question that nobody has answered with a yes. A yes asks policy again.
            ("policy.call", Some("REQUIRE_CONFIRMATION")) => {
                self.end(&CallEnd::Refused { code: "E_POLICY_DENIED".to_owned(), reason: text("reason") });
            }
            ("policy.call", Some("ALLOW")) => self.end(&CallEnd::Open),
            ("tool.call", Some(_)) => self.answered(&data),
            ("tool.call", None) => {
                self.end(&CallEnd::Answered { ok: false, payload: json!({ "error": data }) });
            }
            _ => {}
        }
    }

    /// Ends the calls that were asked for last: one, or several that only read.
    fn end(&mut self, end: &CallEnd) {
        for call in self.last_asked() {
            call.end = end.clone();
        }
    }

    fn answered(&mut self, data: &Json) {
        let end = |result: &Json| CallEnd::Answered { ok: result["ok"] == true, payload: result["payload"].clone() };
        let results = data["payload"]["results"].as_array().filter(|_| data["name"] == "several").cloned();
        let results = results.unwrap_or_else(|| vec![data.clone()]);
        for (call, result) in self.last_asked().iter_mut().zip(&results) {
            call.end = end(result);
        }
    }

    fn last_asked(&mut self) -> &mut [Call] {
        let last = self.calls.last().map(|call| call.request);
        let start = self.calls.iter().position(|call| Some(call.request) == last).unwrap_or_default();
        &mut self.calls[start..]
    }

    /// Returns the paths that the last call says it has written, if it lists them.
    fn written(&self) -> Option<BTreeSet<PathBuf>> {
        let CallEnd::Answered { payload, .. } = &self.calls.last()?.end else { return None };
        let files = payload["files"].as_array()?.iter();
        Some(files.filter_map(|file| Some(PathBuf::from(file["path"].as_str()?))).collect())
    }

    fn maker(&self, activity: &str) -> Maker {
        let last = self.calls.last();
        match (activity, last.map(|call| call.name.as_str())) {
            ("verify.run", _) => Maker::Check,
            ("tool.call", Some("run_terminal_cmd")) => {
                let command = last.and_then(|call| call.args["command"].as_str()).unwrap_or_default();
                Maker::Command(command.to_owned())
            }
            _ => Maker::Tool,
        }
    }

    /// Returns the commands of the model that ended, with their exit codes.
    pub(crate) fn commands(&self) -> Vec<Json> {
        let commands = self.calls.iter().filter(|call| call.name == "run_terminal_cmd");
        let told = commands.filter_map(|call| match &call.end {
            CallEnd::Answered { payload, .. } => {
                Some(json!({ "command": call.args["command"], "exit_code": payload["exit_code"], "by": "model" }))
            }
            _ => None,
        });
        told.collect()
    }

    /// Returns true if a command of the model has passed, and no later call has changed one of these paths.
    pub(crate) fn has_passed_since(&self, line: &str, changed: &BTreeSet<&Path>) -> bool {
        let is_write =
            |made: &&Made| made.by != Maker::Check && made.paths.iter().any(|path| changed.contains(&**path));
        let last_write = self.made.iter().filter(is_write).map(|made| made.calls).max().unwrap_or_default();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_it = |call: &Call| call.args["command"].as_str().is_some_and(|command| words(command) == words(line));
        let has_passed =
            |call: &Call| matches!(&call.end, CallEnd::Answered { payload, .. } if payload["exit_code"] == 0);
        // The last write is the call of this number, which can be the command itself.
        let later = self.calls.iter().skip(last_write.saturating_sub(1));
        later.filter(|call| call.name == "run_terminal_cmd").any(|call| is_it(call) && has_passed(call))
    }

    /// Returns the calls that were refused, each with its code and reason.
    pub(crate) fn refused(&self) -> Vec<Json> {
        let refused = self.calls.iter().filter_map(|call| match &call.end {
            CallEnd::Refused { code, reason } => {
                Some(json!({ "name": call.name, "subject": subject(call), "code": code, "reason": reason }))
            }
            _ => None,
        });
        refused.collect()
    }

    /// Returns the number of calls of writing tools that failed.
    pub(crate) fn failed_writes(&self) -> usize {
        let writes = ["apply_patch", "write_file", "delete_file"];
        let failed = |call: &&Call| matches!(call.end, CallEnd::Answered { ok: false, .. });
        self.calls.iter().filter(|call| writes.contains(&call.name.as_str())).filter(failed).count()
    }

    /// Returns the damage to the repository that was repaired.
    pub(crate) fn breaches(&self) -> Vec<&str> {
        self.made.iter().flat_map(|made| &made.breaches).map(String::as_str).collect()
    }
}

/// Returns the argument of a call that says what it is about.
fn subject(call: &Call) -> &str {
    let names = ["path", "command", "pattern", "query"];
    names.iter().find_map(|name| call.args[*name].as_str()).unwrap_or_default()
}

/// Returns the calls of a request: one, or several that only read.
fn requested(data: &Json, request: usize) -> Vec<Call> {
    let call = |call: &Json| Call {
        name: call["name"].as_str().unwrap_or_default().to_owned(),
        args: call["args"].clone(),
        end: CallEnd::Open,
        request,
    };
    match data["calls"].as_array().filter(|calls| !calls.is_empty()) {
        None => vec![call(data)],
        Some(calls) => calls.iter().map(call).collect(),
    }
}

#[cfg(test)]
mod tests {
    use interlock_chart::Value;

    use super::*;

    fn outcome(activity: &str, signal: &str, data: Json) -> PastOutcome {
        let (activity, signal) = (activity.to_owned(), Some(signal.to_owned()));
        PastOutcome { activity, signal, data: Value::from(data), evidence: Vec::new() }
    }

    fn asked(name: &str, args: Json) -> PastOutcome {
        outcome("judge.step", "TOOL_CALL_REQUEST", json!({ "name": name, "args": args }))
    }

    #[test]
    fn calls_are_folded_with_their_ends() {
        let answered =
            |payload: Json| outcome("tool.call", "TOOL_CALL_RESULT", json!({ "ok": true, "payload": payload }));
        let read = json!({ "name": "read_file", "args": { "path": "a" } });
        let results = json!([{ "ok": true, "payload": {} }, { "ok": false, "payload": {} }]);
        let allow = outcome("policy.call", "ALLOW", json!({ "effect": "write" }));
        let mut record = TurnRecord::default();
        for outcome in [
            asked("write_file", json!({ "path": "/etc/hosts" })),
            outcome("policy.call", "DENY", json!({ "code": "E_POLICY_DENIED", "reason": "no" })),
            asked("run_terminal_cmd", json!({ "command": "make" })),
            // A person is asked and says yes.
            outcome("policy.call", "REQUIRE_CONFIRMATION", json!({ "permissions": [], "reason": "it runs" })),
            allow.clone(),
            answered(json!({ "exit_code": 3 })),
            outcome("judge.step", "TOOL_CALL_REQUEST", json!({ "name": "several", "calls": [read, read] })),
            allow.clone(),
            outcome("tool.call", "TOOL_CALL_RESULT", json!({ "name": "several", "payload": { "results": results } })),
            asked("delete_file", json!({ "path": "b" })),
            // No person could be asked.
            outcome("policy.call", "REQUIRE_CONFIRMATION", json!({ "permissions": [], "reason": "it deletes" })),
        ] {
            record.add(&outcome);
        }
        assert_eq!(record.calls.len(), 5);
        assert_eq!(record.commands(), [json!({ "command": "make", "exit_code": 3, "by": "model" })]);
        let refused: Vec<String> = record
            .refused()
            .iter()
            .map(|call| format!("{} {}", call["name"], call["subject"]).replace('"', ""))
            .collect();
        assert_eq!(refused, ["write_file /etc/hosts", "delete_file b"]);
    }
    #[test]
    fn a_command_counts_if_it_passed_after_the_last_change() {
        let ran = |line: &str, exit_code: i64| {
            let payload = json!({ "exit_code": exit_code });
            let result = json!({ "ok": exit_code == 0, "payload": payload });
            [asked("run_terminal_cmd", json!({ "command": line })), outcome("tool.call", "TOOL_CALL_RESULT", result)]
        };
        let changed: BTreeSet<&Path> = [Path::new("a.c")].into();
        let mut record = TurnRecord::default();
        let passed = |record: &TurnRecord| record.has_passed_since("make lint", &changed);
        let wrote = |record: &TurnRecord, by: Maker| Made {
            by,
            paths: [PathBuf::from("a.c")].into(),
            calls: record.calls.len(),
            breaches: Vec::new(),
        };
        ran("make  lint", 0).iter().for_each(|outcome| record.add(outcome));
        assert!(passed(&record), "nothing was changed since");
        record.add(&asked("write_file", json!({ "path": "a.c" })));
        record.made.push(wrote(&record, Maker::Tool));
        assert!(!passed(&record), "the file was written afterwards");
        ran("make lint", 2).iter().for_each(|outcome| record.add(outcome));
        ran("make lint | tail", 0).iter().for_each(|outcome| record.add(outcome));
        assert!(!passed(&record), "it failed, and another command is not it");
        ran("make lint", 0).iter().for_each(|outcome| record.add(outcome));
        record.made.push(wrote(&record, Maker::Command("make lint".into())));
        assert!(passed(&record), "the command itself may format files");
    }
}
