//! Launchers that are ready before there is anything to launch: for what a launcher does first a kernel takes longer than for all the rest.
//!
//! Each holds one end of a socket whose other end is here. When this process ends, however it ends, so do they.

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

/// Those that are ready, one of a kind.
static SPARES: Mutex<Vec<Spare>> = Mutex::new(Vec::new());

impl Spare {
    /// One that is ready, or a new one.
    pub(crate) fn take(launcher: &Launcher) -> io::Result<Self> {
        let ready = {
            let mut spares = SPARES.lock().unwrap_or_else(PoisonError::into_inner);
            let at = spares.iter().position(|spare| spare.launcher == *launcher);
            at.map(|at| spares.swap_remove(at))
        };
        // Somebody may have ended it.
        let is_alive = |spare: &mut Spare| matches!(spare.child.try_wait(), Ok(None));
        match ready.map(|mut spare| is_alive(&mut spare).then_some(spare)) {
            Some(Some(spare)) => Ok(spare),
            _ => Self::start(launcher),
        }
    }

    /// Sees to it that the next is ready.
    pub(crate) fn keep_ready(launcher: &Launcher) {
        let is_ready = |spares: &[Spare]| spares.iter().any(|spare| spare.launcher == *launcher);
        if is_ready(&SPARES.lock().unwrap_or_else(PoisonError::into_inner)) {
            return;
        }
        // Where it cannot be started now, whoever needs it will see why.
        let Ok(spare) = Self::start(launcher) else { return };
        let mut spares = SPARES.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_ready(&spares) {
            spares.push(spare);
            return;
        }
        drop(spares);
        spare.dismiss();
    }

    /// Waits until it is gone, which it is when nobody has an order for it.
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
        // The command holds the launcher's end of the socket, too, until here.
        Ok(Spare { launcher: launcher.clone(), child, socket })
    }
}
