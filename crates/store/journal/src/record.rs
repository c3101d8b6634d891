//! A record, and the chain that makes a journal tamper-evident.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::{Entry, Error, EvidenceStore, Result};

/// A SHA-256 hash, written as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash to which the first record of a run is chained.
    pub const NONE: Hash = Hash([0; 32]);

    /// Returns the hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Hash(Sha256::digest(bytes).into())
    }

    /// Reads a hash from its 64 hex digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |at: u8| char::from(at).to_digit(16);
            *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
        }
        Some(Hash(bytes))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl serde::Serialize for Hash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Hash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Hash::from_hex(&text).ok_or_else(|| serde::de::Error::custom("not a SHA-256 in hex"))
    }
}

/// One thing that happened to a run, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The sequence number in the run, from 1.
    pub seq: u64,
    /// The time of the record, in milliseconds since 1970. Timers that the entry sets count from this time, and the
    /// next record is never earlier.
    pub at_ms: i64,
    /// The number of the [`Entry`]'s kind.
    pub kind: u8,
    /// The entry as JSON.
    pub payload: String,
    /// The hash of all fields above, of the run and of the hash of the record before.
    pub hash: Hash,
}

/// A record that has no sequence number and no hash yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchained {
    /// The time of the record, in milliseconds since 1970.
    pub at_ms: i64,
    /// The number of the entry's kind.
    pub kind: u8,
    /// The entry as JSON, or a reference to the file that holds it.
    pub payload: String,
    /// The file that holds the entry, if the entry is too big for the record.
    pub elsewhere: Option<Hash>,
    /// The id that the sender gave the entry: the journal accepts each id once per run.
    pub sent: Option<String>,
}

/// The longest payload that is stored in the record itself.
const PAYLOAD_BYTES_MAX: usize = 16 * 1024;

/// This bit is set in a record's kind if its payload is in a file.
const ELSEWHERE: u8 = 0x80;

impl Unchained {
    /// Makes a record of an entry. An entry that is too big is put into the evidence store, and the record refers to
    /// it.
    pub fn kept(at_ms: i64, entry: &Entry, store: &EvidenceStore) -> Result<Self> {
        let (kind, payload) = (entry.kind(), entry.to_json());
        let sent = entry.sent_id().map(str::to_owned);
        if payload.len() <= PAYLOAD_BYTES_MAX {
            return Ok(Unchained { at_ms, kind, payload, elsewhere: None, sent });
        }
        let file = store.put("payload", "application/json", payload.as_bytes())?;
        let payload = serde_json::json!({ "payload": file.hash }).to_string();
        Ok(Unchained { at_ms, kind: kind | ELSEWHERE, payload, elsewhere: Some(file.hash), sent })
    }

    /// Returns the record with its sequence number and with the hash that chains it to `before`.
    pub fn chained(self, run: &str, seq: u64, before: &Hash) -> Record {
        let hash = link(run, seq, self.at_ms, self.kind, &self.payload, before);
        Record { seq, at_ms: self.at_ms, kind: self.kind, payload: self.payload, hash }
    }
}

impl Record {
    /// Returns true if the record's hash chains it to `before`.
    pub fn follows(&self, run: &str, before: &Hash) -> bool {
        self.hash == link(run, self.seq, self.at_ms, self.kind, &self.payload, before)
    }

    /// Returns the entry, read from the evidence store if it is not in the record.
    pub fn entry(&self, store: &EvidenceStore) -> Result<Entry> {
        let damaged = |why| Error::Damaged { what: format!("record {}", self.seq), why };
        let Some(file) = self.payload_file() else {
            return Entry::from_json(self.kind, &self.payload).map_err(damaged);
        };
        let content =
            store.get(&file.ok_or_else(|| damaged("it does not name the location of its payload".into()))?)?;
        let text = std::str::from_utf8(&content).map_err(|error| damaged(error.to_string()))?;
        Entry::from_json(self.kind & !ELSEWHERE, text).map_err(damaged)
    }

    /// Returns the file that holds the payload: `None` if the record itself holds it, `Some(None)` if the reference cannot be
    /// read.
    pub fn payload_file(&self) -> Option<Option<Hash>> {
        #[derive(serde::Deserialize)]
        struct Elsewhere {
            payload: Hash,
        }
        let is_elsewhere = self.kind & ELSEWHERE != 0;
        is_elsewhere.then(|| serde_json::from_str::<Elsewhere>(&self.payload).ok().map(|found| found.payload))
    }

    /// Returns the word for its kind.
    pub fn kind_word(&self) -> &'static str {
        Entry::kind_word(self.kind & !ELSEWHERE)
    }
}

/// Returns the hash of a record. Every field has a fixed width or is preceded by its length, so that two different
/// records never produce the same bytes.
fn link(run: &str, seq: u64, at_ms: i64, kind: u8, payload: &str, before: &Hash) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(before.0);
    hasher.update((run.len() as u64).to_le_bytes());
    hasher.update(run);
    hasher.update(seq.to_le_bytes());
    hasher.update(at_ms.to_le_bytes());
    hasher.update([kind]);
    hasher.update(payload);
    Hash(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_record_is_in_its_hash() {
        let before = Hash::of(b"before");
        let record = Unchained { at_ms: 5, kind: 2, payload: "{}".into(), elsewhere: None, sent: None };
        let record = record.chained("r", 3, &before);
        assert!(record.follows("r", &before));
        let changed = [
            Record { seq: 4, ..record.clone() },
            Record { at_ms: 6, ..record.clone() },
            Record { kind: 3, ..record.clone() },
            Record { payload: "[]".into(), ..record.clone() },
            Record { hash: Hash::NONE, ..record.clone() },
        ];
        assert!(changed.iter().all(|record| !record.follows("r", &before)));
        assert!(!record.follows("s", &before));
        assert!(!record.follows("r", &Hash::NONE));
    }

    #[test]
    fn a_hash_reads_what_it_writes() {
        let hash = Hash::of(b"x");
        assert_eq!(Hash::from_hex(&hash.to_string()), Some(hash));
        for bad in ["", "zz", &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(Hash::from_hex(bad), None, "{bad}");
        }
    }
}
