//! What tests of environments stand on: a session, an attempt, and parts that have to be installed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Child,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Canceller};
use interlock_program::Sandbox;
use interlock_testbench::{Bench, Environment, Profile, Ran, Session, Start, Trouble, environment};
use serde_json::json;
use tempfile::TempDir;

use crate::{attempt::attempt, launcher::launcher};

/// How long anything may take that is waited for.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A program that tests need; `None` where it is not installed, unless it has to be.
pub(crate) fn part(program: &str, package: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let found = std::env::split_paths(&path).map(|place| place.join(program)).find(|file| file.is_file());
    if found.is_none() {
        missing(&format!("{program} ({package})"));
    }
    found
}

/// Says that something is left out, or fails where nothing may be.
pub(crate) fn missing(what: &str) {
    assert!(std::env::var_os("INTERLOCK_REQUIRE_PARTS").is_none(), "{what} is not installed");
    eprintln!("left out: {what} is not installed");
}

/// One use of an environment.
pub(crate) struct Place {
    pub(crate) attempt: Attempt,
    pub(crate) canceller: Canceller,
    pub(crate) session: Session,
    sandbox: Sandbox,
    _home: TempDir,
}

impl Place {
    /// Of a kind, with this as its configuration.
    pub(crate) fn new(kind: &str, config: serde_json::Value) -> Self {
        let home = TempDir::new().unwrap();
        let folder = fs::canonicalize(home.path()).unwrap();
        let profile: Profile = serde_json::from_value(json!({ "env_type": kind, "config": config })).unwrap();
        // What is left on a board is found by the session's name, and here all boards are one computer.
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("1");
        let id = if kind == "target_board" { format!("s {name}") } else { "s 1".to_owned() };
        let session = Session::create(folder.join("session"), &id, &folder.join("sources"), profile).unwrap();
        let (attempt, canceller) = attempt(&folder, &folder);
        let sandbox = Sandbox { launcher: launcher(), ..Sandbox::default() };
        Place { attempt, canceller, session, sandbox, _home: home }
    }

    pub(crate) fn bench(&self) -> Bench<'_> {
        Bench { attempt: &self.attempt, session: &self.session, sandbox: &self.sandbox }
    }

    pub(crate) fn environment(&self) -> Box<dyn Environment> {
        environment(&self.session.profile).unwrap()
    }

    /// With an image of this content.
    pub(crate) fn with_image(mut self, content: &[u8]) -> Self {
        let path = self.session.folder.join("image");
        fs::write(&path, content).unwrap();
        self.session.image = Some(path);
        self
    }

    /// Starts something, and waits for its end.
    pub(crate) async fn run(&self, start: Start) -> Result<Ran, Trouble> {
        let folder = self.session.run_folder(&start).unwrap();
        let ran = tokio::time::timeout(LONG, self.environment().run(self.bench(), &start, &folder)).await;
        let ran = ran.expect("it takes too long")?;
        self.session.keep(&folder, &ran).unwrap();
        Ok(ran)
    }

    /// A file of a start.
    pub(crate) fn file(&self, ran: &Ran, name: impl AsRef<Path>) -> String {
        let path = self.session.run_folder(&ran.start).unwrap().join(name);
        String::from_utf8_lossy(&fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
            .into_owned()
    }
}

/// A start by a command; nothing where a reset starts it.
pub(crate) fn start(command: &str, timeout: Duration) -> Start {
    Start { id: "all".into(), repetition: 1, command: command.into(), timeout, ..Start::default() }
}

/// A server of a test: ended with it, however that ends.
pub(crate) struct Server {
    pub(crate) child: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens at.
pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// What comes about in time.
pub(crate) async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} did not come about");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The content of a file, as soon as there is a whole line of it.
pub(crate) async fn line_of(path: &Path) -> String {
    let look = || fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'));
    until(&path.display().to_string(), look).await.trim().to_owned()
}

/// Whether a process is there and no zombie.
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}
