//! The walls around one call of git, made by the kernel.
//!
//! Landlock, seccomp and `no_new_privs` hold for a thread and for what that thread starts. So a thread of its own takes
//! them upon itself, starts git and ends: no other code runs between, and nothing else in this process is confined.
//!
//! Git starts other programs by `fork`, which the filter refuses. Only the thread itself can start a process, because
//! it shares its memory with the new one until that is git. A few calls need helper programs of git (`worktree add`,
//! `gc`); they may fork, and Landlock lets them execute only files of git.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::OnceLock,
};

use interlock_beneath::Folder;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, make_bitflags,
};
use libc::{ENOSYS, EPERM, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

use crate::Error;

/// The newest version of Landlock that these rules were written for.
const NEWEST: ABI = ABI::V7;

/// The directories of the root in which there are devices and processes instead of files.
const NO_FILES: [&str; 3] = ["/dev", "/proc", "/sys"];

/// The directories of the root that programs need. People may have files in every other one.
const OF_PROGRAMS: [&str; 12] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/snap", "/etc"];

/// The devices that git uses, and shared memory, which has files.
const FILES_IN_DEV: [&str; 3] = ["/dev/null", "/dev/urandom", "/dev/shm"];

/// The walls of one call.
#[derive(Debug, Default)]
pub(crate) struct Walls {
    /// The files that may be executed. Empty if they are not known: then the kernel does not limit them.
    pub(crate) executes: Vec<PathBuf>,
    /// The directory of helper programs, which the call may start.
    pub(crate) helpers: Option<PathBuf>,
    /// The directories that the call reads, wherever they are.
    pub(crate) reads: Vec<PathBuf>,
    /// True if the call reads no other places of people.
    pub(crate) is_narrow: bool,
    /// The directory that git is installed in.
    pub(crate) around: Option<PathBuf>,
    /// The directories that the call may change.
    pub(crate) writes: Vec<Folder>,
}

/// Starts a command behind walls.
pub(crate) fn start(mut command: Command, walls: &Walls) -> Result<Child, Error> {
    let no_git = |error: io::Error| Error::NoGit(error.to_string());
    std::thread::scope(|scope| {
        let confined = scope.spawn(|| {
            walls.raise().map_err(|why| Error::NoGit(format!("it cannot be confined: {why}")))?;
            command.spawn().map_err(no_git)
        });
        confined.join().unwrap_or_else(|_| Err(Error::NoGit("its thread failed".into())))
    })
}

impl Walls {
    fn raise(&self) -> Result<(), String> {
        rustix::thread::set_no_new_privs(true).map_err(|error| error.to_string())?;
        self.files().map_err(|error| error.to_string())?;
        let may_fork = self.helpers.is_some() || self.executes.is_empty();
        // A kernel without filters has the other walls.
        for filter in filters().iter().flatten().skip(usize::from(may_fork)) {
            let _ = apply_filter(filter);
        }
        Ok(())
    }

    /// Limits the files. A kernel without Landlock limits nothing.
    fn files(&self) -> Result<(), RulesetError> {
        let mut handled = AccessFs::from_all(NEWEST);
        if self.executes.is_empty() {
            handled.remove(AccessFs::Execute);
        }
        let ruleset = Ruleset::default().handle_access(handled)?.handle_access(AccessNet::from_all(NEWEST))?;
        let mut ruleset = allow(ruleset.create()?, Path::new("/"), AccessFs::ReadDir.into())?;
        let reading = make_bitflags!(AccessFs::{ReadFile | ReadDir});
        let devices = make_bitflags!(AccessFs::{ReadFile | ReadDir | WriteFile});
        let is_closed = |place: &Path| {
            let is_one_of = |known: &[&str]| known.iter().any(|known| place == Path::new(known));
            is_one_of(&NO_FILES) || (self.is_narrow && !is_one_of(&OF_PROGRAMS))
        };
        for place in std::fs::read_dir("/").into_iter().flatten().flatten().map(|entry| entry.path()) {
            if !is_closed(&place) {
                ruleset = allow(ruleset, &place, reading)?;
            }
        }
        for place in FILES_IN_DEV {
            ruleset = allow(ruleset, Path::new(place), devices)?;
        }
        for place in self.reads.iter().chain(self.around.as_ref().filter(|_| self.is_narrow)) {
            ruleset = allow(ruleset, place, reading)?;
        }
        for place in self.executes.iter().chain(&self.helpers) {
            ruleset = allow(ruleset, place, reading | AccessFs::Execute)?;
        }
        let no_files = make_bitflags!(AccessFs::{Execute | MakeChar | MakeBlock | MakeFifo | MakeSock | IoctlDev});
        for place in &self.writes {
            ruleset = ruleset.add_rule(PathBeneath::new(place, AccessFs::from_all(NEWEST) & !no_files))?;
        }
        ruleset.restrict_self().map(drop)
    }
}

/// Adds a rule for a place. One that does not exist needs none.
fn allow(ruleset: RulesetCreated, place: &Path, rights: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(place) {
        Ok(place) => ruleset.add_rule(PathBeneath::new(place, rights)),
        Err(_) => Ok(ruleset),
    }
}

/// Returns the filters of system calls: the first one refuses to fork, the others hold for every call of git.
fn filters() -> &'static Result<[BpfProgram; 3], String> {
    static FILTERS: OnceLock<Result<[BpfProgram; 3], String>> = OnceLock::new();
    FILTERS.get_or_init(|| {
        let all = || -> Result<_, seccompiler::BackendError> {
            // A new process that shares no memory with this one is a fork.
            let shares = SeccompCmpOp::MaskedEq(u64::from(libc::CLONE_VM.unsigned_abs()));
            let fork = SeccompRule::new(vec![SeccompCondition::new(0, Dword, shares, 0)?])?;
            let forks = [(libc::SYS_clone, vec![fork])].into_iter().chain(old_forks());
            // The arguments of `clone3` cannot be compared; without it callers use `clone`.
            let unknown = [libc::SYS_clone3, libc::SYS_io_uring_setup];
            Ok([
                filter(forks.collect(), EPERM)?,
                filter(unknown.map(|call| (call, Vec::new())).into(), ENOSYS)?,
                filter([libc::SYS_socket, libc::SYS_ptrace].map(|call| (call, Vec::new())).into(), EPERM)?,
            ])
        };
        all().map_err(|error| error.to_string())
    })
}

/// The calls that old systems fork with.
#[cfg(target_arch = "x86_64")]
fn old_forks() -> Vec<(c_long, Vec<SeccompRule>)> {
    vec![(libc::SYS_fork, Vec::new()), (libc::SYS_vfork, Vec::new())]
}

/// Newer systems have `clone` only.
#[cfg(not(target_arch = "x86_64"))]
fn old_forks() -> Vec<(c_long, Vec<SeccompRule>)> {
    Vec::new()
}

fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, answer: i32) -> Result<BpfProgram, seccompiler::BackendError> {
    let arch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(answer.unsigned_abs()), arch)?.try_into()
}
