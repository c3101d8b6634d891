//! The second stage of a launcher: it takes rights away from itself, one after the other, says what came of it, and becomes the program.
//!
//! It has one thread, and none of its own code runs after the program begins. The order matters: what needs rights comes first.

mod calls;
mod files;
mod limits;
mod network;
mod privileges;

use std::{
    fs::File,
    io::{self, BufReader, Write},
    os::unix::{net::UnixStream, process::CommandExt},
    path::PathBuf,
    process::{Command, ExitCode},
};

use rustix::{
    io::fcntl_dupfd_cloexec,
    process::{Signal, set_parent_process_death_signal, setsid},
    stdio::{dup2_stdin, stdin},
};
use serde::{Deserialize, Serialize};

pub(crate) use network::enter as enter_network;

use crate::{Enforced, Kind, Network, Order, Report, wire};

/// What the first stage tells the second.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) order: Order,
    /// Its private temporary directory.
    pub(crate) temp: PathBuf,
    /// What is known about it already.
    pub(crate) enforced: Enforced,
}

/// Why the program does not run.
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

/// Becomes the program that it is told over stdin. Comes back only if that failed.
pub(crate) fn main() -> ExitCode {
    let Ok(channel) = fcntl_dupfd_cloexec(stdin(), 3) else { return ExitCode::FAILURE };
    let mut channel = UnixStream::from(channel);
    let refusal = match become_program(&mut channel) {
        Err(refusal) => refusal,
        Ok(never) => match never {},
    };
    let report = Report::NotStarted { why: refusal.why, is_refusal: refusal.is_refusal };
    let _ = wire::send(&mut channel, &report);
    ExitCode::FAILURE
}

fn become_program(channel: &mut UnixStream) -> Result<std::convert::Infallible, Refusal> {
    let task: Task = wire::receive(&mut BufReader::new(&mut *channel))?;
    let Task { order, temp, mut enforced } = task;
    dup2_stdin(input(&order)?)?;
    // A session of its own: it has no terminal, and its group can be signalled at once.
    let _ = setsid();
    // A net under the net: where the first stage dies without a word, this program at least goes too.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // When memory runs out, the program is to go, not who looks after it.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    limits::apply(&order.rules.limits, &mut enforced)?;
    if order.rules.sandbox != Kind::None {
        confine(&order, &temp, &mut enforced)?;
    }
    channel.write_all(&wire::line(&Report::Started(Box::new(enforced)))?)?;
    Err(exec(&order, &temp).into())
}

fn confine(order: &Order, temp: &std::path::Path, enforced: &mut Enforced) -> Result<(), Refusal> {
    let rules = &order.rules;
    let is_own_network = rules.network == Network::Loopback;
    if is_own_network && rules.sandbox == Kind::Landlock {
        network::enter(rustix::thread::UnshareFlags::empty()).map_err(|error| {
            let hint = "say `network: off` or `network: on`, or use bubblewrap";
            Refusal::cannot(format!("a loopback of its own cannot be made here ({error}); {hint}"))
        })?;
    }
    if is_own_network || (rules.sandbox == Kind::Bubblewrap && rules.network == Network::Off) {
        enforced.network_by.push("namespace".into());
    }
    enforced.capabilities_dropped = privileges::drop(enforced);
    rustix::thread::set_no_new_privs(true)?;
    enforced.no_new_privs = true;
    files::restrict(rules, temp, enforced)?;
    calls::filter(rules.network, enforced);
    let lacks = [(enforced.landlock_abi.is_none(), "Landlock"), (!enforced.seccomp, "seccomp")];
    match lacks.iter().find(|(is_lacking, _)| rules.required && *is_lacking) {
        Some((_, what)) => Err(Refusal::cannot(format!(
            "a sandbox is required, and this kernel has no {what}; `interlock doctor` says what it has"
        ))),
        None => Ok(()),
    }
}

/// What the program reads: a file that nobody finds any more, or nothing.
fn input(order: &Order) -> io::Result<File> {
    let Some(path) = &order.stdin else { return File::open("/dev/null") };
    let file = File::open(path)?;
    // With bubblewrap it cannot be removed from here; whoever made it does so, too.
    let _ = std::fs::remove_file(path);
    Ok(file)
}

fn exec(order: &Order, temp: &std::path::Path) -> io::Error {
    let Some((program, arguments)) = order.words.split_first() else { return io::ErrorKind::InvalidInput.into() };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("TMPDIR", temp).envs(order.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(&order.folder).exec()
}
