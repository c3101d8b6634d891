//! A project in a repository of its own, with a room to verify changes of it.

use std::{fs, path::PathBuf, process::Command, sync::Arc, time::Duration};

use interlock_activity::Attempt;
use interlock_process::Sandbox;
use interlock_testkit_activity::{Recorder, attempt, launcher::launcher};
use interlock_verification::{Becomes, Question, Room, Verdict, remember_dependencies, share_dependencies};
use interlock_workspace::{Commit, Workspace};
use tempfile::TempDir;

/// The longest time of one command.
const TIMEOUT: Duration = Duration::from_secs(240);

/// A repository whose first commit is the base of a change.
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    pub(crate) store: PathBuf,
    workspace: Workspace,
    sandbox: Sandbox,
    attempt: Attempt,
    base: Option<String>,
    _temp: TempDir,
}

impl Project {
    /// Creates an empty directory for a project.
    pub(crate) fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        let (folder, store) = (root.join("project"), root.join("store"));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&store).unwrap();
        let (attempt, _) = attempt(&store, &folder, Arc::new(Recorder::default()));
        fs::create_dir_all(attempt.live.parent().unwrap()).unwrap();
        let sandbox = Sandbox { launcher: launcher(), store: Some(store.clone()), ..Sandbox::default() };
        let workspace = Workspace::new(&store);
        Project { folder, store, workspace, sandbox, attempt, base: None, _temp: temp }
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Commits everything, as the state before the agent's turn.
    pub(crate) fn commit(&self) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"];
        for words in
            [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "--allow-empty", "-m", "base"]]
        {
            let status = Command::new("git").args(identity).args(words).current_dir(&self.folder).status();
            assert!(status.unwrap().success(), "git {words:?}");
        }
    }

    /// Goes on in a linked worktree of the project, on a branch of its own.
    pub(crate) fn move_to_worktree(&mut self) {
        let main = self.folder.with_file_name("main");
        fs::rename(&self.folder, &main).unwrap();
        let words = ["worktree", "add", "-q", "-b", "linked"];
        let status = Command::new("git").args(words).arg(&self.folder).current_dir(&main).status();
        assert!(status.unwrap().success());
    }

    /// The run begins: its first tree and its dependencies are remembered.
    pub(crate) fn begin(&mut self) {
        remember_dependencies(&self.workspace, Some(&self.store), &self.folder, &self.attempt.run).unwrap();
        self.begin_unlisted();
    }

    /// Another run goes on with the records of this one.
    pub(crate) fn fork(&mut self, run: &str) {
        let runs = (&*self.attempt.run, run);
        share_dependencies(&self.workspace, Some(&self.store), &self.folder, runs).unwrap();
        self.attempt.run = run.into();
    }

    /// The run begins, and nobody lists its dependencies.
    pub(crate) fn begin_unlisted(&mut self) {
        self.base = Some(self.workspace.take_tree(&self.folder, &self.attempt.run).unwrap().1);
    }

    /// Commits the change as Interlock does, and returns a clone of the commit.
    pub(crate) fn committed(&self) -> PathBuf {
        let tree = self.workspace.take_tree(&self.folder, &self.attempt.run).unwrap().1;
        let base = self.base.clone().expect("the run has begun");
        let commit = Commit {
            message: "Change".into(),
            branch: Some("change".into()),
            only: Some((base, tree)),
            ..Commit::default()
        };
        self.workspace.commit(&self.folder, &commit).unwrap();
        let clone = self.store.join("../clone");
        let status = Command::new("git").args(["clone", "-q", "-b", "change"]).arg(&self.folder).arg(&clone).status();
        assert!(status.unwrap().success());
        clone
    }

    /// Verifies what has changed since the run began.
    pub(crate) async fn verify(&self, line: &str, accepted: &[String]) -> Verdict {
        let tree = self.workspace.take_tree(&self.folder, &self.attempt.run).unwrap().1;
        let mut rules = self.sandbox.config.rules(self.folder.clone(), &interlock_sandbox::Account::current());
        rules.store = Some(self.store.clone());
        let (workspace, sandbox) = (&self.workspace, &self.sandbox);
        let room = Room { attempt: &self.attempt, workspace, sandbox, rules };
        let question = Question {
            lines: vec![line.to_owned()],
            base: self.base.clone().expect("the run has begun"),
            tree,
            becomes: Becomes::Commit(None),
            timeout: TIMEOUT,
            accepted: accepted.to_vec(),
        };
        room.verify(&question).await.unwrap_or_else(|outcome| panic!("no verdict: {}", outcome.message()))
    }
}
