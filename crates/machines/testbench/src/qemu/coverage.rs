//! Records executed lines: QEMU writes every executed instruction into a pipe, and each address is kept once. So the
//! memory use does not grow with the run time, and the lines before a crash are known too.

use std::{collections::HashSet, io, path::Path, time::Duration};

use interlock_process::{Tell, run};
use tokio::{
    net::unix::pipe::{OpenOptions, Receiver},
    sync::oneshot,
    task::JoinHandle,
};

use super::{
    command::{Tracing, package},
    config::Config,
};
use crate::{
    Bench, Trouble,
    confined::{self, Confined, Trust},
};

/// The time limit of the version query.
const VERSION_MAX: Duration = Duration::from_secs(20);

/// The QEMU version that introduced the option `one-insn-per-tb`.
const ONE_INSTRUCTION: (u32, u32) = (8, 1);

/// The largest number of addresses that are kept: 4 million instructions are a large firmware.
const ADDRESSES_MAX: usize = 1 << 22;

/// The number of bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// The executed addresses, collected while the firmware runs.
pub(crate) struct Trace {
    reading: JoinHandle<HashSet<u64>>,
    stop: oneshot::Sender<()>,
}

impl Trace {
    /// Begins to read a pipe before QEMU opens it.
    pub(crate) fn new(pipe: &Path) -> io::Result<Self> {
        // Opened for writing too: otherwise the pipe would report its end before the first writer opens it.
        let pipe = OpenOptions::new().read_write(true).open_receiver(pipe)?;
        let (stop, stopped) = oneshot::channel();
        Ok(Trace { reading: tokio::spawn(read(pipe, stopped)), stop })
    }

    /// Returns all addresses, after QEMU has ended.
    pub(crate) async fn end(self) -> HashSet<u64> {
        let _ = self.stop.send(());
        self.reading.await.unwrap_or_default()
    }
}

async fn read(pipe: Receiver, mut stopped: oneshot::Receiver<()>) -> HashSet<u64> {
    let (mut addresses, mut rest, mut buffer) = (HashSet::new(), Vec::new(), vec![0; READ_BYTES]);
    let mut is_stopped = false;
    loop {
        match pipe.try_read(&mut buffer) {
            Ok(read @ 1..) => {
                take(&buffer[..read], &mut rest, &mut addresses);
                tokio::task::yield_now().await;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && !is_stopped => {
                tokio::select! {
                    ready = pipe.readable() => if ready.is_err() { break },
                    _ = &mut stopped => is_stopped = true,
                }
            }
            _ => break,
        }
    }
    addresses
}

fn take(read: &[u8], rest: &mut Vec<u8>, addresses: &mut HashSet<u64>) {
    rest.extend(read);
    let end = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let lines = rest[..end].split(|byte| *byte == b'\n').filter_map(address);
    addresses.extend(lines.take(ADDRESSES_MAX.saturating_sub(addresses.len())));
    rest.drain(..end);
}

/// Parses the address of a line such as `Trace 0: 0x7fd738000100 [00800400/0000043a/00000110/ff000201] start`: the
/// second field in brackets.
fn address(line: &[u8]) -> Option<u64> {
    let line = std::str::from_utf8(line).ok()?.strip_prefix("Trace ")?;
    let address = line.split_once('[')?.1.split('/').nth(1)?;
    u64::from_str_radix(address, 16).ok()
}

/// Selects the tracing option for this version of QEMU.
pub(crate) async fn tracing(bench: Bench<'_>, config: &Config) -> Result<Tracing, Trouble> {
    let program = confined::find(&config.program, &bench.session.sources, package(&config.program))?;
    let plan = Confined {
        words: vec![program.into(), "--version".into()],
        folder: bench.session.folder.clone(),
        writable: bench.session.folder.join("runs"),
        env: Default::default(),
        timeout: VERSION_MAX,
        tell: Tell::Nothing,
        trust: Trust::Nothing,
    };
    let mut ended = run(bench.attempt, &plan.plan(bench)?).await.map_err(|outcome| confined::trouble(&outcome))?;
    let said = ended.stdout.content()?;
    let is_new = version(&String::from_utf8_lossy(&said)).is_some_and(|version| version >= ONE_INSTRUCTION);
    Ok(if is_new { Tracing::OneInstruction } else { Tracing::Singlestep })
}

/// Parses the version from a text such as `QEMU emulator version 7.2.22 (…)`.
fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.split_once("version ")?.1.split(['.', ' ', '-']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_collected_once_for_every_split_of_the_input() {
        let text = "Trace 0: 0x7f [00800400/0000043a/00000110/ff000201] start\nnoise\nTrace 1: 0x7f [0/43c/1/2] \nTrace 0: 0x7f [0/43a/1/2] x\nTrace 0: 0x7f [0/4";
        for cut in 0..text.len() {
            let (mut rest, mut addresses) = (Vec::new(), HashSet::new());
            take(&text.as_bytes()[..cut], &mut rest, &mut addresses);
            take(&text.as_bytes()[cut..], &mut rest, &mut addresses);
            assert_eq!(addresses, HashSet::from([0x43a, 0x43c]), "{cut}");
        }
    }

    #[test]
    fn version_is_parsed_in_all_known_forms() {
        for (said, expected) in [
            ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)\nCopyright", Some((7, 2))),
            ("QEMU emulator version 10.0.0", Some((10, 0))),
            ("QEMU emulator version 8.1 ", Some((8, 1))),
            ("something else", None),
        ] {
            assert_eq!(version(said), expected, "{said}");
        }
    }
}
