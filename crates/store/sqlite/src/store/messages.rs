//! Messages from a process to a run that another process owns.

use interlock_journal::{Error, Message, Posted, RunKey};
use rusqlite::{Connection, OptionalExtension, params};

use crate::Result;

pub(crate) fn post(connection: &Connection, run: RunKey, body: &str) -> Result<i64> {
    connection.prepare_cached("INSERT INTO message (run, body) VALUES (?1, ?2)")?.execute(params![run.0, body])?;
    let id = connection.last_insert_rowid();
    super::seal::seal_message(connection, id)?;
    Ok(id)
}

pub(crate) fn open(connection: &Connection, run: RunKey) -> Result<Vec<Message>> {
    let mut select =
        connection.prepare_cached("SELECT id, body FROM message WHERE run = ?1 AND answer IS NULL ORDER BY id")?;
    let rows = select.query_map([run.0], |row| Ok(Message { id: row.get(0)?, body: row.get(1)? }))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(crate) fn answer(connection: &Connection, message: i64, answer: &str) -> Result<()> {
    let mut update = connection.prepare_cached("UPDATE message SET answer = ?2 WHERE id = ?1")?;
    update.execute(params![message, answer])?;
    super::seal::seal_message(connection, message)
}

pub(crate) fn posted(connection: &Connection, message: i64) -> Result<Posted> {
    let found: Option<Option<String>> = connection
        .prepare_cached("SELECT answer FROM message WHERE id = ?1")?
        .query_row([message], |row| row.get(0))
        .optional()?;
    match found {
        Some(Some(answer)) => Ok(Posted::Answered(answer)),
        Some(None) => Ok(Posted::Open),
        None => Err(Error::Damaged { what: format!("message {message}"), why: "it is gone".into() }.into()),
    }
}

/// Removes a message, open or answered, and returns its state, with the answer if it has one.
pub(crate) fn remove(connection: &Connection, message: i64) -> Result<Posted> {
    let found = posted(connection, message)?;
    connection.prepare_cached("DELETE FROM message WHERE id = ?1")?.execute([message])?;
    Ok(found)
}
