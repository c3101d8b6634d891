//! ZMTP 3.0 over a socket file: the transport of ZeroMQ, as far as a client of a Jupyter kernel needs it.
//!
//! A connection begins with a greeting and a `READY` command in both directions; after that each message is a list of
//! frames. There is no authentication: the socket files are in a private directory. This module does not know Jupyter.
//!
//! The crates that speak ZeroMQ were not used: they bring about 25 other crates and a queue of their own, and they set
//! no bound for a message.

use std::{io, path::Path};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// The longest message that is read: a frame that is longer ends the connection.
pub(crate) const MESSAGE_BYTES_MAX: usize = 256 * 1_024 * 1_024;

/// The largest number of frames in a message.
const FRAMES_MAX: usize = 1_024;

/// The number of bytes that are read at once.
const READ_BYTES: usize = 64 * 1_024;

const GREETING_BYTES: usize = 64;
const MORE: u8 = 1;
const LONG: u8 = 2;
const COMMAND: u8 = 4;

/// The kind of a ZeroMQ socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketType {
    /// Sends requests and receives replies, both without waiting.
    Dealer,
    /// Receives everything that a publisher sends.
    Sub,
}

impl SocketType {
    fn name(self) -> &'static [u8] {
        match self {
            SocketType::Dealer => b"DEALER",
            SocketType::Sub => b"SUB",
        }
    }
}

/// The sending direction of a connection.
#[derive(Debug)]
pub(crate) struct Sender(OwnedWriteHalf);

/// The receiving direction of a connection.
#[derive(Debug)]
pub(crate) struct Receiver {
    from: OwnedReadHalf,
    /// Bytes that were received; those before `used` are processed.
    buffer: Vec<u8>,
    used: usize,
    frames: Vec<Vec<u8>>,
    frame_bytes: usize,
}

/// Connects to a socket file and completes the handshake.
pub(crate) async fn connect(path: &Path, kind: SocketType) -> io::Result<(Sender, Receiver)> {
    let (from, to) = UnixStream::connect(path).await?.into_split();
    let mut sender = Sender(to);
    let mut receiver = Receiver { from, buffer: Vec::new(), used: 0, frames: Vec::new(), frame_bytes: 0 };
    sender.0.write_all(&greeting()).await?;
    receiver.greeting().await?;
    sender.0.write_all(&ready(kind)).await?;
    receiver.ready().await?;
    if kind == SocketType::Sub {
        // A message of one byte subscribes to everything.
        sender.send(&[vec![1]]).await?;
    }
    Ok((sender, receiver))
}

fn greeting() -> [u8; GREETING_BYTES] {
    let mut greeting = [0; GREETING_BYTES];
    (greeting[0], greeting[9], greeting[10]) = (0xff, 0x7f, 3);
    greeting[12..16].copy_from_slice(b"NULL");
    greeting
}

fn ready(kind: SocketType) -> Vec<u8> {
    let mut body = b"\x05READY".to_vec();
    for (name, value) in [(&b"Socket-Type"[..], kind.name()), (b"Identity", b"")] {
        body.push(u8::try_from(name.len()).unwrap_or_default());
        body.extend(name);
        body.extend(u32::try_from(value.len()).unwrap_or_default().to_be_bytes());
        body.extend(value);
    }
    frame(COMMAND, &body)
}

fn frame(flags: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(body.len() + 9);
    match u8::try_from(body.len()) {
        Ok(length) => frame.extend([flags, length]),
        Err(_) => {
            frame.push(flags | LONG);
            frame.extend((body.len() as u64).to_be_bytes());
        }
    }
    frame.extend(body);
    frame
}

impl Sender {
    /// Sends one message.
    pub(crate) async fn send(&mut self, frames: &[Vec<u8>]) -> io::Result<()> {
        let last = frames.len().saturating_sub(1);
        let parts = frames.iter().enumerate().map(|(at, body)| frame(if at < last { MORE } else { 0 }, body));
        self.0.write_all(&parts.collect::<Vec<_>>().concat()).await
    }
}

impl Receiver {
    /// Returns the next message. No message is lost if the returned future is dropped.
    pub(crate) async fn receive(&mut self) -> io::Result<Vec<Vec<u8>>> {
        loop {
            let (flags, body) = self.frame().await?;
            if flags & COMMAND != 0 {
                continue;
            }
            self.frame_bytes += body.len();
            self.frames.push(body);
            if self.frame_bytes > MESSAGE_BYTES_MAX || self.frames.len() > FRAMES_MAX {
                return Err(too_long());
            }
            if flags & MORE == 0 {
                self.frame_bytes = 0;
                return Ok(std::mem::take(&mut self.frames));
            }
        }
    }

