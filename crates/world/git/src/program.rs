//! Finds the `git` program and the files that the kernel executes with it. It is looked up where no program of a run can have
//! put it (`crates/world/beneath/src/programs.rs`).

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::Read as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use interlock_beneath::programs;

/// The beginning of an executable file that needs no interpreter of a script.
const ELF: &[u8] = b"\x7fELF";

/// The part of an executable file in which its dynamic loader is named.
const HEAD_BYTES: u64 = 16 * 1024;

/// The directories of the system in the search path of a call. A script in place of git may need them.
const OF_SYSTEM: &str = "/usr/local/bin:/usr/bin:/bin";

/// The program, and what the kernel must be allowed to execute for it.
#[derive(Debug)]
pub(crate) struct Program {
    /// The path of `git`.
    pub(crate) path: PathBuf,
    /// The program and its dynamic loader. Empty if the program is a script, whose needs are not known.
    pub(crate) executes: Vec<PathBuf>,
}

impl Program {
    /// Finds git for a call on these directories. `Command` would fork the whole process to search it, which takes longer than
    /// most calls. A script in place of git is used only if there is no real one. Returns `None` if there is neither.
    pub(crate) fn find(workspaces: &[&Path]) -> Option<Self> {
        let found = programs::all("git", workspaces);
        for path in &found {
            let head = head(path);
            if head.starts_with(ELF) {
                let real = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
                let executes = loader(&head).into_iter().chain([real]).collect();
                return Some(Program { path: path.clone(), executes });
            }
        }
        found.into_iter().next().map(|path| Program { path, executes: Vec::new() })
    }

    /// Returns the search path for the call: git's own directory, and those of the system.
    pub(crate) fn search_path(&self) -> OsString {
        let own = self.path.parent().unwrap_or(Path::new("/usr/bin"));
        [own.as_os_str(), OsStr::new(OF_SYSTEM)].join(OsStr::new(":"))
    }

    /// Returns the directory that the program is installed in with its libraries, if it looks like one.
    pub(crate) fn around(&self) -> Option<PathBuf> {
        let around = self.executes.last()?.parent()?.parent()?;
        around.join("lib").is_dir().then(|| around.to_owned())
    }

    /// Returns the directory with git's own helper programs.
    pub(crate) fn helpers(&self) -> Option<PathBuf> {
        static HELPERS: OnceLock<Option<PathBuf>> = OnceLock::new();
        HELPERS.get_or_init(|| Some(PathBuf::from(said(&self.path, "--exec-path")?))).clone()
    }
}

/// Returns the version line of the `git` that would be used; `None` if there is none.
pub fn version() -> Option<String> {
    said(&Program::find(&[])?.path, "--version")
}

/// Asks git about itself. It reads no repository for this.
#[expect(clippy::disallowed_methods, reason = "the program was found where no other program can have put it")]
fn said(program: &Path, option: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg(option).env_clear().current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()).filter(|said| !said.is_empty())
}

fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.map(|_| head).unwrap_or_default()
}

/// Returns the dynamic loader that an executable file names: the first absolute path in its beginning that ends at a zero
/// byte and is a file.
fn loader(head: &[u8]) -> Option<PathBuf> {
    let texts = head.split(|byte| *byte == 0).filter(|text| text.starts_with(b"/"));
    let mut paths = texts.map(|text| PathBuf::from(OsStr::from_bytes(text)));
    paths.find_map(|path| fs::canonicalize(path).ok().filter(|path| path.is_file()))
}
