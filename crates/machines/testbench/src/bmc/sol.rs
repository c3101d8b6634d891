//! The console of a system over its management controller: a byte stream over IPMI's serial over LAN, with
//! `ipmitool`.
//!
//! `ipmitool` reads from one named pipe and writes to another, both in the session's directory. So it can run in the
//! sandbox like any other program while it exchanges data.

use interlock_beneath::whole;
use std::{
    path::Path,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use interlock_process::Tell;
use interlock_sandbox::Network;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::unix::pipe,
    task::JoinHandle,
};

use super::ipmi::Ipmi;
use crate::{Bench, Trouble, tool::Tool};

/// The longest time until `ipmitool` opens its input.
const STARTING_MAX: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The time limit of `ipmitool`, longer than any session; it is ended together with the console.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A console over the network.
pub(crate) struct Sol {
    heard: pipe::Receiver,
    said: pipe::Sender,
    ipmitool: JoinHandle<()>,
}

impl Drop for Sol {
    fn drop(&mut self) {
        self.ipmitool.abort();
    }
}

impl Sol {
    /// Starts `ipmitool` and opens the console.
    pub(crate) async fn open(bench: Bench<'_>, ipmi: &Ipmi) -> Result<Self, Trouble> {
        ipmi.free_console(bench).await;
        let (output, input) = (bench.session.folder.join("sol.out"), bench.session.folder.join("sol.in"));
        for path in [&output, &input] {
            make(path)?;
        }
        // Opened for writing too: otherwise the pipe would report its end whenever it has no writer.
        let heard = pipe::OpenOptions::new().read_write(true).open_receiver(&output)?;
        let ipmitool = start(bench, ipmi)?;
        let deadline = Instant::now() + STARTING_MAX;
        loop {
            match pipe::OpenOptions::new().open_sender(&input) {
                Ok(said) => return Ok(Sol { heard, said, ipmitool }),
                Err(_) if Instant::now() < deadline && !ipmitool.is_finished() => tokio::time::sleep(LOOK_EVERY).await,
                Err(error) => {
                    ipmitool.abort();
                    return Err(Trouble::environment(format!(
                        "the console of {} cannot be opened: {error}",
                        ipmi.host
                    )));
                }
            }
        }
    }
}

fn make(path: &Path) -> Result<(), Trouble> {
    // An earlier console may have left a pipe.
    let _ = whole::remove_file(path);
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, path, FileType::Fifo, mode, 0).map_err(|error| Trouble::Environment(error.to_string()))
}

fn start(bench: Bench<'_>, ipmi: &Ipmi) -> Result<JoinHandle<()>, Trouble> {
    let script = "exec ipmitool \"$@\" sol activate <sol.in >sol.out 2>sol.err";
    let words: Vec<_> =
        ["sh", "-c", script, "ipmitool"].map(str::to_owned).into_iter().chain(ipmi.arguments()).collect();
    let mut tool = Tool::own(&words, A_DAY);
    tool.env.extend(ipmi.secret()?);
    (tool.network, tool.tell) = (Some(Network::On), Tell::Nothing);
    let (attempt, session, sandbox) = (bench.attempt.clone(), bench.session.clone(), bench.sandbox.clone());
    Ok(tokio::spawn(async move {
        // The end shows as the end of the output, so the result is not needed.
        let _ = tool.run(Bench { attempt: &attempt, session: &session, sandbox: &sandbox }).await;
    }))
}

impl AsyncRead for Sol {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.heard).poll_read(context, into) {
            return Poll::Ready(read);
        }
        if self.ipmitool.is_finished() {
            return Poll::Ready(Ok(()));
        }
        // The end of `ipmitool` is the end of the stream.
        Pin::new(&mut self.ipmitool).poll(context).map(|_| Ok(()))
    }
}

impl AsyncWrite for Sol {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.said).poll_write(context, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.said).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.said).poll_shutdown(context)
    }
}
