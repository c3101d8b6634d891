//! A user-defined program that simulates a board, and a firmware that is a script. They test the operations on a board
//! without a compiler.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use interlock_testkit_activity::model_server::{Dialect, ModelServer};
use interlock_testkit_cli::session::{Session, Transcript};
use serde_json::Value as Json;
use tempfile::TempDir;

use super::scene::{answer, git, patch};

/// The firmware: a script in which two values are wrong.
pub(crate) const FIRMWARE: &str = r#"# values
A=1
B=1
# cases
failed=0
check() {
    if [ "$2" = 2 ]; then echo "fw.sh:2:$1:PASS"; else echo "fw.sh:2:$1:FAIL: it is $2"; failed=$((failed + 1)); fi
}
check one "$A"
check two "$B"
echo "2 Tests $failed Failures 0 Ignored"
[ $failed = 0 ] && echo OK || echo FAIL
exit $failed
"#;

/// The longest time that a test waits for a condition.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// A repository with that firmware, a store, and a model server that writes patches.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) session: Session,
    _server: Option<ModelServer>,
}

/// Returns the patch that replaces one line of the firmware.
pub(crate) fn change(from: &str, to: &str) -> String {
    patch(FIRMWARE, "fw.sh", from, to)
}

impl Bench {
    /// Makes a bench with a task that has this test profile, and with a model that writes these patches. Without
    /// patches there is no model.
    pub(crate) fn new(profile: &str, patches: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("firmware");
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("fw.sh"), FIRMWARE).unwrap();
        let build = "build: { commands: ['sh -n fw.sh'], image: fw.sh }";
        let task = format!(
            "goal: both values are right\nrepo_path: .\ndeliver: measured\n{build}\ntest_profile:\n{profile}\n"
        );
        fs::write(root.join("task.yaml"), task).unwrap();
        git(&root, &["init", "--quiet"]);
        let home = folder.path().join("home");
        fs::create_dir_all(&home).unwrap();
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        let session =
            Session::new(env!("CARGO_BIN_EXE_interlock"), &root).with("INTERLOCK_HOME", home.display().to_string());
        let server = (!patches.is_empty())
            .then(|| ModelServer::saying(patches.iter().map(|patch| Dialect::Chat.says(&answer(patch))).collect()));
        if let Some(server) = &server {
            let judge = "provider = \"openai-chat\"\nmodel = \"tiny\"";
            let text = format!(
                "[judges.near]\n{judge}\nbase_url = \"{}\"\n[chains]\ndefault = [\"rules\"]\njudge.patch = [\"near\"]\n",
                server.url
            );
            fs::write(home.join("judges.toml"), text).unwrap();
        }
        let bench = Bench { folder, session, _server: server };
        bench.commit();
        bench
    }

    /// Makes a bench with a simulated board that logs its operations; `slow` is the operation that takes a second.
    pub(crate) fn with_board(slow: &str, patches: &[String]) -> Self {
        let profile = "  env_type: program\n  format: unity\n  suites: [{ id: all }]\n  confirm: false\n  config: { program: PROGRAM, resources: [pretend-1], write: [FOLDER] }";
        let bench = Bench::new(profile, patches);
        let (root, kept) = (bench.root(), bench.folder.path().join("board"));
        fs::create_dir_all(&kept).unwrap();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/testbench/pretend_board.py");
        let log = bench.log();
        // A request is one line. The first slow operation gives the test time to kill the process that requested it.
        let program = format!(
            "#!/bin/sh\nasked=$(cat)\noperation=$(printf %s \"$asked\" | sed 's/.*\"operation\": *\"\\([a-z_]*\\)\".*/\\1/')\necho $operation >> {log}\n[ $operation = {slow} ] && [ $(grep -c '^{slow}$' {log}) = 1 ] && sleep 2\nprintf %s \"$asked\" | python3 {}\n",
            example.display(),
            log = log.display(),
        );
        let path = bench.folder.path().join("board.sh");
        fs::write(&path, program).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let task = fs::read_to_string(root.join("task.yaml")).unwrap();
        let task = task.replace("PROGRAM", &path.display().to_string()).replace("FOLDER", &kept.display().to_string());
        fs::write(root.join("task.yaml"), task).unwrap();
        bench.commit();
        bench
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("firmware")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Commits the current state of all files.
    pub(crate) fn commit(&self) {
        git(&self.root(), &["add", "--all"]);
        git(
            &self.root(),
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "--quiet",
                "--allow-empty",
                "--message",
                "as it is",
            ],
        );
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("board/told.log")
    }

    /// Returns the operations that the board received, in order.
    pub(crate) fn told(&self) -> Vec<String> {
        fs::read_to_string(self.log()).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    pub(crate) fn run(&self) -> Transcript {
        self.session.run("run firmware --input task.yaml --name r").unwrap()
    }

    pub(crate) fn trace(&self) -> String {
        self.session.run("trace r").unwrap().stdout
    }

    pub(crate) fn story(&self) -> Json {
        let report = self.session.run("report r --format json").unwrap();
        serde_json::from_str::<Json>(&report.stdout).unwrap()["story"].clone()
    }

    /// Starts a run, and kills it as soon as its board has received the operation this many times.
    pub(crate) fn kill_when_told(&self, operation: &str, times: usize) {
        let mut command = self.session.command("run firmware --input task.yaml --name r");
        let mut child: Child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + WAIT_MAX;
        while self.told().iter().filter(|told| *told == operation).count() < times {
            assert!(Instant::now() < deadline, "the board was never told to {operation}: {:?}", self.told());
            assert!(child.try_wait().unwrap().is_none(), "it ended before: {}", self.trace());
            thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Returns the current values in the sources of the firmware.
    pub(crate) fn values(&self) -> (String, String) {
        let text = fs::read_to_string(self.root().join("fw.sh")).unwrap();
        let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
        (of("A="), of("B="))
    }

    /// Asserts that the sources are unchanged.
    pub(crate) fn is_untouched(&self) {
        assert_eq!(git(&self.root(), &["status", "--porcelain"]), "");
    }
}
