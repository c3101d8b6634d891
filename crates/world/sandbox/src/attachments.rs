//! Open files that travel with a message: the input of a program that others talk to while it runs, and the listeners of
//! its private network.
//!
//! A socket between two processes can carry open files besides bytes (`SCM_RIGHTS` in `unix(7)`). They travel with the
//! first byte of a line. [`crate::LaunchOrder::attached`] says what each of them is for.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use rustix::{
    cmsg_space,
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
        recvmsg, sendmsg,
    },
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Maximum number of files that one message carries.
pub const ATTACHED_MAX: usize = 64;

/// Maximum length of a line between stages: the environment and the arguments of a program, and much room.
const LINE_BYTES_MAX: usize = 64 * 1_024 * 1_024;

/// The use of a file that travels with an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attached {
    /// The standard input of the program.
    Stdin,
    /// A socket to which the listeners of the program's private network are sent.
    Listeners,
}

/// Sends the first byte of a line together with open files. Returns the rest of the line, which the caller sends.
///
/// The call does not block on a socket to which nothing was sent before.
pub fn attach<'l>(socket: impl AsFd, line: &'l [u8], files: &[BorrowedFd<'_>]) -> io::Result<&'l [u8]> {
    if files.is_empty() {
        return Ok(line);
    }
    let Some((first, rest)) = line.split_at_checked(1) else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(ATTACHED_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other(format!("more than {ATTACHED_MAX} files cannot be passed at once")));
    }
    loop {
        match sendmsg(&socket, &[IoSlice::new(first)], &mut control, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            sent => return sent.map(|_| rest).map_err(Into::into),
        }
    }
}

/// A message with its files.
pub(crate) struct Received<T> {
    pub(crate) message: T,
    pub(crate) files: Vec<OwnedFd>,
    /// True if the sender sent more than the message.
    pub(crate) has_more: bool,
}

/// Receives one line with its files. Bytes after the line are read and dropped.
pub(crate) fn receive<T: DeserializeOwned>(from: &UnixStream) -> io::Result<Received<T>> {
    let (mut line, mut files) = (Vec::new(), Vec::new());
    let mut part = vec![0; 64 * 1_024];
    loop {
        let (length, more) = part_of(from, &mut part)?;
        files.extend(more);
        line.extend_from_slice(&part[..length]);
        let searched = line.len() - length;
        if let Some(at) = line[searched..].iter().position(|byte| *byte == b'\n') {
            let (message, rest) = line.split_at(searched + at);
            let message = serde_json::from_slice(message)?;
            return Ok(Received { message, files, has_more: rest.len() > 1 });
        }
        match length {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if line.len() > LINE_BYTES_MAX => return Err(io::ErrorKind::FileTooLarge.into()),
            _ => {}
        }
    }
}

/// Receives the files that a stage of a launcher sent over an attached socket. The list is empty if it sent none.
pub fn receive_files(from: impl AsFd) -> io::Result<Vec<OwnedFd>> {
    part_of(from, &mut [0]).map(|(_, files)| files)
}

/// Receives some bytes, and the files that came with them. No other program inherits the files.
fn part_of(from: impl AsFd, part: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(ATTACHED_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        match recvmsg(&from, &mut [IoSliceMut::new(part)], &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            received => break received?,
        }
    };
    let files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    Ok((received.bytes, files.flatten().collect()))
}

/// The files of an order, by their use.
#[derive(Debug, Default)]
pub(crate) struct Attachments(Vec<(Attached, OwnedFd)>);

impl Attachments {
    /// Pairs the files that came with an order with their uses.
    pub(crate) fn new(uses: &[Attached], files: Vec<OwnedFd>) -> io::Result<Self> {
        match uses.len() == files.len() {
            true => Ok(Attachments(uses.iter().copied().zip(files).collect())),
            false => Err(io::Error::other("the open files of the order are missing")),
        }
    }

    /// Removes and returns the file for a use.
    pub(crate) fn take(&mut self, wanted: Attached) -> Option<OwnedFd> {
        let at = self.0.iter().position(|(used, _)| *used == wanted)?;
        Some(self.0.swap_remove(at).1)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn files_arrive_with_their_message() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        let line = serde_json::to_vec(&"x".repeat(100_000)).unwrap();
        let sender = std::thread::spawn(move || {
            let rest = attach(&ours, &line, &[writer.as_fd()]).unwrap();
            (&ours).write_all(rest).unwrap();
            (&ours).write_all(b"\nmore").unwrap();
        });
        let Received { message, files, has_more: _ } = receive::<String>(&theirs).unwrap();
        sender.join().unwrap();
        assert_eq!((message.len(), files.len()), (100_000, 1));
        for file in files {
            std::fs::File::from(file).write_all(b"hello").unwrap();
        }
        let mut said = String::new();
        reader.read_to_string(&mut said).unwrap();
        assert_eq!(said, "hello");
    }

    #[test]
    fn a_missing_file_is_an_error() {
        assert!(Attachments::new(&[Attached::Stdin], Vec::new()).is_err());
    }
}
