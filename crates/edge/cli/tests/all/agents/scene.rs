//! A repository, a store and a real agent, whose model plays a script.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use interlock_testkit_activity::{
    model_server::{ModelServer, Step, agent_model},
    real_agents::RealAgent,
};
use interlock_testkit_cli::session::{Session, Transcript};
use serde_json::Value as Json;
use tempfile::TempDir;

/// The time that a process has to write a file.
const PATIENCE: Duration = Duration::from_secs(120);

/// A repository, a store and an agent.
pub(crate) struct Scene {
    _top: TempDir,
    pub(crate) session: Session,
    _model: Option<ModelServer>,
}

impl Scene {
    /// Makes a repository with these files and one commit. The agent is called `it`. Returns `None` if the agents are not
    /// installed and need not be.
    pub(crate) fn new(agent: RealAgent, files: &[(&str, &str)], script: Vec<(&str, Vec<Step>)>) -> Option<Self> {
        let programs = agent.installed()?;
        let model = agent_model(script);
        let settings = agent.settings("it", &programs, &model.url, "");
        Some(Scene { _model: Some(model), ..Scene::with(files, &settings) })
    }

    /// Makes a repository whose agent is a shell script, which speaks the protocol of the driver `command`.
    pub(crate) fn with_script(files: &[(&str, &str)], script: &str) -> Self {
        let scene = Scene::with(files, "");
        scene.write("../agent.sh", script);
        let path = scene.folder().join("../agent.sh");
        let settings =
            format!("[agents.it]\ndriver = \"command\"\ncommand = [\"sh\", {:?}]\n", path.display().to_string());
        scene.write("../home/agents.toml", &settings);
        scene
    }

    fn with(files: &[(&str, &str)], settings: &str) -> Self {
        // Codex refuses a home in the temporary directory.
        let top = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let here = top.path().canonicalize().unwrap();
        fs::create_dir(here.join("work")).unwrap();
        fs::create_dir(here.join("home")).unwrap();
        fs::set_permissions(here.join("home"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), here.join("work"))
            .with("INTERLOCK_HOME", here.join("home").display().to_string())
            .with("XDG_CACHE_HOME", here.join("cache").display().to_string())
            .with("INTERLOCK_USER", "ada");
        let scene = Scene { _top: top, session, _model: None };
        scene.write("../home/agents.toml", settings);
        for (name, text) in files {
            scene.write(name, text);
        }
        for words in ["init -q -b main", "config user.name Ada", "config user.email ada@localhost", "add -A"] {
            scene.git(words);
        }
        scene.git("commit -q --allow-empty -m first");
        scene
    }

    pub(crate) fn folder(&self) -> &Path {
        self.session.folder()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.session.write(name, text).unwrap();
    }

    pub(crate) fn run(&self, arguments: &str) -> Transcript {
        self.session.run(arguments).unwrap()
    }

    pub(crate) fn json(&self, arguments: &str) -> Json {
        let told = self.run(&format!("{arguments} --json"));
        serde_json::from_str(&told.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}\n{told}"))
    }

    /// Runs a command that leaves the run `r1` in a state.
    #[track_caller]
    pub(crate) fn leads_to(&self, arguments: &str, place: &str) -> Transcript {
        let told = self.run(arguments);
        assert_eq!(self.json("show r1")["place"], place, "{arguments}\n{told}\n{}", self.run("trace r1").stdout);
        told
    }

    pub(crate) fn git(&self, words: &str) -> String {
        let done = Command::new("git").args(words.split(' ')).current_dir(self.folder()).output().unwrap();
        assert!(done.status.success(), "git {words}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
    }

    /// Waits until a file is there.
    pub(crate) fn wait_for(&self, name: &str) {
        let limit = Instant::now() + PATIENCE;
        while !self.path(name).exists() {
            assert!(Instant::now() < limit, "{name} was not written");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
