//! A confined program prepares the workspace as it likes: links, pipes, sockets, devices, nested repositories, an odd
//! `.git`. Then every operation of Interlock works on it, while directories are exchanged for links. Nothing outside
//! changes, nothing hangs, and no program starts unconfined.
//!
//! `INTERLOCK_PREPARED=FIRST..LAST` tries other seeds than the usual ones; `scripts/fuzz.sh prepared` does that.

mod traps;

use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use interlock_testkit_cli::session::Session;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;

use traps::Traps;

/// The time that a command may take. Each takes a second or two on a quiet computer.
const PATIENCE: Duration = Duration::from_secs(180);

/// Runs every activity that works with files, one after the other, whatever becomes of the one before.
const MACHINE: &str = include_str!("machine.yaml");

/// The commands that a person gives afterwards.
const COMMANDS: [&str; 14] = [
    "show p",
    "trace p",
    "diff p",
    "report p --out ../report.html",
    "evidence p",
    "snapshots p",
    "resume p",
    "undo p --dry-run",
    "undo p --skip-conflicts",
    "apply p",
    "verify p",
    "map --budget 500",
    "gc",
    "run again --name q",
];

/// An agent that speaks the protocol of the driver `command` and prepares more traps in its turn.
const AGENT: &str = "cat > /dev/null\nsh ./more.sh >/dev/null 2>&1\necho '{\"type\":\"text\",\"text\":\"done\"}'\n";

#[test]
fn a_prepared_workspace_leads_nowhere() {
    try_seeds("", 0..1);
}

/// The run works in a directory of the repository, which its programs can rename.
#[test]
fn a_prepared_directory_below_the_root_leads_nowhere() {
    try_seeds("tree/", 300..301);
}

/// More seeds: each takes some minutes.
mod heavy {
    use super::try_seeds;

    #[test]
    fn prepared_workspaces_lead_nowhere() {
        try_seeds("", 1..3);
    }

    #[test]
    fn more_prepared_workspaces_lead_nowhere() {
        try_seeds("", 100..102);
    }

    #[test]
    fn chosen_prepared_workspaces_lead_nowhere() {
        let chosen = std::env::var("INTERLOCK_PREPARED").unwrap_or_else(|_| "200..201".to_owned());
        let (first, last) = chosen.split_once("..").unwrap();
        try_seeds("", first.parse().unwrap()..last.parse().unwrap());
    }

    #[test]
    fn prepared_directories_below_the_root_lead_nowhere() {
        try_seeds("tree/", 301..302);
    }
}

/// Plays some seeds. `tree` is the directory of the repository with the workspace.
fn try_seeds(tree: &'static str, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        println!("seed {seed}");
        Scene::new(seed, tree).play();
    }
}

struct Scene {
    seed: u64,
    /// The directory of the repository with the workspace; empty if the repository is the workspace itself.
    tree: &'static str,
    top: TempDir,
    session: Session,
}

impl Scene {
    fn new(seed: u64, tree: &'static str) -> Self {
        let top = TempDir::new().unwrap();
        let here = top.path().canonicalize().unwrap();
        let work = format!("{tree}work");
        for folder in ["d", ".interlock/machines/prepared", ".interlock/machines/again"] {
            fs::create_dir_all(here.join(&work).join(folder)).unwrap();
        }
        for folder in ["store", "out/dir", "home"] {
            fs::create_dir_all(here.join(folder)).unwrap();
        }
        fs::set_permissions(here.join("store"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), here.join(&work))
            .with("INTERLOCK_HOME", here.join("store").display().to_string())
            .with("HOME", here.join("home").display().to_string())
            .with("INTERLOCK_USER", "ada");
        let scene = Scene { seed, tree, top, session };
        scene.fill();
        scene
    }

