//! The outbox: messages that are to be sent, in a file of their own beside the journal.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use interlock_journal::{Error, private};
use interlock_sqlite::database;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;

use crate::problem::Result;

const FILE: &str = "outbox.sqlite";

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS place (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS message (
    id TEXT NOT NULL, receiver TEXT NOT NULL, content TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL DEFAULT 0, error TEXT, is_dead INTEGER NOT NULL DEFAULT 0,
    sent INTEGER, PRIMARY KEY (id, receiver));
CREATE INDEX IF NOT EXISTS message_due ON message (due) WHERE sent IS NULL AND is_dead = 0;
";

/// A message to one receiver.
#[derive(Clone, Debug)]
pub(super) struct Message {
    /// The id by which a receiver recognises a repetition.
    pub(super) id: String,
    /// The receiver, as its rule names it.
    pub(super) receiver: String,
    /// The content, as JSON.
    pub(super) content: String,
    /// The number of times that it was tried.
    pub(super) tries: u32,
}

impl Message {
    pub(super) fn new(id: &str, receiver: String, content: &Value) -> Self {
        let mut content = content.clone();
        content["id"] = Value::from(id);
        Message { id: id.to_owned(), receiver, content: content.to_string(), tries: 0 }
    }
}

/// The outbox of a store.
#[derive(Debug)]
pub(super) struct Outbox(Mutex<Connection>);

impl Outbox {
    /// Opens the outbox, and creates it if it does not exist.
    pub(super) fn open(home: &Path) -> Result<Self> {
        let path = home.join(FILE);
        private::file(&path)?;
        let open = || {
            let connection = Connection::open(&path)?;
            connection.busy_timeout(std::time::Duration::from_secs(5))?;
            database::to_wal(&connection)?;
            connection.execute_batch(TABLES)?;
            Ok(connection)
        };
        let connection = open().map_err(|error: rusqlite::Error| wrong(&error))?;
        Ok(Outbox(Mutex::new(connection)))
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the last change that was looked at; `None` if the outbox is new.
    pub(super) fn place(&self) -> Result<Option<u64>> {
        let connection = self.connection();
        let place = connection.query_row("SELECT number FROM place", [], |row| row.get(0)).optional();
        Ok(place.map_err(|error| wrong(&error))?)
    }

    /// Stores messages together with the number of the last change that was looked at.
    pub(super) fn put(&self, place: u64, messages: &[Message]) -> Result<()> {
        let mut connection = self.connection();
        let mut put = || {
            let change = connection.transaction()?;
            insert(&change, messages)?;
            change.execute("INSERT INTO place VALUES (1, ?1) ON CONFLICT DO UPDATE SET number = ?1", [place])?;
            change.commit()
        };
        Ok(put().map_err(|error| wrong(&error))?)
    }

    /// Stores messages. A message that is there already, or was sent, is not stored again.
    pub(super) fn add(&self, messages: &[Message]) -> Result<()> {
        if messages.is_empty() {
            return Ok(());
        }
        Ok(insert(&self.connection(), messages).map_err(|error| wrong(&error))?)
    }

    /// Returns the messages that are due.
    pub(super) fn due(&self, now_ms: i64, at_most: usize) -> Result<Vec<Message>> {
        let connection = self.connection();
        let read = || {
            let mut select = connection.prepare_cached(
                "SELECT id, receiver, content, tries FROM message WHERE sent IS NULL AND is_dead = 0 AND due <= ?1 ORDER BY due, rowid LIMIT ?2",
            )?;
            let message = |row: &rusqlite::Row<'_>| {
                Ok(Message { id: row.get(0)?, receiver: row.get(1)?, content: row.get(2)?, tries: row.get(3)? })
            };
            let rows = select.query_map(params![now_ms, at_most], message)?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        Ok(read().map_err(|error| wrong(&error))?)
    }

    /// Marks a message as sent.
    pub(super) fn sent(&self, message: &Message, now_ms: i64) -> Result<()> {
        let change = "UPDATE message SET sent = ?3, tries = tries + 1, error = NULL WHERE id = ?1 AND receiver = ?2";
        self.connection()
            .execute(change, params![message.id, message.receiver, now_ms])
            .map_err(|error| wrong(&error))?;
        Ok(())
    }

    /// Notes a failure. Without a time for the next try, the message is dead.
    pub(super) fn failed(&self, message: &Message, error: &str, next_ms: Option<i64>) -> Result<()> {
        let change = "UPDATE message SET tries = tries + 1, error = ?3, due = coalesce(?4, due), is_dead = ?4 IS NULL WHERE id = ?1 AND receiver = ?2";
        let values = params![message.id, message.receiver, error, next_ms];
        self.connection().execute(change, values).map_err(|error| wrong(&error))?;
        Ok(())
    }
}

fn insert(connection: &Connection, messages: &[Message]) -> rusqlite::Result<()> {
    let mut insert =
        connection.prepare_cached("INSERT OR IGNORE INTO message (id, receiver, content) VALUES (?1, ?2, ?3)")?;
    for message in messages {
        insert.execute(params![message.id, message.receiver, message.content])?;
    }
    Ok(())
}

fn wrong(error: &rusqlite::Error) -> Error {
    database::error("using the outbox", error)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_stays_until_it_is_sent_or_dead() {
        let home = tempfile::tempdir().unwrap();
        let outbox = Outbox::open(home.path()).unwrap();
        assert_eq!(outbox.place().unwrap(), None);
        let message = Message::new("r-1-ended", "a".into(), &json!({ "run": "r" }));
        outbox.put(7, std::slice::from_ref(&message)).unwrap();
        outbox.put(8, std::slice::from_ref(&message)).unwrap();
        let reopened = Outbox::open(home.path()).unwrap();
        assert_eq!(reopened.place().unwrap(), Some(8));
        assert_eq!(reopened.due(0, 10).unwrap().len(), 1, "the same message is stored once");
        reopened.failed(&message, "refused", Some(50)).unwrap();
        assert_eq!((reopened.due(49, 10).unwrap().len(), reopened.due(50, 10).unwrap().len()), (0, 1));
        reopened.sent(&message, 60).unwrap();
        outbox.add(std::slice::from_ref(&message)).unwrap();
        assert!(reopened.due(1_000, 10).unwrap().is_empty(), "a message that was sent is not sent again");
        let other = Message::new("r-2-ended", "a".into(), &json!({}));
        outbox.add(std::slice::from_ref(&other)).unwrap();
        outbox.failed(&other, "refused", None).unwrap();
        assert!(outbox.due(i64::MAX, 10).unwrap().is_empty());
    }
}
