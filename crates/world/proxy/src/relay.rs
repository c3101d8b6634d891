//! Copies bytes between a program and a host until both are done or neither sends anything for a long time.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, tcp::OwnedWriteHalf},
};

use crate::log::Counts;

/// The longest time without a byte in either direction. A model may think for minutes before it answers.
const IDLE_MAX: Duration = Duration::from_secs(15 * 60);

/// The number of bytes that are copied at once.
const COPY_BYTES: usize = 32 * 1_024;

/// Copies in both directions. At most `sent_max` bytes go to the host; `begun` are those that were read already.
pub(crate) async fn relay(program: TcpStream, host: TcpStream, begun: &[u8], sent_max: u64, counts: &Counts) {
    let ((from_program, mut to_program), (from_host, mut to_host)) = (program.into_split(), host.into_split());
    let clock = Clock::new();
    let send = async {
        let begun = &begun[..begun.len().min(usize::try_from(sent_max).unwrap_or(usize::MAX))];
        to_host.write_all(begun).await?;
        counts.sent.fetch_add(begun.len() as u64, Relaxed);
        let rest = from_program.take(sent_max - begun.len() as u64);
        copy(rest, &mut to_host, &counts.sent, &clock).await?;
        match sent_max {
            u64::MAX => to_host.shutdown().await,
            // Some servers take the end of the input for the end of the client and do not answer.
            _ => Ok(()),
        }
    };
    let receive = async {
        copy(from_host, &mut to_program, &counts.received, &clock).await?;
        to_program.shutdown().await
    };
    match sent_max {
        // Either side may finish first. An error ends both.
        u64::MAX => drop(tokio::try_join!(send, receive)),
        // The answer is the end, even if the program has not sent all of its request.
        _ => {
            let both = async { tokio::try_join!(send, std::future::pending::<io::Result<()>>()).map(|_| ()) };
            tokio::select! {
                _ = receive => {}
                _ = both => {}
            }
        }
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    to: &mut OwnedWriteHalf,
    counter: &AtomicU64,
    clock: &Clock,
) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        let read = match tokio::time::timeout(clock.left(), from.read(&mut buffer)).await {
            Ok(read) => read?,
            Err(_) if clock.is_idle() => return Err(io::ErrorKind::TimedOut.into()),
            // The other direction is in use.
            Err(_) => continue,
        };
        if read == 0 {
            return Ok(());
        }
        clock.touch();
        let written = tokio::time::timeout(IDLE_MAX, to.write_all(&buffer[..read])).await;
        written.map_err(|_| io::ErrorKind::TimedOut)??;
        counter.fetch_add(read as u64, Relaxed);
    }
}

/// The time of the last byte in either direction.
struct Clock {
    begun: Instant,
    last_ms: AtomicU64,
}

impl Clock {
    fn new() -> Self {
        Clock { begun: Instant::now(), last_ms: AtomicU64::new(0) }
    }

    fn touch(&self) {
        self.last_ms.store(u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX), Relaxed);
    }

    fn left(&self) -> Duration {
        let last = Duration::from_millis(self.last_ms.load(Relaxed));
        // At least a moment, so that a loop over this makes progress.
        (last + IDLE_MAX).saturating_sub(self.begun.elapsed()).max(Duration::from_millis(1))
    }

    fn is_idle(&self) -> bool {
        self.begun.elapsed() >= Duration::from_millis(self.last_ms.load(Relaxed)) + IDLE_MAX
    }
}
