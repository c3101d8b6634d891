//! `interlock init`: copies a built-in machine into the project for editing.

use interlock_suggest::did_you_mean;
use std::path::Path;

use interlock_chart::{counted, library, schema};
use serde_json::json;

use super::Outcome;
use crate::{Exit, args::Init, failure::Failure, machine, output::Output, saved::save_with_folders};

/// Copies a machine's directory into the project.
pub(crate) fn run(args: &Init, output: &Output) -> Outcome {
    let name = args.machine.as_str();
    if !library::builtin_names().any(|known| known == name) {
        return Err(unknown(name));
    }
    if let Some(path) = &args.task {
        return task(name, path, args.force, output);
    }
    let folder = machine::here().join(library::PROJECT_MACHINES).join(name);
    if folder.exists() && !args.force {
        let shown = machine::short(&folder.display().to_string());
        return Err(Failure::bad_input(format!("{shown} already exists")).hint("--force overwrites it"));
    }
    let mut written = Vec::new();
    for (path, content) in library::builtin_files(name) {
        save_with_folders(&folder.join(path), for_project(content))?;
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
    save_with_folders(&machine::here().join(SCHEMA), schema::machine_schema_text())
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

/// Writes a task for the project in the current directory from its build files.
fn task(machine: &str, path: &Path, force: bool, output: &Output) -> Outcome {
    if machine != "firmware" {
        let why = format!("a task of `{machine}` cannot be written from build files");
        return Err(Failure::bad_input(why).hint(format!("`interlock describe {machine}` shows its input")));
    }
    let here = machine::here();
    let Some(draft) = interlock_firmware::draft(&here) else {
        let why = format!("{} has no platformio.ini, CMakeLists.txt or Makefile", here.display());
        return Err(Failure::bad_input(why).hint("`interlock init firmware` writes an example of a task"));
    };
    let file = here.join(path);
    let shown = machine::short(&file.display().to_string());
    if file.exists() && !force {
        return Err(Failure::bad_input(format!("{shown} already exists")).hint("--force overwrites it"));
    }
    save_with_folders(&file, &draft.text)?;
    if output.is_json() {
        output.json(&json!({ "machine": machine, "task": shown, "from": draft.from }))?;
        return Ok(Exit::Good);
    }
    output.data(&format!("{shown}\n"))?;
    let name = path.display();
    output.talk(&format!("drafted from {}. Read it, then: `interlock run firmware --input {name}`\n", draft.from));
    Ok(Exit::Good)
}

/// The name of a commented example input, which some machines have.
pub(crate) const TASK: &str = "task.yaml";

fn unknown(name: &str) -> Failure {
    let hint = did_you_mean(name, library::builtin_names()).unwrap_or_else(|| {
        format!("the built-in machines are {}", library::builtin_names().collect::<Vec<_>>().join(", "))
    });
    Failure::bad_input(format!("there is no built-in machine called `{name}`")).hint(hint)
}
