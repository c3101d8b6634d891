//! Watches a firmware until it ends, or until it is certain that it will not.

use std::time::{Duration, Instant};

use interlock_activity::Outcome;
use interlock_process::ProgramResult;
use regex::bytes::Regex;

use super::{
    boot::Boot,
    config::{Config, Console},
    hang::Samples,
    qmp::Event,
    starved::{self, Starved},
};
use crate::{
    Start, Stop, Trouble,
    expect::{Expect, PatternMatch},
    fault::Symbols,
    session::time_is_up,
};

/// The interval between two checks.
const TICK: Duration = Duration::from_millis(50);

/// A practically infinite timeout, for a wait that another event ends.
const FAR: Duration = Duration::from_secs(3_600 * 24 * 365);

/// The silence after which a firmware at its time limit counts as hung.
const SILENT: Duration = Duration::from_secs(1);

/// The largest output of a firmware: endless output must not fill the disk.
const OUTPUT_BYTES_MAX: u64 = 256 << 20;

/// The end of a watched start.
pub(crate) enum End {
    /// QEMU ended by itself.
    Itself(Box<Result<ProgramResult, Outcome>>),
    /// The watch decided that the start is over; QEMU still runs.
    Decided(Stop),
}

/// The state of a watched firmware.
pub(crate) struct Watch<'w> {
    boot: &'w mut Boot,
    config: &'w Config,
    symbols: Option<&'w Symbols>,
    start: &'w Start,
    deadline: Instant,
    /// The counters of lines on both consoles, if their number ends the start.
    lines: Vec<(Console, usize)>,
    /// The index of the next step of the dialogue.
    step: usize,
    step_since: Instant,
    resets: u32,
    /// The heartbeat counters of the serial port and of semihosting: either one shows that the firmware is alive.
    heartbeats: Vec<(Console, usize)>,
    banners: Vec<usize>,
    samples: Samples,
    starved: Starved,
    /// True if a signal from outside ended QEMU.
    is_ended_outside: bool,
}

enum WatchEvent {
    Ended(Box<Result<ProgramResult, Outcome>>),
    Found(PatternMatch),
    Event(Option<Event>),
    Nothing,
}

impl<'w> Watch<'w> {
    /// Prepares the watch; the firmware does not run yet.
    pub(crate) fn new(
        boot: &'w mut Boot,
        config: &'w Config,
        symbols: Option<&'w Symbols>,
        start: &'w Start,
    ) -> Result<Self, Trouble> {
        let mut consoles = vec![Console::Serial];
        consoles.extend(boot.semihosting.is_some().then_some(Console::Semihosting));
        let mut count = |pattern: Option<Regex>| -> Vec<(Console, usize)> {
            let each = consoles.iter().filter_map(|console| Some((*console, pattern.clone()?)));
            each.map(|(console, pattern)| (console, boot.console(console).count(pattern))).collect()
        };
        let heartbeats = count(config.heartbeat.clone());
        let has_lines = start.limit.is_some_and(|limit| limit.lines.is_some());
        let lines = count(has_lines.then(|| Regex::new("\n")).transpose().map_err(Trouble::environment)?);
        let banner = config.boot_banner.clone().map(|pattern| boot.console(config.console).count(pattern));
        let now = Instant::now();
        let starved = Starved::new(boot.serial.peer());
        Ok(Watch {
            boot,
            config,
            symbols,
            start,
            lines,
            deadline: now + start.timeout.min(FAR),
            step: 0,
            step_since: now,
            resets: 0,
            heartbeats,
            banners: banner.into_iter().collect(),
            samples: Samples::default(),
            starved,
            is_ended_outside: false,
        })
    }

