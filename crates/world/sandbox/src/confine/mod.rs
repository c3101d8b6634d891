//! The stages of a launcher that drop their own rights step by step, report the result and start the program.
//!
//! With namespaces there are two stages: `prepare` creates the namespaces and starts `init`, which confines itself and
//! starts the program. Without namespaces one stage confines itself and becomes the program. Each stage has a single
//! thread. The order of the steps matters: those that need rights come first.

#![expect(clippy::disallowed_methods, reason = "a file of the kernel, and the input that Interlock has made")]

mod calls;
mod files;
mod init;
mod kept;
mod limits;
mod namespaces;
mod network;
mod privileges;
mod probe;
mod read_only;
mod store;
mod views;

use std::{
    fs::File,
    io::{self, Write},
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use interlock_beneath::Folder;
use rustix::{
    io::fcntl_dupfd_cloexec,
    process::{Signal, fchdir, set_parent_process_death_signal, setsid},
    stdio::{dup2_stdin, stdin},
};
use serde::{Deserialize, Serialize};

use calls::Walls;
pub(crate) use init::main as init;
pub(crate) use probe::{Probed, inside as probe_inside, main as probe};

use crate::{
    Attached, Enforced, GitHistory, INIT, Kind, LaunchOrder, Network, Report,
    attachments::{self, Attachments, Received},
    caches, wire,
};

/// The task that the first stage sends to the others.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) order: LaunchOrder,
    /// The program's private temporary directory.
    pub(crate) temp: PathBuf,
    /// The restrictions that are known so far.
    pub(crate) enforced: Enforced,
}

/// The messages of the other stages to the first.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Said {
    /// Namespaces are created; their first process has this id outside.
    Init { pid: i32 },
    /// That process is ready for its task.
    Settled,
    /// That process cannot be used and ends.
    NotSettled { why: String },
    /// Namespaces could not be created. The process ends, because some of them may exist.
    NotPrepared { why: String },
    /// A report that is passed on to Interlock.
    Report(Report),
    /// The program in the namespaces has ended.
    Exited { code: Option<i32>, signal: Option<i32> },
}

/// The reason why the program does not run.
#[derive(Debug)]
pub(crate) struct Refusal {
    why: String,
    is_refusal: bool,
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Refusal { why: error.to_string(), is_refusal: false }
    }
}

impl From<rustix::io::Errno> for Refusal {
    fn from(error: rustix::io::Errno) -> Self {
        io::Error::from(error).into()
    }
}

impl Refusal {
    fn cannot(why: impl Into<String>) -> Self {
        Refusal { why: why.into(), is_refusal: true }
    }
}

/// Runs a stage with the socket that is its stdin. Reports the reason if the stage fails.
fn with_channel(work: impl FnOnce(&mut UnixStream) -> Result<(), Refusal>) -> ExitCode {
    let Ok(channel) = fcntl_dupfd_cloexec(stdin(), 3) else { return ExitCode::FAILURE };
    let mut channel = UnixStream::from(channel);
    match work(&mut channel) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Refusal { why, is_refusal }) => {
            let _ = wire::send(&mut channel, &Said::Report(Report::NotStarted { why, is_refusal }));
            ExitCode::FAILURE
        }
    }
}

/// Receives the task over stdin and becomes the program. Returns only if this fails.
pub(crate) fn main() -> ExitCode {
    with_channel(|channel| {
        let (order, temp) = ready(channel, false)?;
        Err(command(&order, &temp)?.exec().into())
    })
}

/// Creates namespaces and starts their first process. If the kernel does not allow it, reports the reason.
pub(crate) fn prepare() -> ExitCode {
    with_channel(|channel| match namespaces::leave() {
        Ok(()) => {
            let theirs = OwnedFd::from(channel.try_clone()?);
            let mut init = Command::new("/proc/self/exe");
            init.arg(INIT).env_clear().stdin(theirs).stdout(Stdio::inherit()).stderr(Stdio::inherit());
            let pid = i32::try_from(init.spawn()?.id()).map_err(io::Error::other)?;
            Ok(wire::send(channel, &Said::Init { pid })?)
        }
        Err(error) => Ok(wire::send(channel, &Said::NotPrepared { why: error.to_string() })?),
    })
}

