//! The panic hook: a bug prints a short message that asks for a report, and ends the process with a separate exit code.

use std::{io::Write as _, panic};

use crate::Exit;

/// The page for bug reports.
const ISSUES: &str = "https://github.com/interlock-dev/interlock/issues";

/// Installs a panic hook that prints how to report the bug and ends the process with [`Exit::Bug`].
pub fn watch() {
    panic::set_hook(Box::new(|info| {
        let message = message(info.payload(), info.location());
        // If writing to stderr fails, the message cannot be shown elsewhere.
        let _ = std::io::stderr().write_all(message.as_bytes());
        std::process::exit(Exit::Bug.code().into());
    }));
}

fn message(payload: &dyn std::any::Any, location: Option<&panic::Location<'_>>) -> String {
    let what = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let place = location.map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "error: a bug in interlock {version}: {}{place}\nHint: please report it at {ISSUES}, with the commands that led to it\n",
        what.unwrap_or("no message")
    )
}
