//! Anchors: the end of the store's chain, signed with a key that is kept outside the store.
//!
//! Without an anchor, a user with write access to the store can rewrite all of it unnoticed. With an anchor that is
//! kept elsewhere, every record up to the anchor must still be there unchanged. `key.rs` has the key, `deliver.rs`
//! delivers anchors automatically.

mod deliver;
mod key;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use interlock_journal::{Hash, StoreHead, moment};
use interlock_sqlite::Audit;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

pub(crate) use deliver::{Delivery, Settings};
pub(crate) use key::{Key, PublicKey};

use crate::failure::Failure;

/// The end of the store's chain, with a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor {
    /// The store's random name, in hex.
    pub(crate) store: String,
    /// The number of records of all runs.
    pub(crate) records: u64,
    /// The chain's hash over all these records.
    pub(crate) hash: Hash,
    /// The time at which the anchor was made, in RFC 3339.
    pub(crate) at: String,
    /// The signer's public key, in hex.
    pub(crate) key: String,
    /// The signature over the fields above, in hex.
    pub(crate) signature: String,
}

/// Returns the files of all keys that sign anchors of the store in `home`, whether they exist or not.
pub(crate) fn keys(home: &Path) -> Vec<PathBuf> {
    let named = Settings::read(home).ok().and_then(|settings| settings.key());
    key::remembered(home).into_iter().chain(named).chain(key::default_path().ok()).collect()
}

impl Anchor {
    /// Makes the signed anchor for the end of a chain.
    pub(crate) fn new(head: &StoreHead, key: &Key, now_ms: i64) -> Self {
        let mut anchor = Anchor {
            store: head.store.clone(),
            records: head.records,
            hash: head.hash,
            at: moment::rfc3339(now_ms),
            key: key.public().to_string(),
            signature: String::new(),
        };
        anchor.signature = key::hex(key.sign(anchor.signed().as_bytes()).as_ref());
        anchor
    }

    /// The bytes that are signed: one field per line, so that different anchors have different bytes.
    fn signed(&self) -> String {
        format!("interlock anchor 1\n{}\n{}\n{}\n{}\n", self.store, self.records, self.hash, self.at)
    }

    /// Compares the anchor with a store. Returns a problem, or `None` if they agree.
    fn problem(&self, audit: &Audit, key: &PublicKey) -> Option<String> {
        let about = format!("the anchor of {} with {} records", self.at, self.records);
        let is_signed = key::bytes(&self.signature).is_some_and(|signature| {
            UnparsedPublicKey::new(&ED25519, key.0).verify(self.signed().as_bytes(), &signature).is_ok()
        });
        if !is_signed {
            return Some(format!("{about} is not signed with the key {key}"));
        }
        if self.store != audit.head.store {
            return Some(format!(
                "{about} belongs to the store {}, but this store is {}",
                self.store, audit.head.store
            ));
        }
        match audit.hashes.get(&self.records) {
            Some(hash) if *hash == self.hash => None,
            Some(_) => Some(format!("{about}: the records up to this point differ from those that were anchored")),
            None => Some(format!("{about}: the store has only {} now", audit.head.records)),
        }
    }
}

/// Anchors read from a file, to be compared with a store.
#[derive(Debug, Default)]
pub(crate) struct Anchors(Vec<Anchor>);

impl Anchors {
    /// Reads a file with one anchor per line.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let parsed = lines.map(|(at, line)| {
            serde_json::from_str(line)
                .map_err(|error| Failure::bad_input(format!("{}:{}: not an anchor: {error}", path.display(), at + 1)))
        });
        let anchors: Vec<Anchor> = parsed.collect::<Result<_, _>>()?;
        match anchors.is_empty() {
            true => Err(Failure::bad_input(format!("{} has no anchor", path.display()))
                .hint("`interlock anchor > FILE` writes one")),
            false => Ok(Anchors(anchors)),
        }
    }

    /// The record counts after which the chain's hash is needed for the comparison.
    pub(crate) fn records(&self) -> BTreeSet<u64> {
        self.0.iter().map(|anchor| anchor.records).collect()
    }

    /// Compares all anchors with a store and returns the problems found.
    pub(crate) fn problems(&self, audit: &Audit, key: &PublicKey) -> Vec<String> {
        self.0.iter().filter_map(|anchor| anchor.problem(audit, key)).collect()
    }

    /// The number of anchors in the file.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