/// Waits for the task and confines this process accordingly. Afterwards only the program remains to be started.
fn ready(channel: &mut UnixStream, in_namespaces: bool) -> Result<(LaunchOrder, PathBuf), Refusal> {
    let Received { message, files, .. } = attachments::receive(channel)?;
    let Task { order, temp, mut enforced } = message;
    let mut files = Attachments::new(&order.attached, files)?;
    dup2_stdin(input(&order, &mut files)?)?;
    // A new session has no terminal, and its process group can be signalled as a whole.
    let _ = setsid();
    // A second safety net: if the first stage dies, the kernel kills at least this process.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If memory runs out, the kernel should kill the program and not its supervisor.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    if order.rules.sandbox != Kind::None {
        confine(&order, &temp, in_namespaces, &mut files, &mut enforced)?;
    } else if order.rules.network == Network::Only {
        return Err(Refusal::cannot("`network: only` needs a sandbox, and there is none with `sandbox: none`"));
    } else {
        limits::apply(&order.rules.limits, &mut enforced)?;
    }
    channel.write_all(&wire::line(&Said::Report(Report::Started(Box::new(enforced))))?)?;
    Ok((order, temp))
}

fn confine(
    order: &LaunchOrder,
    temp: &Path,
    in_namespaces: bool,
    files: &mut Attachments,
    enforced: &mut Enforced,
) -> Result<(), Refusal> {
    let rules = &order.rules;
    views::mount_all(&rules.views, temp, in_namespaces && rules.sandbox == Kind::Landlock)?;
    let is_landlock = rules.sandbox == Kind::Landlock;
    let open = match rules.keeps_workspace {
        true => kept::keep(order, temp, in_namespaces && is_landlock, enforced),
        false => Vec::new(),
    };
    store::hide(order, in_namespaces && is_landlock, enforced)?;
    let is_own_network = rules.network.is_private();
    if is_own_network && rules.sandbox == Kind::Landlock {
        network::enter().map_err(|error| {
            let hint = "use `network: off` or `network: on`, or bubblewrap";
            Refusal::cannot(format!("a private loopback interface cannot be created here ({error}); {hint}"))
        })?;
    }
    if rules.network == Network::Only {
        hand_over_listeners(order, files)?;
    }
    if is_own_network || (rules.sandbox == Kind::Bubblewrap && rules.network == Network::Off) {
        enforced.network_by.push("namespace".into());
    }
    let shared_memory = in_namespaces.then(|| shared_memory(order, enforced));
    let is_wrapped = rules.sandbox == Kind::Bubblewrap;
    if is_wrapped {
        // Its arguments ask for these namespaces, and it fails without them.
        enforced.namespaces = namespaces::NAMES.map(str::to_owned).to_vec();
        enforced.processes_apart = true;
    }
    // The `/dev` that bubblewrap makes has private terminals.
    let has_own = || is_wrapped || (in_namespaces && namespaces::own_terminals().is_ok());
    let has_terminals = rules.terminals && has_own();
    if rules.terminals && !has_terminals {
        enforced.missing.push("no pseudo-terminals: private ones need namespaces".into());
    }
    match rules.keeps_workspace && enforced.git_history != GitHistory::NoRepository {
        true => enforced.git_history = GitHistory::ReadOnly,
        false if in_namespaces => read_only::keep_history(rules, temp, enforced),
        false => {}
    }
    limits::apply(&rules.limits, enforced)?;
    enforced.capabilities_dropped = privileges::drop(&rules.workspace, enforced);
    rustix::thread::set_no_new_privs(true)?;
    enforced.no_new_privs = true;
    let own = shared_memory.filter(|shared| shared.is_own).map(|_| Path::new("/dev/shm"));
    files::restrict(order, temp, (own, &open), has_terminals, enforced)?;
    let walls = Walls {
        landlock: enforced.landlock_abi.is_some(),
        namespaces: in_namespaces || is_wrapped,
        memory_group: enforced.memory_by.iter().any(|by| by == "cgroup"),
        shared_memory_limit: shared_memory.is_some_and(|shared| shared.is_bounded),
    };
    calls::filter(rules.network, walls, enforced);
    if rules.network == Network::Only && !enforced.seccomp {
        return Err(Refusal::cannot(
            "`network: only` needs seccomp, because socket files lead out of a private network",
        ));
    }
    let lacks = [(enforced.landlock_abi.is_none(), "Landlock"), (!enforced.seccomp, "seccomp")];
    match lacks.iter().find(|(is_lacking, _)| rules.required && *is_lacking) {
        Some((_, what)) => Err(Refusal::cannot(format!(
            "a sandbox is required, but this kernel has no {what}; `interlock doctor` lists its features"
        ))),
        None => Ok(()),
    }
}

