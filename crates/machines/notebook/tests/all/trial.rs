//! A run in a directory of its own, with the kernels that `scripts/jupyter.sh` installs.

use std::{fs, path::PathBuf, process::Command, sync::Arc};

use interlock_activity::{Activity as _, Attempt, Canceller};
use interlock_chart::Value;
use interlock_notebook::NotebookAction;
use interlock_process::Sandbox;
use interlock_testkit_activity::{EndedAttempt, Recorder, attempt, launcher::launcher};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// Returns the directory of the installed kernels, or `None` if they are not installed and need not be.
pub(crate) fn installed() -> Option<PathBuf> {
    interlock_testkit_activity::parts::installed("jupyter.sh")
}

/// A run and everything that it works with.
pub(crate) struct Trial {
    pub(crate) home: TempDir,
    pub(crate) folder: TempDir,
    pub(crate) host: Arc<Recorder>,
    pub(crate) activity: NotebookAction,
    /// Fields of `with` that every action gets.
    pub(crate) with: Json,
    jupyter: PathBuf,
}

impl Trial {
    /// Begins a run, or returns `None` if the kernels are not installed.
    pub(crate) fn new() -> Option<Self> {
        let jupyter = installed()?;
        let folder = tempfile::tempdir().unwrap();
        // The kernels are found like those of a project's own virtual environment.
        std::os::unix::fs::symlink(&jupyter, folder.path().join(".venv")).unwrap();
        let with = json!({ "notebook": "n.ipynb", "cell_timeout_s": 60, "stage_id": "s", "step_id": "t" });
        let home = tempfile::tempdir().unwrap();
        let host = Arc::new(Recorder::in_real_time());
        Some(Trial { home, folder, host, activity: Self::activity(), with, jupyter })
    }

    /// Creates the activity as a new process would.
    pub(crate) fn activity() -> NotebookAction {
        NotebookAction::new(Sandbox { launcher: launcher(), ..Sandbox::default() })
    }

    /// Returns an attempt that carries out one action.
    pub(crate) fn attempt(&self, action: Json) -> (Attempt, Canceller) {
        let (mut attempt, canceller) = attempt(self.home.path(), self.folder.path(), self.host.clone());
        let mut with = self.with.clone();
        with["actions"] = json!([action]);
        attempt.with = Value::from(with);
        (attempt, canceller)
    }

    /// Carries out one action.
    pub(crate) async fn act(&self, action: Json) -> EndedAttempt {
        let (attempt, _canceller) = self.attempt(action);
        let ended = EndedAttempt::new(self.activity.start(attempt).await);
        self.host.record(&ended.outcome);
        ended
    }

    /// Adds a code cell and executes it.
    pub(crate) async fn run(&self, code: &str) -> EndedAttempt {
        let added = self.act(json!({ "action": "add", "shot_type": "action", "content": code })).await;
        assert_eq!(added.name, "executed", "{:?}", added.data);
        self.act(json!({ "action": "exec", "codecell_id": "lastAddedCellId" })).await
    }

    /// Adds a code cell and executes it, which must succeed. Returns the texts of its outputs.
    pub(crate) async fn effects(&self, code: &str) -> Vec<String> {
        let ended = self.run(code).await;
        assert_eq!(ended.name, "executed", "{:?}", ended.data);
        texts(&ended.data["effects"])
    }

    /// Returns the notebook as it is on the disk.
    pub(crate) fn notebook(&self) -> Json {
        serde_json::from_str(&fs::read_to_string(self.path()).unwrap()).unwrap()
    }

    /// Returns the path of the notebook.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("n.ipynb")
    }

    /// Runs Python with the tools of Jupyter, outside the sandbox. Returns its output.
    pub(crate) fn python(&self, arguments: &[&str]) -> String {
        let told = Command::new(self.jupyter.join("bin/python"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", self.home.path())
            .output()
            .unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        String::from_utf8(told.stdout).unwrap()
    }

    /// Checks the notebook with the reference implementation of its format.
    pub(crate) fn validate(&self) {
        let check = "import nbformat; n = nbformat.read('n.ipynb', 4); nbformat.validate(n); print(n.nbformat_minor)";
        assert_eq!(self.python(&["-W", "error", "-c", check]).trim(), "5");
    }
}

/// Returns the texts of a list.
pub(crate) fn texts(list: &Json) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}
