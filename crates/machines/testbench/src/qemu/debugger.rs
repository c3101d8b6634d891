//! Reads the registers and the backtrace of a hung firmware through QEMU's GDB stub.
//!
//! GDB talks to QEMU over two named pipes, so it needs no network. It reads the ELF file, which is not trusted, so
//! GDB is confined too.

use std::{ffi::OsString, path::Path, sync::LazyLock, time::Duration};

use interlock_process::{Tell, run};
use regex::Regex;

use super::{
    boot::Boot,
    guest::{DEBUGGER, IMAGE},
};
use crate::{
    Bench,
    confined::{self, Confined, Trust},
};

/// The time limit of the debugger.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A backtrace line with a file name and a line number.
const FRAME: &str = r"(?m)^#\d+ .* at (\S+:\d+)$";

static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(FRAME).ok());

/// The output of the debugger.
#[derive(Debug, Default)]
pub(crate) struct DebuggerOutput {
    /// The complete output.
    pub(crate) text: String,
    /// The places of the backtrace, innermost first.
    pub(crate) stack: Vec<String>,
}

/// Runs GDB if it is installed. Returns `None` if it does not answer: the backtrace is optional.
pub(crate) async fn ask(bench: Bench<'_>, boot: &mut Boot, symbols: Option<&Path>) -> Option<DebuggerOutput> {
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
    Some(DebuggerOutput { text, stack })
}
