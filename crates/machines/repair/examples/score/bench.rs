//! A copy of a firmware that is built with `make` and run in QEMU.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use interlock_repair::{Failure, Trial};

/// The processor time after which a boot counts as a hang. A boot with all cases takes a tenth of it.
const RUN_MAX: Duration = Duration::from_millis(1200);
/// The maximum time to wait for a boot, however little processor time it gets.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// The unit in which the kernel counts the time of processes.
const TICK: Duration = Duration::from_millis(10);
/// The verdict of a case that reported none, because it or an earlier case crashed or hung.
pub(crate) const MISSING: &str = "missing";

pub(crate) struct Bench {
    pub(crate) folder: PathBuf,
    _kept: tempfile::TempDir,
}

/// The output of one boot.
pub(crate) struct Output {
    pub(crate) text: String,
    pub(crate) ended: bool,
}

impl Bench {
    /// Copies a firmware and the parts that it shares with the others.
    pub(crate) fn new(firmwares: &Path, firmware: &str) -> io::Result<Bench> {
        let kept = tempfile::tempdir()?;
        for part in ["common", firmware] {
            let copied = Command::new("cp").arg("-r").arg(firmwares.join(part)).arg(kept.path()).status()?;
            if !copied.success() {
                return Err(io::Error::other("cp failed"));
            }
        }
        let folder = kept.path().join(firmware);
        fs::remove_dir_all(folder.join("build"))
            .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })?;
        Ok(Bench { folder, _kept: kept })
    }

    pub(crate) fn build(&self) -> io::Result<bool> {
        let mut make = Command::new("make");
        make.arg("-s").current_dir(&self.folder).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(make.status()?.success())
    }

    /// Returns a hash of the loaded sections, without debug information. Images with equal code have the same hash.
    pub(crate) fn image(&self) -> io::Result<u64> {
        let elf = fs::read(self.folder.join("build/fw.elf"))?;
        let half = |at: usize| elf.get(at..at + 2).map_or(0, |b| usize::from(u16::from_le_bytes([b[0], b[1]])));
        let word = |at: usize| elf.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
        let mut hasher = DefaultHasher::new();
        for index in 0..half(44) {
            let header = word(28) + index * half(42);
            let (offset, size) = (word(header + 4), word(header + 16));
            elf.get(offset..offset + size).hash(&mut hasher);
        }
        Ok(hasher.finish())
    }

    /// Boots with all cases, or with one. QEMU writes the executed instructions to `log`.
    pub(crate) fn boot(&self, case: Option<&str>, log: Option<&Path>) -> io::Result<Output> {
        let printed = self.folder.join("build").join(format!("{}.out", case.unwrap_or("all")));
        let semihosting = match case {
            Some(case) => format!("enable=on,target=native,arg=fw,arg=--test={case}"),
            None => "enable=on,target=native".to_owned(),
        };
        let mut qemu = Command::new("qemu-system-arm");
        qemu.args(["-M", "mps2-an385", "-display", "none", "-monitor", "none", "-icount", "shift=5,sleep=off"]);
        qemu.args(["-serial", "stdio", "-kernel", "build/fw.elf", "-semihosting-config", &semihosting]);
        if let Some(log) = log {
            qemu.args(["-d", "in_asm", "-singlestep", "-D"]).arg(log);
        }
        qemu.current_dir(&self.folder).stdin(Stdio::null()).stdout(File::create(&printed)?).stderr(Stdio::null());
        let ended = wait(qemu)?;
        Ok(Output { text: String::from_utf8_lossy(&fs::read(&printed)?).into_owned(), ended })
    }
}

fn wait(mut command: Command) -> io::Result<bool> {
    let mut child = command.spawn()?;
    let begun = Instant::now();
    loop {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        if used(child.id()) > RUN_MAX || begun.elapsed() > WAIT_MAX {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        sleep(Duration::from_millis(3));
    }
}

/// Returns the processor time of a process: user and system time, the 14th and 15th word of its status.
fn used(process: u32) -> Duration {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let behind_name = status.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let ticks = behind_name.split_whitespace().skip(11).take(2).filter_map(|word| word.parse::<u32>().ok());
    TICK * ticks.sum::<u32>()
}

impl Output {
    /// Returns the verdicts. Cases that were not reported count as failed.
    pub(crate) fn trial(&self, cases: &[String]) -> Trial {
        let mut trial = Trial { built: true, ..Trial::default() };
        for line in self.text.lines() {
            let mut parts = line.splitn(4, ':');
            let (Some(_), Some(_), Some(case), Some(verdict)) =
                (parts.next(), parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            if verdict == "PASS" {
                trial.passed.insert(case.to_owned());
            } else if let Some(said) = verdict.strip_prefix("FAIL: ") {
                trial.failed.insert(case.to_owned(), said.to_owned());
            }
        }
        for case in cases.iter().filter(|case| !trial.passed.contains(*case)) {
            trial.failed.entry(case.clone()).or_insert_with(|| MISSING.to_owned());
        }
        let whole = self.ended && self.text.trim_end().ends_with("OK");
        if !whole && trial.failed.is_empty() {
            trial.failed.insert("end".to_owned(), MISSING.to_owned());
        }
        trial
    }

    /// Returns the failed checks with their positions.
    pub(crate) fn failures(&self) -> Vec<Failure> {
        let read = |line: &str| {
            let mut parts = line.splitn(4, ':');
            let (path, number, case) = (parts.next()?, parts.next()?, parts.next()?);
            let message = parts.next()?.strip_prefix("FAIL: ")?.to_owned();
            Some(Failure { case: case.to_owned(), path: path.to_owned(), line: number.parse().ok()?, message })
        };
        self.text.lines().filter_map(read).collect()
    }
}
