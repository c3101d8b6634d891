//! One start of a firmware: runs it, watches it and collects all results.

use interlock_beneath::whole;
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_activity::Outcome;
use interlock_process::{How, ProgramResult};
use regex::bytes::Regex;
use tokio::io::AsyncRead;

use super::{
    boot::{Boot, SEMIHOSTING_LOG, SERIAL_LOG},
    command::Tracing,
    config::{Config, Console, Coverage},
    coverage::tracing,
    debugger,
    watch::{End, Watch},
};
use crate::{
    Bench, Fault, Ran, Start, Stop, Trouble, confined,
    expect::{Expect, PatternMatch, Unmet},
    fault::{Symbols, faults, registers},
    gcov, leftovers,
    session::{note_printing, still},
    walk::FILE_BYTES_MAX,
};

/// The log of QEMU itself.
const QEMU_LOG: &str = "qemu.log";

/// The output of the debugger, or QEMU's view of the registers.
const DEBUGGER_FILE: &str = "debugger.txt";

/// The number of bytes at the end of a log that are searched for faults.
const SEARCHED_BYTES_MAX: usize = 32 << 20;

/// The findings about a start besides the way it ended.
#[derive(Default)]
struct Notes {
    /// The standard error of QEMU.
    stderr: Vec<u8>,
    /// The output of the debugger.
    shown: String,
    faults: Vec<Fault>,
    /// True if the firmware still printed at its time limit.
    is_printing: bool,
}

/// Runs the firmware once.
pub(crate) async fn run(config: &Config, bench: Bench<'_>, start: &Start, folder: &Path) -> Result<Ran, Trouble> {
    leftovers::empty(folder)?;
    let elf = elf(config, bench);
    let symbols = read_symbols(elf.clone()).await;
    let wanted = if start.coverage { config.coverage } else { Coverage::Off };
    let how = match wanted {
        Coverage::Trace => tracing(bench, config).await?,
        Coverage::Gcov => gcov_program(config, bench).map(|_| Tracing::Off)?,
        Coverage::Off => Tracing::Off,
    };
    let mut boot = Boot::start(bench, config, start, folder, how).await?;
    let mut notes = Notes::default();
    let stop = watched(config, bench, start, &mut boot, (symbols.as_ref(), elf.as_deref()), &mut notes).await?;
    let duration = boot.begun.elapsed();
    let addresses = match boot.trace.take() {
        Some(trace) => trace.end().await,
        None => Default::default(),
    };
    let is_semihosting_first = config.console == Console::Semihosting || boot.serial.heard() == 0;
    if notes.is_printing {
        note_printing(folder)?;
    }
    let mut artifacts = boot.guest.close()?;
    artifacts.extend(notes.write(folder)?);
    let logs = logs(folder, is_semihosting_first);
    for log in &logs {
        notes.faults.extend(faults(&text(&folder.join(log)), &config.faults, symbols.as_ref()));
    }
    let coverage = match wanted {
        Coverage::Gcov => {
            let log = logs.first().map(|log| text(&folder.join(log))).unwrap_or_default();
            let counters = gcov::counters(folder, &artifacts, &log);
            gcov::lines(&gcov_program(config, bench)?, bench, folder, counters).await?
        }
        _ => symbols.map(|symbols| symbols.lines(addresses)).unwrap_or_default(),
    };
    Ok(Ran {
        start: start.clone(),
        stop,
        duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        logs,
        reports: Vec::new(),
        artifacts,
        faults: notes.faults,
        coverage,
    })
}

