//! `interlock init`: copies a built-in machine into the project for editing.

use interlock_suggest::did_you_mean;
use std::path::Path;

use interlock_chart::{counted, library, schema};
use serde_json::json;

use super::Outcome;
use crate::{Exit, args::Init, failure::Failure, machine, output::Output};

/// Copies a machine's directory into the project.
pub(crate) fn run(args: &Init, output: &Output) -> Outcome {
    let name = args.machine.as_str();
    if !library::builtin_names().any(|known| known == name) {
        return Err(unknown(name));
    }
    let folder = machine::here().join(library::PROJECT_MACHINES).join(name);
    if folder.exists() && !args.force {
        let shown = machine::short(&folder.display().to_string());
        return Err(Failure::bad_input(format!("{shown} already exists")).hint("--force overwrites it"));
    }
    let mut written = Vec::new();
    for (path, content) in library::builtin_files(name) {
        write(&folder.join(path), &for_project(content))?;
        written.push(path);
    }
    write_schema()?;
    let shown = machine::short(&folder.display().to_string());
    if output.is_json() {
        output.json(&json!({ "machine": name, "folder": shown, "files": written }))?;
        return Ok(Exit::Good);
    }
    output.data(&format!("{shown}\n"))?;
    output.talk(&format!(
        "wrote {}. Prove your changes with `interlock check {name}`\n",
        counted(written.len(), "file", "files")
    ));
    if written.contains(&TASK) {
        output.talk(&format!("{shown}/{TASK} is an example input to start from\n"));
    }
    Ok(Exit::Good)
}

/// The path of the schema of machine files in a project. The first line of a project's machine file names it.
const SCHEMA: &str = ".interlock/machine.schema.json";

/// Writes the schema of machine files, with which an editor completes them.
pub(crate) fn write_schema() -> Result<(), Failure> {
    write(&machine::here().join(SCHEMA), schema::machine_schema_text().as_bytes())
}

/// Returns a built-in file with the schema's place in a project instead of its place in the repository.
fn for_project(content: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(content) {
        Ok(text) => text
            .replacen("$schema=../../docs/schema/machine.schema.json", "$schema=../../machine.schema.json", 1)
            .into(),
        Err(_) => content.to_owned(),
    }
}

/// The name of a commented example input, which some machines have.
pub(crate) const TASK: &str = "task.yaml";

fn unknown(name: &str) -> Failure {
    let hint = did_you_mean(name, library::builtin_names()).unwrap_or_else(|| {
        format!("the built-in machines are {}", library::builtin_names().collect::<Vec<_>>().join(", "))
    });
    Failure::bad_input(format!("there is no built-in machine called `{name}`")).hint(hint)
}

/// Writes a file and creates the directories above it.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
    }
    std::fs::write(path, content).map_err(|error| Failure::file("write", path, &error))
}
