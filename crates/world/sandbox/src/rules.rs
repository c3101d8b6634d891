//! The rules for a program. They are plain data that the caller builds; other modules enforce them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{GitSettings, homes, places};

/// The mechanism that confines a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Landlock and seccomp, which need no privileges and no other program.
    #[default]
    Landlock,
    /// Landlock and seccomp within namespaces that the program `bwrap` creates.
    Bubblewrap,
    /// No confinement. The program still ends with its attempt and has limits.
    None,
}

/// The network access of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// No access, except to its children over pipes and socket pairs.
    #[default]
    Off,
    /// Access to socket files of this computer. Some services there execute commands for their clients: see
    /// `docs/sandbox.md`.
    Unix,
    /// Access to a private loopback interface.
    Loopback,
    /// Access to the listed hosts through a proxy, and to a private loopback interface.
    Only,
    /// Unrestricted access to the network.
    On,
}

impl Kind {
    /// Returns the mechanism with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Kind::Landlock, Kind::Bubblewrap, Kind::None].into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name of the mechanism.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Landlock => "landlock",
            Kind::Bubblewrap => "bubblewrap",
            Kind::None => "none",
        }
    }
}

impl Network {
    /// All kinds of network access, from the strictest to the loosest.
    pub const ALL: [Network; 5] = [Network::Off, Network::Unix, Network::Loopback, Network::Only, Network::On];

    /// Returns true if the program gets a private network namespace.
    pub(crate) fn is_private(self) -> bool {
        matches!(self, Network::Loopback | Network::Only)
    }

    /// Returns the network access with this name.
    pub fn named(name: &str) -> Option<Self> {
        Network::ALL.into_iter().find(|network| network.name() == name)
    }

    /// Returns the name of the network access.
    pub fn name(self) -> &'static str {
        match self {
            Network::Off => "off",
            Network::Unix => "unix",
            Network::Loopback => "loopback",
            Network::Only => "only",
            Network::On => "on",
        }
    }
}

/// The resource limits of a program and all processes that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maximum memory of all processes together.
    pub memory_mib: u64,
    /// Maximum number of processes at once, and one eighth of the maximum number of threads.
    pub processes: u64,
    /// Maximum size of a file.
    pub file_mib: u64,
    /// Maximum number of open files per process.
    pub open_files: u64,
    /// Maximum amount written to disks in total.
    pub disk_mib: u64,
    /// Minimum free space on the disk of the workspace.
    pub free_mib: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory_mib: 8 * 1_024,
            processes: 512,
            file_mib: 4 * 1_024,
            open_files: 4_096,
            disk_mib: 32 * 1_024,
            free_mib: 256,
        }
    }
}

/// Maximum number of threads per allowed process.
const THREADS_EACH: u64 = 8;

impl Limits {
    /// Returns the maximum number of threads of all processes together.
    pub fn threads(&self) -> u64 {
        self.processes.saturating_mul(THREADS_EACH)
    }
}

/// Directories with objects that all programs of a user share.
const SHARED: [&str; 2] = ["/dev/shm", "/dev/mqueue"];

/// Controls if a program gets private namespaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Namespaces {
    /// Namespaces are used if the kernel allows this user to create them.
    #[default]
    Auto,
    /// Namespaces are not used, as on a kernel that does not allow them.
    Off,
}

/// A directory that the program sees at another place than where it is, by a mount of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The place at which the program sees the directory. It exists when the views before this one are in place. A relative
    /// path is made in the private temporary directory of the program.
    pub at: PathBuf,
    /// The directory. No part of this path may be a symbolic link: a program may have made it.
    pub shows: PathBuf,
    /// A directory with empty `upper` and `work` directories that take the program's writes, so that `shows` stays as it
    /// is; `None` if the program may change `shows`.
    pub writes: Option<PathBuf>,
}

