//! Runs one case: imports the document, runs it, compares.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use interlock_chart::{Chart, Diagnostic, Severity, Value, yaml};
use interlock_core::Machine;
use interlock_exchange::{self as exchange, Format};

use crate::{
    ConformanceCase, Expectation, Step, Verdict, beside,
    case::PASS,
    compare::{listed, places, same},
    queue,
    simulation::{NoRest, Simulation, TIMERS_FIRED_MAX},
};

/// The code prefix of problems in expressions; a document with such problems needs more than CEL.
const EXPRESSION_PROBLEMS: &str = "E03";

/// Runs a case and returns the verdict.
pub fn run(case: &ConformanceCase) -> Verdict {
    match load(&case.scxml) {
        Ok((chart, renamed)) => {
            let machine = Machine::new(Arc::new(chart));
            match compare(&machine, &renamed, &case.expectation) {
                Ok(()) => Verdict::Passed,
                Err(why) => match &case.otherwise {
                    Some(otherwise) if compare(&machine, &renamed, otherwise).is_ok() => {
                        Verdict::Unsupported(format!("it expects other semantics than W3C's: {why}"))
                    }
                    _ => Verdict::Failed(why),
                },
            }
        }
        Err(verdict) => verdict,
    }
}

/// The chart, and a map from our names to the document's for names that had to be changed.
fn load(scxml: &Path) -> Result<(Chart, BTreeMap<String, String>), Verdict> {
    let text = std::fs::read_to_string(scxml).map_err(|error| Verdict::Failed(error.to_string()))?;
    let file_name = scxml.file_name().unwrap_or_default().to_string_lossy();
    let files = beside::files(&text, scxml);
    let imported = exchange::import_with(&text, Some(Format::Scxml), &file_name, &files).map_err(|problems| {
        let why = first_error(&problems);
        if exchange::is_unsupported(&problems) { Verdict::Unsupported(why) } else { Verdict::Failed(why) }
    })?;
    let reading = yaml::read(&yaml::write(&imported.file));
    match reading.chart {
        Some(mut chart) => {
            queue::send_later(&mut chart);
            Ok((chart, imported.renamed))
        }
        None => Err(refused(&reading.diagnostics)),
    }
}

fn refused(problems: &[Diagnostic]) -> Verdict {
    let mut errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    let why = first_error(problems);
    match errors.all(|problem| problem.code.starts_with(EXPRESSION_PROBLEMS)) {
        true => Verdict::Unsupported(why),
        false => Verdict::Failed(why),
    }
}

fn first_error(problems: &[Diagnostic]) -> String {
    let error = problems.iter().find(|problem| problem.severity == Severity::Error);
    error.map_or_else(|| "it cannot be read".to_owned(), |error| format!("{}: {}", error.code, error.message))
}

fn compare(machine: &Machine, renamed: &BTreeMap<String, String>, expectation: &Expectation) -> Result<(), String> {
    let mut run = Simulation::start(machine, Value::empty());
    match expectation {
        Expectation::Pass => ends_in_pass(&mut run, renamed),
        Expectation::Configurations { initial, steps } => {
            if let Some(initial) = initial {
                // Cases made from self-checking documents name the final state, however long the document takes to
                // reach it.
                if steps.is_empty() && initial.as_slice() == [PASS] {
                    return ends_in_pass(&mut run, renamed);
                }
                same("at the start", initial, &places(&run, renamed))?;
            }
            (1..).zip(steps).try_for_each(|(at, step)| take(&mut run, renamed, at, step))
        }
    }
}

fn take(run: &mut Simulation<'_>, renamed: &BTreeMap<String, String>, at: u32, step: &Step) -> Result<(), String> {
    queue::settle(run).map_err(restless)?;
    run.advance(step.after).map_err(restless)?;
    run.send(&step.event.name, step.event.data.clone());
    same(&format!("after event {at}, `{}`", step.event.name), &step.next_configuration, &places(run, renamed))
}

fn ends_in_pass(run: &mut Simulation<'_>, renamed: &BTreeMap<String, String>) -> Result<(), String> {
    run.advance_to_end().map_err(restless)?;
    let places = places(run, renamed);
    if run.state().is_done() && places.contains(PASS) {
        return Ok(());
    }
    let verb = if run.state().is_done() { "ended" } else { "came to rest" };
    Err(format!("{verb} in {}, not in the final state `{PASS}`", listed(&places)))
}

fn restless(_: NoRest) -> String {
    format!("no rest after {TIMERS_FIRED_MAX} delayed events")
}
