//! One QEMU process from start to end. It starts halted, so that no early output is missed, and it is ended when this
//! value is dropped.

use std::{
    io,
    path::Path,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Canceller, Outcome};
use interlock_process::{ProgramResult, Tell, run};
use tokio::{net::UnixStream, task::JoinSet};

use super::{
    command::{Tracing, arguments, package},
    config::{Config, Console},
    coverage::Trace,
    guest::{Guest, QMP, SEMIHOSTING, SERIAL, TRACE},
    qmp::Qmp,
    starved,
};
use crate::{
    Bench, Start, Trouble,
    confined::{self, Confined, Trust},
    expect::Expect,
};

/// The longest time until QEMU opens its sockets: a busy computer is slow.
const STARTING_MAX: Duration = Duration::from_secs(20);

/// The longest time that QEMU may take to end on request.
const ENDING_MAX: Duration = Duration::from_secs(3);

/// The time that QEMU may run in addition to the firmware's time limit, in any case.
const SPARE: Duration = Duration::from_secs(120);

/// The longest time until the last output arrives.
const REST_MAX: Duration = Duration::from_secs(2);

/// The output files in the directory of a start.
pub(crate) const SERIAL_LOG: &str = "serial.log";
pub(crate) const SEMIHOSTING_LOG: &str = "semihosting.log";

/// A running QEMU.
pub(crate) struct Boot {
    pub(crate) qmp: Qmp,
    pub(crate) serial: Expect<UnixStream>,
    pub(crate) semihosting: Option<Expect<UnixStream>>,
    pub(crate) guest: Guest,
    pub(crate) trace: Option<Trace>,
    /// The task that runs QEMU. Dropping it ends QEMU.
    pub(crate) program: JoinSet<Result<ProgramResult, Outcome>>,
    canceller: Canceller,
    /// The time at which the firmware started to run.
    pub(crate) begun: Instant,
}

impl Boot {
    /// Starts QEMU and connects to it. The firmware does not run yet.
    pub(crate) async fn start(
        bench: Bench<'_>,
        config: &Config,
        start: &Start,
        folder: &Path,
        tracing: Tracing,
    ) -> Result<Self, Trouble> {
        let image = bench.session.image.as_ref();
        let image = image.ok_or_else(|| Trouble::environment("there is no image to run; deploy one first"))?;
        let guest = Guest::new(folder, image)
            .map_err(|error| Trouble::Environment(format!("the image cannot be used: {}: {error}", image.display())))?;
        // QEMU blocks until the pipe has a reader.
        let trace = match tracing {
            Tracing::Off => None,
            _ => Some(Trace::new(&guest.pipe(TRACE)?)?),
        };
        let mut words = vec![confined::find(&config.program, &bench.session.sources, package(&config.program))?.into()];
        words.extend(arguments(config, &bench.session.profile, start, tracing)?);
        let plan = Confined {
            words,
            folder: guest.folder.clone(),
            writable: guest.folder.clone(),
            env: Default::default(),
            timeout: start.timeout.saturating_mul(starved::ALLOWED_TIMES).saturating_add(SPARE),
            tell: Tell::Nothing,
            trust: Trust::Nothing,
        };
        let plan = plan.plan(bench)?;
        let (canceller, cancel) = Canceller::new();
        let attempt = Attempt { cancel, ..bench.attempt.clone() };
        let mut program = JoinSet::new();
        program.spawn(async move { run(&attempt, &plan).await });
        let connected = tokio::select! {
            connected = connect(&guest, config, folder) => connected,
            ended = program.join_next() => return Err(not_started(ended)),
        };
        let (qmp, serial, semihosting) = match connected {
            Ok(connected) => connected,
            Err(error) => {
                // QEMU is about to end, and its last output explains why.
                let ended = tokio::time::timeout(ENDING_MAX, program.join_next()).await;
                return Err(ended.map_or_else(|_| error.into(), not_started));
            }
        };
        Ok(Boot { qmp, serial, semihosting, guest, trace, program, canceller, begun: Instant::now() })
    }

    /// Returns the stream that the firmware uses as its console.
    pub(crate) fn console(&mut self, which: Console) -> &mut Expect<UnixStream> {
        match (which, &mut self.semihosting) {
            (Console::Semihosting, Some(stream)) => stream,
            _ => &mut self.serial,
        }
    }

    /// Returns the time of the last output, or of the start if there was none.
    pub(crate) fn last_heard(&self) -> Instant {
        let semihosting = self.semihosting.as_ref().and_then(Expect::last_heard);
        self.serial.last_heard().max(semihosting).unwrap_or(self.begun).max(self.begun)
    }

    /// Returns the number of bytes printed.
    pub(crate) fn heard(&self) -> u64 {
        self.serial.heard() + self.semihosting.as_ref().map_or(0, Expect::heard)
    }

    /// Ends QEMU, on request first and by force then, and reads the remaining output. Returns the way it ended, if
    /// known.
    pub(crate) async fn end(&mut self) -> Option<Result<ProgramResult, Outcome>> {
        self.qmp.quit().await;
        if let Ok(ended) = tokio::time::timeout(ENDING_MAX, self.program.join_next()).await {
            self.rest().await;
            return ended.and_then(Result::ok);
        }
        self.canceller.cancel();
        let ended = self.program.join_next().await;
        self.rest().await;
        ended.and_then(Result::ok)
    }

    /// Reads the remaining output.
    pub(crate) async fn rest(&mut self) {
        self.serial.drain(REST_MAX).await;
        if let Some(stream) = &mut self.semihosting {
            stream.drain(REST_MAX).await;
        }
    }
}

type Connected = (Qmp, Expect<UnixStream>, Option<Expect<UnixStream>>);

async fn connect(guest: &Guest, config: &Config, folder: &Path) -> io::Result<Connected> {
    let deadline = Instant::now() + STARTING_MAX;
    let serial = Expect::new(guest.connect(SERIAL, deadline).await?).logged(&folder.join(SERIAL_LOG))?;
    let semihosting = match config.semihosting {
        true => {
            let stream = guest.connect(SEMIHOSTING, deadline).await?;
            Some(Expect::new(stream).logged(&folder.join(SEMIHOSTING_LOG))?)
        }
        false => None,
    };
    let qmp = Qmp::new(guest.connect(QMP, deadline).await?).await?;
    Ok((qmp, serial, semihosting))
}

/// Returns the reason why QEMU ended before the firmware ran.
fn not_started(ended: Option<Result<Result<ProgramResult, Outcome>, tokio::task::JoinError>>) -> Trouble {
    match ended {
        Some(Ok(Ok(mut ended))) => {
            let said = ended.stderr.content().unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            Trouble::Environment(format!("QEMU could not be started: {}", said.trim()))
        }
        Some(Ok(Err(outcome))) => confined::trouble(&outcome),
        _ => Trouble::environment("QEMU could not be started"),
    }
}
