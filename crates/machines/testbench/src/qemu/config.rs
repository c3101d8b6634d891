//! The emulator settings of `test_profile.config`.

use std::{path::PathBuf, time::Duration};

use regex::bytes::Regex;
use serde_json::{Map, Value};

use crate::{Trouble, fields::Fields};

/// The console that the firmware uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Console {
    /// The first serial port.
    Serial,
    /// The semihosting console.
    Semihosting,
}

/// The method of recording executed lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// No lines are recorded.
    Off,
    /// QEMU traces every instruction.
    Trace,
    /// The firmware is instrumented with gcov counters.
    Gcov,
}

/// One step of a console dialogue.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) expect: Regex,
    pub(crate) send: String,
    pub(crate) timeout: Duration,
}

/// The settings of an emulator, and the expected behaviour of its firmware.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) program: String,
    pub(crate) machine: String,
    pub(crate) cpu: Option<String>,
    pub(crate) args: Vec<String>,
    /// The option that loads the image, with `{image}` as its placeholder.
    pub(crate) image: String,
    /// The file with symbols and lines, relative to the sources, if it is not the image.
    pub(crate) symbols: Option<PathBuf>,
    pub(crate) semihosting: bool,
    pub(crate) console: Console,
    pub(crate) case_arg: Option<String>,
    pub(crate) heartbeat: Option<Regex>,
    pub(crate) heartbeat_after: Duration,
    pub(crate) steps: Vec<Step>,
    pub(crate) end: Option<Regex>,
    pub(crate) hang_after: Duration,
    pub(crate) boot_banner: Option<Regex>,
    pub(crate) boots_max: u32,
    pub(crate) icount: Option<u64>,
    pub(crate) coverage: Coverage,
    /// The gcov program for an instrumented firmware, if it is not the default one.
    pub(crate) gcov: Option<String>,
    pub(crate) memory_mb: Option<u64>,
    /// Patterns of faults, in addition to the built-in ones.
    pub(crate) faults: Vec<Regex>,
}

const HEARTBEAT_AFTER: Duration = Duration::from_secs(10);
const HANG_AFTER: Duration = Duration::from_secs(10);
const STEP_TIMEOUT: Duration = Duration::from_secs(10);
const BOOTS_MAX: u64 = 3;

/// The largest instruction counter shift that QEMU accepts.
const SHIFT_MAX: u64 = 10;

impl Config {
    /// Reads the settings; returns all problems as one error.
    pub(crate) fn read(map: &Map<String, Value>) -> Result<Self, Trouble> {
        let mut fields = Fields::new(map);
        let consoles = [("serial", Console::Serial), ("semihosting", Console::Semihosting)];
        let coverages = [("off", Coverage::Off), ("trace", Coverage::Trace), ("gcov", Coverage::Gcov)];
        let config = Config {
            program: fields.need_text("program"),
            machine: fields.need_text("machine"),
            cpu: fields.text("cpu"),
            args: fields.texts("args"),
            image: fields.text("image").unwrap_or_else(|| "-kernel {image}".to_owned()),
            symbols: fields.text("symbols").map(PathBuf::from),
            semihosting: fields.flag("semihosting").unwrap_or_default(),
            console: fields.word("console", &consoles).unwrap_or(Console::Serial),
            case_arg: fields.text("case_arg"),
            heartbeat: fields.pattern("heartbeat"),
            heartbeat_after: fields.seconds("heartbeat_sec").unwrap_or(HEARTBEAT_AFTER),
            steps: fields.items("steps", step).into_iter().flatten().collect(),
            end: fields.pattern("end"),
            hang_after: fields.seconds("hang_sec").unwrap_or(HANG_AFTER),
            boot_banner: fields.pattern("boot_banner"),
            boots_max: u32::try_from(fields.whole("boots_max").unwrap_or(BOOTS_MAX)).unwrap_or(u32::MAX),
            icount: icount(&mut fields),
            coverage: fields.word("coverage", &coverages).unwrap_or(Coverage::Trace),
            gcov: fields.text("gcov"),
            memory_mb: fields.whole("memory_mb"),
            faults: fields.patterns("faults"),
        };
        config.check(&mut fields);
        fields.finish()?;
        Ok(config)
    }

    /// Checks the combination of settings.
    fn check(&self, fields: &mut Fields<'_>) {
        if !self.image.contains("{image}") {
            fields.bad("image", "has no {image}");
        }
        if self.case_arg.as_ref().is_some_and(|template| !template.contains("{case}")) {
            fields.bad("case_arg", "has no {case}");
        }
        if !self.semihosting && self.case_arg.is_some() {
            fields.bad("case_arg", "needs `semihosting: true`; without it use {case} in `args`");
        }
        if !self.semihosting && self.console == Console::Semihosting {
            fields.bad("console", "needs `semihosting: true`");
        }
        if self.boots_max == 0 {
            fields.bad("boots_max", "must be at least 1");
        }
    }
}

fn step(fields: &mut Fields<'_>) -> Option<Step> {
    let expect = fields.need_pattern("expect");
    let send = fields.text("send").unwrap_or_default();
    let timeout = fields.seconds("timeout_sec").unwrap_or(STEP_TIMEOUT);
    Some(Step { expect: expect?, send, timeout })
}

/// Reads the shift; `None` if the instruction counter is off.
fn icount(fields: &mut Fields<'_>) -> Option<u64> {
    let shift =
        fields.read("icount", &format!("`off` or a shift from 0 to {SHIFT_MAX}"), |value| match value.as_str() {
            Some("off") => Some(None),
            _ => value.as_u64().filter(|shift| *shift <= SHIFT_MAX).map(Some),
        });
    shift.flatten()
}
