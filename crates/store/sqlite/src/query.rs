//! SQL queries over the store: read-only, with limits on rows, bytes and time.
//!
//! A query runs on a separate in-memory database to which the store is attached read-only, so no statement can change
//! the store. SQLite's authorizer refuses every statement that does not only read. The caller can add tables, for
//! example views that need a replay of the runs.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use interlock_journal::{EvidenceStore, Hash};
use rusqlite::{
    Connection, ErrorCode, OpenFlags,
    functions::FunctionFlags,
    hooks::{AuthAction, AuthContext, Authorization},
    types::{Value, ValueRef},
};

use crate::{database::BUSY_WAIT, journal::STORE_FILE, store::Source};

/// The number of SQLite instructions between two looks at the clock.
const STEPS_PER_LOOK: i32 = 1_000;

/// The limits of a query.
#[derive(Clone, Copy, Debug)]
pub struct QueryLimits {
    /// The most rows that are returned.
    pub rows: usize,
    /// The most bytes of all cells together.
    pub bytes: usize,
    /// The longest time that the query may take.
    pub time: Duration,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// SQL's NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// A table that a query can read besides the store's own.
#[derive(Clone, Debug)]
pub struct View {
    /// The name of the table.
    pub name: &'static str,
    /// The names of its columns.
    pub columns: &'static [&'static str],
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
}

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, in the order of the query.
    pub rows: Vec<Vec<Cell>>,
    /// True if a limit left rows out.
    pub is_cut: bool,
}

/// Runs a query over the store in a directory.
///
/// The function `evidence(hash)` returns the content of an evidence file, or NULL if there is none.
///
/// # Errors
///
/// Returns a sentence if SQLite refuses the query, if it does not only read, or if it takes too long.
pub fn query(
    folder: &Path,
    evidence: EvidenceStore,
    views: &[View],
    sql: &str,
    limits: QueryLimits,
) -> Result<Rows, String> {
    if sql.trim_matches(|letter: char| letter.is_whitespace() || letter == ';').is_empty() {
        return Err("the query is empty; give one, such as `select name, machine from run`".to_owned());
    }
    let source = Source::of(&folder.join(STORE_FILE)).map_err(|error| error.to_string())?;
    let mut connection = open(&source).map_err(|error| format!("the store could not be read: {error}"))?;
    views.iter().try_for_each(|view| add(&connection, view)).map_err(|error| error.to_string())?;
    add_evidence(&connection, evidence).map_err(|error| error.to_string())?;
    let deadline = Instant::now() + limits.time;
    restrict(&mut connection, deadline).map_err(|error| error.to_string())?;
    select(&connection, sql, limits).map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => format!("the query took longer than {} s", limits.time.as_secs()),
        Some(ErrorCode::AuthorizationForStatementDenied) => {
            "only queries are allowed: nothing in the store can be changed".to_owned()
        }
        _ => error.to_string(),
    })
}

fn open(source: &Source) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_in_memory_with_flags(flags)?;
    connection.busy_timeout(BUSY_WAIT)?;
    connection.execute("ATTACH DATABASE ?1 AS store", [&source.uri])?;
    Ok(connection)
}

fn add(connection: &Connection, view: &View) -> rusqlite::Result<()> {
    connection.execute_batch(&format!("CREATE TABLE main.{} ({})", view.name, view.columns.join(", ")))?;
    let places = vec!["?"; view.columns.len()].join(", ");
    let mut insert = connection.prepare(&format!("INSERT INTO main.{} VALUES ({places})", view.name))?;
    for row in &view.rows {
        insert.execute(rusqlite::params_from_iter(row.iter().cloned().map(Value::from)))?;
    }
    Ok(())
}

fn add_evidence(connection: &Connection, evidence: EvidenceStore) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("evidence", 1, flags, move |context| {
        let hash = match context.get_raw(0) {
            ValueRef::Text(text) => std::str::from_utf8(text).ok().and_then(Hash::from_hex),
            ValueRef::Blob(bytes) => <[u8; 32]>::try_from(bytes).ok().map(Hash),
            _ => None,
        };
        let content = hash.and_then(|hash| evidence.get(&hash).ok());
        Ok(content.map_or(Value::Null, |content| match String::from_utf8(content) {
            Ok(text) => Value::Text(text),
            Err(error) => Value::Blob(error.into_bytes()),
        }))
    })
}

/// Allows only reading from here on, and only until the deadline.
fn restrict(connection: &mut Connection, deadline: Instant) -> rusqlite::Result<()> {
    let allows = |context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if function_name != "load_extension" => Authorization::Allow,
        _ => Authorization::Deny,
    };
    connection.authorizer(Some(allows))?;
    connection.progress_handler(STEPS_PER_LOOK, Some(move || Instant::now() > deadline))
}

fn select(connection: &Connection, sql: &str, limits: QueryLimits) -> rusqlite::Result<Rows> {
    let mut statement = connection.prepare(sql)?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut found = Rows { columns, ..Rows::default() };
    let (mut rows, mut bytes) = (statement.query([])?, 0);
    while let Some(row) = rows.next()? {
        let cells: Vec<Cell> =
            (0..found.columns.len()).map(|at| row.get_ref(at).map(Cell::from)).collect::<rusqlite::Result<_>>()?;
        bytes += cells.iter().map(Cell::bytes).sum::<usize>();
        if found.rows.len() == limits.rows || bytes > limits.bytes {
            found.is_cut = true;
            break;
        }
        found.rows.push(cells);
    }
    Ok(found)
}

impl Cell {
    /// Makes a text cell, or NULL if there is no text.
    pub fn text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Cell::Null, |text| Cell::Text(text.into()))
    }

    fn bytes(&self) -> usize {
        match self {
            Cell::Text(text) => text.len(),
            Cell::Blob(bytes) => bytes.len(),
            _ => 8,
        }
    }
}

impl From<ValueRef<'_>> for Cell {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(number) => Cell::Integer(number),
            ValueRef::Real(number) => Cell::Real(number),
            ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
        }
    }
}

impl From<Cell> for Value {
    fn from(cell: Cell) -> Self {
        match cell {
            Cell::Null => Value::Null,
            Cell::Integer(number) => Value::Integer(number),
            Cell::Real(number) => Value::Real(number),
            Cell::Text(text) => Value::Text(text),
            Cell::Blob(bytes) => Value::Blob(bytes),
        }
    }
}
