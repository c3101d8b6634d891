//! A project with a PRD, and a run of `prd` in it.

use std::{fs, path::Path, process::Command};

use interlock_testkit_cli::session::{Session, Transcript};
use serde_json::Value as Json;
use tempfile::TempDir;

/// A PRD of three tasks. Its box is ticked, which means nothing.
pub(crate) const PRD: &str = "\
# Arithmetic

## 1. Context and goals

Numbers are to be added, subtracted and doubled.

## 3. Tasks

- [x] T-001: [P0] Add numbers (calc.py)
  * Verify: the tests pass
- [ ] T-003: [P2] Double numbers (calc.py)
  * Verify: the tests pass
- [ ] T-002: [P1] Subtract numbers (calc.py)
  * Verify: `python3 -c 'import calc; calc.subtract'`
";

pub(crate) struct Scene {
    _folder: TempDir,
    pub(crate) session: Session,
}

impl Scene {
    /// Creates a Python project whose tests run every file `test_*.py`, with a run that waits for a requirement.
    pub(crate) fn python() -> Self {
        Self::new(&[
            ("pyproject.toml", "[project]\nname = \"calc\"\nversion = \"1\"\n"),
            ("calc.py", ""),
            ("test_calc.py", "import unittest\nimport calc\n"),
        ])
    }

    /// Creates a Cargo project.
    pub(crate) fn cargo() -> Self {
        Self::new(&[
            ("Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n"),
            (".gitignore", "target\n"),
            ("src/lib.rs", ""),
        ])
    }

    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let project = here.join("project");
        fs::create_dir(&project).unwrap();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &project)
            .with("INTERLOCK_HOME", here.join("home").display().to_string())
            .with("INTERLOCK_USER", "ada");
        fs::create_dir(here.join("home")).unwrap();
        fs::write(here.join("home/judges.toml"), "[chains]\ndefault = [\"person\"]\n").unwrap();
        let scene = Scene { _folder: folder, session };
        for (name, text) in files {
            scene.write(name, text);
        }
        for arguments in ["init -q -b main", "config user.name Ada", "config user.email ada@localhost", "add ."] {
            scene.git(arguments);
        }
        scene.git("commit -q -m first");
        scene.waits("run prd --set repo_path=. --name p1", "READY");
        scene
    }

    /// Writes the PRD and confirms it: the run waits for the agent's first change.
    pub(crate) fn confirmed(self, prd: &str) -> Self {
        self.planned(prd);
        self.waits("send p1 go", "IMPLEMENT_TASK");
        self
    }

    /// Writes the PRD: the run waits for the confirmation.
    pub(crate) fn planned(&self, prd: &str) {
        self.waits("send p1 USER_INPUT_REQUIREMENT --data '{\"requirement\": \"do sums\"}'", "WRITE_PRD");
        self.write("docs/prd/sums.md", prd);
        self.waits("send p1 prd_written --data '{\"path\": \"docs/prd/sums.md\"}'", "CONFIRMING");
    }

    pub(crate) fn path(&self) -> &Path {
        self.session.folder()
    }

    pub(crate) fn home(&self) -> std::path::PathBuf {
        self.path().with_file_name("home")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.session.write(name, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Adds a function and its test to the Python project, right or wrong.
    pub(crate) fn python_task(&self, name: &str, body: &str, check: &str) {
        self.write("calc.py", &format!("{}def {name}(a, b=0):\n    return {body}\n\n", self.read("calc.py")));
        let test = format!(
            "\nclass Test_{name}(unittest.TestCase):\n    def test_{name}(self):\n        self.assertTrue(calc.{check})\n\n"
        );
        self.write("test_calc.py", &format!("{}{test}", self.read("test_calc.py")));
    }

    pub(crate) fn git(&self, arguments: &str) -> String {
        let words = arguments.split(' ');
        let output = Command::new("git").args(words).current_dir(self.path()).output().unwrap();
        assert!(output.status.success(), "git {arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Returns the subjects of all commits, newest first.
    pub(crate) fn log(&self) -> Vec<String> {
        self.git("log --format=%s").lines().map(str::to_owned).collect()
    }

    pub(crate) fn run(&self, arguments: &str) -> Transcript {
        self.session.run(arguments).unwrap()
    }

    pub(crate) fn json(&self, arguments: &str) -> Json {
        let transcript = self.run(&format!("{arguments} --json"));
        serde_json::from_str(&transcript.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}\n{transcript}"))
    }

    /// Runs a command that leaves the run waiting in a state.
    #[track_caller]
    pub(crate) fn waits(&self, arguments: &str, place: &str) {
        let transcript = self.run(arguments);
        assert_eq!(transcript.code, Some(4), "{arguments}\n{transcript}\n{}", self.run("trace p1").stdout);
        assert_eq!(self.json("show p1")["place"], place, "{arguments}\n{transcript}\n{}", self.run("trace p1").stdout);
    }

    pub(crate) fn context(&self) -> Json {
        self.json("show p1")["context"].clone()
    }

    pub(crate) fn is_verified(&self) {
        let verified = self.run("verify p1");
        assert_eq!(verified.code, Some(0), "{verified}");
    }
}
