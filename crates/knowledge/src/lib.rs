//! What runs have learned: one entry per round of work, with its symptom, its cause, what was changed and what came of it.
//!
//! It is a database of its own beside the journal (`knowledge.sqlite`), because it has a life of its own: it outlives the runs it came from,
//! nothing that a run does depends on it, its index can be made again from its entries, and a damaged one must not keep a run from going on.
//! Nothing here takes secrets out of texts: whoever records does that before.
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

pub use meaning::{Found, Vectors, search};

/// The file, in the store's folder.
pub const FILE: &str = "knowledge.sqlite";

/// The longest text of an entry that is kept, in bytes; of a longer one its beginning.
const TEXT_MAX: usize = 256 * 1024;

/// All that runs have learned.
#[derive(Debug)]
pub struct Knowledge {
    connection: Mutex<Connection>,
}

/// What came of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// What was wrong is right now.
    Fixed,
    /// More is right than before.
    Improved,
    /// Nothing changed.
    NoChange,
    /// Something that was right is wrong now.
    Worse,
    /// It could not be built.
    BuildFailed,
    /// The patch was refused before it was applied.
    Refused,
}

/// A round as it is recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Round {
    /// The run, by name.
    pub run: String,
    /// Which round of it. Together with the run it says which entry this is.
    pub iteration: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The machine.
    pub machine: String,
    /// What it was about, in a line.
    pub title: String,
    /// What was seen.
    pub symptom: String,
    /// Why, as far as it is known.
    pub cause: String,
    /// What was changed: a diff, or empty.
    pub patch: String,
    /// What came of it.
    pub result: Option<Came>,
    /// The kind of product it was on.
    pub product_line: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The files that it was about.
    pub files: Vec<String>,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// The evidence, by hash or name.
    pub evidence_refs: Vec<String>,
}

/// An entry as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// `ku_YYYYMMDD_NNN`: the day of the round, and a number.
    pub id: String,
    /// The run, by name.
    pub run: String,
    /// Which round of it.
    pub iteration: u64,
    /// When.
    #[serde(serialize_with = "moment::serialize")]
    pub at: i64,
    /// The machine.
    pub machine: String,
    /// What it was about, in a line.
    pub title: String,
    /// What was seen.
    pub symptom: String,
    /// Why, as far as it is known.
    pub cause: String,
    /// What was changed.
    pub patch: String,
    /// What came of it.
    pub result: Came,
    /// The kind of product it was on.
    pub product_line: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The files that it was about.
    pub files: Vec<String>,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// The evidence, by hash or name.
    pub evidence_refs: Vec<String>,
}

/// Which entries may be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only of this kind of product.
    pub product_line: Option<String>,
    /// Only with all of these tags.
    pub tags: Vec<String>,
}

/// An entry that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The entry.
    pub entry: Entry,
    /// How well it fits: the more the better; comparable only within one search.
    pub score: f64,
    /// The part that fits best, what was looked for in brackets.
    pub snippet: String,
}

impl Came {
    /// Its name, as it is written.
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
    /// Opens what is kept in a store's folder, made where it is not there.
    pub fn open(folder: &Path) -> Result<Self> {
        private::folder(folder)?;
        let path = folder.join(FILE);
        private::file(&path)?;
        Ok(Knowledge { connection: Mutex::new(tables::open(&path)?) })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a round and answers its id. The same round of the same run is the same entry, however often it is recorded: the last time counts.
    pub fn record(&self, round: &Round) -> Result<String> {
        let mut connection = self.lock();
        let write = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let id = put(&write, &bounded(round)).map_err(failed)?;
        write.commit().map_err(failed)?;
        Ok(id)
    }

    /// An entry by its id.
    pub fn show(&self, id: &str) -> Result<Option<Entry>> {
        let connection = self.lock();
        let sql = format!("SELECT {COLUMNS} FROM entry WHERE id = ?1");
        connection.query_row(&sql, [id], entry).optional().map_err(failed)
    }

    /// All entries, the oldest first.
    pub fn all(&self) -> Result<Vec<Entry>> {
        self.entries("", [])
    }

    /// The entries of a run, the oldest first.
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

    /// The entries that fit a text best. Whatever the text is, it is looked for as words: nothing in it is an instruction. Without a word in it the
    /// newest ones are found.
    pub fn search(&self, text: &str, filter: &Filter, at_most: usize) -> Result<Vec<Hit>> {
        find::by_words(&self.lock(), text, filter, at_most).map_err(failed)
    }

    /// The same by words and by meaning together: `meaning` is the vector of the text, and the model it comes from.
    pub fn search_meaning(
        &self,
        text: &str,
        meaning: (&str, &[f32]),
        filter: &Filter,
        at_most: usize,
    ) -> Result<Vec<Hit>> {
        vectors::search(&self.lock(), text, meaning, filter, at_most).map_err(failed)
    }

    /// Entries that have no vector of this model yet.
    pub fn without_vector(&self, model: &str, at_most: usize) -> Result<Vec<Entry>> {
        vectors::missing(&self.lock(), model, at_most).map_err(failed)
    }

    /// Keeps the vector of an entry. One of an entry that has changed since is not kept: it is `false` then.
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

/// With texts of a bearable length, every tag once, and a confidence that is one.
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

/// A new entry with nothing in it but which it is.
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

/// What the entry is found by, anew.
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
