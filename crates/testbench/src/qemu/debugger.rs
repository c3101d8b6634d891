//! The registers and the backtrace of a firmware that does not go on, by the GDB stub of QEMU.
//!
//! GDB talks to QEMU over two pipes with names, so that it needs no network; it reads the ELF file, which is not trusted, so it is confined, too.

use std::{ffi::OsString, path::Path, sync::LazyLock, time::Duration};

use interlock_program::{Tell, run};
use regex::Regex;

use super::{
    boot::Boot,
    guest::{DEBUGGER, IMAGE},
};
use crate::{
    Bench,
    confined::{self, Confined, Trust},
};

/// How long it may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A file name in a backtrace, with a line.
const FRAME: &str = r"(?m)^#\d+ .* at (\S+:\d+)$";

static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(FRAME).ok());

/// What a debugger shows.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// As it printed it.
    pub(crate) text: String,
    /// The places of the backtrace, innermost first.
    pub(crate) stack: Vec<String>,
}

/// Asks GDB, where there is one. Nothing where it does not answer: this is more than is needed.
pub(crate) async fn ask(bench: Bench<'_>, boot: &mut Boot, symbols: Option<&Path>) -> Option<Shown> {
    let gdb = confined::find("gdb-multiarch", &bench.session.sources, "gdb-multiarch").ok()?;
    boot.guest.pipe(&format!("{DEBUGGER}.in")).ok()?;
    boot.guest.pipe(&format!("{DEBUGGER}.out")).ok()?;
    boot.qmp.monitor(&format!("gdbserver pipe:{DEBUGGER}")).await.ok()?;
    let symbols = symbols.map_or_else(|| boot.guest.folder.join(IMAGE), Path::to_owned);
    let connect = format!("target remote | sh -c 'cat {DEBUGGER}.out & exec cat > {DEBUGGER}.in'");
    let mut words: Vec<OsString> = vec![gdb.into()];
    words.extend(["-nx", "-q", "-batch", "-iex", "set auto-load off", "-iex", "set width 0"].map(OsString::from));
    for order in [&*connect, "bt 32", "info registers", "detach"] {
        words.extend(["-ex".into(), order.into()]);
    }
    words.push(symbols.into());
    let plan = Confined {
        words,
        folder: boot.guest.folder.clone(),
        writable: boot.guest.folder.clone(),
        env: Default::default(),
        timeout: TIMEOUT,
        tell: Tell::Nothing,
        trust: Trust::Nothing,
    };
    let mut ended = run(bench.attempt, &plan.plan(bench).ok()?).await.ok()?;
    let text = String::from_utf8_lossy(&ended.stdout.content().ok()?).into_owned();
    let stack = PATTERN.as_ref()?.captures_iter(&text).filter_map(|found| Some(found.get(1)?.as_str().to_owned()));
    let stack = stack.collect();
    Some(Shown { text, stack })
}
