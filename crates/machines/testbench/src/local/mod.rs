//! Tests on this computer: a shell command in the sandbox, run in the directory of the sources or in a copy of it.

mod command;
mod files;

use interlock_beneath::whole;
use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_activity::{EffectClass, Outcome};
use interlock_process::{How, Plan, ProgramResult, Tell, run};
use interlock_sandbox::Network;
use regex::bytes::Regex;

use crate::{
    Bench, Doing, Environment, FetchedFile, Operation, Profile, Ran, Reset, Start, Stop, Trouble,
    confined::{self, Confined, Trust},
    fault::faults,
    fields::Fields,
    gcov, leftovers,
    session::{note_printing, still, time_is_up},
    walk::FILE_BYTES_MAX,
};
use command::words;
use files::{Globs, copy};

/// The directory of the copy, within the directory of a start.
const COPY: &str = "copy";

/// The files with the standard output and the standard error of a start.
const OUT: &str = "stdout.log";
const ERR: &str = "stderr.log";

/// The time limit of a health check.
const HEALTH_MAX: Duration = Duration::from_secs(60);

/// The environment that runs tests on this computer.
#[derive(Debug)]
pub struct Local {
    command: String,
    health: Option<String>,
    /// The working directory, relative to the sources.
    folder: PathBuf,
    is_copied: bool,
    reports: Globs,
    artifacts: Globs,
    network: Option<Network>,
    write: Vec<PathBuf>,
    faults: Vec<Regex>,
    /// False if executed lines are never recorded.
    has_coverage: bool,
    /// The gcov program, which must match the compiler.
    gcov: String,
}

impl Local {
    /// Reads the profile; returns all problems as one error.
    pub fn new(profile: &Profile) -> Result<Self, Trouble> {
        let mut fields = Fields::new(&profile.config);
        let networks =
            [Network::Off, Network::Unix, Network::Loopback, Network::On].map(|network| (network.name(), network));
        let local = Local {
            command: fields.text("command").unwrap_or_default(),
            health: fields.text("health"),
            folder: fields.text("folder").unwrap_or_default().into(),
            is_copied: fields.word("where", &[("sources", false), ("copy", true)]).unwrap_or_default(),
            reports: Globs::read(&mut fields, "reports"),
            artifacts: Globs::read(&mut fields, "artifacts"),
            network: fields.word("network", &networks),
            write: fields.texts("write").into_iter().map(PathBuf::from).collect(),
            faults: fields.patterns("faults"),
            has_coverage: fields.word("coverage", &[("off", false), ("gcov", true)]).unwrap_or(true),
            gcov: fields.text("gcov").unwrap_or_else(|| "gcov".to_owned()),
        };
        // The arguments of a case that runs alone; the planner of the starts fills them in.
        if fields.text("case_arg").is_some_and(|template| !template.contains("{case}")) {
            fields.bad("case_arg", "has no {case}");
        }
        let has_own = !profile.suites.is_empty() && profile.suites.iter().all(|suite| !suite.command.is_empty());
        if local.command.is_empty() && !has_own {
            fields.bad("command", "is missing, and not every suite has one of its own");
        }
        let leaves = local.folder.components().any(|part| !matches!(part, std::path::Component::Normal(_)));
        if leaves {
            fields.bad("folder", "must be a path within the sources");
        }
        fields.finish()?;
        Ok(local)
    }

    /// Returns the directory of the sources to work in: the original or a copy for the start.
    fn place(&self, bench: Bench<'_>, start: &Path) -> io::Result<PathBuf> {
        if !self.is_copied {
            return Ok(bench.session.sources.clone());
        }
        let place = start.join(COPY);
        copy(&bench.session.sources, &place)?;
        Ok(place)
    }

    fn plan(
        &self,
        bench: Bench<'_>,
        command: &str,
        start: &Start,
        (place, counters): (&Path, Option<&Path>),
    ) -> Result<Plan, Trouble> {
        let writable = match self.is_copied {
            true => place.to_owned(),
            false => interlock_sandbox::workspace_of(place)?,
        };
        let folder = place.join(&self.folder);
        if !folder.is_dir() {
            return Err(Trouble::config("folder", format!("does not exist: {}", folder.display())));
        }
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let write = self
            .write
            .iter()
            .map(|path| path.strip_prefix("~").map_or_else(|_| place.join(path), |rest| home.join(rest)));
        let mut env = start.environment_vars.clone();
        env.extend(counters.map(|counters| ("GCOV_PREFIX".to_owned(), counters.display().to_string())));
        let write = write.chain(counters.map(Path::to_owned));
        let confined = Confined {
            words: words(command, start, bench.session.image.as_deref())?,
            folder,
            writable,
            env,
            timeout: start.timeout,
            tell: Tell::NowAndThen,
            trust: Trust::Settings { network: self.network, write: write.collect() },
        };
        confined.plan(bench)
    }

