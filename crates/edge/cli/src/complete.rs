//! Completion of arguments: the shell calls the binary, which answers with commands, options, and the names of
//! machines, runs, activities and error codes.
//!
//! Candidates are read without side effects: no store is created, and a store that cannot be read has no candidates.

use std::{ffi::OsStr, path::Path};

use clap::CommandFactory as _;
use clap_complete::{ArgValueCompleter, CompleteEnv, CompletionCandidate, engine::PathCompleter};
use clap_complete::{engine::ValueCompleter as _, env::Shells};
use interlock_chart::library;
use interlock_journal::{Engine as _, Filter};
use interlock_sqlite::Journal;

use crate::{args::Args, commands, machine, store};

/// The environment variable with which the shell asks for candidates. Its value is the name of the shell.
pub(crate) const VARIABLE: &str = "_INTERLOCK_COMPLETE";

/// The maximum number of runs that are offered, newest first.
const RUNS_MAX: usize = 200;

/// Answers the shell if it asks for candidates. Returns false if this is an ordinary call.
pub(crate) fn answer(arguments: &[std::ffi::OsString]) -> bool {
    let completion = CompleteEnv::with_factory(Args::command).var(VARIABLE);
    // An error here can only be shown in the middle of the line that the user types.
    completion.try_complete(arguments.iter().cloned(), Some(&machine::here())).unwrap_or(true)
}

/// Returns the script that makes a shell ask the binary for candidates.
pub(crate) fn script(shell: &str) -> std::io::Result<String> {
    let mut text = Vec::new();
    if let Some(completer) = Shells::builtins().completer(shell) {
        completer.write_registration(VARIABLE, "interlock", "interlock", "interlock", &mut text)?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Completes the name or the path of a machine.
pub(crate) fn machines() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let listed = library::list(&machine::here())
            .into_iter()
            .map(|listed| CompletionCandidate::new(listed.name).help(Some(listed.origin.word().into())));
        let mut candidates = beginning(typed, listed);
        if candidates.is_empty() {
            candidates = PathCompleter::any().complete(typed);
        }
        candidates
    })
}

/// Completes the name of a built-in machine.
pub(crate) fn builtin_machines() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| beginning(typed, library::builtin_names().map(CompletionCandidate::new)))
}

/// Completes the name of a run, newest first.
pub(crate) fn runs() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| beginning(typed, stored_runs().into_iter()))
}

/// Completes the name of an activity.
pub(crate) fn activities() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let known = store::registry().iter();
        let candidate = known
            .map(|activity| CompletionCandidate::new(activity.name()).help(Some(activity.summary().to_owned().into())));
        beginning(typed, candidate)
    })
}

/// Completes an error code.
pub(crate) fn codes() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let upper = typed.to_string_lossy().to_uppercase();
        let known = commands::explain::codes();
        let candidate = known.map(|(code, title)| CompletionCandidate::new(code).help(Some(title.into())));
        beginning(OsStr::new(&upper), candidate)
    })
}

fn stored_runs() -> Vec<CompletionCandidate> {
    let journal = store::home().ok().filter(|home| is_store(home)).and_then(|home| Journal::open(&home).ok());
    let filter = Filter { at_most: RUNS_MAX, ..Filter::default() };
    let heads = journal.and_then(|journal| journal.list(&filter).ok()).unwrap_or_default();
    let candidate = |head: interlock_journal::Head| {
        let help = format!("{}, {} in {}", head.machine, head.phase.word(), head.place);
        CompletionCandidate::new(head.name).help(Some(help.into()))
    };
    heads.into_iter().map(candidate).collect()
}

/// Returns true if the directory holds a store, so that opening it creates nothing.
fn is_store(home: &Path) -> bool {
    home.join(interlock_sqlite::STORE_FILE).is_file()
}

fn beginning(typed: &OsStr, candidates: impl Iterator<Item = CompletionCandidate>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    candidates.filter(|candidate| candidate.get_value().to_string_lossy().starts_with(&*typed)).collect()
}
