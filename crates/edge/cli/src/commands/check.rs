//! `interlock check`: proves the properties of machines and the bounds on their work.

mod sarif;

use std::{path::Path, sync::Arc};

use interlock_chart::{
    Chart, Diagnostic, Span, counted,
    diagnostic::line_col,
    library::{self, Source},
};
use interlock_checker::{Bound, Counterexample, Problem, Report, Total};
use interlock_draw::{self as draw, Highlight, Options as Look};
use serde_json::{Value as Json, json};

use super::Outcome;
use crate::{
    Exit,
    args::Check,
    failure::Failure,
    machine,
    notes::notes,
    output::Output,
    outside,
    saved::{make_folders, save},
};

/// The result of checking one machine.
struct Checked {
    exit: Exit,
    json: Json,
    text: String,
    /// The findings as results of SARIF.
    results: Vec<Json>,
}

/// Checks the named machines, or all listed machines if none is named.
pub(crate) fn run(args: &Check, output: &Output) -> Outcome {
    let here = machine::here();
    let all = || library::list(&here).into_iter().map(|listed| listed.name).collect();
    let names: Vec<String> = if args.machines.is_empty() { all() } else { args.machines.clone() };
    let mut checked = Vec::new();
    for name in &names {
        let one = one(&library::load(name, &here)?, args.draw.as_deref(), output)?;
        if !output.is_json() {
            output.data(&one.text)?;
        }
        checked.push(one);
    }
    if let Some(path) = &args.sarif {
        let results: Vec<Json> = checked.iter().flat_map(|one| one.results.clone()).collect();
        save(path, format!("{:#}\n", sarif::document(&results)))?;
    }
    if output.is_json() {
        match (args.machines.len(), checked.as_slice()) {
            (1, [one]) => output.json(&one.json)?,
            _ => output.json(&checked.iter().map(|one| &one.json).collect::<Vec<_>>())?,
        }
    }
    Ok(checked.iter().map(|one| one.exit).max().unwrap_or(Exit::Good))
}

fn one(source: &Source, folder: Option<&Path>, output: &Output) -> Result<Checked, Failure> {
    let Examined { chart, report, problems, json } = examine(source, &machine::here());
    machine::show(source, &problems, output);
    let results = sarif::results(source, &problems, report.as_ref(), &machine::here());
    let Some((chart, report)) = chart.zip(report) else {
        let text = format!("{} {}\n", output.bad("✗"), output.bold(&format!("{}: cannot be read", source.name)));
        return Ok(Checked { exit: Exit::BadInput, json, text, results });
    };
    if let Some(folder) = folder {
        draw_counterexamples(&chart, &report, folder, output)?;
    }
    let exit = if report.ok { Exit::Good } else { Exit::Failed };
    Ok(Checked { exit, json, text: text(&report, output), results })
}

/// All findings about a machine.
struct Examined {
    chart: Option<Arc<Chart>>,
    report: Option<Report>,
    /// The problems, with their places in the machine file.
    problems: Vec<Diagnostic>,
    json: Json,
}

/// Proves a machine in a directory and returns the result as JSON.
pub(crate) fn json(source: &Source, folder: &Path) -> Json {
    examine(source, folder).json
}

fn examine(source: &Source, folder: &Path) -> Examined {
    let reading = source.read();
    let mut problems = reading.diagnostics;
    let chart = reading.chart.map(Arc::new);
    let report = chart.as_ref().and_then(|chart| {
        let checked = outside::check(chart, &source.files, folder, &outside::explore);
        let is_refused = checked.border.iter().any(Diagnostic::is_error);
        problems.extend(checked.border.into_iter().chain(notes(chart, folder)));
        let mut report = checked.explored.report?;
        report.ok &= !is_refused;
        Some(report)
    });
    let found = problems.iter().map(|problem| diagnostic_json(problem, source)).collect::<Vec<_>>();
    let json = match &report {
        Some(report) => {
            let mut json = report.to_json(&machine::short(&source.file_name()), |span| place(source, span));
            if let Some(problems) = json["problems"].as_array_mut() {
                problems.splice(0..0, found);
            }
            json
        }
        None => json!({
            "machine": source.name, "ok": false, "explored": 0, "bound": null, "properties": [], "problems": found,
        }),
    };
    problems.extend(report.iter().flat_map(|report| report.problems.iter().map(diagnostic)));
    Examined { chart, report, problems, json }
}