    fn fill(&self) {
        let out = self.path("out").display().to_string();
        let mut traps = Traps::new(self.seed, &out);
        // A program puts a link in place of the directory in which the run works, and works on.
        let swap = match self.tree {
            "" => String::new(),
            _ => format!("mv \"$PWD\" ../moved && ln -s {out}/dir \"$PWD\"\n"),
        };
        for (name, text) in [
            ("work/f", "one\n".to_owned()),
            ("work/d/g", "two\n".to_owned()),
            ("work/canary.sh", format!("#!/bin/sh\ntouch {out}/started\ncat\n")),
            ("work/prepare.sh", swap.clone() + &traps.script()),
            ("work/more.sh", swap + &traps.script()),
            ("work/.interlock/machines/prepared/machine.yaml", MACHINE.to_owned()),
            ("work/.interlock/machines/again/machine.yaml", MACHINE.replace("machine: prepared", "machine: again")),
            ("out/file", "theirs\n".to_owned()),
            ("out/dir/f", "theirs too\n".to_owned()),
            ("out/dir/g", "and this\n".to_owned()),
        ] {
            fs::write(self.path(name), text).unwrap();
        }
        let agent = self.path("home/agent.sh");
        fs::write(&agent, AGENT).unwrap();
        let settings =
            format!("[agents.it]\ndriver = \"command\"\ncommand = [\"sh\", {:?}]\n", agent.display().to_string());
        fs::write(self.path("store/agents.toml"), settings).unwrap();
        fs::set_permissions(self.path("work/canary.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let repository = self.path("work").join(if self.tree.is_empty() { "" } else { ".." });
        for folder in [repository, self.path("out/repo")] {
            fs::create_dir_all(&folder).unwrap();
            let script = "git init -q -b main . && git config user.name a && git config user.email a@b && git add -A && \
                          git commit -q --allow-empty -m first && git branch other && git tag v1";
            assert!(Command::new("sh").args(["-c", script]).current_dir(&folder).status().unwrap().success());
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        let tree = if name.starts_with("work") { self.tree } else { "" };
        self.top.path().canonicalize().unwrap().join(format!("{tree}{name}"))
    }

    fn play(&self) {
        let before = contents(&self.path("out"));
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            // The part of a second confined program: directories and files become links while Interlock works.
            scope.spawn(|| exchange(&self.path("work"), &self.path("out"), &done));
            self.command("run prepared --name p");
            COMMANDS.iter().for_each(|command| self.command(command));
            done.store(true, Ordering::Relaxed);
        });
        let after = contents(&self.path("out"));
        let names = |contents: &BTreeMap<PathBuf, Vec<u8>>| contents.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&before), names(&after), "seed {}", self.seed);
        assert!(before == after, "seed {}: a file outside was changed", self.seed);
    }

    /// Runs a command. Its exit code may be anything but that of a fault in Interlock.
    fn command(&self, arguments: &str) {
        let mut command = self.session.command(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stderr.take().unwrap();
        let reader = thread::spawn(move || {
            let mut said = Vec::new();
            pipe.by_ref().take(1 << 20).read_to_end(&mut said).unwrap();
            String::from_utf8_lossy(&said).into_owned()
        });
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("seed {}: `interlock {arguments}` hangs: {}", self.seed, reader.join().unwrap());
            }
            thread::sleep(Duration::from_millis(10));
        };
        let said = reader.join().unwrap();
        let is_fault = status.code().is_none_or(|code| code == 70 || code == 101) || said.contains("panicked");
        assert!(!is_fault, "seed {}: `interlock {arguments}` ended with {status}: {said}", self.seed);
    }
}

/// Exchanges parts of the workspace for links that lead outside, until it is told to stop.
fn exchange(work: &Path, out: &Path, done: &AtomicBool) {
    let pairs = [("d", "dir"), ("f", "file"), (".git/refs/heads", "dir"), ("new.txt", "file"), (".git/index", "file")];
    for (at, (_, target)) in pairs.iter().enumerate() {
        std::os::unix::fs::symlink(out.join(target), work.join(format!(".swap-{at}"))).unwrap();
    }
    while !done.load(Ordering::Relaxed) {
        for (at, (name, _)) in pairs.iter().enumerate() {
            let (one, other) = (work.join(name), work.join(format!(".swap-{at}")));
            let _ = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
        }
        // Long enough for an access to begin on one side and to end on the other.
        thread::sleep(Duration::from_micros(300));
    }
}

/// Returns every file and link below a directory with its content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut waiting) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type().unwrap())).unwrap();
            if kind.is_dir() {
                found.insert(path.clone(), Vec::new());
                waiting.push(path);
            } else if kind.is_symlink() {
                found.insert(path.clone(), fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}
