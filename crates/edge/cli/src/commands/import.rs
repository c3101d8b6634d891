//! `interlock import`: converts another format into a machine file.
//!
//! The result is an ordinary machine file. It is parsed before it is written, so that the command never produces a file
//! that does not load.

use std::path::{Path, PathBuf};

use interlock_chart::{diagnostic, library::MACHINE_FILE, yaml};
use interlock_exchange::{self as exchange, Format, Imported};
use serde_json::json;

use super::{Outcome, draw};
use crate::{
    Exit,
    args::{From, Import},
    failure::Failure,
    output::Output,
};

/// Converts a file and writes the machine file.
pub(crate) fn run(args: &Import, output: &Output) -> Outcome {
    let imported = read(args, output)?;
    for warning in &imported.warnings {
        output.talk(&format!("{} {warning}\n", output.yellow("warning:")));
    }
    let text = yaml::write(&imported.file);
    let is_usable = show_problems(&text, output);
    match &args.output {
        Some(path) => draw::write(&place(path)?, &text, output)?,
        None if output.is_json() => {
            let renamed = &imported.renamed;
            output.json(
                &json!({ "machine": imported.file, "yaml": text, "warnings": imported.warnings, "renamed": renamed }),
            )?;
        }
        None => output.data(&text)?,
    }
    Ok(if is_usable { Exit::Good } else { Exit::Failed })
}

fn read(args: &Import, output: &Output) -> Result<Imported, Failure> {
    let bytes = std::fs::read(&args.file).map_err(|error| Failure::file("read", &args.file, &error))?;
    let name = args.file.display().to_string();
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::bad_input(format!("{name} is not UTF-8")).hint("convert it to UTF-8, for example with iconv")
    })?;
    exchange::import(&text, args.format.map(format), &name).map_err(|problems| {
        for problem in &problems {
            output.talk(&diagnostic::render(problem, &name, &text, output.is_talk_colored()));
            output.talk("\n");
        }
        Failure::told()
    })
}

fn format(from: From) -> Format {
    match from {
        From::Scxml => Format::Scxml,
        From::Xstate => Format::Xstate,
        From::Mermaid => Format::Mermaid,
    }
}

/// Shows the problems of the new file. Returns true if it can be used as it is.
fn show_problems(text: &str, output: &Output) -> bool {
    let reading = yaml::read(text);
    for problem in &reading.diagnostics {
        output.talk(&diagnostic::render(problem, MACHINE_FILE, text, output.is_talk_colored()));
        output.talk("\n");
    }
    reading.chart.is_some()
}

/// Returns the file to write: `machine.yaml` within a directory, otherwise the path itself.
fn place(path: &Path) -> Result<PathBuf, Failure> {
    let is_folder = path.is_dir() || path.extension().is_none() || path.as_os_str().to_string_lossy().ends_with('/');
    if !is_folder {
        return Ok(path.to_owned());
    }
    crate::saved::make_folders(path)?;
    Ok(path.join(MACHINE_FILE))
}
