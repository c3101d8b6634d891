//! Finds the `git` program and the files that the kernel executes with it.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Read as _,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

/// The beginning of an executable file that needs no interpreter of a script.
const ELF: &[u8] = b"\x7fELF";

/// The part of an executable file in which its dynamic loader is named.
const HEAD_BYTES: u64 = 16 * 1024;

/// The program, and what the kernel must be allowed to execute for it.
#[derive(Debug)]
pub(crate) struct Program {
    /// The path of `git`.
    pub(crate) path: PathBuf,
    /// The program and its dynamic loader. Empty if the program is a script, whose needs are not known.
    pub(crate) executes: Vec<PathBuf>,
}

impl Program {
    /// Finds git in a search path. `Command` would fork the whole process to search it, which takes longer than most calls.
    /// A script in place of git is used only if there is no real one.
    pub(crate) fn find(path: &OsStr) -> Self {
        let is_program = |file: &PathBuf| fs::metadata(file).is_ok_and(|it| it.is_file() && it.mode() & 0o111 != 0);
        let places = std::env::split_paths(path).filter(|place| place.is_absolute());
        let found: Vec<PathBuf> = places.map(|place| place.join("git")).filter(is_program).collect();
        for path in &found {
            let head = head(path);
            if head.starts_with(ELF) {
                let real = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
                return Program { path: path.clone(), executes: loader(&head).into_iter().chain([real]).collect() };
            }
        }
        Program { path: found.into_iter().next().unwrap_or_else(|| "git".into()), executes: Vec::new() }
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
    said(&Program::find(&search_path()).path, "--version")
}

/// Returns the search path for programs.
pub(crate) fn search_path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into())
}

/// Asks git about itself. It reads no repository for this.
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
