//! Knowledge from earlier runs: one entry per round of work, with its symptom, its cause, its patch and its result.
//!
//! It is a separate database beside the journal (`knowledge.sqlite`), for four reasons: it outlives the runs that it
//! came from, no run depends on it, its index can be rebuilt from its entries, and a damaged knowledge base must not
//! stop a run. This crate does not redact secrets: callers do that before they record a text.
//!
//! `find.rs` finds entries by keyword, `vectors.rs` by vector, `meaning.rs` makes the vectors that entries lack; `tables.rs` has the tables.

mod find;
mod meaning;
mod tables;
mod vectors;

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use interlock_journal::{Error, Result, moment, private};
use interlock_sqlite::database;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

pub use meaning::{SearchResult, Vectors, search};

/// The file's name in the store's directory.
pub const FILE: &str = "knowledge.sqlite";

/// The maximum length of a text of an entry, in bytes; a longer text is cut off.
const TEXT_MAX: usize = 256 * 1024;

/// The knowledge base of a store: the entries of all runs.
#[derive(Debug)]
pub struct Knowledge {
    connection: Mutex<Connection>,
}

/// The result of a round of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// The problem is solved.
    Fixed,
    /// The state is better than before, but the problem is not solved.
    Improved,
    /// The round made no difference.
    NoChange,
    /// Something that worked before is broken now.
    Worse,
    /// The build failed after the change.
    BuildFailed,
    /// The patch was refused before it was applied.
    Refused,
}

/// A round of work, as a caller records it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Round {
    /// The name of the run.
    pub run: String,
    /// The number of the round in the run. The run and this number identify the entry.
    pub iteration: u64,
    /// The time of the round, in milliseconds since 1970.
    pub at_ms: i64,
    /// The id of the machine.
    pub machine: String,
    /// The subject of the round, in one line.
    pub title: String,
    /// The problem as it was observed.
    pub symptom: String,
    /// The cause, as far as it is known.
    pub cause: String,
    /// The change that was made: a diff, or empty.
    pub patch: String,
    /// The result of the round.
    pub result: Option<Came>,
    /// The kind of product that the round was about.
    pub product_line: String,
    /// Words by which the entry is found; a [`Filter`] can require them.
    pub tags: Vec<String>,
    /// The files that the round was about.
    pub files: Vec<String>,
    /// The confidence of the analysis, from 0 to 1.
    pub confidence: f64,
    /// The evidence, by hash or by name.
    pub evidence_refs: Vec<String>,
}

/// An entry, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The entry's id, `ku_YYYYMMDD_NNN`: the day of the round, and a number.
    pub id: String,
    /// The name of the run.
    pub run: String,
    /// The number of the round in the run.
    pub iteration: u64,
    /// The time of the round.
    #[serde(serialize_with = "moment::serialize")]
    pub at: i64,
    /// The id of the machine.
    pub machine: String,
    /// The subject of the round, in one line.
    pub title: String,
    /// The problem as it was observed.
    pub symptom: String,
    /// The cause, as far as it is known.
    pub cause: String,
    /// The change that was made: a diff, or empty.
    pub patch: String,
    /// The result of the round.
    pub result: Came,
    /// The kind of product that the round was about.
    pub product_line: String,
    /// Words by which the entry is found; a [`Filter`] can require them.
    pub tags: Vec<String>,
    /// The files that the round was about.
    pub files: Vec<String>,
    /// The confidence of the analysis, from 0 to 1.
    pub confidence: f64,
    /// The evidence, by hash or by name.
    pub evidence_refs: Vec<String>,
}

/// Conditions that found entries must meet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only entries about this kind of product.
    pub product_line: Option<String>,
    /// Only entries with all of these tags.
    pub tags: Vec<String>,
}

/// An entry that a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The entry that was found.
    pub entry: Entry,
    /// The score: the higher the better; comparable only within one search.
    pub score: f64,
    /// The part that matches best, with the matching words in brackets.
    pub snippet: String,
}

