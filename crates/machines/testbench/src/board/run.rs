//! One start on a board: by a command on its console, by a reset, or over SSH while the console is recorded.

use interlock_beneath::whole;
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use interlock_process::{How, Tell};
use regex::bytes::Regex;

use super::{
    config::Board,
    console::Console,
    switch::{Thoroughly, restart},
};
use crate::{
    Bench, Fault, Ran, Start, Stop, Trouble,
    expect::{PatternMatch, Unmet},
    fault::{self, Symbols},
    fetch,
    session::time_is_up,
    ssh::{CUT_OFF, Marked, Remote, Ssh, is_name, plain, quoted},
    stop::stoppable,
    tool::Said,
    walk::FILE_BYTES_MAX,
};

/// The time to listen between two checks of the time limits.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A start that is silent for this long at its time limit counts as hung.
const SILENT: Duration = Duration::from_secs(10);

/// The time to listen to a command after it was interrupted.
const STOPPING: Duration = Duration::from_secs(2);

/// The character that interrupts a command: Ctrl-C.
const INTERRUPT: &str = "\u{3}";

/// A pattern that nothing matches, for tests that never end.
const NEVER: &str = r"[^\s\S]";

const CONSOLE: &str = "console.log";

/// Runs one start on the board.
pub(crate) async fn run(bench: Bench<'_>, board: &Board, start: &Start, folder: &Path) -> Result<Ran, Trouble> {
    let begun = Instant::now();
    let command = command(board, start);
    let (stop, logs, reports) = match (&board.ssh, &command) {
        (Some(ssh), Some(command)) => over_ssh(bench, board, ssh, start, command, folder).await?,
        _ => (on_console(bench, board, start, command.as_deref(), folder).await?, vec![CONSOLE.into()], Vec::new()),
    };
    let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let faults = faults(bench, board, folder, &logs);
    let (artifacts, coverage) = Default::default();
    Ok(Ran { start: start.clone(), stop, duration_ms, logs, reports, artifacts, faults, coverage })
}

/// Returns the faults in the logs, with source locations if there are symbols.
fn faults(bench: Bench<'_>, board: &Board, folder: &Path, logs: &[PathBuf]) -> Vec<Fault> {
    let elf = board.elf.as_ref().map(|elf| bench.session.sources.join(elf)).or_else(|| bench.session.image.clone());
    // An image need not contain symbols.
    let symbols = elf.and_then(|elf| Symbols::read(&elf).ok());
    let own: Vec<Regex> = board.faults.iter().map(|pattern| (**pattern).clone()).collect();
    let texts = logs.iter().filter_map(|log| whole::read(folder.join(log), FILE_BYTES_MAX).ok());
    let found = |text: Vec<u8>| fault::faults(&String::from_utf8_lossy(&text), &own, symbols.as_ref());
    texts.flat_map(found).collect()
}

/// Returns the command that starts the tests, if there is one.
fn command(board: &Board, start: &Start) -> Option<String> {
    let said = Some(&start.command).filter(|said| !said.is_empty()).or(board.command.as_ref())?;
    let args = start.args.iter().map(|arg| quoted(arg)).collect::<Vec<_>>().join(" ");
    Some(match said.contains("{args}") {
        true => said.replace("{args}", &args),
        false => format!("{said} {args}").trim_end().to_owned(),
    })
}

async fn on_console(
    bench: Bench<'_>,
    board: &Board,
    start: &Start,
    command: Option<&str>,
    folder: &Path,
) -> Result<Stop, Trouble> {
    let mut console = Console::open(bench, board, Some(&folder.join(CONSOLE))).await?;
    // Counting begins before anything is read, so that no boot is missed.
    let boots = board.boot.as_ref().map(|boot| console.line.count((**boot).clone()));
    let (end, before) = match command {
        Some(command) => {
            let boot_time = board.boot_time;
            stoppable(bench, boot_time + LOOK_EVERY, &board.name, console.log_in(board, boot_time)).await?;
            let (line, end) = line(bench, board, start, command)?;
            console.send(&line).await?;
            // The board may have booted just before the login; those boots do not count.
            (end, boots.map_or(0, |boots| console.line.seen(boots)))
        }
        None => {
            let end = match (&board.end, start.limit) {
                (Some(end), _) => (**end).clone(),
                (None, Some(_)) => Regex::new(NEVER).map_err(Trouble::environment)?,
                (None, None) => {
                    let why = "is missing: if a reset starts the tests, their end must be recognisable, or \
                               `test_profile.limit` must say when they are judged";
                    return Err(Trouble::config("end", why));
                }
            };
            restart(bench, board, Some(&mut console), Thoroughly::Least).await?;
            (end, 0)
        }
    };
    let lines = console.line.count(Regex::new("\n").map_err(Trouble::environment)?);
    let watch = Watch { board, start, end: &end, boots, before, lines, is_command: command.is_some() };
    let mut cancel = bench.attempt.cancel.clone();
    let heard = tokio::select! {
        stop = watch.listen(&mut console) => stop,
        () = cancel.cancelled() => Err(Trouble::Cancelled),
    };
    let is_over = matches!(heard, Ok(Stop::Exited { .. } | Stop::Lost { .. }));
    if command.is_some() && !is_over {
        // The command may ignore the interrupt; nothing more can be done from here.
        let _ = console.send(INTERRUPT).await;
        console.line.drain(STOPPING).await;
    }
    heard
}

