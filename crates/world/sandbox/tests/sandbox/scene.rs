//! A workspace and a home with secrets, in which programs run in the sandbox.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::{
        fd::OwnedFd,
        unix::{
            fs::{PermissionsExt, chown},
            net::UnixStream,
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command},
    time::{Duration, Instant},
};

use interlock_sandbox::{
    Account, Config, Enforced, LaunchOrder, Launcher, Limits, Namespaces, ProgramEnd, Report, Rules, workspace_of,
};
use tempfile::TempDir;

/// The content of secret files, which no program may see.
pub(crate) const SECRET: &str = "the-secret-key";

/// The id of the user `nobody`, who owns nothing.
pub(crate) const NOBODY: u32 = 65_534;

/// The directories and rules with which a program is run.
pub(crate) struct Scene {
    pub(crate) place: PathBuf,
    pub(crate) rules: Rules,
    pub(crate) env: Vec<(String, String)>,
    is_nobody: bool,
    _home: TempDir,
}

/// A running program with its control socket.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) control: UnixStream,
}

/// The result of a program.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) enforced: Option<Enforced>,
    pub(crate) not_started: Option<(String, bool)>,
    pub(crate) ended: Option<ProgramEnd>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let home = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let place = fs::canonicalize(home.path()).unwrap();
        for folder in ["work", "home/.ssh", "home/.config/gh", "outside", "tmp"] {
            fs::create_dir_all(place.join(folder)).unwrap();
        }
        fs::write(place.join("home/.ssh/id_ed25519"), SECRET).unwrap();
        fs::write(place.join("home/.config/gh/hosts.yml"), SECRET).unwrap();
        fs::write(place.join("home/.netrc"), SECRET).unwrap();
        fs::write(place.join("home/notes"), "notes\n").unwrap();
        fs::write(place.join("outside/file"), "as it was\n").unwrap();
        // This allows tests to run as another user.
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        let workspace = workspace_of(&place.join("work")).unwrap();
        // The test itself runs below a repository, which must not be used.
        let workspace = if workspace.ends_with("work") { workspace } else { place.join("work") };
        let account = Account { home: Some(place.join("home")), ..Account::current() };
        let rules = Config::default().rules(workspace, &account);
        let env = vec![
            ("HOME".to_owned(), place.join("home").to_str().unwrap().to_owned()),
            ("PATH".to_owned(), std::env::var("PATH").unwrap()),
        ];
        Scene { place, rules, env, is_nobody: false, _home: home }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Rules)) -> Self {
        change(&mut self.rules);
        self
    }

    /// Runs programs as a user who owns nothing else. This needs root.
    pub(crate) fn for_nobody(mut self) -> Self {
        for folder in ["work", "tmp"] {
            chown(self.path(folder), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        self.is_nobody = true;
        self
    }

    /// Returns scenes with and without namespaces, for the current user and, if that is root, also for an ordinary
    /// user.
    pub(crate) fn for_everybody() -> Vec<Self> {
        let mut scenes = vec![Scene::new(), Scene::new().plain()];
        if is_root() {
            scenes.extend([Scene::new().for_nobody(), Scene::new().for_nobody().plain()]);
        }
        scenes
    }

    /// Disables namespaces, as on a kernel that does not allow them.
    pub(crate) fn plain(self) -> Self {
        self.with(|rules| rules.namespaces = Namespaces::Off)
    }

    /// Returns true if programs run as an ordinary user although the tests run as root.
    pub(crate) fn is_nobody(&self) -> bool {
        self.is_nobody
    }

    /// Returns a command that runs outside the sandbox, as the user of the programs inside.
    pub(crate) fn outside(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        if self.is_nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Compiles the attack program into the workspace.
    pub(crate) fn with_attacks(self) -> Self {
        let source = self.path("attack.c");
        fs::write(&source, include_str!("attack.c")).unwrap();
        let mut build = Command::new("gcc");
        build.args(["-O1", "-pthread", "-o"]).args([&self.work("attack"), &source]).arg("-lrt");
        assert!(build.status().unwrap().success());
        self
    }

    pub(crate) fn limits(self, change: impl FnOnce(&mut Limits)) -> Self {
        self.with(|rules| change(&mut rules.limits))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    /// Returns the number of temporary directories of programs.
    pub(crate) fn left_behind(&self) -> usize {
        let of_users = fs::read_dir(self.path("tmp")).unwrap().map(|entry| entry.unwrap().path());
        of_users.map(|folder| fs::read_dir(folder).unwrap().count()).sum()
    }

    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.rules.workspace.join(name)
    }

    pub(crate) fn order(&self, words: &[&str]) -> LaunchOrder {
        LaunchOrder {
            mark: self.path("mark"),
            words: words.iter().map(Into::into).collect(),
            env: self.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            folder: self.rules.workspace.clone(),
            stdin: None,
            attached: Vec::new(),
            listen: Vec::new(),
            temp: self.path("tmp"),
            rules: self.rules.clone(),
            after: None,
        }
    }

    pub(crate) fn start(&self, script: &str) -> Running {
        self.start_order(&self.order(&["/bin/sh", "-c", script]))
    }

    /// Starts a launcher without an order.
    pub(crate) fn launcher(&self) -> (Child, UnixStream) {
        let (control, theirs) = UnixStream::pair().unwrap();
        let mut command = launcher().command();
        if self.is_nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        (command.stdin(OwnedFd::from(theirs)).spawn().unwrap(), control)
    }

    pub(crate) fn start_order(&self, order: &LaunchOrder) -> Running {
        let (child, control) = self.launcher();
        (&control).write_all(&order.to_line().unwrap()).unwrap();
        Running { child, control }
    }

    /// Runs a script to its end.
    pub(crate) fn run(&self, script: &str) -> Done {
        self.start(script).done()
    }

    /// Returns true if a process exists that works in the workspace and has this id inside its namespace.
    pub(crate) fn is_alive(&self, pid: &str) -> bool {
        let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_here = |process: &PathBuf| {
            fs::read_link(process.join("cwd")).is_ok_and(|folder| folder.starts_with(&self.rules.workspace))
        };
        let has_number = |process: &PathBuf| {
            let status = fs::read_to_string(process.join("status")).unwrap_or_default();
            let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
            numbers.split_whitespace().last() == Some(pid)
        };
        all.filter(is_here).any(|process| has_number(&process))
    }

    /// Waits until a file in the workspace has a complete line, and returns its content.
    pub(crate) fn line_of(&self, name: &str) -> String {
        let path = self.work(name);
        until(|| fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'))).trim().to_owned()
    }
}

impl Running {
    pub(crate) fn done(mut self) -> Done {
        let mut err = self.child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || text(&mut err));
        let stdout = text(&mut self.child.stdout.take().unwrap());
        let mut done = Done { stdout, stderr: stderr.join().unwrap(), ..Done::default() };
        for line in BufReader::new(&self.control).lines() {
            match serde_json::from_str(&line.unwrap()).unwrap() {
                Report::Started(enforced) => done.enforced = Some(*enforced),
                Report::NotStarted { why, is_refusal } => done.not_started = Some((why, is_refusal)),
                Report::Ended(ended) => done.ended = Some(ended),
            }
        }
        self.child.wait().unwrap();
        done
    }
}

fn text(from: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Done {
    #[track_caller]
    pub(crate) fn ended(&self) -> &ProgramEnd {
        self.ended.as_ref().unwrap_or_else(|| panic!("{self:#?}"))
    }

    #[track_caller]
    pub(crate) fn enforced(&self) -> &Enforced {
        self.enforced.as_ref().unwrap_or_else(|| panic!("{self:#?}"))
    }

    /// Asserts that the program succeeded without a breach.
    #[track_caller]
    pub(crate) fn is_well(&self) {
        assert_eq!(self.ended(), &ProgramEnd { code: Some(0), ..ProgramEnd::default() }, "{self:#?}");
    }

    /// Returns the rules that were violated.
    pub(crate) fn broken(&self) -> Vec<&str> {
        self.ended().breaches.iter().map(|breach| breach.rule.as_str()).collect()
    }
}

/// Waits up to twenty seconds until the closure returns a value.
#[track_caller]
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "the deadline has passed");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns true if the tests run as root, so that they can also run programs as an ordinary user.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The launcher of the tests, which are no launcher themselves.
pub(crate) fn launcher() -> Launcher {
    Launcher::at(env!("CARGO_BIN_EXE_interlock-sandbox"))
}

/// Whether a program is there to be tried.
pub(crate) fn has(program: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .any(|place: PathBuf| Path::new(&place).join(program).exists())
}