fn place(source: &Source, span: Span) -> (usize, usize) {
    line_col(&source.text, span.start as usize)
}

fn diagnostic_json(problem: &Diagnostic, source: &Source) -> Json {
    let (line, column) = place(source, problem.span);
    json!({
        "code": problem.code,
        "severity": problem.severity.word(),
        "message": problem.message,
        "file": machine::short(&source.file_name()),
        "line": line,
        "column": column,
        "help": problem.hint,
    })
}

fn diagnostic(problem: &Problem) -> Diagnostic {
    let diagnostic = match problem.is_error {
        true => Diagnostic::error(problem.code, problem.span, &problem.message),
        false => Diagnostic::warning(problem.code, problem.span, &problem.message),
    };
    diagnostic.maybe_hint(problem.hint.clone())
}

fn text(report: &Report, output: &Output) -> String {
    let (mark, word) = if report.ok { (output.green("✓"), "proved") } else { (output.bad("✗"), "not proved") };
    let mut text = format!("{mark} {}\n", output.bold(&format!("{}: {word}", report.machine)));
    text.push_str(&format!("  {}\n", explored(report)));
    if let Some(bound) = report.bound {
        text.push_str(&format!("  per user input: {}\n", bound_text(bound)));
    }
    if let Some(bound) = report.run_bound {
        text.push_str(&format!("  in a whole run: {}\n", bound_text(bound)));
    }
    for proof in &report.properties {
        let mark = if proof.ok { output.green("✓") } else { output.bad("✗") };
        text.push_str(&format!("  {mark} {}\n", proof.name));
        if !proof.ok {
            broken(&mut text, &proof.because, proof.counterexample.as_ref());
        }
    }
    for problem in report.problems.iter().filter(|problem| problem.counterexample.is_some()) {
        text.push_str(&format!("  {} {}: {}\n", output.bad("✗"), problem.code, problem.message));
        broken(&mut text, "", problem.counterexample.as_ref());
    }
    text
}

/// Describes the size of the exploration: that of the largest one and, if there were several, the total.
fn explored(report: &Report) -> String {
    let Total { explorations, configurations, ways } = report.total;
    let (found, ways) =
        (counted(report.explored as u64, "configuration", "configurations"), counted(ways, "way", "ways"));
    match explorations {
        0 | 1 => format!("{found} explored"),
        several => format!("{found} explored; {configurations} and {ways} in all {several} explorations"),
    }
}

fn broken(text: &mut String, because: &str, counterexample: Option<&Counterexample>) {
    if !because.is_empty() {
        text.push_str(&format!("    required because {because}\n"));
    }
    if let Some(way) = counterexample {
        text.push_str("    a shortest counterexample:\n");
        way.to_string().lines().for_each(|line| text.push_str(&format!("  {}\n", line.trim_end())));
    }
}

fn bound_text(bound: Bound) -> String {
    let Bound { transitions, activities, judgements } = bound;
    let transitions = counted(transitions, "transition", "transitions");
    let activities = counted(activities, "activity", "activities");
    let judgements = counted(judgements, "judgement", "judgements");
    format!("at most {transitions}, {activities}, {judgements}")
}

/// Draws one picture per counterexample, with the counterexample's path highlighted.
fn draw_counterexamples(chart: &Chart, report: &Report, folder: &Path, output: &Output) -> Result<(), Failure> {
    let of_properties = report.properties.iter().filter_map(|proof| proof.counterexample.as_ref());
    let of_problems = report.problems.iter().filter_map(|problem| problem.counterexample.as_ref());
    for (at, way) in (1..).zip(of_properties.chain(of_problems)) {
        make_folders(folder)?;
        let transitions: Vec<_> = way.stages.iter().flat_map(|stage| stage.transitions.iter().copied()).collect();
        let look = Look { highlight: Highlight::path(chart, &transitions), ..Look::default() };
        let path = folder.join(format!("{}-{at}.svg", report.machine));
        save(&path, draw::svg(chart, &look))?;
        output.talk(&format!("wrote {}\n", path.display()));
    }
    Ok(())
}
