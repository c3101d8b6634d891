//! Launchers started in advance: the kernel takes longer for a launcher's first steps than for all later ones.
//!
//! Each holds one end of a socket whose other end is here. When this process ends, for any reason, the launchers end
//! too.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::Child,
    sync::{Mutex, PoisonError},
};

use interlock_sandbox::Launcher;

/// A launcher that waits for its order.
pub(crate) struct Spare {
    launcher: Launcher,
    pub(crate) child: Child,
    pub(crate) socket: UnixStream,
}

/// The ready launchers, at most one of each kind.
static SPARES: Mutex<Vec<Spare>> = Mutex::new(Vec::new());

impl Spare {
    /// Returns a ready launcher, or starts a new one.
    pub(crate) fn take(launcher: &Launcher) -> io::Result<Self> {
        let ready = {
            let mut spares = SPARES.lock().unwrap_or_else(PoisonError::into_inner);
            let at = spares.iter().position(|spare| spare.launcher == *launcher);
            at.map(|at| spares.swap_remove(at))
        };
        // Another process may have killed it.
        let is_alive = |spare: &mut Spare| matches!(spare.child.try_wait(), Ok(None));
        match ready.map(|mut spare| is_alive(&mut spare).then_some(spare)) {
            Some(Some(spare)) => Ok(spare),
            _ => Self::start(launcher),
        }
    }

    /// Starts the next launcher in advance if none is ready.
    pub(crate) fn keep_ready(launcher: &Launcher) {
        let is_ready = |spares: &[Spare]| spares.iter().any(|spare| spare.launcher == *launcher);
        if is_ready(&SPARES.lock().unwrap_or_else(PoisonError::into_inner)) {
            return;
        }
        // A failure to start is reported when the next program needs a launcher.
        let Ok(spare) = Self::start(launcher) else { return };
        let mut spares = SPARES.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_ready(&spares) {
            spares.push(spare);
            return;
        }
        drop(spares);
        spare.dismiss();
    }

    /// Closes the socket without an order, which ends the launcher, and waits for it.
    fn dismiss(self) {
        let Spare { mut child, socket, .. } = self;
        drop(socket);
        let _ = child.wait();
    }

    fn start(launcher: &Launcher) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_nonblocking(true)?;
        let mut command = launcher.command();
        let child = command.stdin(OwnedFd::from(theirs)).spawn()?;
        // The command, which also holds the launcher's end of the socket, is dropped here.
        Ok(Spare { launcher: launcher.clone(), child, socket })
    }
}