/// Lets the firmware run to its end. Afterwards QEMU is gone.
async fn watched(
    config: &Config,
    bench: Bench<'_>,
    start: &Start,
    boot: &mut Boot,
    (symbols, elf): (Option<&Symbols>, Option<&Path>),
    notes: &mut Notes,
) -> Result<Stop, Trouble> {
    let mut watch = Watch::new(boot, config, symbols, start)?;
    let end = watch.run(bench.attempt.cancel.clone()).await;
    let is_ended_outside = watch.is_ended_outside();
    match end {
        Err(trouble) => {
            boot.end().await;
            Err(trouble)
        }
        Ok(End::Itself(ended)) => notes.ended(*ended, is_ended_outside),
        Ok(End::Decided(stop)) => {
            let silent = boot.last_heard().elapsed();
            notes.is_printing = stop == Stop::TimedOut && silent < still(start.timeout);
            if matches!(stop, Stop::Hung { .. } | Stop::TimedOut) {
                notes.examine(bench, boot, elf, &stop).await;
            }
            if let Some(Ok(mut ended)) = boot.end().await {
                notes.stderr = ended.stderr.content().unwrap_or_default();
            }
            Ok(stop)
        }
    }
}

/// Starts the firmware until it shows that it is alive.
pub(crate) async fn health_check(config: &Config, bench: Bench<'_>) -> Result<String, Trouble> {
    let timeout = config.heartbeat_after;
    let start = Start { id: "health".to_owned(), repetition: 1, timeout, ..Start::default() };
    let folder = bench.session.folder.join("health");
    leftovers::empty(&folder)?;
    let mut boot = Boot::start(bench, config, &start, &folder, Tracing::Off).await?;
    let mut cancel = bench.attempt.cancel.clone();
    let seen = tokio::select! {
        seen = heartbeat(config, &mut boot) => seen,
        () = cancel.cancelled() => Err(Trouble::Cancelled),
    };
    boot.end().await;
    boot.guest.close()?;
    seen
}

async fn heartbeat(config: &Config, boot: &mut Boot) -> Result<String, Trouble> {
    let any = Regex::new(r"\S").map_err(Trouble::environment)?;
    let patterns = [config.heartbeat.clone().unwrap_or(any)];
    boot.qmp.cont().await?;
    // The configured console comes first, but output on the other one also shows that the firmware is alive.
    let (serial, semihosting) = (&mut boot.serial, boot.semihosting.as_mut());
    let heard = match (config.console, semihosting) {
        (_, None) => serial.wait_for(&patterns, config.heartbeat_after).await,
        (Console::Serial, Some(other)) => either(serial, other, &patterns, config.heartbeat_after).await,
        (Console::Semihosting, Some(own)) => either(own, serial, &patterns, config.heartbeat_after).await,
    };
    match heard {
        Ok(_) if config.heartbeat.is_none() => Ok("it prints".to_owned()),
        Ok(found) => Ok(format!("it printed `{}`", found.text.trim())),
        Err(unmet) => {
            let registers = boot.qmp.monitor("info registers").await.unwrap_or_default();
            let counter = super::hang::counter(&registers).map(|at| format!("; it was at {at:#010x}"));
            Err(Trouble::Environment(format!("it did not boot: {unmet}{}", counter.unwrap_or_default())))
        }
    }
}

/// Waits for a match on one of two consoles. If neither matches, returns the error of the first, or of the other if
/// only that one printed anything.
async fn either<S: AsyncRead + Unpin>(
    one: &mut Expect<S>,
    other: &mut Expect<S>,
    patterns: &[Regex],
    within: Duration,
) -> Result<PatternMatch, Unmet> {
    // A match is returned as an error here, because `try_join!` stops at the first error.
    let seek = async |console: &mut Expect<S>| match console.wait_for(patterns, within).await {
        Ok(found) => Err(found),
        Err(unmet) => Ok(unmet),
    };
    match tokio::try_join!(seek(one), seek(other)) {
        Err(found) => Ok(found),
        Ok((_, second)) if one.heard() == 0 && other.heard() > 0 => Err(second),
        Ok((first, _)) => Err(first),
    }
}

