//! From what the user typed to a chart, with every problem shown on the way.

use std::path::PathBuf;

use interlock_chart::{
    Chart, Diagnostic, diagnostic,
    library::{self, Source},
};

use crate::{failure::Failure, output::Output};

/// Where names are looked up and paths begin.
pub(crate) fn here() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// Loads a machine by name or path and shows what is wrong with it. Without a chart the problems are all there is to say.
pub(crate) fn load(name_or_path: &str, output: &Output) -> Result<Chart, Failure> {
    let source = library::load(name_or_path, &here())?;
    let reading = source.read();
    show(&source, &reading.diagnostics, output);
    reading.chart.ok_or_else(Failure::told)
}

/// Shows problems where they stand in the file.
pub(crate) fn show(source: &Source, problems: &[Diagnostic], output: &Output) {
    for problem in problems {
        output.talk(&diagnostic::render(problem, &short(&source.file_name()), &source.text, output.is_talk_colored()));
        output.talk("\n");
    }
}

/// A path as the user would type it: below the current folder, without the way to it.
pub(crate) fn short(path: &str) -> String {
    let here = here();
    let below = std::path::Path::new(path).strip_prefix(&here).ok();
    below.map_or_else(|| path.to_owned(), |below| below.display().to_string())
}