impl Came {
    /// Returns the name under which the result is stored.
    pub fn name(self) -> &'static str {
        match self {
            Came::Fixed => "fixed",
            Came::Improved => "improved",
            Came::NoChange => "no_change",
            Came::Worse => "worse",
            Came::BuildFailed => "build_failed",
            Came::Refused => "refused",
        }
    }

    fn named(name: &str) -> Came {
        let all = [Came::Fixed, Came::Improved, Came::Worse, Came::BuildFailed, Came::Refused];
        all.into_iter().find(|came| came.name() == name).unwrap_or(Came::NoChange)
    }
}

impl Knowledge {
    /// Opens the knowledge base in a store's directory, and creates it if it does not exist.
    pub fn open(folder: &Path) -> Result<Self> {
        private::folder(folder)?;
        let path = folder.join(FILE);
        private::file(&path)?;
        Ok(Knowledge { connection: Mutex::new(tables::open(&path)?) })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a round and returns the id of its entry. A round that is recorded again replaces its entry.
    pub fn record(&self, round: &Round) -> Result<String> {
        let mut connection = self.lock();
        let write = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let id = put(&write, &bounded(round)).map_err(failed)?;
        write.commit().map_err(failed)?;
        Ok(id)
    }

    /// Returns an entry by its id.
    pub fn show(&self, id: &str) -> Result<Option<Entry>> {
        let connection = self.lock();
        let sql = format!("SELECT {COLUMNS} FROM entry WHERE id = ?1");
        connection.query_row(&sql, [id], entry).optional().map_err(failed)
    }

    /// Returns all entries, oldest first.
    pub fn all(&self) -> Result<Vec<Entry>> {
        self.entries("", [])
    }

    /// Returns the entries of a run, oldest first.
    pub fn of_run(&self, run: &str) -> Result<Vec<Entry>> {
        self.entries("WHERE run = ?1", [run])
    }

    fn entries(&self, which: &str, values: impl rusqlite::Params) -> Result<Vec<Entry>> {
        let connection = self.lock();
        let sql = format!("SELECT {COLUMNS} FROM entry {which} ORDER BY at, number");
        let mut statement = connection.prepare(&sql).map_err(failed)?;
        let rows = statement.query_map(values, entry).map_err(failed)?;
        rows.collect::<rusqlite::Result<Vec<_>>>().map_err(failed)
    }

    /// Returns the entries that match a text best. The text is treated as plain words: nothing in it is a query
    /// operator. If it has no words, the newest entries are returned.
    pub fn search(&self, text: &str, filter: &Filter, at_most: usize) -> Result<Vec<Hit>> {
        find::by_words(&self.lock(), text, filter, at_most).map_err(failed)
    }

    /// Searches by keyword and by vector. `meaning` is the model's name and the vector of the text.
    pub fn search_meaning(
        &self,
        text: &str,
        meaning: (&str, &[f32]),
        filter: &Filter,
        at_most: usize,
    ) -> Result<Vec<Hit>> {
        vectors::search(&self.lock(), text, meaning, filter, at_most).map_err(failed)
    }

    /// Returns entries that have no vector of this model yet.
    pub fn without_vector(&self, model: &str, at_most: usize) -> Result<Vec<Entry>> {
        vectors::missing(&self.lock(), model, at_most).map_err(failed)
    }

    /// Stores the vector of an entry. Returns false and stores nothing if the entry has changed since it was read.
    pub fn keep_vector(&self, entry: &Entry, model: &str, vector: &[f32]) -> Result<bool> {
        vectors::keep(&self.lock(), entry, model, vector).map_err(failed)
    }
}

fn failed(error: rusqlite::Error) -> Error {
    database::error("the knowledge base could not be used", &error)
}

const COLUMNS: &str = "id, run, iteration, at, machine, title, symptom, cause, patch, result, product_line, tags, files, confidence, evidence_refs";

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let list =
        |at: usize| Ok::<_, rusqlite::Error>(serde_json::from_str(&row.get::<_, String>(at)?).unwrap_or_default());
    Ok(Entry {
        id: row.get(0)?,
        run: row.get(1)?,
        iteration: row.get(2)?,
        at: row.get(3)?,
        machine: row.get(4)?,
        title: row.get(5)?,
        symptom: row.get(6)?,
        cause: row.get(7)?,
        patch: row.get(8)?,
        result: Came::named(&row.get::<_, String>(9)?),
        product_line: row.get(10)?,
        tags: list(11)?,
        files: list(12)?,
        confidence: row.get(13)?,
        evidence_refs: list(14)?,
    })
}