impl Notes {
    /// Decides why QEMU ended: by the firmware's request, by a fault of the firmware, or by another cause.
    fn ended(&mut self, ended: Result<ProgramResult, Outcome>, is_ended_outside: bool) -> Result<Stop, Trouble> {
        let mut ended = match ended {
            Ok(ended) => ended,
            Err(outcome) => return Ok(Stop::Lost { why: outcome.message() }),
        };
        self.stderr = ended.stderr.content().unwrap_or_default();
        let said = String::from_utf8_lossy(&self.stderr);
        let is_fatal = said.lines().any(|line| line.starts_with("qemu: fatal") || line.starts_with("qemu: uncaught"));
        let is_told = is_ended_outside || said.contains("terminating on signal");
        Ok(match ended.how {
            How::Exited { code, .. } if is_fatal => Stop::Exited { code },
            How::Exited { signal: Some(signal), .. } => {
                Stop::Lost { why: format!("QEMU was ended by signal {signal}") }
            }
            How::Exited { .. } if is_told => Stop::Lost { why: "QEMU ended because of a signal".to_owned() },
            How::Exited { code, signal: None } => Stop::Exited { code },
            How::Limited(why) => Stop::Lost { why: format!("QEMU was stopped: {why}") },
            How::TimedOut => Stop::TimedOut,
            How::Cancelled => return Err(Trouble::Cancelled),
        })
    }

    /// Reads the registers and the backtrace of a firmware that makes no progress.
    async fn examine(&mut self, bench: Bench<'_>, boot: &mut Boot, elf: Option<&Path>, stop: &Stop) {
        let own = boot.qmp.monitor("info registers").await.unwrap_or_default();
        let shown = debugger::ask(bench, boot, elf).await.unwrap_or_default();
        let mut found = registers(&own);
        if let Some(counter) = super::hang::counter(&own) {
            found.insert("pc".to_owned(), format!("{counter:08x}"));
        }
        self.shown = if shown.text.is_empty() { own } else { shown.text };
        if let Stop::Hung { place } = stop {
            let banner = format!("it hangs in {place}");
            self.faults.push(Fault { banner, stack: shown.stack, registers: found });
        }
    }

    /// Writes the files that are not logs of the firmware; returns the artifacts among them.
    fn write(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        if !self.stderr.is_empty() {
            whole::write(folder.join(QEMU_LOG), &self.stderr)?;
        }
        if self.shown.is_empty() {
            return Ok(Vec::new());
        }
        whole::write(folder.join(DEBUGGER_FILE), &self.shown)?;
        Ok(vec![DEBUGGER_FILE.into()])
    }
}

/// Returns the gcov program, which must match the compiler.
fn gcov_program(config: &Config, bench: Bench<'_>) -> Result<PathBuf, Trouble> {
    let (usual, package) = match config.program.rsplit("qemu-system-").next() {
        Some("arm") => ("arm-none-eabi-gcov", "gcc-arm-none-eabi"),
        Some("riscv32" | "riscv64") => ("riscv64-unknown-elf-gcov", "gcc-riscv64-unknown-elf"),
        _ => ("gcov", "gcc"),
    };
    confined::find(config.gcov.as_deref().unwrap_or(usual), &bench.session.sources, package)
}

/// Returns the file with the symbols: the configured one or the image.
fn elf(config: &Config, bench: Bench<'_>) -> Option<PathBuf> {
    let symbols = config.symbols.as_ref().map(|symbols| bench.session.sources.join(symbols));
    symbols.or_else(|| bench.session.image.clone())
}

/// Reads the symbols; `None` if the file is not ELF.
async fn read_symbols(elf: Option<PathBuf>) -> Option<Symbols> {
    let elf = elf?;
    tokio::task::spawn_blocking(move || Symbols::read(&elf).ok()).await.ok()?
}

/// Returns the logs that are not empty; the one that contains results comes first.
fn logs(folder: &Path, is_semihosting_first: bool) -> Vec<PathBuf> {
    let mut names = [SERIAL_LOG, SEMIHOSTING_LOG, QEMU_LOG];
    if is_semihosting_first {
        names.swap(0, 1);
    }
    let has_content = |name: &&str| fs::metadata(folder.join(name)).is_ok_and(|about| about.len() > 0);
    names.into_iter().filter(has_content).map(PathBuf::from).collect()
}

fn text(log: &Path) -> String {
    let content = whole::read(log, FILE_BYTES_MAX).unwrap_or_default();
    String::from_utf8_lossy(&content[content.len().saturating_sub(SEARCHED_BYTES_MAX)..]).into_owned()
}
