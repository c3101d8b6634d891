//! A private network with a loopback interface that no other program uses.
//!
//! Neither Landlock nor seccomp can filter by address, so "loopback only" needs a network namespace. If the user may
//! not create one, the program is refused.
//!
//! A socket stays in the network in which it was made, whoever holds it. So Interlock can listen in this network from
//! outside: the listeners are made here and sent to it. They are the only way out, and no process inside holds them.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with},
    thread::UnshareFlags,
};

use super::namespaces;
use crate::attach;

/// Puts this thread into a private network and brings its loopback interface up.
pub(crate) fn enter() -> io::Result<()> {
    namespaces::enter(UnshareFlags::NEWNET)?;
    bring_up_loopback()
}

/// Listens on these addresses and hands the listeners over.
pub(crate) fn hand_over(listen: &[SocketAddr], to: &OwnedFd) -> io::Result<()> {
    let cannot = |at: &SocketAddr, error| io::Error::other(format!("{at}: {error}"));
    let listeners = listen.iter().map(|at| TcpListener::bind(at).map_err(|error| cannot(at, error)));
    let listeners = listeners.collect::<io::Result<Vec<_>>>()?;
    let files: Vec<_> = listeners.iter().map(AsFd::as_fd).collect();
    attach(to, b"\n", &files).map(drop)
}

/// The index of the loopback interface, which is the first one in every network.
const LOOPBACK: i32 = 1;
const MESSAGE_BYTES: u32 = 32;

fn bring_up_loopback() -> io::Result<()> {
    // Without a number this is the protocol for links and routes.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&socket, &message(), SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    let (_, read) = recv(&socket, &mut answer, RecvFlags::empty())?;
    // The header of 16 bytes is followed by a negative error number, or 0.
    match answer.get(16..20).filter(|_| read >= 20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Builds a request that sets the "up" flag of a link: a header and a description of the link in the layout of
/// `rtnetlink(7)`.
fn message() -> Vec<u8> {
    let (new_link, request_and_acknowledge, up) = (16_u16, 1_u16 | 4, 1_u32);
    let header = [&MESSAGE_BYTES.to_ne_bytes()[..], &new_link.to_ne_bytes(), &request_and_acknowledge.to_ne_bytes()];
    let sequence_and_port = [0_u8; 8];
    let family_and_type = [0_u8; 4];
    let link = [&LOOPBACK.to_ne_bytes()[..], &up.to_ne_bytes(), &up.to_ne_bytes()];
    [&header.concat()[..], &sequence_and_port, &family_and_type, &link.concat()].concat()
}
