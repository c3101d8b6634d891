//! Setup errors that look like failing tests. They are reported before any search, because no change of the firmware
//! can fix them.
//!
//! Examples are an image that cannot run in the environment, a time limit that is too short, a sandbox that refuses
//! an operation of the tests (`refused.rs`), and sources that are not in the image. Each message states the
//! observation and the change to make in the task. An emulator itself refuses an image for another machine
//! (`Trouble::Setup`).

mod refused;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use interlock_chart::counted;
use interlock_test_results::{Measured, Status, Verdict};
use interlock_testbench::{Ran, Session, Stop, fault::Image, was_printing};

use crate::{
    bench,
    search::{Constraints, Sources},
};

/// The number of last lines that show whether a program makes progress or repeats itself.
const LINES: usize = 60;

/// The number of distinct lines below which a repeated output counts as a loop.
const DIFFERENT_MIN: usize = 5;

/// The number of bytes examined at the end of a log.
const LOG_BYTES_MAX: usize = 256 * 1024;

/// The number of files that a message names.
const FILES_TOLD: usize = 3;

/// The exit code with which a shell reports that it could not execute a file.
const NOT_EXECUTED: i64 = 126;

/// The parts of a setup that are checked.
pub(crate) struct SetUp<'s> {
    pub(crate) session: &'s Session,
    pub(crate) measured: &'s Measured,
    /// The root of the copy that contains the sources.
    pub(crate) root: &'s Path,
    pub(crate) image_name: &'s str,
    pub(crate) allowed_paths: &'s [String],
}

/// Returns the error in a setup whose tests do not pass; `None` if the firmware itself fails. May block.
pub(crate) fn fault(set_up: &SetUp<'_>) -> Option<String> {
    if set_up.measured.verdict == Verdict::Pass {
        return None;
    }
    let ran = set_up.session.ran().ok()?;
    not_an_image(set_up, &ran)
        .or_else(|| too_short(set_up, &ran))
        .or_else(|| refused(set_up, &ran))
        .or_else(|| elsewhere(set_up))
}

/// Returns a message if the build output shows that the sandbox refused something.
pub(crate) fn refused_build(said: &str, folder: &Path) -> Option<String> {
    let refusal = refused::find(said, folder, folder)?;
    Some(format!("the sandbox refused {refusal}, which the build needs: let the build write within the repository"))
}

/// Reports an image that cannot run in this environment. An ELF file for another machine was already refused at
/// deployment.
fn not_an_image(set_up: &SetUp<'_>, ran: &[(PathBuf, Ran)]) -> Option<String> {
    // A case with the status crashed or timed out may only be an expected one that the firmware never reported.
    let is_reported = |status: Status| matches!(status, Status::Passed | Status::Failed | Status::Skipped);
    let is_silent = !set_up.measured.cases.iter().any(|case| is_reported(case.case.status));
    let image = Image::read(set_up.session.image.as_deref().filter(|_| is_silent)?).ok()?;
    let name = set_up.image_name;
    let config = &set_up.session.profile.config;
    match set_up.session.profile.env_type.as_str() {
        // A raw image is loaded unchanged if the task defines how or names the file with the symbols.
        "qemu" if !image.is_elf() && !config.contains_key("image") && !config.contains_key("symbols") => Some(format!(
            "`build.image` {name} is {}, no ELF file, and reports no case: name the linked ELF file, or say with `config.image` how it is loaded",
            image.kind()
        )),
        "local" => {
            let made_for = image.is_foreign()?;
            let is_refused = ran.iter().any(|(_, ran)| ran.stop == Stop::Exited { code: NOT_EXECUTED });
            is_refused.then(|| format!("`build.image` {name} is an ELF file for {made_for}, which this computer does not run: build it for this computer, or use `env_type: qemu`"))
        }
        _ => None,
    }
}

