//! A real run of the real program on a real disk, for tests that kill it or make its disk fail.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

/// The number of lines that a run writes.
pub(crate) const LINES: usize = 8;

/// A store, a git repository and a run that writes into it.
pub(crate) struct Scene {
    home: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        // The directory is beside the build and not in memory, because the tests need a real disk.
        let home = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let scene = Scene { home };
        fs::create_dir(scene.repo()).unwrap();
        let git = Command::new("git").args(["init", "-q"]).current_dir(scene.repo()).status().unwrap();
        assert!(git.success());
        fs::write(scene.repo().join("README"), "a repository\n").unwrap();
        scene
    }

    pub(crate) fn path(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home.path().join("store")
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.home.path().join("repo")
    }

    /// Returns the command that runs the program with these arguments.
    pub(crate) fn interlock(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command
            .args(arguments)
            .env("INTERLOCK_HOME", self.store())
            .env("INTERLOCK_USER", "tester")
            .current_dir(self.repo());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Returns the command that starts the run, or resumes it if it exists already.
    pub(crate) fn go_on(&self) -> Command {
        let machine = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/hardship/ledger.yaml");
        match self.is_made() {
            true => self.interlock(&["resume", "the-run"]),
            false => {
                let lines = format!("lines={LINES}");
                self.interlock(&["run", machine, "--name", "the-run", "--set", &lines, "--repo", "."])
            }
        }
    }

    pub(crate) fn is_made(&self) -> bool {
        self.store().exists() && self.run(&["show", "the-run"]).status.success()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.interlock(arguments).output().unwrap()
    }

    /// Asserts that the faults left no trace: each line is written once, in order, and all records verify.
    pub(crate) fn check(&self) {
        let verify = self.run(&["verify", "the-run"]);
        assert!(verify.status.success(), "{}", text(&verify));
        let ledger = fs::read_to_string(self.repo().join("ledger.txt")).unwrap();
        let expected: String = (1..=LINES).map(|line| format!("{line}\n")).collect();
        assert_eq!(ledger, expected, "{}", text(&self.run(&["trace", "the-run"])));
    }
}

/// Returns the stdout and stderr of a program.
pub(crate) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A pseudo-random number generator with a fixed seed.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}
