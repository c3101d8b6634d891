//! Tries which namespaces this user can make, in the way in which a program gets them, and prints the result.

use std::{
    io::{self, Write},
    process::{Command, ExitCode, Stdio},
};

use serde::{Deserialize, Serialize};

use super::{namespaces, network};
use crate::PROBE_INSIDE;

/// The result of the probe, which is printed as one line of JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Probed {
    /// True if PID, IPC and mount namespaces can be created and used.
    pub(crate) namespaces: bool,
    /// True if a private network can be created.
    pub(crate) loopback: bool,
    /// The reason why there are no namespaces.
    pub(crate) why: Option<String>,
}

/// Makes namespaces and starts their first process, which prints the result.
#[expect(clippy::disallowed_methods, reason = "it starts the file of this process")]
pub(crate) fn main() -> ExitCode {
    let inside = namespaces::leave()
        .and_then(|()| Command::new("/proc/self/exe").arg(PROBE_INSIDE).env_clear().stdin(Stdio::null()).status());
    match inside {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => say(&Probed { why: Some(error.to_string()), ..without_namespaces() }),
    }
}

/// Settles in the namespaces like the first process of a program.
pub(crate) fn inside() -> ExitCode {
    match namespaces::settle() {
        Ok(()) => say(&Probed { namespaces: true, loopback: network::enter().is_ok(), why: None }),
        Err(error) => {
            let why = Some(format!("/proc cannot be mounted in them: {error}"));
            say(&Probed { why, ..without_namespaces() })
        }
    }
}

/// A program without the other namespaces can still have a network of its own.
fn without_namespaces() -> Probed {
    Probed { loopback: network::enter().is_ok(), ..Probed::default() }
}

fn say(probed: &Probed) -> ExitCode {
    let line = serde_json::to_vec(probed).map_err(io::Error::from);
    match line.and_then(|line| io::stdout().write_all(&[&line[..], b"\n"].concat())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
