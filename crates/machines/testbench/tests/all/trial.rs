//! A session of an environment, apart from any run.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Canceller};
use interlock_process::Sandbox;
use interlock_testbench::{Bench, Environment, Profile, Ran, Session, Start, Trouble, environment};
use tempfile::TempDir;

use interlock_testkit_activity::launcher::launcher;

use crate::attempt::attempt;

/// An environment with its session and attempt.
pub(crate) struct Trial {
    pub(crate) environment: Box<dyn Environment>,
    pub(crate) session: Session,
    pub(crate) attempt: Attempt,
    pub(crate) canceller: Canceller,
    pub(crate) sandbox: Sandbox,
    home: TempDir,
}

/// Returns a profile as a task contains it.
pub(crate) fn profile(kind: &str, config: serde_json::Value) -> Profile {
    serde_json::from_value(serde_json::json!({ "env_type": kind, "config": config })).unwrap()
}

/// Returns the problems of a configuration.
pub(crate) fn wrong(kind: &str, config: serde_json::Value) -> String {
    match environment(&profile(kind, config)) {
        Ok(_) => String::new(),
        Err(trouble) => trouble.to_string().replace("; ", ";\n"),
    }
}

impl Trial {
    pub(crate) fn new(profile: Profile, image: Option<&Path>) -> Self {
        let home = TempDir::new().unwrap();
        let folder = fs::canonicalize(home.path()).unwrap();
        let sources = folder.join("sources");
        fs::create_dir(&sources).unwrap();
        let (attempt, canceller) = attempt(&folder, &sources);
        let environment = environment(&profile).unwrap();
        let mut session = Session::create(folder.join("session"), "session-1", &sources, profile).unwrap();
        session.image = image.map(Path::to_owned);
        let sandbox = Sandbox { launcher: launcher(), store: Some(folder.join("store")), ..Sandbox::default() };
        Trial { environment, session, attempt, canceller, sandbox, home }
    }

    pub(crate) fn bench(&self) -> Bench<'_> {
        Bench { attempt: &self.attempt, session: &self.session, sandbox: &self.sandbox }
    }

    /// Runs one start; returns its result and its directory.
    pub(crate) async fn try_run(&self, start: &Start) -> (Result<Ran, Trouble>, PathBuf) {
        let folder = self.session.run_folder(start).unwrap();
        (self.environment.run(self.bench(), start, &folder).await, folder)
    }

    /// Runs one start with these arguments, which must finish.
    pub(crate) async fn run(&self, args: &[&str]) -> Seen {
        let (ran, folder) = self.try_run(&start(args)).await;
        Seen { ran: ran.unwrap(), folder }
    }

    /// Returns the processes that carry this attempt's mark.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let mark = format!("INTERLOCK_ATTEMPT={}", self.attempt.live.display());
        let is_ours = |pid: &i32| {
            let all = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            all.split(|byte| *byte == 0).any(|one| one == mark.as_bytes())
        };
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }

    /// Returns the directory that contains everything of this trial.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }
}

/// Returns a start with these arguments, named after them.
pub(crate) fn start(args: &[&str]) -> Start {
    Start {
        id: if args.is_empty() { "all".to_owned() } else { args.join("-") },
        repetition: 1,
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        timeout: Duration::from_secs(60),
        ..Start::default()
    }
}

/// A finished start with its directory.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) ran: Ran,
    pub(crate) folder: PathBuf,
}

impl Seen {
    /// Returns the log that contains results.
    pub(crate) fn log(&self) -> String {
        let first = self.ran.logs.first().map(|log| fs::read_to_string(self.folder.join(log)).unwrap());
        first.unwrap_or_default()
    }
}

/// Waits until a condition returns a value, at most ten seconds.
pub(crate) async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it did not happen in time");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Reports whether a test can run here: all its programs are installed. If parts are required, a missing one is a
/// failure.
pub(crate) fn has_parts(programs: &[&str]) -> bool {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
    let is_missing = |program: &&&str| !folders.iter().any(|folder| folder.join(program).exists());
    let missing: Vec<_> = programs.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        assert!(std::env::var_os("INTERLOCK_REQUIRE_PARTS").is_none(), "not installed: {missing:?}");
        eprintln!("left out: not installed: {missing:?}");
    }
    missing.is_empty()
}
