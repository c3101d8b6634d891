//! A sample firmware in a separate repository, a store, and a model server that writes patches.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use interlock_testkit_activity::model_server::{Dialect, ModelServer};
use interlock_testkit_cli::session::{Session, Transcript};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// The line with the bug, followed by the corrected line.
pub(crate) const BUG: &str = "    if (decoder->count > FRAME_BODY_MAX) {";
pub(crate) const FIX: &str = "    if (decoder->count >= FRAME_BODY_MAX) {";

/// The file that contains the bug.
pub(crate) const FILE: &str = "parser/src/frame.c";

/// The part of the shipped task that allows questions to a person.
const ASKED: &str = ", allow_human: true";

/// A sample firmware with a bug, and a session.
pub(crate) struct Scene {
    pub(crate) folder: TempDir,
    pub(crate) session: Session,
    /// The model server that is asked for patches, if there is one.
    pub(crate) server: Option<ModelServer>,
}

/// Returns true and prints a message if a program is missing. Panics if all programs are required.
pub(crate) fn is_missing(programs: &[&str]) -> bool {
    let lacks = |name: &&&str| {
        !Command::new("sh").args(["-c", &format!("command -v {name}")]).output().unwrap().status.success()
    };
    let missing: Vec<_> = programs.iter().filter(lacks).collect();
    if missing.is_empty() {
        return false;
    }
    assert!(std::env::var_os("INTERLOCK_REQUIRE_PARTS").is_none(), "missing: {missing:?}");
    eprintln!("left out: {missing:?} is not installed (scripts/setup.sh installs it)");
    true
}

/// Returns true if a program that all these tests need is missing.
pub(crate) fn parts_are_missing() -> bool {
    is_missing(&["qemu-system-arm", "arm-none-eabi-gcc", "make", "git"])
}

impl Scene {
    /// Makes a scene with rules and templates only.
    pub(crate) fn without_model() -> Self {
        Self::new(None, "")
    }

    /// Makes a scene with a model that returns these patches one after the other, and then repeats the last one.
    pub(crate) fn with_patches(patches: &[String]) -> Self {
        let answers = patches.iter().map(|patch| Dialect::Chat.says(&answer(patch))).collect();
        Self::new(Some(ModelServer::saying(answers)), "default = [\"rules\"]\njudge.patch = [\"near\"]\n")
    }

    /// Makes a scene with a model that writes this patch and judges every result as a failure with this next action.
    pub(crate) fn with_decision(patch: &str, next_action: &str) -> Self {
        let (patch, decision) = (answer(patch), decision(next_action));
        let server = ModelServer::start(move |_, asked| {
            let is_patch = asked.text().contains("patch_generated");
            Dialect::Chat.says(if is_patch { &patch } else { &decision })
        });
        Self::new(Some(server), "default = [\"rules\"]\njudge.patch = [\"near\"]\njudge.result = [\"near\"]\n")
    }

    /// Makes a scene with a server that answers all judgements.
    pub(crate) fn with_server(server: ModelServer) -> Self {
        Self::new(Some(server), "default = [\"near\"]\n")
    }