/// Reports a start that still printed new output at its time limit.
fn too_short(set_up: &SetUp<'_>, ran: &[(PathBuf, Ran)]) -> Option<String> {
    let late = ran.iter().filter(|(folder, ran)| ran.stop == Stop::TimedOut && was_printing(folder));
    let (_, ran) = late.into_iter().find(|(folder, ran)| goes_on(set_up.session, folder, ran))?;
    let reported = bench::reported(set_up.session, ran).map(|cases| cases.len()).unwrap_or_default();
    Some(format!(
        "`{}` reached its limit of {} s while it still printed, after {}: raise `timeout_sec`",
        ran.start.id,
        ran.start.timeout.as_secs_f64(),
        counted(reported, "case", "cases")
    ))
}

/// Reports whether the end of a log makes progress: it has results, or lines that are not the same few repeated.
fn goes_on(session: &Session, folder: &Path, ran: &Ran) -> bool {
    let Some(text) = ran.logs.first().and_then(|log| end_of(&folder.join(log))) else { return false };
    let lines: Vec<&str> = text.lines().rev().take(LINES).collect();
    let tail: String = lines.iter().rev().map(|line| format!("{line}\n")).collect();
    let without_digits = |line: &&str| line.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
    let different: BTreeSet<String> = lines.iter().map(without_digits).collect();
    bench::reports_a_case(session, &tail) || different.len() >= DIFFERENT_MIN.min(lines.len())
}

fn end_of(log: &Path) -> Option<String> {
    let content = interlock_beneath::whole::read(log, bench::FILE_BYTES_MAX).ok()?;
    Some(String::from_utf8_lossy(&content[content.len().saturating_sub(LOG_BYTES_MAX)..]).into_owned())
}

/// Reports an operation that the sandbox refused a program.
fn refused(set_up: &SetUp<'_>, ran: &[(PathBuf, Ran)]) -> Option<String> {
    let session = set_up.session;
    // Firmware output in an emulator refers to the firmware's own files; only the emulator's log refers to files of
    // this computer.
    let is_about_us = |log: &Path| session.profile.env_type == "local" || log.ends_with("qemu.log");
    let logs = ran.iter().flat_map(|(folder, ran)| ran.logs.iter().map(move |log| (folder, log)));
    let texts = logs.filter(|(_, log)| is_about_us(log)).filter_map(|(folder, log)| end_of(&folder.join(log)));
    let mut said: String = texts.collect();
    if session.profile.env_type == "local" {
        said.extend(set_up.measured.cases.iter().map(|case| format!("{}\n", case.case.message)));
    }
    let named = session.profile.config.get("folder").and_then(serde_json::Value::as_str).unwrap_or_default();
    let refusal = refused::find(&said, &session.sources.join(named), set_up.root)?;
    Some(format!("the sandbox refused {refusal}: {}", refusal.remedy()))
}

/// Reports that none of the sources that may be changed is part of the image.
fn elsewhere(set_up: &SetUp<'_>) -> Option<String> {
    let image = Image::read(set_up.session.image.as_deref()?).ok()?;
    let made_of = image.sources();
    let sources = Sources::read(set_up.root, &set_up.session.sources);
    let constraints = Constraints { allowed_paths: set_up.allowed_paths.to_vec(), ..Constraints::default() };
    let kept_from = sources.kept_from(&constraints).ok()?;
    let is_code =
        |path: &&String| path.ends_with(".c") && !interlock_repair::is_test(path) && !kept_from.contains(path);
    let changeable: Vec<&String> = sources.texts.keys().filter(is_code).collect();
    let in_image: BTreeSet<String> = made_of.iter().filter_map(|name| sources.named(name)).collect();
    if made_of.is_empty() || changeable.is_empty() || changeable.iter().any(|path| in_image.contains(*path)) {
        return None;
    }
    let some = |names: Vec<&str>| names.into_iter().take(FILES_TOLD).collect::<Vec<_>>().join(", ");
    Some(format!(
        "no source that may be changed is in `build.image` {}: it is made of {}, and {} may be changed; see `build` and `allowed_paths`",
        set_up.image_name,
        some(made_of.iter().map(String::as_str).collect()),
        some(changeable.iter().map(|path| path.as_str()).collect())
    ))
}
