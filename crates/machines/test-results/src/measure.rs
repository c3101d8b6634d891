//! Combines several starts and repetitions into the measured result of a round, with its verdict.
//!
//! A PASS has the strictest conditions: every start ended by itself with code 0, there is a summary if the format has
//! one, every expected case and every case of the baseline is reported and ran, the output contains no fault, there
//! is no doubt, and there is at least one case. `start.rs` interprets one start, `votes.rs` combines repetitions,
//! `verdict.rs` decides.

mod start;
mod verdict;
mod votes;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::start::StartResult;
use crate::{CaseResult, Fault, Flaky, Parsed, Ran, Status, Stop, file_name, names::meant};

/// The measurement, without a judgement. Its JSON schema is `machines/firmware/schemas/test_result.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The verdict of the measurement.
    pub verdict: Verdict,
    /// The first exit code that is not 0; -1 if a start did not end by itself or at its limit.
    pub exit_code: i64,
    /// The number of reported cases.
    pub total_tests: usize,
    /// The number of cases that passed.
    pub passed_tests: usize,
    /// The number of cases that failed, crashed or timed out.
    pub failed_tests: usize,
    /// The number of skipped cases.
    pub skipped_tests: usize,
    /// The number of cases that were announced, expected or in the baseline, and were not reported. They do not count
    /// in `total_tests`.
    #[serde(default)]
    pub missing_tests: usize,
    /// Every case, once, including the missing ones.
    pub cases: Vec<MeasuredCase>,
    /// Cases whose repetitions differ.
    #[serde(default)]
    pub flaky: Vec<Flaky>,
    /// Figures by name: `duration_ms` of one complete run, `starts`, and `covered_lines` if coverage was recorded.
    pub metrics: BTreeMap<String, f64>,
    /// The first fault at any place of the output; empty without one.
    pub fault: String,
    /// All faults, with their details.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// The files of the starts, prefixed with the start's directory.
    pub artifacts: Vec<String>,
    /// The reasons not to trust the result.
    #[serde(default)]
    pub doubts: Vec<String>,
    /// The reasons for the verdict, the decisive one first.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Additional notes that are no reason for doubt.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One case with the start that reported it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredCase {
    /// The result of the case.
    #[serde(flatten)]
    pub case: CaseResult,
    /// The start that reported the case; empty if none did.
    #[serde(default)]
    pub start: String,
}

/// The verdict of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// Every required case was reported and passed.
    Pass,
    /// The firmware is at fault.
    Fail,
    /// No conclusion is possible: too little was reported.
    Inconclusive,
    /// The same image gave different results.
    Flaky,
    /// The environment failed, so the result is no statement about the firmware.
    EnvError,
}

/// The requirements that a measurement is compared with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// The cases that must be reported; names as [`meant`] resolves them.
    pub expected: &'a [String],
    /// The cases that must pass; all if empty. If there are targets, a case that failed in the baseline and is no
    /// target is ignored.
    pub targets: &'a [String],
    /// The measurement of the untouched tree: each of its cases must be reported again.
    pub baseline: Option<&'a Measured>,
}

/// Measures the starts if every case must pass.
pub fn measure(ran: &[(Parsed, &Ran)], expected: &[String], baseline: Option<&Measured>) -> Measured {
    measure_wanted(ran, Wanted { expected, targets: &[], baseline })
}

/// Measures the starts and compares them with the requirements.
pub fn measure_wanted(ran: &[(Parsed, &Ran)], wanted: Wanted<'_>) -> Measured {
    let shown: Vec<StartResult> = ran.iter().map(|(parsed, how)| StartResult::new(parsed, how, wanted, ran)).collect();
    let (mut cases, flaky, mut notes) = votes::count(&shown);
    cases.extend(unreported(&cases, wanted));
    let found = verdict::findings(&shown, &cases, &flaky, wanted);
    notes.extend(ran.iter().flat_map(|(parsed, _)| parsed.notes.iter().cloned()));
    dedup(&mut notes);
    let faults = unique_faults(&shown);
    let count = |is: fn(Status) -> bool| cases.iter().filter(|case| is(case.case.status)).count();
    let missing_tests = count(|status| status == Status::Missing);
    let mut doubts: Vec<String> = shown.iter().flat_map(|shown| shown.doubts.iter().cloned()).collect();
    dedup(&mut doubts);
    Measured {
        verdict: found.verdict,
        exit_code: exit_code(ran),
        total_tests: cases.len() - missing_tests,
        passed_tests: count(|status| status == Status::Passed),
        failed_tests: count(Status::is_bad),
        skipped_tests: count(|status| status == Status::Skipped),
        missing_tests,
        flaky,
        metrics: metrics(ran),
        fault: faults.first().map(|fault| fault.banner.clone()).unwrap_or_default(),
        faults,
        artifacts: artifacts(ran),
        doubts,
        reasons: found.reasons,
        notes,
        cases,
    }
}

