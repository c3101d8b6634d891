//! The diagnostic change of a first round without evidence: prints the arguments and results of the functions that run,
//! so that the next analysis has something to read. The machine takes it back after one run.
//!
//! First all functions that may be changed are observed, which shows those that run at all. The last of them ran just
//! before the output ended, so these are printed in the change that is handed over. A change that does not build, or
//! that prints nothing, is never handed over.

use std::collections::BTreeMap;

use interlock_activity::{Attempt, Outcome};
use interlock_chart::counted;
use interlock_repair::{Function, OBSERVED, Observation, Printer, functions, localise, observe, printers};
use serde_json::json;

use super::{With, look::anywhere, memory::Memory, nothing_after, sight::Sight, trials::Trials};
use crate::{
    bench,
    table::{Done, blocking, failed, keep, signal},
};

/// The number of functions that are observed at first, and in the change.
const OBSERVED_MAX: usize = 60;
const SHOWN_MAX: usize = 4;

/// A function that prints more lines than this hides the others.
const LINES_MAX: usize = 200;

/// The number of lines that the evidence quotes.
const QUOTED_MAX: usize = 40;

/// Makes the diagnostic change in a tree that builds.
pub(super) async fn diagnose(attempt: &Attempt, with: &With, memory: Memory, trials: &mut Trials) -> Done {
    let sight = Sight::of(trials).await?;
    let sources = trials.sources.clone();
    let mut suspects = localise(&sight.coverage, &sight.named);
    if suspects.is_empty() {
        suspects = anywhere(&sources.texts);
    }
    let read_only = sources.kept_from(&with.constraints).map_err(failed)?.into_iter().collect();
    let texts = sources.texts.clone();
    let (all, ways) = blocking(move || {
        let mut all = functions(&texts, &suspects, &read_only);
        all.truncate(OBSERVED_MAX);
        Ok((all, printers(&texts)))
    })
    .await?;
    let ways = match with.test_profile.env_type.as_str() {
        "local" => vec![Printer::StandardError],
        _ => ways,
    };
    let mut why = format!("no way to print was found in {}", counted(sources.texts.len(), "C source", "C sources"));
    for way in ways {
        why = match with_printer(trials, &way, &all).await? {
            Ok((change, ran, lines)) => return handed_over(attempt, memory, trials, &change, ran, &lines).await,
            Err(why) => why,
        };
    }
    Ok(nothing_after(&why, trials.programs, None, super::has_model(trials.settings(), attempt)))
}

type Shown = (Observation, Vec<Function>, Vec<String>);

/// Observes all functions in one way to print, and then those that matter.
async fn with_printer(trials: &mut Trials, way: &Printer, all: &[Function]) -> Result<Result<Shown, String>, Outcome> {
    let Some((first, lines)) = printed(trials, way, all).await? else {
        return Ok(Err("no function that may be changed could be observed".to_owned()));
    };
    let mut ran: Vec<(usize, Function)> = Vec::new();
    for function in all {
        let is_own = |line: &&String| line.split(": ").nth(2).is_some_and(|text| is_about(text, &function.name));
        let own: Vec<usize> =
            lines.iter().enumerate().filter(|(_, line)| is_own(line)).map(|(index, _)| index).collect();
        if let Some(last) = own.last().filter(|_| own.len() <= LINES_MAX) {
            ran.push((*last, function.clone()));
        }
    }
    ran.sort_by_key(|(last, _)| std::cmp::Reverse(*last));
    let ran: Vec<Function> = ran.into_iter().map(|(_, function)| function).take(SHOWN_MAX).collect();
    if ran.is_empty() {
        return Ok(Err("no function that may be changed runs before the output ends".to_owned()));
    }
    if ran.len() == all.len() {
        // An image that has run is not run again.
        return Ok(Ok((first, ran, lines)));
    }
    match printed(trials, way, &ran).await? {
        Some((change, lines)) if !lines.is_empty() => Ok(Ok((change, ran, lines))),
        _ => Ok(Err("the functions that run could not be observed".to_owned())),
    }
}

fn is_about(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|rest| rest.starts_with('(') || rest.starts_with(" = "))
}

/// Builds and runs the tree with observed functions; returns the change and the lines that it printed.
async fn printed(
    trials: &mut Trials,
    way: &Printer,
    of: &[Function],
) -> Result<Option<(Observation, Vec<String>)>, Outcome> {
    let (texts, way, of) = (trials.sources.texts.clone(), way.clone(), of.to_vec());
    let Some(change) = blocking(move || Ok(observe(&texts, &way, &of))).await? else { return Ok(None) };
    let came = trials.try_edits(&change.edits).await?;
    if !came.trial.built {
        return Ok(None);
    }
    let session = trials.open.session.clone();
    let lines = blocking(move || Ok(observed_lines(&bench::printed(&session)?))).await?;
    Ok(Some((change, lines)))
}

fn observed_lines(texts: &[String]) -> Vec<String> {
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.filter_map(|line| line.find(OBSERVED).map(|at| line[at..].trim_end().to_owned())).collect()
}

async fn handed_over(
    attempt: &Attempt,
    memory: Memory,
    trials: &Trials,
    change: &Observation,
    ran: Vec<Function>,
    lines: &[String],
) -> Done {
    let places: BTreeMap<String, Vec<(usize, usize)>> = ran.iter().fold(BTreeMap::new(), |mut places, one| {
        places.entry(one.path.clone()).or_insert_with(Vec::new).push(one.lines);
        places
    });
    memory.observe(places).await?;
    let names = ran.iter().map(|one| format!("`{}`", one.name)).collect::<Vec<_>>().join(", ");
    let told = json!({ "functions": ran.iter().map(|one| json!({ "path": one.path, "name": one.name })).collect::<Vec<_>>(), "lines": lines.iter().take(QUOTED_MAX).collect::<Vec<_>>() });
    let evidence = keep(attempt, "observed", "application/json", format!("{told:#}\n").into_bytes()).await?;
    let data = json!({
        "patch": change.patch,
        "confidence": 0.0,
        "summary": format!("by template, a diagnostic change: it prints what {names} get and return"),
        "programs_ms": bench::milliseconds(trials.programs),
    });
    Ok(signal("patch_generated", data).with([evidence]))
}
