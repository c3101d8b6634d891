//! Turns the output of the starts into one result: measured, compared with the baseline, and compact enough for the
//! run's data.

use std::{collections::BTreeMap, path::Path};

use interlock_activity::{Attempt, Outcome};
use interlock_chart::counted;
use interlock_journal::{Evidence, Hash};
use interlock_repair::OBSERVED;
use interlock_test_results::{self as results, Format, Measured, Parsed, Status, Verdict, Wanted};
use interlock_testbench::{Ran, Session, Stop, fault};
use serde_json::{Value, json};

use crate::table::failed;

/// The number of cases that a compact result carries; the evidence has all of them.
const CASES_MAX: usize = 40;

/// The number of logs that an analysis reads.
const LOGS_TELLING: usize = 6;

/// The number of bytes at the end of a log from which results are read.
const LOG_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Measures the starts of a session and compares them with the untouched tree.
pub(crate) fn measure(session: &Session, before: Option<&Measured>) -> Result<Measured, Outcome> {
    let ran = session.ran().map_err(failed)?;
    let format = format(session)?;
    let read: Vec<(Parsed, &Ran)> = ran.iter().map(|(folder, ran)| (parsed(&format, folder, ran), ran)).collect();
    let (expected, targets) = wanted(session, before);
    Ok(results::measure_wanted(&read, Wanted { expected: &expected, targets: &targets, baseline: before }))
}

/// Returns the cases that must be reported and those that must pass, without the flaky cases of the untouched tree,
/// which decide nothing.
fn wanted(session: &Session, before: Option<&Measured>) -> (Vec<String>, Vec<String>) {
    let profile = &session.profile;
    let flaky: Vec<&str> = before.iter().flat_map(|it| &it.flaky).map(|flaky| flaky.case_id.as_str()).collect();
    let (mut expected, mut targets) = (profile.cases.clone(), profile.targets.clone());
    if flaky.is_empty() {
        return (expected, targets);
    }
    if targets.is_empty() {
        let all = before.iter().flat_map(|before| &before.cases).map(|case| case.case.case_id.clone());
        targets = all.collect();
    }
    let is_stable = |name: &String| results::meant(name, flaky.iter().copied()).is_empty();
    expected.retain(is_stable);
    targets.retain(is_stable);
    (expected, targets)
}

/// Parses one start from a directory other than the regular results directory.
pub(super) fn parsed_in(session: &Session, folder: &Path, ran: &Ran) -> Result<Parsed, Outcome> {
    Ok(parsed(&format(session)?, folder, ran))
}

fn format(session: &Session) -> Result<Format, Outcome> {
    Format::configured(&session.profile.format, &session.profile.config).map_err(|wrong| failed(wrong.join("; ")))
}

fn parsed(format: &Format, folder: &Path, ran: &Ran) -> Parsed {
    let (mut texts, others) = texts(folder, ran);
    if ran.stop == Stop::Limited {
        // The limit cut off the last line.
        texts.iter_mut().for_each(|text| text.truncate(text.rfind('\n').map_or(0, |end| end + 1)));
    }
    results::read(format, &borrowed(&texts), &borrowed(&others))
}

/// Returns the texts of a start that contain results, and its other texts.
fn texts(folder: &Path, ran: &Ran) -> (Vec<String>, Vec<String>) {
    let read =
        |files: &[std::path::PathBuf]| -> Vec<String> { files.iter().map(|file| text(&folder.join(file))).collect() };
    let (reports, mut logs) = (read(&ran.reports), read(&ran.logs));
    match reports.is_empty() {
        true => {
            let others = logs.split_off(logs.len().min(1));
            (logs, others)
        }
        false => (reports, logs),
    }
}

/// Returns a message if the results are not in the stated format but can be read in another one.
pub(crate) fn misread(session: &Session) -> Result<Option<String>, Outcome> {
    let said = format(session)?;
    for (folder, ran) in session.ran().map_err(failed)? {
        if let Some((format, count)) = results::really(&said, &borrowed(&texts(&folder, &ran).0)) {
            let (said, real) = (said.name(), format.name());
            let cases = counted(count, "case", "cases");
            return Ok(Some(format!(
                "`test_profile.format`: as `{said}` the tests report no case, as `{real}` {cases}"
            )));
        }
    }
    Ok(None)
}

