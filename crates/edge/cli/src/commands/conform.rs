//! `interlock conform`: runs a directory of SCXML cases against the engine.

use std::path::Path;

use interlock_conform::{CaseReport, Report, find, run_all};

use super::Outcome;
use crate::{Exit, failure::Failure, output::Output};

/// Runs all cases below a directory and reports the results.
pub(crate) fn run(folder: &Path, output: &Output) -> Outcome {
    let found = find(folder).map_err(|error| Failure::file("read", folder, &error))?;
    if found.cases.is_empty() && found.broken.is_empty() {
        return Err(Failure::bad_input(format!("there are no cases below {}", folder.display()))
            .hint("a case is a file NAME.scxml with its expectations in NAME.json beside it"));
    }
    let report = run_all(&found, |_| {});
    match output.is_json() {
        true => output.json(&report)?,
        false => output.data(&text(&report, output))?,
    }
    Ok(if report.failed == 0 { Exit::Good } else { Exit::Failed })
}

/// Lists the cases that did not pass, then the counts. Scripts rely on the format of the last line.
fn text(report: &Report, output: &Output) -> String {
    let mut text = String::new();
    for result in ["unsupported", "failed"] {
        let cases = report.cases.iter().filter(|case| case.result == result);
        cases.for_each(|case| text.push_str(&line(case, output)));
    }
    for name in &report.skipped {
        text.push_str(&format!("skipped      {name}: it has no expectations\n"));
    }
    if report.unsupported > 0 {
        text.push_str(&format!("{} unsupported\n", report.unsupported));
    }
    text.push_str(&format!("{} passed, {} failed\n", report.passed, report.failed));
    text
}

fn line(case: &CaseReport, output: &Output) -> String {
    let result = format!("{:<11}", case.result);
    let result = if case.result == "failed" { output.bad(&result) } else { result };
    format!("{result}  {}: {}\n", case.name, case.message.as_deref().unwrap_or_default())
}