/// Returns the line to send and the pattern of its end.
fn line(bench: Bench<'_>, board: &Board, start: &Start, command: &str) -> Result<(String, Regex), Trouble> {
    let mut variables = String::new();
    for (name, value) in &start.environment_vars {
        if !is_name(name) {
            return Err(Trouble::environment(format!("`{name}` is not a variable name")));
        }
        variables.push_str(&format!("{name}={} ", quoted(value)));
    }
    let command =
        if variables.is_empty() { command.to_owned() } else { format!("env {variables}sh -c {}", quoted(command)) };
    if let Some(end) = &board.end {
        return Ok((format!("{command}\n"), (**end).clone()));
    }
    // In the echo of the line, `=` is followed by `$?`; in the real output, by digits.
    let (session, id) = (plain(&bench.session.id), plain(&start.id));
    let mark = format!("interlock-{session}-{id}-{}", start.repetition);
    let end = Regex::new(&format!(r"{mark}=(?P<code>-?[0-9]+)\r?\n")).map_err(Trouble::environment)?;
    Ok((format!("{command}; echo \"{mark}=$?\"\n"), end))
}

/// The conditions that end a start on the console.
struct Watch<'w> {
    board: &'w Board,
    start: &'w Start,
    end: &'w Regex,
    /// The index of the boot pattern's counter.
    boots: Option<usize>,
    /// The number of boots before the start.
    before: u32,
    /// The index of the counter of lines.
    lines: usize,
    is_command: bool,
}

impl Watch<'_> {
    /// Listens until the start ends in any way.
    async fn listen(&self, console: &mut Console) -> Result<Stop, Trouble> {
        let begun = Instant::now();
        loop {
            match console.wait_for_whole(self.end, LOOK_EVERY).await {
                Ok(found) => return Ok(ended(&found)),
                Err(Unmet::TimedOut { .. }) => {}
                Err(Unmet::Closed { .. }) => return Ok(Stop::Lost { why: "the console has closed".to_owned() }),
                Err(Unmet::Broken(error)) => return Ok(Stop::Lost { why: format!("the console has failed: {error}") }),
            }
            if let Some(stop) = self.look(console, begun) {
                return Ok(stop);
            }
        }
    }

    /// Decides from the output, or from its absence, whether the start is over.
    fn look(&self, console: &Console, begun: Instant) -> Option<Stop> {
        let timeout = self.start.timeout;
        let boots = self.boots.map_or(0, |boots| console.line.seen(boots)).saturating_sub(self.before);
        if self.is_command && boots > 0 {
            return Some(Stop::Lost { why: "the board restarted while the command ran".to_owned() });
        }
        if boots > self.board.boots_max {
            return Some(Stop::BootLoop { boots });
        }
        if self.start.limit.and_then(|limit| limit.lines).is_some_and(|most| console.line.seen(self.lines) >= most) {
            return Some(Stop::Limited);
        }
        let silent = console.line.last_heard().unwrap_or(begun).max(begun).elapsed();
        let is_late = begun.elapsed() >= timeout;
        if self.board.silence.is_some_and(|most| silent >= most) || (is_late && silent >= SILENT.min(timeout / 2)) {
            return Some(Stop::Hung { place: place(console) });
        }
        is_late.then(|| time_is_up(self.start, silent))
    }
}

fn ended(found: &PatternMatch) -> Stop {
    match found.groups.get("code").map_or(Some(0), |code| code.trim().parse().ok()) {
        Some(code) => Stop::Exited { code },
        None => Stop::Lost { why: format!("it ended with `{}`, which is not an exit code", found.text.trim()) },
    }
}

