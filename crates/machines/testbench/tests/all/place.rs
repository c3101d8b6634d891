//! The basis of the environment tests: a session, an attempt, and programs that must be installed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Child,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Canceller};
use interlock_process::Sandbox;
use interlock_testbench::{Bench, Environment, Profile, Ran, Session, Start, Trouble, environment};
use serde_json::json;
use tempfile::TempDir;

use interlock_testkit_activity::launcher::launcher;

use crate::attempt::attempt;

/// The longest time that any awaited event may take.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Returns a program that tests need; `None` if it is not installed and not required.
pub(crate) fn part(program: &str, package: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let found = std::env::split_paths(&path).map(|place| place.join(program)).find(|file| file.is_file());
    if found.is_none() {
        missing(&format!("{program} ({package})"));
    }
    found
}

/// Reports that a test is skipped, or fails if all parts are required.
pub(crate) fn missing(what: &str) {
    assert!(std::env::var_os("INTERLOCK_REQUIRE_PARTS").is_none(), "{what} is not installed");
    eprintln!("left out: {what} is not installed");
}

/// One use of an environment.
pub(crate) struct TestPlace {
    pub(crate) attempt: Attempt,
    pub(crate) canceller: Canceller,
    pub(crate) session: Session,
    sandbox: Sandbox,
    _home: TempDir,
}

impl TestPlace {
    /// Creates an environment of a kind with this configuration.
    pub(crate) fn new(kind: &str, config: serde_json::Value) -> Self {
        let home = TempDir::new().unwrap();
        let folder = fs::canonicalize(home.path()).unwrap();
        let profile: Profile = serde_json::from_value(json!({ "env_type": kind, "config": config })).unwrap();
        // Leftovers on a board are found by the session's name, and here all boards are one computer.
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("1");
        let id = if kind == "target_board" { format!("s {name}") } else { "s 1".to_owned() };
        let session = Session::create(folder.join("session"), &id, &folder.join("sources"), profile).unwrap();
        let (attempt, canceller) = attempt(&folder, &folder);
        let sandbox = Sandbox { launcher: launcher(), ..Sandbox::default() };
        TestPlace { attempt, canceller, session, sandbox, _home: home }
    }

    pub(crate) fn bench(&self) -> Bench<'_> {
        Bench { attempt: &self.attempt, session: &self.session, sandbox: &self.sandbox }
    }

    pub(crate) fn environment(&self) -> Box<dyn Environment> {
        environment(&self.session.profile).unwrap()
    }

    /// Adds an image with this content.
    pub(crate) fn with_image(mut self, content: &[u8]) -> Self {
        let path = self.session.folder.join("image");
        fs::write(&path, content).unwrap();
        self.session.image = Some(path);
        self
    }

    /// Runs a start and waits for its end.
    pub(crate) async fn run(&self, start: Start) -> Result<Ran, Trouble> {
        let folder = self.session.run_folder(&start).unwrap();
        let ran = tokio::time::timeout(LONG, self.environment().run(self.bench(), &start, &folder)).await;
        let ran = ran.expect("it takes too long")?;
        self.session.keep(&folder, &ran).unwrap();
        Ok(ran)
    }

    /// Returns the content of a start's file.
    pub(crate) fn file(&self, ran: &Ran, name: impl AsRef<Path>) -> String {
        let path = self.session.run_folder(&ran.start).unwrap().join(name);
        String::from_utf8_lossy(&fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
            .into_owned()
    }
}

/// Returns a start with a command; an empty command means that a reset starts it.
pub(crate) fn start(command: &str, timeout: Duration) -> Start {
    Start { id: "all".into(), repetition: 1, command: command.into(), timeout, ..Start::default() }
}

/// A server of a test, ended together with it.
pub(crate) struct Server {
    pub(crate) child: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a port on which no process listens.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until a condition returns a value, and fails after a time limit.
pub(crate) async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} did not happen in time");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns the content of a file as soon as it contains a whole line.
pub(crate) async fn line_of(path: &Path) -> String {
    let look = || fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'));
    until(&path.display().to_string(), look).await.trim().to_owned()
}

/// Reports whether a process exists and is not a zombie.
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}
