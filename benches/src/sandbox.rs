//! The cost of starting a program in the sandbox: `true`, directly and through the launcher, from the start to the
//! final report. A run has a launcher ready for every program except its first; the time that this saves is measured
//! too.

use std::{
    io::{Read, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use interlock_sandbox::{Account, Config, Kind, LaunchOrder, Launcher, Report};

use crate::{Result, size};

const ROUNDS: usize = size(60, 2);

/// The time that a launcher gets to become ready.
const READY: Duration = Duration::from_millis(30);

/// Measures a direct start, a supervised start without a sandbox, and a start in the sandbox.
pub(crate) fn report() -> Result<()> {
    let Some(program) = crate::program("sandbox")? else { return Ok(()) };
    let launcher = Launcher::at(program);
    let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
    let directly = median(|| {
        let begin = Instant::now();
        Command::new("true").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
        Ok(begin.elapsed())
    })?;
    let none = median(|| launch(&launcher, Kind::None, folder.path(), Duration::ZERO))?;
    let first = median(|| launch(&launcher, Kind::Landlock, folder.path(), Duration::ZERO))?;
    let ready = median(|| launch(&launcher, Kind::Landlock, folder.path(), READY))?;
    println!(
        "sandbox  {:>8.3} ms for `true` in the sandbox with a launcher that is ready, {:.3} without, {:.3} looked after only, {:.3} directly",
        milliseconds(ready),
        milliseconds(first),
        milliseconds(none),
        milliseconds(directly)
    );
    Ok(())
}

fn launch(launcher: &Launcher, kind: Kind, folder: &Path, before: Duration) -> Result<Duration> {
    let mut rules = Config::default().rules(folder.canonicalize()?, &Account::current());
    rules.sandbox = kind;
    let order = LaunchOrder {
        mark: folder.to_owned(),
        words: vec!["/bin/true".into()],
        env: Vec::new(),
        folder: folder.to_owned(),
        stdin: None,
        temp: std::env::temp_dir(),
        rules,
        ..LaunchOrder::default()
    };
    let mut begin = Instant::now();
    let (mut ours, theirs) = UnixStream::pair()?;
    let mut child = launcher.command().stdin(OwnedFd::from(theirs)).spawn()?;
    if !before.is_zero() {
        std::thread::sleep(before);
        begin = Instant::now();
    }
    ours.write_all(&order.to_line()?)?;
    let mut said = String::new();
    ours.read_to_string(&mut said)?;
    child.wait()?;
    let took = begin.elapsed();
    let ended = said.lines().filter_map(|line| serde_json::from_str(line).ok()).find_map(|report| match report {
        Report::Ended(ended) => Some(ended),
        _ => None,
    });
    ended.filter(|ended| ended.code == Some(0)).map(|_| took).ok_or_else(|| format!("`true` failed: {said}").into())
}

fn median(mut round: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let mut rounds = (0..ROUNDS).map(|_| round()).collect::<Result<Vec<_>>>()?;
    rounds.sort();
    Ok(rounds[ROUNDS / 2])
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
