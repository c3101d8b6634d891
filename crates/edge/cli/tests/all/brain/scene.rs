//! A repository with a small program and its test, and a person in place of the coding agent.

use std::{path::Path, process::Command};

use interlock_testkit_cli::session::{Session, Transcript};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// The test of the program: it counts arguments.
const TEST: &str = "test \"$(sh count.sh a b)\" = 2\n";

/// The program as it should be.
pub(crate) const RIGHT: &str = "echo $#\n";

/// A program that fails its test.
pub(crate) const WRONG: &str = "echo 7\n";

/// A repository and a store.
pub(crate) struct Scene {
    _folder: TempDir,
    pub(crate) session: Session,
}

impl Scene {
    /// Makes a repository with one commit.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let repo = here.join("repo");
        std::fs::create_dir(&repo).unwrap();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &repo)
            .with("INTERLOCK_HOME", here.join("home").display().to_string())
            .with("XDG_CACHE_HOME", here.join("cache").display().to_string())
            .with("INTERLOCK_USER", "ada");
        let scene = Scene { _folder: folder, session };
        scene.write("count.sh", "echo 0\n");
        scene.write("tests/run.sh", TEST);
        scene.write(".gitignore", "out/\n");
        scene.git(&["init", "-q", "-b", "main"]);
        scene.git(&["config", "user.name", "Ada"]);
        scene.git(&["config", "user.email", "ada@example.com"]);
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-q", "-m", "Begin"]);
        scene
    }

    /// Lets a person answer these judgements; rules answer the others.
    pub(crate) fn with_person_for(self, judgements: &[&str]) -> Self {
        let chains: String = judgements.iter().map(|name| format!("\"{name}\" = [\"person\"]\n")).collect();
        self.write("../home/judges.toml", &format!("[chains]\n{chains}"));
        self
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.session.write(path, text).unwrap();
    }

    pub(crate) fn run(&self, arguments: &str) -> Transcript {
        self.session.run(arguments).unwrap()
    }

    /// Starts a run with this input and expects it to wait for the coding agent.
    pub(crate) fn start(&self, more: &Json) {
        let mut input = json!({ "task": "Count the arguments", "test": "sh tests/run.sh" });
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        self.write("../input.json", &input.to_string());
        // The tests edit the checkout in the agent's place, so the run must work there, even if it is dirty.
        let started = self.run("run brain --input ../input.json --name b1 --in-place");
        assert!(started.code == Some(4) && started.stdout.contains("CODING"), "{started}");
    }

    /// Writes the program and ends the round, as the agent would.
    pub(crate) fn reply(&self, program: &str) -> Transcript {
        self.write("count.sh", program);
        self.send("ai_reply_done", &json!({ "tree": "", "edited": true, "summary": "I counted them." }))
    }

    pub(crate) fn send(&self, event: &str, data: &Json) -> Transcript {
        self.run(&format!("send b1 {event} --data '{data}'"))
    }

    pub(crate) fn json(&self, arguments: &str) -> Json {
        let transcript = self.run(&format!("{arguments} --json"));
        serde_json::from_str(&transcript.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}\n{transcript}"))
    }

    pub(crate) fn place(&self) -> String {
        self.json("show b1")["place"].as_str().unwrap().to_owned()
    }

    pub(crate) fn context(&self, name: &str) -> Json {
        self.json("show b1")["context"][name].clone()
    }

    /// Returns the output of git in the repository.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").current_dir(self.session.folder()).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn has_branch(&self) -> bool {
        !self.git(&["branch", "--list", "interlock/b1"]).is_empty()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.session.folder()
    }
}

/// Waits until something holds; a minute at most.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !holds() {
        assert!(std::time::Instant::now() < deadline, "{what} did not happen");
        std::thread::yield_now();
    }
}