/// All rules for a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// The mechanism that confines it.
    pub sandbox: Kind,
    /// True if it must not run when the system cannot confine it.
    pub required: bool,
    /// Controls if it gets private namespaces.
    #[serde(default)]
    pub namespaces: Namespaces,
    /// The network access of the program.
    pub network: Network,
    /// The hosts that it can reach with [`Network::Only`], as `interlock-proxy` reads them.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The workspace, which it may change, found with [`crate::workspace_of`].
    pub workspace: PathBuf,
    /// The directory of the run, if it is in the workspace. The files there that decide what runs outside are protected
    /// wherever the program starts.
    #[serde(default)]
    pub folder: PathBuf,
    /// True if it must not change the workspace. With namespaces, what it writes there is its own and is thrown away.
    #[serde(default)]
    pub keeps_workspace: bool,
    /// True if it must not change the repository of a linked worktree, which is outside of the workspace.
    #[serde(default)]
    pub keeps_repository: bool,
    /// Other places that it may change.
    pub write: Vec<PathBuf>,
    /// Directories that it sees at other places, in this order. They need namespaces.
    #[serde(default)]
    pub views: Vec<View>,
    /// Files that it may read and that are removed when it has ended, even if Interlock is killed: copies of credentials.
    #[serde(default)]
    pub fleeting: Vec<PathBuf>,
    /// True if it may open pseudo-terminals. They are private, so this needs namespaces.
    #[serde(default)]
    pub terminals: bool,
    /// Places that it must not read.
    pub hide: Vec<PathBuf>,
    /// Directories in which it can read nothing but its own places and those of `show`: the homes of users.
    #[serde(default)]
    pub closed: Vec<PathBuf>,
    /// Places that it may read in closed directories. One that lies in a place of `hide` can be read, too.
    #[serde(default)]
    pub show: Vec<PathBuf>,
    /// Files that it must not read wherever they are and whatever else is shown: keys of Interlock itself.
    #[serde(default)]
    pub never: Vec<PathBuf>,
    /// The git settings of a person that have credentials, without these.
    #[serde(default)]
    pub git_settings: Option<GitSettings>,
    /// The files with git's settings of the person and of the system. What they name in the workspace is protected.
    #[serde(default)]
    pub git_files: Vec<PathBuf>,
    /// The home directory of the person, for `~/` in these files.
    #[serde(default)]
    pub home: Option<PathBuf>,
    /// The directory with the runs, which it must not read either. If it is inside the workspace, it is hidden by a mount,
    /// because with Landlock no file could be created at the top of the workspace.
    pub store: Option<PathBuf>,
    /// The resource limits of the program.
    pub limits: Limits,
}

impl Rules {
    /// Lets the program read what another program needs: the directory into which that one was installed. A person has
    /// chosen that program.
    pub fn show_program(&mut self, program: &Path) {
        let needed = homes::of_program(program, &self.closed, &self.hide);
        self.show.extend(needed);
    }

    /// Returns the git directories that the program may change.
    pub(crate) fn writable_git(&self) -> Vec<PathBuf> {
        let mut folders = crate::repository::git_folders(&self.workspace);
        let is_kept = self.keeps_repository || self.keeps_workspace;
        folders.retain(|folder| !is_kept || folder.starts_with(&self.workspace));
        folders
    }

    /// Returns the store if it is in the workspace.
    pub(crate) fn store_within(&self) -> Option<PathBuf> {
        self.real_store().filter(|store| store.starts_with(&self.workspace))
    }

    /// Returns the places that cannot be read as canonical paths. `own` is a place that is not hidden because the
    /// program has a private one.
    pub(crate) fn hidden(&self, own: Option<&Path>) -> Vec<PathBuf> {
        let store = self.real_store().filter(|_| self.store_within().is_none());
        let shared = SHARED.iter().map(PathBuf::from);
        let shared = shared.filter(|place| own != Some(place) && !self.write.contains(place));
        places::real(self.hide.iter().chain(&self.never).chain(&store).chain(&shared.collect::<Vec<_>>()))
    }

    fn real_store(&self) -> Option<PathBuf> {
        std::fs::canonicalize(self.store.as_ref()?).ok()
    }
}
