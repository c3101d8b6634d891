//! A real coding agent in a run of the binary: from a failing test to a passing one, and through a `kill -9`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use interlock_testkit_activity::model_server::{ModelServer, Step, agent_model};
use tempfile::TempDir;

/// The time that a process has to write a file.
const PATIENCE: Duration = Duration::from_secs(120);

/// A project, a store and goose, whose model plays a script.
struct Scene {
    top: TempDir,
    model: ModelServer,
}

fn installed() -> Option<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/agents.sh");
    let told = Command::new(script).arg("--print").output().unwrap();
    let folder = PathBuf::from(String::from_utf8(told.stdout).unwrap().trim());
    if folder.join("READY").exists() {
        return Some(folder);
    }
    let is_needed = ["CI", "INTERLOCK_REQUIRE_PARTS"].iter().any(|name| std::env::var_os(name).is_some());
    assert!(!is_needed, "the agents are not installed: run scripts/agents.sh");
    eprintln!("left out: the agents are not installed");
    None
}

impl Scene {
    fn new(script: Vec<(&str, Vec<Step>)>) -> Option<Self> {
        let programs = installed()?;
        let top = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let scene = Scene { top, model: agent_model(script) };
        fs::create_dir_all(scene.work()).unwrap();
        // The directory is below a repository that ignores it, so it needs one of its own.
        assert!(Command::new("git").args(["init", "--quiet"]).arg(scene.work()).status().unwrap().success());
        fs::create_dir_all(scene.path("home")).unwrap();
        fs::set_permissions(scene.path("home"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        fs::write(scene.work().join("Makefile"), "test:\n\t@grep -q hello greeting.txt && echo 1 test passed\n")
            .unwrap();
        let url = &scene.model.url;
        let settings = format!(
            "[agents.goose]\ndriver = \"acp\"\ncommand = [{:?}, \"acp\", \"--with-builtin\", \"developer\"]\n\
             env = {{ GOOSE_PROVIDER = \"openai\", GOOSE_MODEL = \"scripted\", OPENAI_API_KEY = \"env:SCENE_KEY\", OPENAI_HOST = {url:?} }}\n\
             network = [{:?}]\n",
            programs.join("bin/goose").display().to_string(),
            url.trim_start_matches("http://")
        );
        fs::write(scene.path("home/agents.toml"), settings).unwrap();
        Some(scene)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    fn work(&self) -> PathBuf {
        self.path("work")
    }

    fn interlock(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command.args(arguments).current_dir(self.work()).stdin(Stdio::null());
        command.env("INTERLOCK_HOME", self.path("home")).env("XDG_CACHE_HOME", self.path("cache"));
        command.env("SCENE_KEY", "dummy-key-of-the-scene");
        command
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let Output { status, stdout, stderr } = self.interlock(arguments).output().unwrap();
        let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        (status.code().unwrap_or(-1), text)
    }

    fn wait_for(&self, name: &str) {
        let limit = Instant::now() + PATIENCE;
        while !self.work().join(name).exists() {
            assert!(Instant::now() < limit, "{name} was not written");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn example() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fix-until-green").display().to_string()
}

#[test]
fn agent_works_until_the_test_passes() {
    let steps = vec![Step::shell("echo hello > greeting.txt"), Step::say("Done: the greeting is there.")];
    let Some(scene) = Scene::new(vec![("greet the world", steps)]) else { return };
    let (code, text) = scene.run(&["agents"]);
    assert!(code == 0 && text.contains("* goose  acp"), "{text}");
    let (code, text) =
        scene.run(&["run", &example(), "--set", "goal=greet the world", "--name", "f1", "--agent", "goose"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("f1  succeeded  fixed"), "{text}");
    let (_, shown) = scene.run(&["trace", "f1"]);
    assert!(shown.contains("turn_ended"), "{shown}");
    let (code, text) = scene.run(&["run", &example(), "--set", "goal=x", "--agent", "goos"]);
    assert!(code == 2 && text.contains("did you mean `goose`?"), "{text}");
}

#[test]
fn killed_turn_is_undone_and_its_agent_is_gone() {
    let steps = vec![Step::shell("echo half > half.txt; sleep 200"), Step::say("Done.")];
    let Some(scene) = Scene::new(vec![("take long", steps)]) else { return };
    let mut process = scene
        .interlock(&["run", &example(), "--set", "goal=take long", "--name", "f1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    scene.wait_for("half.txt");
    process.kill().unwrap();
    process.wait().unwrap();
    let (code, text) = scene.run(&["resume", "f1"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("f1  failed"), "{text}");
    assert!(!scene.work().join("half.txt").exists(), "{text}");
    let (_, trace) = scene.run(&["trace", "f1", "--json"]);
    assert!(trace.contains("interrupted") || trace.contains("INTERRUPTED"), "{trace}");
    let work = scene.work().canonicalize().unwrap();
    let here = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&work)));
    assert_eq!(here.count(), 0, "a process of the agent is left");
}
