//! What is said between Interlock and the stages of a launcher: one JSON object a line.

use std::{
    ffi::OsString,
    io::{self, BufRead, Write},
    path::PathBuf,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::Rules;

/// What Interlock writes, after the order, to have the program end.
pub const STOP: &[u8] = b"stop\n";

/// The word of Interlock that it has kept the program's changes, so that [`Order::after`] is not needed.
pub const KEPT: &[u8] = b"kept\n";

/// A program to be run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Order {
    /// Whose it is, to those who look for its supervisor with [`crate::is_supervisor_of`].
    pub mark: PathBuf,
    /// The program, by its path, and its arguments.
    pub words: Vec<OsString>,
    /// Its whole environment. `TMPDIR` is added where it is not given. It is not the launcher's own: what is said here, say `LD_PRELOAD`,
    /// must do nothing outside of the sandbox.
    pub env: Vec<(OsString, OsString)>,
    /// Where it begins.
    pub folder: PathBuf,
    /// A file with what it reads, which is removed; nothing otherwise.
    pub stdin: Option<PathBuf>,
    /// Where its private temporary directory is made.
    pub temp: PathBuf,
    /// What it is allowed.
    pub rules: Rules,
    /// A command to run outside of the sandbox when nothing of the program is left, if Interlock is gone before it has said [`KEPT`]. Only Interlock
    /// writes orders, so that no machine and no program has a say in it.
    #[serde(default)]
    pub after: Option<After>,
}

/// A command that keeps what a program left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    /// The program, by its path, and its arguments.
    pub words: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
}

impl Order {
    /// As it is sent.
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
