//! A project with a server and a browser that is logged in.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use interlock_testkit_activity::{browser::Browser, launcher};
use serde_json::Value as Json;
use tempfile::TempDir;

/// The exit code of a command after which a run waits for a person.
const WAITS: i32 = 4;

/// Asks a person, counts, and ends.
const GATE: &str = "\
machine: gate
version: 1
summary: A change passes a gate when a person opens it.
input:
  type: object
  required: [change]
  properties: { change: { type: string }, urgent: { type: boolean }, kind: { enum: [fix, feature] } }
context: { note: '' }
events:
  open: { from: user, summary: Let it pass, data: { type: object, required: [note], properties: { note: { type: string } } } }
  knock: { from: any, summary: Ask again }
  abort: { from: user, summary: Send it away }
initial: closed
on: { abort: { target: gone } }
states:
  closed: { tags: [idle], shows: { change: '${input.change}' }, on: { open: { target: passed, assign: { note: '${event.note}' }, reason: '${event.note}' }, knock: { target: heard, limit: 30, reason: somebody knocks } } }
  heard: { tags: [idle], on: { knock: closed } }
  passed: { type: final, outcome: success }
  gone: { type: final, outcome: aborted }
";

/// Runs a command that writes a file and a log.
const MAKER: &str = "\
machine: maker
version: 1
summary: Makes a file.
initial: making
on: { error: { target: failed, reason: '${event.message}' }, timeout: { target: failed } }
states:
  making:
    invoke: { activity: command.run, effect: write, with: { command: [sh, make.sh] }, signals: [passed, failed] }
    timeout: 5m
    on: { passed: { target: made, reason: it is there }, failed: { target: failed } }
  made: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
";

/// A person talks to it; after its end, a message continues it as a new run.
const TALK: &str = "\
machine: talk
version: 1
summary: A person says something until it is enough.
context: { said: [] }
events:
  say: { from: user, summary: Say more, continues: true, data: { type: object, required: [text], properties: { text: { type: string } } } }
  enough: { from: user, summary: End it }
  abort: { from: user, summary: Stop it }
initial: open
on: { abort: { target: gone } }
states:
  open:
    tags: [idle]
    on: { say: { limit: 9, assign: { said: \"${context.said + [event.text]}\" } }, enough: { target: done, reason: it is enough } }
  done: { type: final, outcome: success }
  gone: { type: final, outcome: aborted }
";

/// A running server on a store of its own, and a browser.
pub(crate) struct Scene {
    pub(crate) browser: Browser,
    folder: TempDir,
    server: Child,
    address: String,
}

impl Scene {
    /// Starts a server and a browser, and logs in with the link that the server prints. Returns `None` where no browser
    /// is installed.
    pub(crate) fn new() -> Option<Self> {
        let browser = Browser::start()?;
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("project/.interlock/machines/gate/machine.yaml", GATE),
            ("project/.interlock/machines/maker/machine.yaml", MAKER),
            ("project/.interlock/machines/talk/machine.yaml", TALK),
        ] {
            write(&folder.path().join(path), text);
        }
        let (server, link) = start(folder.path(), "127.0.0.1:0");
        browser.open(&link);
        browser.until("document.querySelector('.bar')");
        let address = link.split_once("/#").unwrap().0.to_owned();
        Some(Scene { browser, folder, server, address })
    }

    /// Shows a view.
    pub(crate) fn view(&self, path: &str) -> &Browser {
        self.browser.open(&format!("{}{path}", self.address));
        self.browser.until("document.querySelector('main')?.childElementCount > 0");
        &self.browser
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.project().join(path), text);
    }

    /// Returns the directory of the project.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Returns the directory of the store.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Runs a command of the program in the project. It must succeed, or leave a run that waits for a person.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = command(self.folder.path()).args(arguments).stdin(Stdio::null()).output().unwrap();
        let is_fine = matches!(output.status.code(), Some(0 | WAITS));
        assert!(is_fine, "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command of the program in the project, whatever its exit code.
    pub(crate) fn try_run(&self, arguments: &[&str]) -> String {
        let output = command(self.folder.path()).args(arguments).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the host and the port of the server.
    pub(crate) fn address(&self) -> &str {
        self.address.trim_start_matches("http://")
    }

    /// Starts a run of the gate, which then waits for a person.
    pub(crate) fn start_gate(&self, name: &str) {
        let started = self.run(&["run", "gate", "--name", name, "--set", "change=more speed"]);
        assert!(started.contains("waiting"), "{started}");
    }

    /// Returns a run as the program shows it.
    pub(crate) fn shown(&self, run: &str) -> Json {
        serde_json::from_str(&self.run(&["show", run, "--json"])).unwrap()
    }

    /// Ends the server without a warning.
    pub(crate) fn kill_server(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Starts the server again at the same address.
    pub(crate) fn start_server(&mut self) {
        let address = self.address.trim_start_matches("http://").to_owned();
        (self.server, _) = start(self.folder.path(), &address);
    }

    /// Logs the browser out, and in again with a new token of a role.
    pub(crate) fn log_in_as(&self, role: &str) {
        let token = self.run(&["token", "add", role, "--role", role]);
        self.view("/").click(".tools .who", "");
        self.browser.fill("#token", token.trim());
        self.browser.click("form", "Log in");
        self.browser.until_text(".who", role);
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(launcher::program());
    command.current_dir(folder.join("project")).env("INTERLOCK_HOME", folder.join("home")).env("INTERLOCK_USER", "ada");
    command
}

fn start(folder: &Path, address: &str) -> (Child, String) {
    let mut server = command(folder)
        .args(["serve", "--listen", address])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    let link = lines.find_map(|line| line.strip_prefix("Open ").map(str::to_owned)).unwrap();
    // A server whose messages are not read would stop.
    std::thread::spawn(move || lines.for_each(drop));
    (server, link)
}
