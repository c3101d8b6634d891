//! The messages between Interlock and the stages of a launcher: one JSON object per line.

use std::{
    ffi::OsString,
    io::{self, BufRead, Write},
    net::SocketAddr,
    path::PathBuf,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Attached, Rules};

/// The request of Interlock, sent after the order, to end the program.
pub const STOP: &[u8] = b"stop\n";

/// The request of Interlock, sent after the order, to interrupt the program: `SIGINT` for all its processes.
pub const INTERRUPT: &[u8] = b"interrupt\n";

/// The beginning of the message that replaces [`LaunchOrder::after`] while the program runs. The command follows as JSON.
pub(crate) const NEW_AFTER: &[u8] = b"after ";

/// The message of Interlock that it has stored the program's changes, so that [`LaunchOrder::after`] is not needed.
pub const KEPT: &[u8] = b"kept\n";

/// An order to run a program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LaunchOrder {
    /// Identifies the owner of the program, to find its supervisor with [`crate::is_supervisor_of`].
    pub mark: PathBuf,
    /// The path of the program, and its arguments.
    pub words: Vec<OsString>,
    /// The complete environment of the program. `TMPDIR` is added if it is missing. The launcher does not use this
    /// environment, so that a variable such as `LD_PRELOAD` has no effect outside the sandbox.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory of the program.
    pub folder: PathBuf,
    /// A file with its input, which is removed. Without it the input is the attached one, or empty.
    pub stdin: Option<PathBuf>,
    /// The uses of the open files that are sent with the order by [`crate::attach`].
    #[serde(default)]
    pub attached: Vec<Attached>,
    /// The loopback addresses of the program's private network on which Interlock listens, at most
    /// [`crate::ATTACHED_MAX`]. The listeners are sent to the attached socket for them.
    #[serde(default)]
    pub listen: Vec<SocketAddr>,
    /// The directory in which its private temporary directory is created.
    pub temp: PathBuf,
    /// The rules for the program.
    pub rules: Rules,
    /// A command to run outside the sandbox when no process of the program is left, if Interlock is gone before it has
    /// sent [`KEPT`]. Only Interlock writes orders, so that no machine and no program can set it.
    #[serde(default)]
    pub after: Option<After>,
}

/// A command that stores the changes of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    /// The path of the program, and its arguments.
    pub words: Vec<OsString>,
    /// Its complete environment.
    pub env: Vec<(OsString, OsString)>,
}

impl After {
    /// Serializes the message that replaces the command of a running program.
    pub fn to_line(after: Option<&After>) -> io::Result<Vec<u8>> {
        Ok([NEW_AFTER, &line(&after)?].concat())
    }
}

impl LaunchOrder {
    /// Serializes the order as it is sent.
    pub fn to_line(&self) -> io::Result<Vec<u8>> {
        line(self)
    }
}

pub(crate) fn line(what: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    Ok(line)
}

pub(crate) fn send(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    to.write_all(&line(what)?)
}

pub(crate) fn receive<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<T> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    match line.ends_with(b"\n") {
        true => Ok(serde_json::from_slice(&line)?),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