fn borrowed(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn text(path: &Path) -> String {
    let content = interlock_beneath::whole::read(path, super::FILE_BYTES_MAX).unwrap_or_default();
    results::text(&content[content.len().saturating_sub(LOG_BYTES_MAX)..])
}

/// Returns everything that the starts of a session printed.
pub(crate) fn printed(session: &Session) -> Result<Vec<String>, Outcome> {
    let ran = session.ran().map_err(failed)?;
    Ok(ran.iter().flat_map(|(folder, ran)| ran.logs.iter().map(|log| text(&folder.join(log)))).collect())
}

/// Reports whether a piece of a log reports a case.
pub(crate) fn reports_a_case(session: &Session, text: &str) -> bool {
    let is_reported = |case: &results::CaseResult| case.status != Status::Missing;
    format(session).is_ok_and(|format| results::parse(&format, text).cases.iter().any(is_reported))
}

/// Returns the cases that one start ran.
pub(crate) fn reported(session: &Session, ran: &Ran) -> Result<Vec<String>, Outcome> {
    let folder = session.run_folder(&ran.start).map_err(failed)?;
    let cases = parsed(&format(session)?, &folder, ran).cases.into_iter();
    let has_run = cases.filter(|case| !matches!(case.status, Status::Missing | Status::Skipped));
    Ok(has_run.map(|case| case.case_id).collect())
}

/// Reports whether the result of one start gives no reason to run it again.
pub(super) fn went_well(session: &Session, ran: &Ran) -> bool {
    let (Ok(format), Ok(folder)) = (format(session), session.run_folder(&ran.start)) else { return true };
    let read = [(parsed(&format, &folder, ran), ran)];
    results::measure_wanted(&read, Wanted::default()).verdict == Verdict::Pass
}

/// Reads the measurement of the untouched tree from the baseline's evidence; `None` if the tree could not be built or
/// run.
pub(crate) fn baseline(attempt: &Attempt, hash: &str) -> Result<Option<Measured>, Outcome> {
    let Some(hash) = Hash::from_hex(hash) else { return Ok(None) };
    let text = attempt.evidence.get(&hash).map_err(failed)?;
    let value: Value = serde_json::from_slice(&text).map_err(failed)?;
    serde_json::from_value(value.get("measured").cloned().unwrap_or(Value::Null)).map_err(failed)
}

/// Returns the cases that passed before and no longer pass. Flaky cases are left out.
pub(crate) fn regressions(measured: &Measured, before: Option<&Measured>) -> Vec<String> {
    let passed = |measured: &Measured, id: &str| {
        measured.cases.iter().any(|case| case.case.case_id == id && case.case.status == Status::Passed)
    };
    let flaky = || measured.flaky.iter().chain(before.iter().flat_map(|before| &before.flaky));
    let is_flaky = |id: &str| flaky().any(|flaky| flaky.case_id == id);
    let of_before = before.iter().flat_map(|before| &before.cases).filter(|case| case.case.status == Status::Passed);
    let ids = of_before.map(|case| case.case.case_id.as_str());
    ids.filter(|id| !passed(measured, id) && !is_flaky(id)).map(str::to_owned).collect()
}

/// Counts the passing cases among those that must pass. Cases that are flaky on the untouched tree do not count: they
/// may pass by luck.
pub(crate) fn passed_targets(measured: &Measured, before: Option<&Measured>, targets: &[String]) -> usize {
    let ids = || measured.cases.iter().map(|case| case.case.case_id.as_str());
    let is_flaky = |id: &str| before.iter().flat_map(|it| &it.flaky).any(|flaky| flaky.case_id == id);
    let is_target = |id: &str| {
        let is_named = targets.is_empty() || targets.iter().any(|name| results::meant(name, ids()).contains(&id));
        is_named && !is_flaky(id)
    };
    let passed = measured.cases.iter().filter(|case| case.case.status == Status::Passed);
    passed.filter(|case| is_target(&case.case.case_id)).count()
}

/// Returns the compact result that a run carries in its data: the figures and the cases that did not pass.
/// `telling` are the logs that say more than the cases do.
pub(crate) fn compact(
    measured: &Measured,
    before: Option<&Measured>,
    targets: &[String],
    (all, telling): (&Evidence, &[Evidence]),
) -> Value {
    let bad = measured.cases.iter().filter(|case| case.case.status != Status::Passed);
    let cases: Vec<Value> = bad.take(CASES_MAX).map(|case| serde_json::to_value(case).unwrap_or(Value::Null)).collect();
    json!({
        "verdict": measured.verdict,
        "exit_code": measured.exit_code,
        "total_tests": measured.total_tests,
        "passed_tests": measured.passed_tests,
        "failed_tests": measured.failed_tests,
        "skipped_tests": measured.skipped_tests,
        "missing_tests": measured.missing_tests,
        "passed_targets": passed_targets(measured, before, targets),
        "regressions": regressions(measured, before),
        "cases": cases,
        "flaky": measured.flaky,
        "metrics": measured.metrics,
        "fault": measured.fault,
        "doubts": measured.doubts,
        "reasons": measured.reasons.iter().take(10).collect::<Vec<_>>(),
        "artifacts": telling.iter().map(|log| log.hash.to_string()).collect::<Vec<_>>(),
        "evidence_refs": [all.hash.to_string()],
    })
}

/// Returns the logs that an analysis reads beside the cases: all of a program that reports no case, and otherwise those
/// with the observations of a diagnostic change.
pub(crate) fn telling(attempt: &Attempt, measured: &Measured, logs: &[Evidence]) -> Vec<Evidence> {
    let is_silent = measured.cases.iter().all(|case| case.case.status == Status::Missing);
    let is_observed = |log: &Evidence| {
        let content = attempt.evidence.get(&log.hash).unwrap_or_default();
        content.windows(OBSERVED.len()).any(|part| part == OBSERVED.as_bytes())
    };
    logs.iter().filter(|log| is_silent || is_observed(log)).take(LOGS_TELLING).cloned().collect()
}

/// Returns the signal that a verdict sends to the machine.
pub(super) fn signal_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "tests_passed",
        Verdict::Fail => "tests_failed",
        Verdict::Inconclusive => "tests_inconclusive",
        Verdict::Flaky => "tests_flaky",
        Verdict::EnvError => "environment_broken",
    }
}

/// Summarizes a result in one line.
pub(crate) fn summary(measured: &Measured) -> String {
    let why = measured.reasons.first().map(String::as_str).unwrap_or_default();
    format!("{} of {} cases pass: {why}", measured.passed_tests, measured.total_tests + measured.missing_tests)
}

/// Returns the section sizes of the image, if its format contains them.
pub(crate) fn sizes(session: &Session) -> BTreeMap<String, f64> {
    let Some(sizes) = session.image.as_deref().and_then(|image| fault::sizes(image).ok()) else {
        return BTreeMap::new();
    };
    let figures = [("text", sizes.text), ("data", sizes.data), ("bss", sizes.bss)];
    figures.into_iter().map(|(name, bytes)| (name.to_owned(), bytes as f64)).collect()
}