/// Gives Interlock the listeners that are the only way out of the private network.
fn hand_over_listeners(order: &LaunchOrder, files: &mut Attachments) -> Result<(), Refusal> {
    match files.take(Attached::Listeners) {
        Some(_) if order.listen.is_empty() => Ok(()),
        Some(to) => network::hand_over(&order.listen, &to)
            .map_err(|error| Refusal::cannot(format!("no way to the allowed hosts can be made: {error}"))),
        // No process listens, so the program reaches nothing.
        None => Ok(()),
    }
}

/// The shared memory of a program in namespaces.
#[derive(Clone, Copy, Debug)]
struct SharedMemory {
    /// True if `/dev/shm` is private to the program.
    is_own: bool,
    /// True if System V shared memory has a limit.
    is_bounded: bool,
}

fn shared_memory(order: &LaunchOrder, enforced: &mut Enforced) -> SharedMemory {
    enforced.namespaces = namespaces::NAMES.map(str::to_owned).to_vec();
    enforced.processes_apart = true;
    let memory_mib = order.rules.limits.memory_mib;
    // A machine that names `/dev/shm` wants the shared one.
    let is_wanted = order.rules.write.iter().any(|place| place == Path::new("/dev/shm"));
    let is_own = !is_wanted && namespaces::own_shared_memory(memory_mib).is_ok();
    SharedMemory { is_own, is_bounded: namespaces::bound_shared_memory(memory_mib) }
}

/// Returns the input of the program: the attached one, a file, which is then removed, or `/dev/null`.
fn input(order: &LaunchOrder, files: &mut Attachments) -> io::Result<OwnedFd> {
    if let Some(input) = files.take(Attached::Stdin) {
        return Ok(input);
    }
    let Some(path) = &order.stdin else { return Ok(File::open("/dev/null")?.into()) };
    let file = File::open(path)?;
    // Inside bubblewrap the file cannot be removed; its creator removes it too.
    let _ = std::fs::remove_file(path);
    Ok(file.into())
}

/// Returns the git settings of the person without credentials, if the program would find the person's own.
fn git_settings(order: &LaunchOrder) -> Option<&str> {
    let settings = order.rules.git_settings.as_ref().filter(|_| order.rules.sandbox != Kind::None)?;
    let is_theirs = order.env.iter().any(|(name, value)| name == "HOME" && Path::new(value) == settings.home);
    is_theirs.then_some(&settings.text)
}

fn command(order: &LaunchOrder, temp: &Path) -> io::Result<Command> {
    let Some((program, arguments)) = order.words.split_first() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("TMPDIR", temp);
    if let Some(settings) = git_settings(order) {
        let file = temp.join("gitconfig");
        std::fs::write(&file, settings)?;
        command.env("GIT_CONFIG_GLOBAL", file);
    }
    if order.rules.sandbox != Kind::None {
        command.envs(caches::variables(&order.rules, &order.env, temp));
    }
    command.envs(order.env.iter().map(|(name, value)| (name, value)));
    fchdir(working_folder(order)?)?;
    Ok(command)
}

/// Opens the working directory. A program may have put a link into its path, if it is in the workspace.
fn working_folder(order: &LaunchOrder) -> interlock_beneath::Result<Folder> {
    match order.folder.strip_prefix(&order.rules.workspace) {
        Ok(_) => Folder::open(&order.folder),
        Err(_) => Folder::open_through_links(&order.folder),
    }
}
