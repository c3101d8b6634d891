//! Loads the machine that the user named and shows its problems.

use std::path::PathBuf;

use interlock_chart::{
    Chart, Diagnostic, diagnostic,
    library::{self, Source},
};

use crate::{failure::Failure, output::Output};

/// Returns the current directory, in which machine names are looked up and relative paths begin.
pub(crate) fn here() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// Loads a machine by name or path and shows its problems. If there is no chart, the failure has no further message.
pub(crate) fn load(name_or_path: &str, output: &Output) -> Result<Chart, Failure> {
    let source = library::load(name_or_path, &here())?;
    let reading = source.read();
    show(&source, &reading.diagnostics, output);
    reading.chart.ok_or_else(Failure::told)
}

/// Shows problems with their places in the file.
pub(crate) fn show(source: &Source, problems: &[Diagnostic], output: &Output) {
    for problem in problems {
        output.talk(&diagnostic::render(problem, &short(&source.file_name()), &source.text, output.is_talk_colored()));
        output.talk("\n");
    }
}

/// Returns a path as the user would type it: relative if it is below the current directory.
pub(crate) fn short(path: &str) -> String {
    let here = here();
    let below = std::path::Path::new(path).strip_prefix(&here).ok();
    below.map_or_else(|| path.to_owned(), |below| below.display().to_string())
}
