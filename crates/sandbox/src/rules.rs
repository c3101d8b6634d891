//! What a program is allowed: plain data, made by whoever starts it, enforced elsewhere.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::places;

/// By what a program is confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Landlock and seccomp: needs no privileges and no other program.
    #[default]
    Landlock,
    /// The same within namespaces that the program `bwrap` makes.
    Bubblewrap,
    /// Nothing. It still ends with its attempt and has limits.
    None,
}

/// Whom a program may talk to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Nobody but its own children, over pipes and socket pairs.
    #[default]
    Off,
    /// Whoever listens on a socket file of this computer. Some of those do what they are told: see `docs/sandbox.md`.
    Unix,
    /// Itself, over a loopback of its own.
    Loopback,
    /// Everybody.
    On,
}

impl Kind {
    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        [Kind::Landlock, Kind::Bubblewrap, Kind::None].into_iter().find(|kind| kind.name() == name)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Landlock => "landlock",
            Kind::Bubblewrap => "bubblewrap",
            Kind::None => "none",
        }
    }
}

impl Network {
    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        [Network::Off, Network::Unix, Network::Loopback, Network::On].into_iter().find(|network| network.name() == name)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Network::Off => "off",
            Network::Unix => "unix",
            Network::Loopback => "loopback",
            Network::On => "on",
        }
    }
}

/// How much a program and everything it starts may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Memory of all of them together.
    pub memory_mib: u64,
    /// How many of them there may be at once, and an eighth of how many threads.
    pub processes: u64,
    /// The largest file.
    pub file_mib: u64,
    /// Files open in one of them.
    pub open_files: u64,
    /// Written to disks, all in all.
    pub disk_mib: u64,
    /// What is left free on the disk of the workspace.
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

/// How many threads there may be for every process that is allowed.
const THREADS_EACH: u64 = 8;

impl Limits {
    /// How many threads all of them may have together.
    pub fn threads(&self) -> u64 {
        self.processes.saturating_mul(THREADS_EACH)
    }
}

/// Objects that all programs of a user share, as files.
const SHARED: [&str; 2] = ["/dev/shm", "/dev/mqueue"];

/// Whether a program gets namespaces of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Namespaces {
    /// Where the kernel lets this user make them.
    #[default]
    Auto,
    /// No, as on a kernel that does not.
    Off,
}

/// All that a program is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// By what it is confined.
    pub sandbox: Kind,
    /// Whether it must not run where the system cannot confine it.
    pub required: bool,
    /// Whether it gets namespaces.
    #[serde(default)]
    pub namespaces: Namespaces,
    /// Whom it may talk to.
    pub network: Network,
    /// What it works on, and may change: found with [`crate::workspace_of`].
    pub workspace: PathBuf,
    /// What else it may change.
    pub write: Vec<PathBuf>,
    /// What it must not read.
    pub hide: Vec<PathBuf>,
    /// Where runs are kept, which it must not read either. Within the workspace it is not hidden: nothing could be made at the workspace's top
    /// then. That is noted.
    pub store: Option<PathBuf>,
    /// How much it may use.
    pub limits: Limits,
}

impl Rules {
    /// Whether the store is where programs may write.
    pub(crate) fn is_store_open(&self) -> bool {
        self.real_store().is_some_and(|store| store.starts_with(&self.workspace))
    }

    /// The places that cannot be read, as they really are. `own` is one that would be hidden if others had it, too.
    pub(crate) fn hidden(&self, own: Option<&Path>) -> Vec<PathBuf> {
        let store = self.real_store().filter(|_| !self.is_store_open());
        let shared = SHARED.iter().map(PathBuf::from);
        let shared = shared.filter(|place| own != Some(place) && !self.write.contains(place));
        places::real(self.hide.iter().chain(&store).chain(&shared.collect::<Vec<_>>()))
    }

    fn real_store(&self) -> Option<PathBuf> {
        std::fs::canonicalize(self.store.as_ref()?).ok()
    }
}
