//! Measures how many one-line bugs of the sample firmwares the templates repair, with QEMU as the judge.
//!
//! `score FIRMWARES [--trials N] [--only NAME] [--fresh]`: inserts each bug of `FIRMWARES/bugs`, measures the lines
//! that each case executes, ranks suspects and candidates, and builds and runs one candidate after the other until all
//! cases pass. All trials run in a copy; tests are never changed.

#![allow(clippy::disallowed_methods, reason = "an example works in directories of its own")]

mod bench;
mod bugs;
mod coverage;
mod score;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use bugs::List;
use score::Options;

fn main() -> ExitCode {
    let Some(options) = options() else {
        let _ = writeln!(io::stderr(), "usage: score FIRMWARES [--trials N] [--only NAME] [--fresh]");
        return ExitCode::from(2);
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "score: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Option<Options> {
    let mut options = Options { firmwares: PathBuf::new(), trials: 400, only: None, list: List::First, show: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--trials" => options.trials = words.next()?.parse().ok()?,
            "--only" => options.only = Some(words.next()?),
            "--fresh" => options.list = List::Fresh,
            "--show" => options.show = true,
            _ => options.firmwares = PathBuf::from(word),
        }
    }
    (!options.firmwares.as_os_str().is_empty()).then_some(options)
}

fn run(options: &Options) -> io::Result<()> {
    let bugs = bugs::read(&options.firmwares, options.list)?;
    let mut out = io::stdout();
    writeln!(out, "| firmware | bug | failing | suspect | repaired at | template | same text | seconds |")?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    let (mut repaired, mut same, mut all) = (0, 0, 0);
    for bug in bugs.iter().filter(|bug| options.only.as_ref().is_none_or(|only| bug.name.contains(only.as_str()))) {
        let row = score::score(options, bug)?;
        writeln!(out, "{row}")?;
        out.flush()?;
        all += 1;
        repaired += usize::from(row.repaired_at.is_some());
        same += usize::from(row.same_text);
    }
    writeln!(out, "\n{repaired} of {all} repaired, {same} of them to the text from before")
}
