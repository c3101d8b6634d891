//! `interlock sql`: queries the store with SQL, read-only.
//!
//! The store keeps inputs, not transitions. The views on brain's runs (`sql/brain.rs`) are therefore computed by a replay,
//! and only if the query names one of them.

mod brain;

use std::time::Duration;

use interlock_journal::Engine as _;
use interlock_sqlite::{Cell, QueryLimits, Rows, query};
use serde_json::{Map, Value as Json, json};

use super::Outcome;
use crate::{Exit, args::Sql as Args, failure::Failure, output::Output, store::Store, table};

/// The most bytes of all cells together.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// The most characters of a cell in a table for people.
const CELL_CHARS_MAX: usize = 60;

/// Runs the query and prints its rows.
pub(crate) fn run(args: &Args, output: &Output) -> Outcome {
    let store = Store::open()?;
    let views = match args.query.to_lowercase().contains("brain_") {
        true => brain::views(&store)?,
        false => Vec::new(),
    };
    let limits = QueryLimits { rows: args.rows, bytes: BYTES_MAX, time: Duration::from_secs(args.seconds) };
    let evidence = store.journal.evidence().clone();
    let found = query(&store.home, evidence, &views, &args.query, limits)
        .map_err(|why| Failure::bad_input(why).hint("docs/sql.md lists the tables, the views and their columns"))?;
    match output.is_json() {
        true => output.json(&json_rows(&found))?,
        false => output.data(&text(&found, output))?,
    }
    if found.is_cut {
        output.talk(&format!("only the first {} rows are shown; --rows sets another limit\n", found.rows.len()));
    }
    Ok(Exit::Good)
}

fn text(found: &Rows, output: &Output) -> String {
    let rows: Vec<Vec<String>> = found.rows.iter().map(|row| row.iter().map(shown).collect()).collect();
    table::rows(&found.columns, &rows, output)
}

/// Formats a cell on one line.
fn shown(cell: &Cell) -> String {
    let text = match cell {
        Cell::Null => String::new(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Cell::Blob(bytes) => hex(bytes),
    };
    match text.char_indices().nth(CELL_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn json_rows(found: &Rows) -> Json {
    let value = |cell: &Cell| match cell {
        Cell::Null => Json::Null,
        Cell::Integer(number) => json!(number),
        Cell::Real(number) => json!(number),
        Cell::Text(text) => json!(text),
        Cell::Blob(bytes) => json!(hex(bytes)),
    };
    let row = |row: &Vec<Cell>| {
        let fields = found.columns.iter().zip(row).map(|(name, cell)| (name.clone(), value(cell)));
        Json::Object(fields.collect::<Map<_, _>>())
    };
    found.rows.iter().map(row).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