    /// Lets the firmware run and waits for its end.
    pub(crate) async fn run(&mut self, mut cancel: interlock_activity::Cancel) -> Result<End, Trouble> {
        self.boot.qmp.cont().await?;
        self.boot.begun = Instant::now();
        self.step_since = self.boot.begun;
        let mut tick = tokio::time::interval(TICK);
        loop {
            let patterns = self.patterns();
            let heard = tokio::select! {
                () = cancel.cancelled() => return Err(Trouble::Cancelled),
                heard = listen(self.boot, self.config.console, &patterns) => heard,
                _ = tick.tick() => WatchEvent::Nothing,
            };
            let decided = match heard {
                WatchEvent::Ended(ended) => return Ok(End::Itself(self.noting_signals(ended).await)),
                WatchEvent::Found(found) => self.found(&found).await?,
                WatchEvent::Event(event) => {
                    self.note(event);
                    None
                }
                WatchEvent::Nothing => None,
            };
            let decided = match decided {
                Some(stop) => Some(stop),
                None => self.look().await,
            };
            if let Some(stop) = decided {
                return Ok(End::Decided(stop));
            }
        }
    }

    /// Reports whether a signal ended QEMU. QEMU handles the signal as a request and does not show it in its exit
    /// code.
    pub(crate) fn is_ended_outside(&self) -> bool {
        self.is_ended_outside
    }

    /// Returns the awaited patterns: the next step and the end.
    fn patterns(&self) -> Vec<Regex> {
        let step = self.config.steps.get(self.step).map(|step| step.expect.clone());
        step.into_iter().chain(self.config.end.clone()).collect()
    }

    async fn found(&mut self, found: &PatternMatch) -> Result<Option<Stop>, Trouble> {
        let Some(step) = self.config.steps.get(self.step).filter(|_| found.which == 0) else {
            let code = found.groups.get("code").and_then(|code| code.parse().ok()).unwrap_or(0);
            return Ok(Some(Stop::Exited { code }));
        };
        self.step += 1;
        self.step_since = Instant::now();
        if !step.send.is_empty() {
            // A firmware that has just ended does not read the input; its end is noticed soon.
            let _ = self.boot.console(self.config.console).send(step.send.as_bytes()).await;
        }
        Ok(None)
    }

    fn note(&mut self, event: Option<Event>) {
        let Some(event) = event else { return };
        let is_guest = event.data.get("guest").and_then(serde_json::Value::as_bool) == Some(true);
        match event.name.as_str() {
            "RESET" if is_guest => self.resets += 1,
            "SHUTDOWN" => self.is_ended_outside |= event.data["reason"] == "host-signal",
            _ => {}
        }
    }

    async fn noting_signals(
        &mut self,
        ended: Box<Result<ProgramResult, Outcome>>,
    ) -> Box<Result<ProgramResult, Outcome>> {
        // The last events of QEMU may not have been read yet.
        while let Ok(Some(event)) = tokio::time::timeout(TICK, self.boot.qmp.event()).await {
            self.note(Some(event));
        }
        self.boot.rest().await;
        ended
    }

    /// Checks the time limits, the number of boots and, if the firmware is silent, its activity.
    async fn look(&mut self) -> Option<Stop> {
        let boots = self.boots();
        if boots > self.config.boots_max {
            return Some(Stop::BootLoop { boots });
        }
        if self.has_printed_enough() {
            return Some(Stop::Limited);
        }
        self.starved.look();
        if self.is_time_up() {
            self.starved.read();
        }
        if let Some(lost) = self.too_busy() {
            return Some(lost);
        }
        let silent = self.had(self.boot.last_heard());
        let is_late = self.is_time_up() || self.boot.heard() > OUTPUT_BYTES_MAX;
        // A firmware that is to run for ever may be idle between two lines.
        if is_late && time_is_up(self.start, silent) == Stop::Limited {
            return Some(Stop::Limited);
        }
        let is_dumb = self.is_without_heartbeat() || self.is_step_overdue();
        if !is_late && !is_dumb && silent < self.config.hang_after {
            self.samples.clear();
            return None;
        }
        // At the time limit, the sampling takes at most another second.
        let is_hung = self.samples.take(&mut self.boot.qmp, self.symbols).await;
        match (is_late, is_dumb) {
            (true, _) if silent < SILENT => Some(Stop::TimedOut),
            _ if is_hung => Some(Stop::Hung { place: self.samples.place(self.symbols) }),
            _ if !self.samples.is_full() => None,
            (true, _) => Some(Stop::TimedOut),
            (false, true) => Some(Stop::Hung { place: self.dumb() }),
            (false, false) => None,
        }
    }

