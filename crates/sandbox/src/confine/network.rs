//! A network of its own: a loopback that nobody else is on.
//!
//! Neither Landlock nor seccomp can tell addresses apart, so "loopback alone" needs a namespace. Where the user may not make one, it is refused.

use std::io;

use rustix::{
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with},
    thread::UnshareFlags,
};

use super::namespaces;

/// Puts this thread into a network of its own and brings its loopback up.
pub(crate) fn enter() -> io::Result<()> {
    namespaces::enter(UnshareFlags::NEWNET)?;
    bring_up_loopback()
}

/// The loopback is the first interface of every network.
const LOOPBACK: i32 = 1;
const MESSAGE_BYTES: u32 = 32;

fn bring_up_loopback() -> io::Result<()> {
    // Without a number it is the protocol about links and routes.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&socket, &message(), SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    let (_, read) = recv(&socket, &mut answer, RecvFlags::empty())?;
    // After the header of 16 bytes comes an error number, negative, or 0.
    match answer.get(16..20).filter(|_| read >= 20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// A request to set a link's flag "up": a header and a description of the link, as `rtnetlink(7)` lays them out.
fn message() -> Vec<u8> {
    let (new_link, request_and_acknowledge, up) = (16_u16, 1_u16 | 4, 1_u32);
    let header = [&MESSAGE_BYTES.to_ne_bytes()[..], &new_link.to_ne_bytes(), &request_and_acknowledge.to_ne_bytes()];
    let sequence_and_port = [0_u8; 8];
    let family_and_type = [0_u8; 4];
    let link = [&LOOPBACK.to_ne_bytes()[..], &up.to_ne_bytes(), &up.to_ne_bytes()];
    [&header.concat()[..], &sequence_and_port, &family_and_type, &link.concat()].concat()
}