/// Returns the cases that were expected or are in the baseline, and that no start reported.
fn unreported(cases: &[MeasuredCase], wanted: Wanted<'_>) -> Vec<MeasuredCase> {
    let mut missing: Vec<MeasuredCase> = Vec::new();
    let mut add = |name: &str, start: &str, message: &str| {
        let known = || cases.iter().chain(&missing).map(|case| case.case.case_id.as_str());
        if meant(name, known()).is_empty() {
            let mut case = CaseResult::new(name, Status::Missing);
            case.message = message.to_owned();
            missing.push(MeasuredCase { case, start: start.to_owned() });
        }
    };
    let before = wanted.baseline.map(|baseline| baseline.cases.as_slice()).unwrap_or_default();
    for case in before.iter().filter(|case| case.case.status != Status::Missing) {
        add(&case.case.case_id, &case.start, "it is in the baseline, and not reported now");
    }
    for name in wanted.expected.iter().chain(wanted.targets) {
        add(name, "", "it is expected, and not reported");
    }
    missing
}

fn unique_faults(shown: &[StartResult]) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    for fault in shown.iter().flat_map(|shown| &shown.faults) {
        if !faults.contains(fault) {
            faults.push(fault.clone());
        }
    }
    faults
}

fn exit_code(ran: &[(Parsed, &Ran)]) -> i64 {
    let codes = || ran.iter().map(|(_, ran)| ran.stop.code());
    match codes().find(|code| *code > 0) {
        Some(code) => code,
        None => codes().find(|code| *code != 0).unwrap_or(if ran.is_empty() { -1 } else { 0 }),
    }
}

fn metrics(ran: &[(Parsed, &Ran)]) -> BTreeMap<String, f64> {
    let mut metrics =
        BTreeMap::from([("duration_ms".to_owned(), duration_ms(ran)), ("starts".to_owned(), ran.len() as f64)]);
    let lines: BTreeSet<(&String, &u32)> = ran
        .iter()
        .flat_map(|(_, ran)| ran.coverage.iter().flat_map(|(file, lines)| lines.iter().map(move |line| (file, line))))
        .collect();
    if !lines.is_empty() {
        metrics.insert("covered_lines".to_owned(), lines.len() as f64);
    }
    metrics
}

/// Returns the duration of one complete run: repeated starts count with their mean, so that figures are comparable
/// for any number of repetitions.
fn duration_ms(ran: &[(Parsed, &Ran)]) -> f64 {
    let mut by_start: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (_, ran) in ran {
        let (sum, number) = by_start.entry(&ran.start.id).or_default();
        (*sum, *number) = (*sum + ran.duration_ms as f64, *number + 1.0);
    }
    by_start.values().map(|(sum, number)| sum / number).sum::<f64>().round()
}

fn artifacts(ran: &[(Parsed, &Ran)]) -> Vec<String> {
    let of_one = |ran: &Ran| {
        // This is the directory name that the session gives to a start.
        let folder = format!("{}-{}", file_name(&ran.start.id), ran.start.repetition);
        let files = ran.logs.iter().chain(&ran.reports).chain(&ran.artifacts);
        files.map(|file| format!("{folder}/{}", file.display())).collect::<Vec<_>>()
    };
    ran.iter().flat_map(|(_, ran)| of_one(ran)).collect()
}

/// Removes duplicate texts and keeps their order.
fn dedup(texts: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(text.clone()));
}
