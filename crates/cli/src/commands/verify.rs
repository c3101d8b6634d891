//! `interlock verify`: whether runs are what was written.

use interlock_chart::counted;
use interlock_journal::{Engine as _, Filter, Head};
use interlock_runtime::{Problem, verify};
use serde_json::json;

use super::Outcome;
use crate::{Exit, failure::Failure, output::Output, store::Store};

/// Verifies the runs named, or all there are.
pub(crate) fn run(runs: &[String], output: &Output) -> Outcome {
    let store = Store::open()?;
    let heads = match runs {
        [] => store.journal.list(&Filter::default())?,
        _ => runs.iter().map(|run| store.find(run)).collect::<Result<_, _>>()?,
    };
    let mut checked = Vec::new();
    for head in &heads {
        let problems = verify(&*store.engine(), head).map_err(Failure::from)?;
        if !output.is_json() {
            output.data(&text(head, &problems, output))?;
        }
        checked.push((head, problems));
    }
    if output.is_json() {
        let row = |(head, problems): &(&Head, Vec<Problem>)| json!({ "run": head.name, "ok": problems.is_empty(), "records": head.seq, "problems": problems });
        output.json(&checked.iter().map(row).collect::<Vec<_>>())?;
    }
    let is_good = checked.iter().all(|(_, problems)| problems.is_empty());
    Ok(if is_good { Exit::Good } else { Exit::Failed })
}

fn text(head: &Head, problems: &[Problem], output: &Output) -> String {
    if problems.is_empty() {
        let records = counted(head.seq, "record as it was written", "records as they were written");
        return format!("{} {}: {records}\n", output.green("✓"), head.name);
    }
    let mut text = format!("{} {}: not what was written\n", output.bad("✗"), head.name);
    for problem in problems {
        let record = problem.seq.map(|seq| format!("record {seq}: ")).unwrap_or_default();
        text.push_str(&format!("  {record}{}\n", problem.what));
    }
    text
}
