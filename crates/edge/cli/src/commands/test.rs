//! `interlock test`: plays the scenarios of machines.

use std::path::{Path, PathBuf};

use interlock_chart::library;
use interlock_journal::Definition;
use interlock_runtime::LoadedMachine;
use serde::Serialize;

use super::Outcome;
use crate::{
    Exit,
    failure::Failure,
    given, machine,
    output::Output,
    scenario::{self, Scenario},
};

/// The subdirectory of a machine that holds its scenarios.
const SCENARIOS: &str = "tests";

/// The maximum number of scenarios of a machine.
const SCENARIOS_MAX: usize = 1_000;

/// The result of one scenario.
#[derive(Debug, Serialize)]
struct Row {
    machine: String,
    scenario: String,
    summary: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// True if the file is no scenario.
    #[serde(skip)]
    is_broken: bool,
}

/// Plays all scenarios of the named machines, or of the project's machines that have scenarios.
pub(crate) fn run(machines: &[String], output: &Output) -> Outcome {
    let mut rows = Vec::new();
    let names = if machines.is_empty() { project()? } else { machines.to_vec() };
    for name in &names {
        rows.extend(one(name, output)?);
    }
    let failed = rows.iter().filter(|row| !row.ok).count();
    if output.is_json() {
        output.json(&rows)?;
    } else {
        output.data(&format!("{} passed, {failed} failed\n", rows.len() - failed))?;
    }
    let is_broken = rows.iter().any(|row| row.is_broken);
    if is_broken {
        output.talk("Hint: docs/how-to/test-a-machine.md describes the format of scenarios\n");
    }
    Ok(match failed {
        0 => Exit::Good,
        _ if is_broken => Exit::BadInput,
        _ => Exit::Failed,
    })
}

/// Returns the machines of the project that have scenarios.
fn project() -> Result<Vec<String>, Failure> {
    let listed = library::list(&machine::here()).into_iter();
    let with_scenarios = listed.filter(|listed| listed.path.with_file_name(SCENARIOS).is_dir());
    let names: Vec<String> = with_scenarios.map(|listed| listed.name).collect();
    match names.is_empty() {
        true => Err(Failure::bad_input("no machine of the project has scenarios")
            .hint("name a machine, or create one with `interlock new NAME`")),
        false => Ok(names),
    }
}

fn one(name: &str, output: &Output) -> Result<Vec<Row>, Failure> {
    let source = library::load(name, &machine::here())?;
    let reading = source.read();
    machine::show(&source, &reading.diagnostics, output);
    let chart = reading.chart.ok_or_else(Failure::told)?;
    let loaded = LoadedMachine::of(Definition::new(&source, &chart), chart);
    let files = scenarios(&source.path.with_file_name(SCENARIOS))?;
    let mut rows = Vec::new();
    for file in files {
        let row = played(&loaded, &file);
        if !output.is_json() {
            output.data(&line(&row, output))?;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Plays the scenario in a file. A file that is no scenario fails, and the others are played nevertheless.
fn played(loaded: &LoadedMachine, file: &Path) -> Row {
    let read = scenario(file);
    let is_broken = read.is_err();
    let (summary, problem) = match read {
        Ok(scenario) => (scenario.summary.clone(), scenario::play(loaded, &scenario).err()),
        Err(failure) => (String::new(), Some(failure.words())),
    };
    Row {
        machine: loaded.chart().id.clone(),
        scenario: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        summary,
        ok: problem.is_none(),
        problem,
        is_broken,
    }
}

fn scenario(file: &Path) -> Result<Scenario, Failure> {
    let name = machine::short(&file.display().to_string());
    let wrong = |error| Failure::bad_input(format!("{name} is not a scenario: {error}"));
    serde_json::from_value(given::read(Path::new(&name))?).map_err(wrong)
}

fn line(row: &Row, output: &Output) -> String {
    let summary = if row.summary.is_empty() { String::new() } else { format!(": {}", row.summary) };
    let name = format!("{}/{}{summary}", row.machine, row.scenario);
    match &row.problem {
        None => format!("{} {name}\n", output.green("✓")),
        Some(problem) => format!("{} {name}\n  {problem}\n", output.bad("✗")),
    }
}

/// Returns the scenario files in a directory, by name.
fn scenarios(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_scenario = |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "json");
    let mut files: Vec<PathBuf> = entries.filter(is_scenario).take(SCENARIOS_MAX).collect();
    files.sort();
    match files.is_empty() {
        true => Err(Failure::bad_input(format!(
            "there is no scenario in {}",
            machine::short(&folder.display().to_string())
        ))
        .hint("a scenario is a YAML file with `steps`; docs/how-to/test-a-machine.md describes it")),
        false => Ok(files),
    }
}
