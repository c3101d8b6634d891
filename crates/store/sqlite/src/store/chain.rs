//! The store-wide chain: one hash over all records of all runs, in the order of writing.
//!
//! A run's own chain does not notice that a whole run was removed. The store's chain does: every commit extends it by the records that the
//! commit added, in the same transaction. Its length is the number of records that the store has ever held.

use interlock_journal::{Hash, StoreHead};
use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

use crate::Result;

/// Returns the end of the chain as the store has it.
pub(crate) fn head(connection: &Connection) -> Result<StoreHead> {
    let mut select = connection.prepare_cached("SELECT name, records, hash FROM store")?;
    let head = select.query_row([], |row| {
        let name: [u8; 16] = row.get(0)?;
        Ok(StoreHead { store: hex(&name), records: row.get(1)?, hash: Hash(row.get(2)?) })
    })?;
    Ok(head)
}

/// Chains the records that were added since the last commit. Returns the new end, or nothing if there were none.
pub(crate) fn extend(connection: &Connection) -> Result<Option<StoreHead>> {
    let mut end = head(connection)?;
    let before = end.records;
    walk(connection, before, |id, hash| {
        end.hash = link(&end.hash, id, hash);
        end.records = id;
    })?;
    if end.records == before {
        return Ok(None);
    }
    let mut update = connection.prepare_cached("UPDATE store SET records = ?1, hash = ?2")?;
    update.execute(params![end.records, end.hash.0])?;
    Ok(Some(end))
}

/// Visits the number and the hash of every record after `after`, in the order of writing.
pub(crate) fn walk(connection: &Connection, after: u64, mut visit: impl FnMut(u64, &Hash)) -> Result<()> {
    let mut select = connection.prepare_cached("SELECT id, hash FROM record WHERE id > ?1 ORDER BY id")?;
    let mut rows = select.query([after])?;
    while let Some(row) = rows.next()? {
        visit(row.get(0)?, &Hash(row.get(1)?));
    }
    Ok(())
}

/// Returns the next hash of the chain. It covers the record's number, so that a record cannot move.
pub(crate) fn link(before: &Hash, id: u64, record: &Hash) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(before.0);
    hasher.update(id.to_le_bytes());
    hasher.update(record.0);
    Hash(hasher.finalize().into())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
