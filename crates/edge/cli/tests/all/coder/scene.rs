//! A repository with a small program and its test, a scripted model, and the binary.

use std::{path::Path, process::Command};

use interlock_testkit_activity::model_server::{CoderTurn, Dialect, ModelServer, Move, coder_model};
use interlock_testkit_cli::session::{Session, Transcript};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// The program before the change: its test fails.
pub(crate) const BEFORE: &str = "echo 0\n";

/// The program after the change.
pub(crate) const AFTER: &str = "echo $#\n";

/// The project's own check: a target of its Makefile.
const MAKEFILE: &str = "test:\n\tsh test.sh\n";

/// A repository, a store and a model.
pub(crate) struct Scene {
    _folder: TempDir,
    pub(crate) session: Session,
    pub(crate) model: ModelServer,
}

impl Scene {
    /// Makes a repository with one commit, and configures a model that plays these turns.
    pub(crate) fn new(turns: Vec<CoderTurn>) -> Self {
        Scene::speaking(Dialect::Chat, turns)
    }

    /// Like [`Scene::new`], with a model of this provider.
    pub(crate) fn speaking(dialect: Dialect, turns: Vec<CoderTurn>) -> Self {
        Scene::with_model(dialect, coder_model(dialect, turns))
    }

    /// Like [`Scene::new`], with this model.
    pub(crate) fn with_model(dialect: Dialect, model: ModelServer) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let repo = here.join("repo");
        std::fs::create_dir(&repo).unwrap();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &repo)
            .with("INTERLOCK_HOME", here.join("home").display().to_string())
            .with("XDG_CACHE_HOME", here.join("cache").display().to_string())
            .with("INTERLOCK_USER", "ada");
        let scene = Scene { _folder: folder, session, model };
        let judge = format!(
            "[judges.model]\nprovider = \"{}\"\nbase_url = \"{}\"\nmodel = \"m\"\nwindow_tokens = 64000\nretries_max = 0\n\
             [chains]\ndefault = [\"model\"]\n",
            dialect.provider(),
            scene.model.url
        );
        scene.write("../home/judges.toml", &judge);
        scene.write("count.sh", BEFORE);
        scene.write("test.sh", "test \"$(sh count.sh a b)\" = 2\n");
        scene.write("Makefile", MAKEFILE);
        scene.git(&["init", "-q", "-b", "main"]);
        scene.git(&["config", "user.name", "Ada"]);
        scene.git(&["config", "user.email", "ada@example.com"]);
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-q", "-m", "Begin"]);
        scene
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.session.write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.session.folder().join(path)).unwrap_or_default()
    }

    pub(crate) fn run(&self, arguments: &str) -> Transcript {
        self.session.run(arguments).unwrap()
    }

    /// Starts a turn without a terminal.
    pub(crate) fn start(&self, goal: &str, more: &str) -> Transcript {
        self.run(&format!("run coder --set 'goal={goal}' --name c1 {more}"))
    }

    /// Starts a turn and confirms its plan.
    pub(crate) fn confirmed(&self, goal: &str) -> Transcript {
        let asked = self.start(goal, "");
        assert!(asked.code == Some(4) && asked.stdout.contains("PLAN_ASKED"), "{asked}");
        self.send("CONFIRM", &json!({ "answer": "yes" }))
    }

    pub(crate) fn send(&self, event: &str, data: &Json) -> Transcript {
        self.run(&format!("send c1 {event} --data '{data}'"))
    }

    /// Returns the transitions of the run as `FROM event TO`.
    pub(crate) fn trace(&self) -> Vec<String> {
        let trace = self.run("trace c1 --json");
        let lines = trace.stdout.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        let told = |line: Json| {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            format!("{} {} {}", text("from_state"), text("event"), text("to_state"))
        };
        lines.map(told).collect()
    }

    /// Returns the number of transitions that contain a text.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.trace().iter().filter(|line| line.contains(text)).count()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(self.session.folder(), arguments)
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Returns everything that a command printed.
pub(crate) fn told(transcript: &Transcript) -> String {
    format!("{}{}", transcript.stdout, transcript.stderr)
}

/// Returns the patch that repairs the program.
pub(crate) fn patch() -> Json {
    json!({ "patch": "--- a/count.sh\n+++ b/count.sh\n@@ -1 +1 @@\n-echo 0\n+echo $#\n" })
}

/// The turn that repairs the program with a patch.
pub(crate) fn repair(about: &str) -> CoderTurn {
    let moves = vec![
        Move::call("read_file", json!({ "path": "count.sh" })),
        Move::call("apply_patch", patch()),
        Move::done("It counts its arguments now."),
    ];
    CoderTurn::change(about, &["count.sh"], &[], moves)
}