/// Returns the last line that was received, as the place of a hang.
fn place(console: &Console) -> String {
    let text = String::from_utf8_lossy(console.line.rest()).into_owned();
    match text.lines().map(str::trim).rfind(|line| !line.is_empty()) {
        Some(line) => format!("after `{line}`"),
        None => "before it printed anything".to_owned(),
    }
}

type Outcome = (Stop, Vec<PathBuf>, Vec<PathBuf>);

async fn over_ssh(
    bench: Bench<'_>,
    board: &Board,
    ssh: &Ssh,
    start: &Start,
    command: &str,
    folder: &Path,
) -> Result<Outcome, Trouble> {
    if start.limit.is_some_and(|limit| limit.seconds.is_none()) {
        let why =
            "`test_profile.limit`: `lines` are counted on a console, and this command runs over SSH: use `seconds`";
        return Err(Trouble::Setup(why.to_owned()));
    }
    let mark = Marked::start(&bench.session.id, &start.id, start.repetition);
    forget_reports(bench, board, ssh).await?;
    let mut logs: Vec<PathBuf> = vec!["stdout.log".into(), "stderr.log".into()];
    let command = mark.command(command, &start.environment_vars)?;
    let remote = Remote { tell: Tell::NowAndThen, ..Remote::quiet(command, start.timeout) };
    let run = ssh.run(bench, &remote);
    let said = if board.has_console() {
        logs.push(CONSOLE.into());
        let mut console = Console::open(bench, board, Some(&folder.join(CONSOLE))).await?;
        console.beside(run).await
    } else {
        run.await
    };
    let is_over =
        said.as_ref().is_ok_and(|said| matches!(said.how, How::Exited { .. }) && said.code() != Some(CUT_OFF));
    if !is_over {
        // If the board cannot be reached any more, the command cannot be stopped, and the error is ignored.
        let _ = mark.end(ssh, bench).await;
    }
    let said = said?;
    let (code, stderr) = mark.ended(&said.stderr);
    whole::write(folder.join("stdout.log"), &said.stdout)?;
    whole::write(folder.join("stderr.log"), &stderr)?;
    let stop = stop(&said, code);
    let reports = fetch_reports(bench, board, ssh, folder).await?;
    Ok((stop, logs, reports))
}

fn stop(said: &Said, code: Option<i64>) -> Stop {
    match (&said.how, code) {
        (How::TimedOut, _) => Stop::TimedOut,
        (_, Some(code)) => Stop::Exited { code },
        (How::Exited { code: CUT_OFF, .. }, None) => {
            Stop::Lost { why: said.last_line().unwrap_or_else(|| "the connection was lost".to_owned()) }
        }
        (How::Exited { code, .. }, None) => Stop::Lost { why: format!("its end was not seen; ssh ended with {code}") },
        (How::Limited(why), None) => Stop::Lost { why: why.clone() },
        (How::Cancelled, None) => Stop::Lost { why: "it was cancelled".to_owned() },
    }
}

/// Removes the reports of earlier starts, so that they are not taken for new ones.
async fn forget_reports(bench: Bench<'_>, board: &Board, ssh: &Ssh) -> Result<(), Trouble> {
    if board.reports.is_empty() {
        return Ok(());
    }
    let all: Vec<_> = board.reports.iter().map(|path| quoted(path)).collect();
    let command = format!("exec sh -c {}", quoted(&format!("rm -f -- {}", all.join(" "))));
    let said = ssh.run(bench, &Remote::quiet(command, STOPPING * 15)).await?;
    match said.code() {
        Some(0) => Ok(()),
        _ => Err(Trouble::environment(format!("old reports could not be removed: {}", said.why(STOPPING * 15)))),
    }
}

async fn fetch_reports(bench: Bench<'_>, board: &Board, ssh: &Ssh, folder: &Path) -> Result<Vec<PathBuf>, Trouble> {
    if board.reports.is_empty() {
        return Ok(Vec::new());
    }
    let here = folder.join("reports");
    whole::make_folders(&here)?;
    for path in &board.reports {
        // A missing report is also a result: its cases count as missing.
        if let Err(Trouble::Cancelled) = ssh.get(bench, path, &here).await {
            return Err(Trouble::Cancelled);
        }
    }
    Ok(fetch::files(&here)?.into_iter().map(|file| Path::new("reports").join(file)).collect())
}