    async fn start(&self, bench: Bench<'_>, start: &Start, folder: &Path) -> Result<Ran, Trouble> {
        leftovers::empty(folder)?;
        let place = self.place(bench, folder)?;
        let command = if start.command.is_empty() { &self.command } else { &start.command };
        let counters = self.counters(bench, start, folder)?;
        let plan = self.plan(bench, command, start, (&place, counters.as_deref()))?;
        let before = (self.reports.state(&place)?, self.artifacts.state(&place)?);
        let begun = std::time::Instant::now();
        let ended = run(bench.attempt, &plan).await;
        let duration = begun.elapsed();
        let heard = ended.as_ref().ok().and_then(|ended| ended.stdout.heard.max(ended.stderr.heard));
        let (mut stop, logs) = told(ended, folder)?;
        // The silent time before the time limit; the time that it takes to stop the program does not count.
        let silent = heard.map_or(start.timeout, |heard| start.timeout.saturating_sub(heard.duration_since(begun)));
        if stop == Stop::TimedOut {
            stop = time_is_up(start, silent);
        }
        if stop == Stop::TimedOut && silent < still(start.timeout) {
            note_printing(folder)?;
        }
        let mut seen = Vec::new();
        for log in &logs {
            let text = whole::read(folder.join(log), FILE_BYTES_MAX)?;
            seen.extend(faults(&String::from_utf8_lossy(&text), &self.faults, None));
        }
        let ran = Ran {
            start: start.clone(),
            stop,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            logs,
            reports: self.reports.fetch(&place, &before.0, folder, "reports")?,
            artifacts: self.artifacts.fetch(&place, &before.1, folder, "artifacts")?,
            faults: seen,
            coverage: match counters {
                Some(_) => {
                    let program = confined::find(&self.gcov, &bench.session.sources, "gcc")?;
                    gcov::lines(&program, bench, folder, gcov::written(folder)?).await?
                }
                None => Default::default(),
            },
        };
        if self.is_copied {
            whole::remove_all(&place)?;
        }
        Ok(ran)
    }

    /// Creates the directory for the counters of a start whose executed lines are wanted and can be recorded.
    fn counters(&self, bench: Bench<'_>, start: &Start, folder: &Path) -> io::Result<Option<PathBuf>> {
        if !start.coverage || !self.has_coverage || !gcov::is_instrumented(&bench.session.sources) {
            return Ok(None);
        }
        let counters = folder.join(gcov::WRITTEN);
        whole::make_folders(&counters)?;
        Ok(Some(counters))
    }

    async fn health(&self, bench: Bench<'_>) -> Result<String, Trouble> {
        let Some(command) = &self.health else { return Ok("this computer is available".to_owned()) };
        let start = Start { id: "health".to_owned(), repetition: 1, timeout: HEALTH_MAX, ..Start::default() };
        let folder = bench.session.folder.join("health");
        leftovers::empty(&folder)?;
        let place = self.place(bench, &folder)?;
        let ended = run(bench.attempt, &self.plan(bench, command, &start, (&place, None))?).await;
        let said = ended.as_ref().ok().and_then(|ended| ended.shown.last_line()).unwrap_or_default();
        let (stop, _) = told(ended, &folder)?;
        match stop {
            Stop::Exited { code: 0 } => Ok(if said.is_empty() { "it succeeded".to_owned() } else { said }),
            Stop::Exited { code } => Err(Trouble::Environment(format!("`{command}` ended with {code}: {said}"))),
            other => Err(Trouble::Environment(format!("`{command}` did not end: {other:?}"))),
        }
    }
}

/// Returns the way the program ended, and the files with its output.
fn told(ended: Result<ProgramResult, Outcome>, folder: &Path) -> Result<(Stop, Vec<PathBuf>), Trouble> {
    let mut ended = match ended {
        Ok(ended) => ended,
        Err(outcome) if interlock_process::SANDBOX == code(&outcome) => return Err(confined::trouble(&outcome)),
        Err(outcome) => return Ok((Stop::Lost { why: outcome.message() }, Vec::new())),
    };
    let mut logs = Vec::new();
    for (name, content) in [(OUT, ended.stdout.content()?), (ERR, ended.stderr.content()?)] {
        if !content.is_empty() {
            whole::write(folder.join(name), content)?;
            logs.push(name.into());
        }
    }
    let stop = match ended.how {
        How::Exited { code, .. } => Stop::Exited { code },
        How::TimedOut => Stop::TimedOut,
        How::Limited(why) => Stop::Lost { why },
        How::Cancelled => return Err(Trouble::Cancelled),
    };
    Ok((stop, logs))
}

/// Returns the code of an error.
fn code(outcome: &Outcome) -> String {
    confined::field(outcome, "code")
}

impl Environment for Local {
    fn effect(&self, operation: Operation) -> EffectClass {
        match operation {
            Operation::Run | Operation::HealthCheck if !self.is_copied => EffectClass::Write,
            _ => EffectClass::Read,
        }
    }

    fn setup<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async move {
            confined::find("sh", &bench.session.sources, "dash")?;
            let folder = bench.session.sources.join(&self.folder);
            match folder.is_dir() {
                true => Ok(whole::make_folders(bench.session.folder.join("runs"))?),
                false => Err(Trouble::config("folder", format!("does not exist: {}", folder.display()))),
            }
        })
    }

    fn deploy<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async move {
            match (&bench.session.image, self.command.contains("{image}")) {
                (None, true) => Err(Trouble::environment("there is no image to run")),
                (Some(image), true) if !image.is_file() => {
                    Err(Trouble::Environment(format!("there is no image: {}", image.display())))
                }
                _ => Ok(()),
            }
        })
    }

    fn health_check<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, String> {
        Box::pin(self.health(bench))
    }

    fn run<'a>(&'a self, bench: Bench<'a>, start: &'a Start, folder: &'a Path) -> Doing<'a, Ran> {
        Box::pin(self.start(bench, start, folder))
    }

    fn fetch_logs<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(async move { Ok(leftovers::logs(bench.session)?) })
    }

    fn fetch_artifacts<'a>(&'a self, _: Bench<'a>) -> Doing<'a, Vec<FetchedFile>> {
        Box::pin(async move { Ok(Vec::new()) })
    }

    fn reset<'a>(&'a self, bench: Bench<'a>, _: Reset) -> Doing<'a, String> {
        Box::pin(leftovers::clear(bench, COPY))
    }

    fn teardown<'a>(&'a self, bench: Bench<'a>) -> Doing<'a, ()> {
        Box::pin(async move { leftovers::clear(bench, COPY).await.map(drop) })
    }
}
