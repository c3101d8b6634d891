//! A directory for tests, with its workspace store.

#![allow(dead_code, unreachable_pub, reason = "each test uses what it needs")]

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::PathBuf, process::Command};

use interlock_workspace::Workspace;
use tempfile::TempDir;

/// A directory, and a home for its workspace store.
#[derive(Debug)]
pub struct Folder {
    pub path: PathBuf,
    pub workspace: Workspace,
    _both: TempDir,
}

impl Folder {
    /// Creates a directory that is not a repository.
    pub fn plain() -> Self {
        let both = TempDir::new().unwrap();
        let path = fs::canonicalize(both.path()).unwrap().join("folder");
        fs::create_dir(&path).unwrap();
        Folder { path, workspace: Workspace::new(both.path().join("home")), _both: both }
    }

    /// Creates a directory that is a repository.
    pub fn repository() -> Self {
        let folder = Self::plain();
        folder.init();
        folder
    }

    /// Creates a repository with another hash algorithm.
    pub fn of_format(format: &str) -> Self {
        let folder = Self::plain();
        folder.run(&["init", "-q", &format!("--object-format={format}")]);
        folder
    }

    /// Returns the home of the workspace store.
    pub fn home(&self) -> PathBuf {
        self._both.path().join("home")
    }

    pub fn init(&self) {
        self.run(&["init", "-q"]);
    }

    pub fn write(&self, name: &str, content: &str) {
        self.write_bytes(name, content.as_bytes());
    }

    pub fn write_bytes(&self, name: &str, content: &[u8]) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Runs `git` as the user. Returns an empty text if the directory is not a repository.
    pub fn git(&self, arguments: &[&str]) -> String {
        match self.path.join(".git").exists() {
            true => self.run(arguments),
            false => String::new(),
        }
    }

    /// Returns the private directory, if there is only one.
    pub fn private(&self) -> PathBuf {
        let mut all = fs::read_dir(self.home().join("workspaces")).unwrap();
        all.next().unwrap().unwrap().path()
    }

    /// Runs `git` on the private directory.
    pub fn kept(&self, arguments: &[&str]) -> String {
        let git_dir = format!("--git-dir={}", self.private().display());
        self.run(&[&[git_dir.as_str()], arguments].concat())
    }

    fn run(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(&self.path).args(["-c", "user.name=ada", "-c", "user.email=ada@localhost"]).args(arguments);
        let output = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Returns every file and link with its content and its executable bit.
    pub fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, bool)> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path.clone()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                let about = fs::symlink_metadata(&path).unwrap();
                if about.is_symlink() {
                    let target = fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes();
                    files.insert(path, (target, false));
                } else if about.is_file() {
                    files.insert(path.clone(), (fs::read(path).unwrap(), about.permissions().mode() & 0o100 != 0));
                } else if path != self.path.join(".git") {
                    folders.push(path);
                }
            }
        }
        files
    }

    /// Returns the files of the user's repository, except objects.
    pub fn user_files(&self) -> BTreeMap<String, Vec<u8>> {
        if !self.path.join(".git").exists() {
            return BTreeMap::new();
        }
        let names = ["index", "HEAD", "config", "logs/HEAD", "logs/refs/stash", "packed-refs"];
        let read = |name: &str| fs::read(self.path.join(".git").join(name)).unwrap_or_default();
        let mut files: BTreeMap<_, _> = names.iter().map(|name| ((*name).to_owned(), read(name))).collect();
        let refs = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        files.insert("refs".into(), refs.into_bytes());
        files
    }
}
