//! `interlock new`: writes a small commented machine and its scenarios into the project.

use interlock_chart::library::{self, PROJECT_MACHINES};
use serde_json::json;

use super::{Outcome, init};
use crate::{Exit, failure::Failure, machine, output::Output, saved::save_with_folders};

/// The name in the templates that is replaced by the new machine's name.
const PLACEHOLDER: &str = "MACHINE_NAME";

/// The files of a new machine: path within its directory and content.
const FILES: [(&str, &str); 3] = [
    ("machine.yaml", include_str!("new/machine.yaml")),
    ("tests/accepted.yaml", include_str!("new/tests/accepted.yaml")),
    ("tests/gives-up.yaml", include_str!("new/tests/gives-up.yaml")),
];

/// Writes the files of a new machine.
pub(crate) fn run(name: &str, output: &Output) -> Outcome {
    let folder = machine::here().join(PROJECT_MACHINES).join(valid(name)?);
    let shown = machine::short(&folder.display().to_string());
    if folder.exists() {
        return Err(Failure::bad_input(format!("{shown} already exists")).hint("choose another name, or remove it"));
    }
    for (path, content) in FILES {
        save_with_folders(&folder.join(path), content.replace(PLACEHOLDER, name))?;
    }
    init::write_schema()?;
    if output.is_json() {
        let files: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
        output.json(&json!({ "machine": name, "folder": shown, "files": files }))?;
        return Ok(Exit::Good);
    }
    output.data(&format!("{shown}\n"))?;
    output.talk(&format!("Edit {shown}/machine.yaml, then:\n"));
    for (command, does) in [("check", "prove it"), ("test", "run its scenarios"), ("run", "start a run")] {
        output.talk(&format!("    interlock {command} {name}  # {does}\n"));
    }
    Ok(Exit::Good)
}

/// Checks the name of a new machine.
fn valid(name: &str) -> Result<&str, Failure> {
    const LENGTH_MAX: usize = 60;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if !begins_well || name.len() > LENGTH_MAX || !name.chars().all(is_plain) {
        return Err(Failure::bad_input(format!("`{name}` is not a valid machine name"))
            .hint(format!("use letters, digits, `-` and `_`, at most {LENGTH_MAX}, and begin with a letter")));
    }
    if library::builtin_names().any(|known| known == name) {
        return Err(Failure::bad_input(format!("`{name}` is the name of a built-in machine"))
            .hint(format!("`interlock init {name}` copies the built-in machine into the project")));
    }
    Ok(name)
}
