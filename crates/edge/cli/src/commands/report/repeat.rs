//! The commands that repeat or inspect a run, and the versions of the tools that it used.

use std::path::{Path, PathBuf};

use interlock_activity::report::{Part, Section, shell_word};
use interlock_chart::library;
use serde_json::{Map, Value as Json};

use super::Report;

/// The length of the longest input that is written into a command line.
const INPUT_CHARS_MAX: usize = 600;

/// The number of digits of a definition's hash that a report shows.
const DEFINITION_CHARS: usize = 12;

/// Returns the commands, one per line; lines that begin with `#` are comments.
pub(super) fn commands(report: &Report) -> Vec<String> {
    let name = shell_word(&report.head.name);
    let mut lines = report.story.as_ref().map(|story| story.repeat.clone()).unwrap_or_default();
    lines.extend(whole_run(report, &name));
    lines.push("# replay and verify the records".to_owned());
    lines.push(format!("interlock replay {name}"));
    lines.push(format!("interlock verify {name}"));
    if report.changes.paths.iter().any(|path| path.is_in_tree) {
        lines.push("# undo the changes of the run".to_owned());
        lines.push(format!("interlock undo {name}"));
    }
    lines
}

/// Returns the command that starts the same machine with the same input in the same directory.
fn whole_run(report: &Report, name: &str) -> Vec<String> {
    let mut lines = vec!["# a new run with the same input".to_owned()];
    let Some((machine, is_same)) = machine(report) else {
        lines.push("# (its machine file is not known; a fork uses the stored definition)".to_owned());
        lines.push(format!("interlock fork {name} --at 1"));
        return lines;
    };
    if !is_same {
        lines.push(format!("# (the machine has changed since; the run used definition {})", definition(report)));
    }
    let input = report.run.input.to_string();
    let given = match input.chars().count() {
        0..=INPUT_CHARS_MAX => format!("printf %s {}", shell_word(&input)),
        _ => format!("interlock show {name} --json | jq .input"),
    };
    let Some(place) = &report.place else {
        lines.push(format!("# (its directory {} does not exist any more; name another)", report.run.folder.display()));
        lines.push(format!("{given} | interlock run {} --input - --repo .", shell_word(&machine)));
        return lines;
    };
    let folder = shell_word(&place.display().to_string());
    let unproved = if report.unproved().is_some() { " --unproved" } else { "" };
    lines.push(format!("{given} | interlock run {} --input - --repo {folder}{unproved}", shell_word(&machine)));
    lines
}

/// Returns the machine's name for a command line, and true if that machine still has the definition of the run.
fn machine(report: &Report) -> Option<(String, bool)> {
    let file = report.created().and_then(|created| created.made_with.as_ref()?.machine_file.clone());
    let named = file.map(|file| folder_of(&file)).unwrap_or_else(|| report.head.machine.clone());
    let source = library::load(&named, &report.run.folder).ok()?;
    let is_same = source.read().chart.is_some_and(|chart| chart.hash == report.head.definition);
    Some((named, is_same))
}

/// Returns the directory of a machine file, by which the machine is named.
fn folder_of(file: &str) -> String {
    let path = PathBuf::from(file);
    let is_machine = path.file_name().is_some_and(|name| name == library::MACHINE_FILE);
    let folder = path.parent().filter(|_| is_machine).unwrap_or(Path::new(&path));
    folder.display().to_string()
}

fn definition(report: &Report) -> &str {
    report.head.definition.get(..DEFINITION_CHARS).unwrap_or(&report.head.definition)
}

/// Returns every tool with its version and the source of that information.
fn tools(report: &Report) -> Vec<[String; 3]> {
    const RECORDED: &str = "recorded by the run";
    const NOW: &str = "installed when this report was written";
    let row = |name: &str, version: &str, known: &str| [name.to_owned(), version.to_owned(), known.to_owned()];
    let made_with = report.created().and_then(|created| created.made_with.as_ref());
    let interlock = match made_with {
        Some(made) => row("interlock", &made.interlock, RECORDED),
        None => row("interlock", env!("CARGO_PKG_VERSION"), NOW),
    };
    let version = report.follower.live.loaded.definition.version;
    let machine = format!("version {version}, definition {}", definition(report));
    let mut rows = vec![interlock, row(&format!("machine {}", report.head.machine), &machine, RECORDED)];
    let told = report.story.iter().flat_map(|story| &story.tools).filter(|(name, _)| name != "interlock");
    rows.extend(told.map(|(name, version)| row(name, version, RECORDED)));
    if !rows.iter().any(|[name, ..]| name == "git") {
        rows.extend(git().map(|version| row("git", &version, NOW)));
    }
    rows
}

/// Returns the version of the installed git.
fn git() -> Option<String> {
    interlock_git::version()?.strip_prefix("git version ").map(str::to_owned)
}

/// Returns the commands and the tools as sections of the report.
pub(super) fn sections(report: &Report) -> [Section; 2] {
    let rows = tools(report).into_iter().map(Vec::from).collect();
    [
        Section::new("How to repeat it", vec![Part::Commands(commands(report).join("\n"))]),
        Section::new("Tools", Part::table(&["program", "version", "source"], rows).into_iter().collect()),
    ]
}

/// Returns the versions of the tools as JSON.
pub(super) fn tools_json(report: &Report) -> Json {
    let pairs = tools(report).into_iter().map(|[name, version, _]| (name, Json::from(version)));
    Json::Object(pairs.collect::<Map<String, Json>>())
}