/// Returns the round with its texts cut to the maximum length, without duplicate tags, and with a confidence from 0 to
/// 1.
fn bounded(round: &Round) -> Round {
    let cut = |text: &String| {
        let mut end = text.len().min(TEXT_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text[..end].to_owned()
    };
    let mut seen = BTreeSet::new();
    let tags = round.tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty());
    Round {
        title: cut(&round.title),
        symptom: cut(&round.symptom),
        cause: cut(&round.cause),
        patch: cut(&round.patch),
        tags: tags.filter(|tag| seen.insert(tag.clone())).collect(),
        confidence: if round.confidence.is_finite() { round.confidence.clamp(0.0, 1.0) } else { 0.0 },
        ..round.clone()
    }
}

fn put(write: &Transaction<'_>, round: &Round) -> rusqlite::Result<String> {
    let known = write
        .query_row(
            "SELECT number, id FROM entry WHERE run = ?1 AND iteration = ?2",
            params![round.run, round.iteration],
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)),
        )
        .optional()?;
    let (number, id) = match known {
        Some(known) => known,
        None => created(write, round)?,
    };
    let list = |texts: &[String]| serde_json::to_string(texts).unwrap_or_default();
    write.execute(
        "UPDATE entry SET machine = ?2, title = ?3, symptom = ?4, cause = ?5, patch = ?6, result = ?7, product_line = ?8, tags = ?9, files = ?10,
         confidence = ?11, evidence_refs = ?12 WHERE number = ?1",
        params![
            number,
            round.machine,
            round.title,
            round.symptom,
            round.cause,
            round.patch,
            round.result.unwrap_or(Came::NoChange).name(),
            round.product_line,
            list(&round.tags),
            list(&round.files),
            round.confidence,
            list(&round.evidence_refs),
        ],
    )?;
    index(write, number, round)?;
    Ok(id)
}

/// Inserts a new entry that has only its id, its run, its round and its time.
fn created(write: &Transaction<'_>, round: &Round) -> rusqlite::Result<(i64, String)> {
    let day: String = moment::rfc3339(round.at_ms).split('T').next().unwrap_or_default().replace('-', "");
    let sql = "SELECT count(*) FROM entry WHERE substr(id, 1, 12) = ?1";
    let mut of_day: i64 = write.query_row(sql, [format!("ku_{day}_")], |row| row.get(0))?;
    let id = loop {
        of_day += 1;
        let id = format!("ku_{day}_{of_day:03}");
        let is_taken: bool =
            write.query_row("SELECT EXISTS (SELECT 1 FROM entry WHERE id = ?1)", [&id], |row| row.get(0))?;
        if !is_taken {
            break id;
        }
    };
    let sql = "INSERT INTO entry (id, run, iteration, at) VALUES (?1, ?2, ?3, ?4)";
    write.execute(sql, params![id, round.run, round.iteration, round.at_ms])?;
    Ok((write.last_insert_rowid(), id))
}

/// Replaces the index data of the entry: its words and its tags. Its vectors are removed, because they belong to the
/// old text.
fn index(write: &Transaction<'_>, number: i64, round: &Round) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM entry_text WHERE rowid = ?1",
        "DELETE FROM entry_tag WHERE entry = ?1",
        "DELETE FROM entry_vector WHERE entry = ?1",
    ] {
        write.execute(sql, [number])?;
    }
    write.execute(
        "INSERT INTO entry_text (rowid, title, symptom, cause, patch, tags, files) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            number,
            round.title,
            round.symptom,
            round.cause,
            round.patch,
            round.tags.join(" "),
            round.files.join(" ")
        ],
    )?;
    for tag in &round.tags {
        write.execute("INSERT OR IGNORE INTO entry_tag (entry, tag) VALUES (?1, ?2)", params![number, tag])?;
    }
    Ok(())
}
