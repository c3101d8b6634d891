//! The reference of all commands (`docs/cli.md`) and the list of commands in both READMEs, generated from the parser.
//!
//! `UPDATE_DOCS=1` (or `make docs`) rewrites them.

use std::{collections::BTreeMap, path::PathBuf};

use clap::{Arg, Command, CommandFactory as _};

use super::{Args, groups::GROUPS};

const INTRODUCTION: &str = "\
# Commands

Generated from the program's own help; `make docs` rewrites it. `interlock COMMAND --help` prints the same text, and `interlock man COMMAND` a manual page.
How commands work together is in [running.md](running.md).

M is the name of a built-in machine or of one under `.interlock/machines/`, or the path of a directory or file. R is the name of a run, or a prefix that no
other run's name has. Every command takes `--json`, which prints JSON instead of text, and `--help`. Data goes to stdout, messages go to stderr.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | the run or the check failed |
| 2 | bad usage or bad input |
| 3 | the run was aborted |
| 4 | the run waits for a person, or was left before its end |
| 5 | the run ended incomplete: there is a result, but something about it was not shown |
| 70 | a bug in Interlock |
| 141 | `watch` and `mcp`: the reader of the output went away |
";

/// The marks around the generated list in a README.
const BEGIN: &str = "<!-- commands: generated; `make docs` rewrites them -->\n";
const END: &str = "<!-- commands: end -->\n";

/// Escapes a text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the form in which an argument is written: `-o`, `--output FILE`, `[M]…`.
fn form(argument: &Arg) -> String {
    let value = argument.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
    let takes_value = argument.get_action().takes_values();
    if argument.is_positional() {
        return format!("`{value}`");
    }
    let long = argument.get_long().map(|long| format!("--{long}"));
    let short = argument.get_short().map(|short| format!("-{short}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let value = if takes_value { format!(" {value}") } else { String::new() };
    format!("`{}{value}`", names.join("`, `"))
}

/// Returns the description of an argument with its values and its default.
fn meaning(argument: &Arg) -> String {
    let mut text = cell(&argument.get_help().map(ToString::to_string).unwrap_or_default());
    let values = argument.get_possible_values();
    if argument.get_action().takes_values() && !values.is_empty() {
        let named: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        text.push_str(&format!(": {}", named.join(", ")));
    }
    let defaults: Vec<String> = argument.get_default_values().iter().map(|value| value.display().to_string()).collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        text.push_str(&format!(" (default `{}`)", defaults.join(" ")));
    }
    text
}

/// Appends the section of a command and those of its subcommands.
fn section(command: &mut Command, path: &str, level: usize, page: &mut String) {
    let path = format!("{path} {}", command.get_name());
    page.push_str(&format!("\n{} `{path}`\n", "#".repeat(level)));
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let (summary, rest) = about.split_once("\n\n").unwrap_or((&about, ""));
    page.push_str(&format!("\n{summary}.\n"));
    if !rest.is_empty() {
        page.push_str(&format!("\n{}\n", rest.trim_end()));
    }
    let usage = command.render_usage().to_string();
    page.push_str(&format!("\n```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim()));
    let shared = ["help", "json", "version"];
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && !shared.contains(&argument.get_id().as_str()))
        .collect();
    if !arguments.is_empty() {
        page.push_str("\n| argument | meaning |\n|---|---|\n");
        for argument in arguments {
            page.push_str(&format!("| {} | {} |\n", form(argument), meaning(argument)));
        }
    }
    for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set()) {
        section(inner, &path, level + 1, page);
    }
}

/// Returns the whole reference.
fn reference(mut program: Command) -> String {
    program.build();
    let mut page = INTRODUCTION.to_owned();
    for (heading, names) in GROUPS {
        page.push_str(&format!("\n## {heading}\n"));
        for name in names.iter().filter(|name| **name != "help") {
            section(program.find_subcommand_mut(name).unwrap(), "interlock", 3, &mut page);
        }
    }
    page
}

/// Returns the list of commands for a README: a row for each group, each command with a link to its section.
fn list(columns: [&str; 2], headings: &BTreeMap<&str, &str>) -> String {
    let mut table = format!("| {} | {} |\n|---|---|\n", columns[0], columns[1]);
    for (heading, names) in GROUPS {
        let links = names.iter().filter(|name| **name != "help");
        let links: Vec<String> = links.map(|name| format!("[`{name}`](docs/cli.md#interlock-{name})")).collect();
        table.push_str(&format!("| {} | {} |\n", headings.get(heading).unwrap_or(&heading), links.join(" ")));
    }
    table
}

/// Replaces the list in a README.
fn put_into(readme: &str, list: &str) -> String {
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    format!("{before}{BEGIN}{list}{END}{after}")
}

/// Compares a document with its generated text, or writes it if `UPDATE_DOCS` is set.
fn keep(document: &str, generated: impl Fn(&str) -> String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..").join(document);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let generated = generated(&text);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, generated).unwrap();
    } else {
        assert!(generated == text, "{document} is out of date: run `make docs`");
    }
}

#[test]
fn the_reference_is_that_of_the_parser() {
    keep("docs/cli.md", |_| reference(Args::command()));
}

#[test]
fn both_readmes_list_the_commands_by_the_same_groups() {
    keep("README.md", |text| put_into(text, &list(["purpose", "commands"], &BTreeMap::new())));
    let headings =
        [("Write", "编写"), ("Run", "运行"), ("Look", "查看"), ("Act", "操作"), ("Serve", "服务"), ("Set up", "设置")];
    assert_eq!(headings.map(|(heading, _)| heading), GROUPS.map(|(heading, _)| heading));
    keep("README.zh-CN.md", |text| put_into(text, &list(["用途", "命令"], &headings.into())));
}

#[test]
fn a_section_shows_values_and_defaults() {
    let format = Arg::new("format").long("format").short('f').value_name("NAME").help("The output | format");
    let format = format.default_value("svg").value_parser(["svg", "dot"]);
    let program = Command::default().name("interlock");
    let mut program = program.subcommand(Command::default().name("draw").about("Draw a machine").arg(format));
    program.build();
    let mut page = String::new();
    section(program.find_subcommand_mut("draw").unwrap(), "interlock", 3, &mut page);
    expect_test::expect![[r#"

        ### `interlock draw`

        Draw a machine.

        ```text
        interlock draw [OPTIONS]
        ```

        | argument | meaning |
        |---|---|
        | `-f`, `--format NAME` | The output \| format: `svg`, `dot` (default `svg`) |
    "#]]
    .assert_eq(&page);
}