    async fn greeting(&mut self) -> io::Result<()> {
        let greeting = self.bytes(GREETING_BYTES).await?;
        let is_known = greeting[0] == 0xff && greeting[9] & 1 == 1 && greeting[10] >= 3;
        match is_known && greeting.get(12..17) == Some(b"NULL\0") {
            true => Ok(()),
            false => Err(bad("the other side does not speak ZMTP 3 without authentication")),
        }
    }

    async fn ready(&mut self) -> io::Result<()> {
        match self.frame().await? {
            (flags, body) if flags & COMMAND != 0 && body.starts_with(b"\x05READY") => Ok(()),
            _ => Err(bad("the other side did not complete the handshake")),
        }
    }

    async fn frame(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let flags = self.peek(1).await?[0];
        let head = if flags & LONG == 0 { 2 } else { 9 };
        let bytes = self.peek(head).await?;
        let length = bytes[1..head].iter().fold(0_u64, |length, byte| length << 8 | u64::from(*byte));
        let length = usize::try_from(length).ok().filter(|length| *length <= MESSAGE_BYTES_MAX).ok_or_else(too_long)?;
        // The whole frame is awaited before any of it is taken, so that a dropped future loses nothing.
        self.peek(head + length).await?;
        let mut frame = self.bytes(head + length).await?;
        frame.drain(..head);
        Ok((flags, frame))
    }

    async fn bytes(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let bytes = self.peek(count).await?.to_vec();
        self.used += count;
        if self.used == self.buffer.len() {
            self.buffer.clear();
            self.used = 0;
            // A long message should not occupy memory for ever.
            self.buffer.shrink_to(4 * READ_BYTES);
        }
        Ok(bytes)
    }

    /// Waits until this many bytes were received, and returns them without taking them.
    async fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.used > 0 && self.buffer.len() - self.used < count {
            self.buffer.drain(..self.used);
            self.used = 0;
        }
        while self.buffer.len() - self.used < count {
            self.buffer.reserve(READ_BYTES.max(count - (self.buffer.len() - self.used)));
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(&self.buffer[self.used..self.used + count])
    }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("a message is longer than {MESSAGE_BYTES_MAX} bytes"))
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use tokio::net::UnixListener;

    use super::*;

    /// Accepts one connection, plays a publisher or router, and sends these bytes after the handshake.
    async fn serve(listener: UnixListener, rest: Vec<u8>, piece: usize) {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(&greeting()).await.unwrap();
        stream.write_all(&frame(COMMAND, b"\x05READY\x0bSocket-Type\x00\x00\x00\x03PUB")).await.unwrap();
        for piece in rest.chunks(piece) {
            stream.write_all(piece).await.unwrap();
        }
        // The bytes of the client are read: a socket that closes with unread bytes loses those that it has sent.
        stream.shutdown().await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }

    async fn received(rest: Vec<u8>, piece: usize) -> Vec<Result<Vec<Vec<u8>>, io::ErrorKind>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let server = tokio::spawn(serve(listener, rest, piece));
        let (sender, mut receiver) = connect(&path, SocketType::Sub).await.unwrap();
        let mut all = Vec::new();
        loop {
            all.push(receiver.receive().await.map_err(|error| error.kind()));
            if all.last().is_some_and(Result::is_err) {
                drop((sender, receiver));
                server.await.unwrap();
                return all;
            }
        }
    }

    #[tokio::test]
    async fn messages_are_read_whatever_the_pieces_they_arrive_in() {
        let long = vec![7; 70_000];
        let sent = [frame(MORE, b"a"), frame(COMMAND, b"\x04PING"), frame(0, &long), frame(0, b"")].concat();
        for piece in [1, 1_000, 1_000_000] {
            let expected =
                [Ok(vec![b"a".to_vec(), long.clone()]), Ok(vec![Vec::new()]), Err(io::ErrorKind::UnexpectedEof)];
            assert_eq!(received(sent.clone(), piece).await, expected, "{piece}");
        }
    }

    #[tokio::test]
    async fn a_message_over_the_bound_is_refused() {
        let mut sent = vec![LONG];
        sent.extend(u64::MAX.to_be_bytes());
        assert_eq!(received(sent, 100).await, [Err(io::ErrorKind::FileTooLarge)]);
    }

    #[tokio::test]
    async fn another_protocol_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.write_all(&[b'x'; 100]).await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        });
        let error = connect(&path, SocketType::Dealer).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
