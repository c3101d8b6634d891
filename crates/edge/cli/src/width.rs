//! The width of the text that a person reads.

use rustix::termios::tcgetwinsize;

/// The width if nothing else is known.
const USUAL: usize = 100;

/// Returns the number of columns of the terminal: of stdout, else of stderr, else as `COLUMNS` says.
pub(crate) fn columns() -> usize {
    let terminal = tcgetwinsize(std::io::stdout()).or_else(|_| tcgetwinsize(std::io::stderr()));
    let terminal = terminal.ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(told).unwrap_or(USUAL)
}
