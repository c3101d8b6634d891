//! The failures of a run: commands, test cases and activities, each with its message and its place.

use interlock_activity::report::{
    Claim, Part, RecordedRun, RunRecord,
    reading::{list, text},
};
use interlock_journal::{AttemptResult, Entry};
use interlock_test_results::{self as results, Format};
use interlock_triage::classify;
use serde_json::{Value as Json, json};

use super::commands::Executed;

/// The most failures that a report lists.
const LISTED_MAX: usize = 50;

/// The most findings that the log of one command adds.
const FINDINGS_MAX: usize = 5;

/// The longest message that is shown.
const MESSAGE_CHARS_MAX: usize = 200;

/// Evidence that holds the parsed results of tests.
const RESULTS: [&str; 2] = ["test_result", "baseline"];

/// A failure of a command, a test case or an activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failing {
    /// The record that contains the failure.
    pub(super) seq: u64,
    /// The state in which it failed.
    pub(super) state: String,
    /// The name of the test case, the command or the activity.
    pub(super) what: String,
    pub(super) message: String,
    /// The place as `file:line`; empty if it is not known.
    pub(super) place: String,
    /// The record in which the same command passed later.
    pub(super) passed_in: Option<u64>,
}

/// Returns every failure of a run, oldest first. If a command failed several times in a state, only the last failure
/// counts.
pub(super) fn of(run: &RecordedRun, commands: &[Executed]) -> Vec<Failing> {
    let mut found: Vec<Failing> = run.records.iter().flat_map(|record| without_command(run, record)).collect();
    // A failed try of an agent or a model is not a failure of the run.
    let commands: Vec<&Executed> = commands.iter().filter(|one| one.command.claim != Claim::Nothing).collect();
    for (at, one) in commands.iter().enumerate().filter(|(_, one)| has_failed(one)) {
        let is_same = |it: &&&Executed| it.state == one.state && it.command.command == one.command.command;
        let passed_in = match commands[at + 1..].iter().find(is_same) {
            Some(next) if has_failed(next) => continue,
            next => next.map(|next| next.seq),
        };
        found.extend(command(run, one, passed_in));
    }
    found.sort_by_key(|failing| failing.seq);
    found
}

/// Returns true if a command failed, or if its output reports failures although it ended as a success. A check that passes
/// and proves nothing has not failed.
fn has_failed(one: &Executed) -> bool {
    !one.command.has_passed || !one.command.is_check() && one.command.objection.is_some()
}

/// Returns the failures that the output of a command names: test cases, or else findings of the log, or else its last
/// line.
fn command(run: &RecordedRun, one: &Executed, passed_in: Option<u64>) -> Vec<Failing> {
    let output = output(run, one);
    let name = match one.command.has_passed {
        true => format!("a test of `{}`", one.command.command),
        false => format!("`{}`", one.command.command),
    };
    let failing = |what: &str, message: &str, place: String| Failing {
        seq: one.seq,
        state: one.state.clone(),
        what: what.to_owned(),
        message: shortened(message),
        place,
        passed_in,
    };
    let cases = results::parse(&Format::Auto, &output).cases.into_iter().filter(|case| case.status.is_bad());
    let cases = cases.map(|case| {
        let message = if case.message.is_empty() { case.status.name() } else { &case.message };
        let place = case.location.map(|at| format!("{}:{}", at.file, at.line));
        failing(&case.case_id, message, place.or_else(|| place_in(&case.message)).unwrap_or_default())
    });
    let cases: Vec<Failing> = cases.collect();
    if !cases.is_empty() {
        return cases;
    }
    let named = classify(&output).into_iter().filter(|finding| finding.file.is_some()).take(FINDINGS_MAX);
    let named: Vec<Failing> =
        named.map(|finding| failing(&name, &finding.cause, finding.place().unwrap_or_default())).collect();
    match named.is_empty() {
        false => named,
        true => {
            let place = output.lines().find_map(place_in).unwrap_or_default();
            vec![failing(&name, &one.command.message, place)]
        }
    }
}

fn output(run: &RecordedRun, one: &Executed) -> String {
    let files = one.evidence.iter().filter(|file| ["stdout", "stderr"].contains(&&*file.name));
    files.filter_map(|file| run.text(file)).collect::<Vec<_>>().join("\n")
}

