//! Detects a processor that stays in one place by sampling its registers.

use std::{
    collections::BTreeMap,
    sync::LazyLock,
    time::{Duration, Instant},
};

use regex::Regex;

use super::qmp::Qmp;
use crate::fault::Symbols;

/// The number of samples, and the time between them.
const LOOKS: usize = 8;
const BETWEEN_LOOKS: Duration = Duration::from_millis(90);

/// The number of functions in which a waiting processor may be: the one that waits and the one that it calls.
const FUNCTIONS_MAX: usize = 2;

/// The program counter as QEMU prints it, for any processor.
const COUNTER: &str = r"(?i)\b(?:R15|PC|EIP|RIP|NIP)\s*[=: ]\s*(?:0x)?([0-9a-f]{4,16})\b";

static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(COUNTER).ok());

/// The samples of a processor.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    counters: Vec<u64>,
    /// All registers, as QEMU printed them last.
    pub(crate) registers: String,
    taken: Option<Instant>,
}

impl Samples {
    /// Drops all samples, because the firmware makes progress.
    pub(crate) fn clear(&mut self) {
        self.counters.clear();
    }

    /// Takes one sample, unless the last one is too recent. Returns true if all samples are in one place.
    pub(crate) async fn take(&mut self, qmp: &mut Qmp, symbols: Option<&Symbols>) -> bool {
        if self.taken.is_some_and(|taken| taken.elapsed() < BETWEEN_LOOKS) {
            return false;
        }
        self.taken = Some(Instant::now());
        if let Ok(registers) = qmp.monitor("info registers").await {
            self.counters.extend(counter(&registers));
            self.registers = registers;
        }
        let more = self.counters.len().saturating_sub(LOOKS);
        self.counters.drain(..more);
        self.is_full() && self.by_function(symbols).len() <= FUNCTIONS_MAX
    }

    /// Reports whether there are enough samples for a conclusion.
    pub(crate) fn is_full(&self) -> bool {
        self.counters.len() >= LOOKS
    }

    /// Returns the place of most samples.
    pub(crate) fn place(&self, symbols: Option<&Symbols>) -> String {
        let functions = self.by_function(symbols);
        let Some(counters) = functions.values().max_by_key(|counters| counters.len()) else {
            return "an unknown place".to_owned();
        };
        let address = counters.last().copied().unwrap_or_default();
        let place = symbols.and_then(|symbols| symbols.places(address).into_iter().next()).unwrap_or_default();
        let is_outside = symbols.is_some_and(|symbols| symbols.has_code() && !symbols.is_code(address));
        match (&place.function, &place.line) {
            (Some(function), Some((file, line))) => format!("{function} at {file}:{line}"),
            (Some(function), None) => function.clone(),
            (None, _) if is_outside => format!("{address:#010x}, outside its code"),
            (None, _) => format!("{address:#010x}"),
        }
    }

    /// Groups the samples by function. All addresses outside of the code form one group, because a processor that
    /// went there does not return. Without a known function, nearby addresses form a group.
    fn by_function(&self, symbols: Option<&Symbols>) -> BTreeMap<String, Vec<u64>> {
        let mut functions: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for address in &self.counters {
            let name = symbols.and_then(|symbols| match symbols.function(*address) {
                Some(name) => Some(name.to_owned()),
                None => (symbols.has_code() && !symbols.is_code(*address)).then(String::new),
            });
            functions.entry(name.unwrap_or_else(|| format!("{:x}", address >> 8))).or_default().push(*address);
        }
        functions
    }
}

/// Returns the program counter of the first processor.
pub(crate) fn counter(registers: &str) -> Option<u64> {
    let found = PATTERN.as_ref()?.captures(registers)?;
    u64::from_str_radix(found.get(1)?.as_str(), 16).ok()
}
