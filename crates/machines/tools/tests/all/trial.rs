//! A workspace in which tools are called as a run calls them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use interlock_activity::{Activity, Attempt, Canceller};
use interlock_chart::Value;
use interlock_process::Sandbox;
use interlock_testkit_activity::{EndedAttempt, Recorder, attempt, launcher::launcher};
use interlock_tools::ToolCall;
use interlock_workspace::Workspace;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// A git repository with an activity that calls tools in it.
pub(crate) struct Trial {
    pub(crate) folder: PathBuf,
    pub(crate) attempt: Attempt,
    pub(crate) canceller: Canceller,
    pub(crate) host: Arc<Recorder>,
    pub(crate) workspace: Workspace,
    pub(crate) tools: ToolCall,
    pub(crate) home: TempDir,
}

impl Trial {
    /// Creates a repository with these files, committed.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let home = TempDir::new().unwrap();
        let folder = fs::canonicalize(home.path()).unwrap().join("folder");
        fs::create_dir(&folder).unwrap();
        let host = Arc::new(Recorder::default());
        let (attempt, canceller) = attempt(home.path(), &folder, host.clone());
        let store = home.path().join("store");
        fs::create_dir(&store).unwrap();
        let workspace = Workspace::new(&store);
        let tools = tools(&workspace, &store);
        let trial = Trial { folder, attempt, canceller, host, workspace, tools, home };
        trial.git(&["init", "--quiet", "--initial-branch=main"]);
        files.iter().for_each(|(path, text)| trial.write(path, text));
        trial.git(&["add", "--all"]);
        trial.git(&["commit", "--quiet", "--allow-empty", "--message=Begin here"]);
        trial
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join(path)).unwrap()
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let settings = ["-c", "user.name=A Person", "-c", "user.email=person@example.org"];
        let status = Command::new("git").current_dir(&self.folder).args(settings).args(arguments).status().unwrap();
        assert!(status.success(), "git {arguments:?}");
    }

    /// Forgets everything that is only in memory, as a restart does.
    pub(crate) fn restart(&mut self) {
        self.tools = tools(&self.workspace, &self.home.path().join("store"));
    }

    /// Makes an attempt with this input. A snapshot is taken before, as for an activity that writes.
    pub(crate) async fn run(&self, with: Json) -> EndedAttempt {
        let mut attempt = self.attempt.clone();
        attempt.with = Value::from(with);
        attempt.snapshot = Some(self.workspace.take(&self.folder, "run-1").unwrap());
        let ended = EndedAttempt::new(self.tools.start(attempt).await);
        self.host.record(&ended.outcome);
        ended
    }

    /// Calls a tool and returns its result: the payload, or the error.
    pub(crate) async fn call(&self, name: &str, args: Json) -> Result<Json, Json> {
        let ended = self.run(json!({ "call": { "name": name, "args": args } })).await;
        assert_eq!(ended.name, "TOOL_CALL_RESULT", "{:?}", ended.data);
        assert_eq!(ended.data["name"], name);
        match ended.data["ok"] == true {
            true => Ok(ended.data["payload"].clone()),
            false => Err(ended.data["payload"]["error"].clone()),
        }
    }

    /// Calls a tool without a snapshot before, for which git would wait, and returns its result.
    pub(crate) async fn tools_call(&self, name: &str, args: Json) -> Json {
        let mut attempt = self.attempt.clone();
        attempt.with = Value::from(json!({ "call": { "name": name, "args": args } }));
        let ended = EndedAttempt::new(self.tools.start(attempt).await);
        assert_eq!(ended.data["ok"], true, "{:?}", ended.data);
        ended.data["payload"].clone()
    }

    /// Calls a tool that fails, and returns the code and the message.
    pub(crate) async fn fail(&self, name: &str, args: Json) -> (String, String) {
        let error = self.call(name, args).await.unwrap_err();
        for field in ["trace_id", "next_step"] {
            assert!(error[field].as_str().is_some_and(|text| !text.is_empty()), "{error}");
        }
        let field = |name: &str| error[name].as_str().unwrap().to_owned();
        (field("code"), field("message"))
    }
}

fn tools(workspace: &Workspace, store: &Path) -> ToolCall {
    let sandbox = Sandbox { launcher: launcher(), store: Some(store.to_owned()), ..Sandbox::default() };
    ToolCall::new(workspace.clone(), sandbox, Some(store.to_owned()))
}