/// Returns the failures of a record that ran no command: an activity that ended with an error, and the cases of parsed
/// results.
fn without_command(run: &RecordedRun, record: &RunRecord) -> Vec<Failing> {
    let Some(activity) = &record.activity else { return Vec::new() };
    let failing = |what: &str, message: &str, place: String| Failing {
        seq: record.seq,
        state: activity.state.clone(),
        what: what.to_owned(),
        message: shortened(message),
        place,
        passed_in: None,
    };
    let is_command =
        record.account.iter().flat_map(|account| &account.commands).any(|command| command.claim != Claim::Nothing);
    match &record.entry {
        Entry::Outcome { result: AttemptResult::Error { data }, by, .. } if !is_command || by.is_some() => {
            let data = Json::from(data);
            let said = [text(&data["code"]), text(&data["message"])];
            let said: Vec<String> = said.into_iter().filter(|part| !part.is_empty()).collect();
            vec![failing(&activity.name, &said.join(": "), String::new())]
        }
        Entry::Outcome { result: AttemptResult::Signal { data, .. }, evidence, .. } => {
            let said = reported(&Json::from(data)).map(|message| failing(&activity.name, &message, String::new()));
            let results = evidence.iter().filter(|file| RESULTS.contains(&&*file.name));
            let results = results.filter_map(|file| serde_json::from_str::<Json>(&run.text(file)?).ok());
            let cases = results.flat_map(|result| bad_cases(&result));
            said.into_iter().chain(cases.map(|(id, message, place)| failing(&id, &message, place))).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the failure that an activity reports with its signal: a `failure` for which it found a way out, or the
/// `summary` of something that `failed`.
fn reported(data: &Json) -> Option<String> {
    let summary = data["summary"].as_str().filter(|_| data["failed"] == Json::Bool(true));
    data["failure"].as_str().or(summary).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns the failed cases of parsed results: name, message, place.
fn bad_cases(result: &Json) -> Vec<(String, String, String)> {
    let cases = list(&result["cases"]).chain(list(&result["measured"]["cases"]));
    let bad =
        cases.filter(|case| matches!(case["status"].as_str(), Some("failed" | "crashed" | "timeout" | "missing")));
    bad.map(|case| {
        let (message, at) = (text(&case["message"]), &case["location"]);
        let place = at["file"].as_str().map(|file| format!("{file}:{}", at["line"])).unwrap_or_default();
        (text(&case["case_id"]), if message.is_empty() { text(&case["status"]) } else { message }, place)
    })
    .collect()
}

/// Returns the first `file:line` in a line of text. A file name must contain a dot, so that times and addresses do not
/// match.
fn place_in(line: &str) -> Option<String> {
    line.split_whitespace().find_map(|word| {
        let mut parts = word.trim_matches(|letter: char| "()[]'\"`,;".contains(letter)).split(':');
        let (file, number) = (parts.next()?, parts.next()?);
        let is_file = file.rsplit('/').next()?.contains('.') && file.chars().any(char::is_alphabetic);
        let is_line = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_file && is_line).then(|| format!("{file}:{number}"))
    })
}

fn shortened(message: &str) -> String {
    let line = message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Returns the failures as a table.
pub(super) fn table(failing: &[Failing]) -> Vec<Part> {
    let row = |one: &Failing| {
        let later = one.passed_in.map_or("no".to_owned(), |seq| format!("yes, record {seq}"));
        vec![one.seq.to_string(), one.state.clone(), one.what.clone(), one.message.clone(), one.place.clone(), later]
    };
    let rows = failing.iter().take(LISTED_MAX).map(row).collect();
    let head = ["record", "state", "failure", "message", "place", "passed later"];
    let more = failing.len().saturating_sub(LISTED_MAX);
    let more = (more > 0).then(|| Part::Text(format!("{more} more failures are in the evidence.")));
    Part::table(&head, rows).into_iter().chain(more).collect()
}

/// Returns the failures as JSON.
pub(super) fn json(failing: &[Failing]) -> Json {
    let one = |one: &Failing| {
        json!({
            "seq": one.seq, "state": one.state, "what": one.what, "message": one.message, "place": one.place,
            "passed_in": one.passed_in,
        })
    };
    failing.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::{place_in, shortened};

    #[test]
    fn a_place_is_a_file_with_a_line() {
        let check = |line: &str, place: Option<&str>| assert_eq!(place_in(line).as_deref(), place, "{line}");
        check("test.sh:12: expected 4, got 5", Some("test.sh:12"));
        check("  at (src/add.js:3:17)", Some("src/add.js:3"));
        check("12:30:01 started 127.0.0.1:80", None);
        check("http://localhost:80 is down", None);
    }

    #[test]
    fn a_message_is_one_line() {
        assert_eq!(shortened("\n  first \nsecond"), "first");
        assert_eq!(shortened(&"x".repeat(300)).chars().count(), 201);
    }
}
