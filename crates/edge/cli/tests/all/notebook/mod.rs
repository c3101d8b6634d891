//! The machine `notebook` through the binary: real kernels, and servers that behave badly.

mod edits;
mod ends;
mod examples;
mod kills;
mod servers;

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use serde_json::Value as Json;
use tempfile::TempDir;

/// Returns the directory of the installed kernels, or `None` if they are not installed and need not be.
fn installed() -> Option<PathBuf> {
    interlock_testkit_activity::parts::installed("jupyter.sh")
}

/// A project in a directory of its own, with a store.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    /// Creates a project with Jupyter's kernels, or returns `None` if they are not installed.
    pub(crate) fn with_kernels() -> Option<Self> {
        let kernels = installed()?;
        let project = Project::new();
        std::os::unix::fs::symlink(kernels, project.path().join(".venv")).unwrap();
        Some(project)
    }

    /// Creates a project without kernels.
    pub(crate) fn new() -> Self {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        Project { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command.args(arguments).current_dir(self.path());
        command.env("INTERLOCK_HOME", self.folder.path().join("home")).env("INTERLOCK_USER", "ada");
        command.env_remove("DSLC_BASE_URL").env_remove("INTERLOCK_NOTEBOOK_TOKEN");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Returns the trace of a run: the events, each with its reason.
    pub(crate) fn trace(&self, run: &str) -> Vec<(String, String)> {
        let told = self.run(&["trace", run, "--json"]);
        let lines = String::from_utf8(told.stdout).unwrap();
        let field = |line: &Json, name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let moves = lines.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        moves.map(|line| (field(&line, "event"), field(&line, "reason"))).collect()
    }

    /// Returns the notebook of a run.
    pub(crate) fn notebook(&self, name: &str) -> Json {
        serde_json::from_slice(&fs::read(self.path().join(name)).unwrap()).unwrap()
    }
}

/// Returns the stdout and stderr of a program.
pub(crate) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