    /// Returns the time since a moment in which the firmware could run.
    fn had(&self, since: Instant) -> Duration {
        since.elapsed().saturating_sub(self.starved.since(since))
    }

    /// Reports whether the firmware has had its time.
    fn is_time_up(&self) -> bool {
        Instant::now() >= self.deadline + self.starved.since(self.boot.begun)
    }

    /// Returns the end of a start that has waited for a processor long enough: neither what the firmware has done in so
    /// little time nor what it has not done says anything about it.
    fn too_busy(&self) -> Option<Stop> {
        let timeout = self.start.timeout.min(FAR);
        let had = self.had(self.boot.begun);
        let is_over = self.boot.begun.elapsed() >= timeout * starved::ALLOWED_TIMES && had < timeout;
        is_over.then(|| {
            let (had, all) = (had.as_secs_f64(), timeout.as_secs_f64());
            Stop::Lost { why: format!("the computer is too busy: the firmware has had {had:.1} of its {all:.1} s") }
        })
    }

    /// Reports whether a firmware that prints for ever has printed the lines that it is judged by.
    fn has_printed_enough(&mut self) -> bool {
        let Some(most) = self.start.limit.and_then(|limit| limit.lines) else { return false };
        let Watch { boot, lines, .. } = self;
        let printed = lines.iter().map(|(console, count)| boot.console(*console).seen(*count));
        printed.fold(0, u32::saturating_add) >= most
    }

    /// Returns the number of boots that were observed.
    pub(crate) fn boots(&mut self) -> u32 {
        let banners = self.banners.clone();
        let console = self.boot.console(self.config.console);
        let seen = banners.into_iter().map(|banner| console.seen(banner)).max().unwrap_or(0);
        seen.max(self.resets + 1)
    }

    fn is_without_heartbeat(&mut self) -> bool {
        let had = self.had(self.boot.begun);
        let Watch { boot, heartbeats, config, .. } = self;
        !heartbeats.is_empty()
            && had > config.heartbeat_after
            && heartbeats.iter().all(|(console, heartbeat)| boot.console(*console).seen(*heartbeat) == 0)
    }

    fn is_step_overdue(&self) -> bool {
        self.config.steps.get(self.step).is_some_and(|step| self.had(self.step_since) > step.timeout)
    }

    /// Describes why a firmware counts as hung although it executes code.
    fn dumb(&mut self) -> String {
        let place = self.samples.place(self.symbols);
        match self.is_without_heartbeat() {
            true => format!("{place}; no heartbeat within {:?}", self.config.heartbeat_after),
            false => {
                let expected = self.config.steps.get(self.step).map(|step| step.expect.as_str()).unwrap_or_default();
                format!("{place}; step {} of the dialogue did not appear: `{expected}`", self.step + 1)
            }
        }
    }
}

/// Waits for the first event of any source.
async fn listen(boot: &mut Boot, console: Console, patterns: &[Regex]) -> WatchEvent {
    let Boot { qmp, serial, semihosting, program, .. } = boot;
    let (main, other) = match (console, semihosting) {
        (Console::Semihosting, Some(semihosting)) => (semihosting, Some(serial)),
        (_, semihosting) => (serial, semihosting.as_mut()),
    };
    tokio::select! {
        found = main.wait_for(patterns, FAR), if !main.is_closed() => found.map_or(WatchEvent::Nothing, WatchEvent::Found),
        () = hear(other) => WatchEvent::Nothing,
        event = qmp.event(), if !qmp.is_closed() => WatchEvent::Event(event),
        Some(ended) = program.join_next() => match ended {
            Ok(ended) => WatchEvent::Ended(Box::new(ended)),
            Err(_) => WatchEvent::Nothing,
        },
    }
}

/// Reads a stream without an awaited pattern, as long as it is open.
async fn hear(stream: Option<&mut Expect<tokio::net::UnixStream>>) {
    match stream.filter(|stream| !stream.is_closed()) {
        Some(stream) => drop(stream.listen().await),
        None => std::future::pending().await,
    }
}
