//! The record of destinations: one entry per host, port and verdict, with counts. It holds no headers and no content.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use serde::Serialize;

/// Maximum number of entries. A program that tries more gets one common entry for the rest.
const ENTRIES_MAX: usize = 1_000;

/// The host of the common entry.
const OTHERS: &str = "(others)";

/// The longest host text that is recorded, in characters.
const HOST_CHARS_MAX: usize = 253;

/// A destination that a program asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Destination {
    /// The name or address of the host, as it was asked for.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The decision of the proxy.
    pub verdict: Verdict,
    /// The number of connections.
    pub connections: u64,
    /// The number of bytes from the program to the host.
    pub sent_bytes: u64,
    /// The number of bytes from the host to the program.
    pub received_bytes: u64,
}

/// The decision of the proxy about a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The host is listed, and was reached.
    Allowed,
    /// The host is listed, but could not be reached.
    Unreachable,
    /// The host is not listed.
    NotListed,
    /// The name is listed, but leads only into a private network.
    Private,
    /// The request was not understood.
    Invalid,
}

/// The counts of one destination, while connections run.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) connections: AtomicU64,
    pub(crate) sent: AtomicU64,
    pub(crate) received: AtomicU64,
}

type Key = (String, u16, Verdict);

/// All destinations so far.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<BTreeMap<Key, Arc<Counts>>>);

impl Log {
    /// Counts a connection and returns the counts of its destination.
    pub(crate) fn note(&self, host: &str, port: u16, verdict: Verdict) -> Arc<Counts> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (host.chars().take(HOST_CHARS_MAX).collect(), port, verdict);
        let is_room = entries.len() < ENTRIES_MAX || entries.contains_key(&key);
        let key = if is_room { key } else { (OTHERS.to_owned(), 0, verdict) };
        let counts = entries.entry(key).or_default();
        counts.connections.fetch_add(1, Relaxed);
        Arc::clone(counts)
    }

    /// Returns all destinations in the order of their names.
    pub(crate) fn destinations(&self) -> Vec<Destination> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let destination = |((host, port, verdict), counts): (&Key, &Arc<Counts>)| Destination {
            host: host.clone(),
            port: *port,
            verdict: *verdict,
            connections: counts.connections.load(Relaxed),
            sent_bytes: counts.sent.load(Relaxed),
            received_bytes: counts.received.load(Relaxed),
        };
        entries.iter().map(destination).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_has_a_bound() {
        let log = Log::default();
        for number in 0..2 * ENTRIES_MAX {
            log.note(&format!("host-{number}.org"), 443, Verdict::NotListed);
        }
        let all = log.destinations();
        assert_eq!(all.len(), ENTRIES_MAX + 1);
        assert_eq!(all.iter().map(|one| one.connections).sum::<u64>(), 2 * ENTRIES_MAX as u64);
    }
}