    fn new(server: Option<ModelServer>, chains: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/firmware");
        let copied = Command::new("cp").arg("-r").arg(samples).arg(folder.path().join("firmware")).status().unwrap();
        assert!(copied.success());
        let root = folder.path().join("firmware");
        fs::write(root.join(".gitignore"), "build/\n").unwrap();
        // Rounds are easier to test without a question at their end; `delivery.rs` tests that question.
        let task = root.join("parser/task.yaml");
        let text = fs::read_to_string(&task).unwrap();
        fs::write(&task, text.replace(ASKED, "") + "deliver: measured\n").unwrap();
        git(&root, &["init", "--quiet"]);
        git(&root, &["add", "--all"]);
        git(&root, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "as it was"]);
        let home = folder.path().join("home").display().to_string();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), root.join("parser")).with("INTERLOCK_HOME", home);
        let scene = Scene { folder, session, server };
        if let Some(server) = &scene.server {
            let home = scene.folder.path().join("home");
            fs::create_dir_all(&home).unwrap();
            fs::set_permissions(&home, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
            let url = &server.url;
            let judge = "provider = \"openai-chat\"\nmodel = \"tiny\"\nprice = { input_per_million = 1.0, output_per_million = 2.0 }";
            let text = format!("[judges.near]\n{judge}\nbase_url = \"{url}\"\n[chains]\n{chains}");
            fs::write(home.join("judges.toml"), text).unwrap();
        }
        scene
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("firmware")
    }

    /// Restores the task as shipped: a person is asked before a patch is delivered.
    pub(crate) fn shipped(self) -> Self {
        self.task("deliver: measured\n", "").task("max_iterations: 5", &format!("max_iterations: 5{ASKED}"));
        self
    }

    /// Replaces text in the task and commits it.
    pub(crate) fn task(&self, from: &str, to: &str) -> &Self {
        let path = self.root().join("parser/task.yaml");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from} is not in the task");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        git(
            &self.root(),
            &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--all", "--message", "another task"],
        );
        self
    }

    /// Runs the machine until it ends or waits.
    pub(crate) fn run(&self) -> Transcript {
        self.session.run("run firmware --input task.yaml --name r").unwrap()
    }

    /// Returns the trace as text.
    pub(crate) fn trace(&self) -> String {
        self.session.run("trace r").unwrap().stdout
    }

    /// Returns the story in the JSON report.
    pub(crate) fn story(&self) -> Json {
        let report = self.session.run("report r --format json").unwrap();
        serde_json::from_str::<Json>(&report.stdout).unwrap()["story"].clone()
    }

    /// Returns the differences from the last commit.
    pub(crate) fn difference(&self) -> String {
        git(&self.root(), &["status", "--porcelain"]) + &git(&self.root(), &["diff"])
    }

    /// Asserts that the sources are unchanged.
    pub(crate) fn is_untouched(&self) {
        assert_eq!(self.difference(), "", "the sources are as they were found");
    }

    /// Asserts that the bug is fixed and that nothing else has changed.
    pub(crate) fn is_fixed(&self) {
        let text = fs::read_to_string(self.root().join(FILE)).unwrap();
        let before = git(&self.root(), &["show", &format!("HEAD:{FILE}")]);
        assert_eq!(text, before.replacen(BUG, FIX, 1));
        assert_eq!(git(&self.root(), &["status", "--porcelain"]).trim(), format!("M {FILE}"));
    }

    /// Returns a patch that replaces a line of a file with other lines.
    pub(crate) fn patch(&self, file: &str, from: &str, to: &str) -> String {
        patch(&fs::read_to_string(self.root().join(file)).unwrap(), file, from, to)
    }
}

/// Returns a model's answer with a patch.
pub(crate) fn answer(patch: &str) -> String {
    let data = json!({ "summary": "a change of one line", "patch": patch });
    json!({ "reason": "the length is checked too late", "evidence_refs": ["patch_plan"], "confidence": 0.9, "signal": "patch_generated", "data": data })
        .to_string()
}

/// Returns a model's answer that a round has failed.
fn decision(next_action: &str) -> String {
    let data = json!({ "status": "FAIL", "next_action": next_action, "confidence": 0.9, "reasoning": "it will get better", "evidence_refs": ["test_result"] });
    json!({ "reason": "it will get better", "evidence_refs": ["test_result"], "confidence": 0.9, "signal": "FAIL", "data": data })
        .to_string()
}

/// Returns a patch that replaces a line of a text with other lines.
pub(crate) fn patch(text: &str, file: &str, from: &str, to: &str) -> String {
    let at = text.lines().position(|line| line == from).unwrap_or_else(|| panic!("{from} is not in {file}"));
    let (above, below) = (text.lines().nth(at - 1).unwrap(), text.lines().nth(at + 1).unwrap());
    let (added, count): (String, usize) = (to.lines().map(|line| format!("+{line}\n")).collect(), to.lines().count());
    format!("--- a/{file}\n+++ b/{file}\n@@ -{at},3 +{at},{} @@\n {above}\n-{from}\n{added} {below}\n", count + 2)
}

/// Returns the text of a file in the shipped sample.
pub(crate) fn sample(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/firmware").join(file)).unwrap()
}

/// Returns the patch that fixes the bug.
pub(crate) fn good() -> String {
    patch(&sample(FILE), FILE, BUG, FIX)
}

/// Returns a patch that replaces another line of the same file.
pub(crate) fn bad(from: &str, to: &str) -> String {
    patch(&sample(FILE), FILE, from, to)
}

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let said = Command::new("git").args(arguments).current_dir(folder).output().unwrap();
    assert!(said.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8(said.stdout).unwrap()
}
