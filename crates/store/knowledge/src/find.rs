//! Finds entries by keyword: SQLite's full-text index, best first by BM25.

use std::collections::BTreeSet;

use rusqlite::{Connection, ToSql, params_from_iter};

use super::{COLUMNS, Filter, Hit, entry};

/// The maximum number of words that are searched for: the given text may be a whole log.
const WORDS_MAX: usize = 64;

/// The weight of a word in each column: title, symptom, cause, patch, tags, files.
const WEIGHTS: &str = "4.0, 3.0, 3.0, 1.0, 2.0, 2.0";

/// Returns the SQL conditions of a filter, to be appended to a `WHERE` clause, and their values.
pub(super) fn narrowed(filter: &Filter) -> (String, Vec<Box<dyn ToSql>>) {
    let mut sql = String::new();
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    if let Some(line) = &filter.product_line {
        sql.push_str(" AND entry.product_line = ?");
        values.push(Box::new(line.clone()));
    }
    for tag in &filter.tags {
        sql.push_str(
            " AND EXISTS (SELECT 1 FROM entry_tag WHERE entry_tag.entry = entry.number AND entry_tag.tag = ?)",
        );
        values.push(Box::new(tag.clone()));
    }
    (sql, values)
}

/// Converts a text to a full-text query: each word is quoted, and any of them is enough for a match. `None` if it has
/// no words.
fn query(text: &str) -> Option<String> {
    let mut seen = BTreeSet::new();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase);
    let words = words.filter(|word| word.chars().any(char::is_alphanumeric) && seen.insert(word.clone()));
    let quoted: Vec<String> = words.take(WORDS_MAX).map(|word| format!("\"{word}\"")).collect();
    (!quoted.is_empty()).then(|| quoted.join(" OR "))
}

/// Returns the entries that match best, or the newest entries if the text has no words.
pub(super) fn by_words(
    connection: &Connection,
    text: &str,
    filter: &Filter,
    at_most: usize,
) -> rusqlite::Result<Vec<Hit>> {
    let (narrow, mut values) = narrowed(filter);
    let columns: String = COLUMNS.split(", ").map(|column| format!("entry.{column}")).collect::<Vec<_>>().join(", ");
    let sql = match query(text) {
        Some(query) => {
            values.insert(0, Box::new(query));
            format!(
                "SELECT {columns}, -bm25(entry_text, {WEIGHTS}), snippet(entry_text, -1, '[', ']', '…', 16)
                 FROM entry_text JOIN entry ON entry.number = entry_text.rowid
                 WHERE entry_text MATCH ?{narrow} ORDER BY bm25(entry_text, {WEIGHTS}), entry.at DESC, entry.number DESC LIMIT ?"
            )
        }
        None => format!(
            "SELECT {columns}, 0.0, substr(entry.symptom, 1, 80) FROM entry WHERE 1{narrow} ORDER BY entry.at DESC, entry.number DESC LIMIT ?"
        ),
    };
    values.push(Box::new(i64::try_from(at_most).unwrap_or(i64::MAX)));
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params_from_iter(values.iter()), |row| {
        let snippet: String = row.get(16)?;
        let snippet = snippet.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Hit { entry: entry(row)?, score: row.get(15)?, snippet })
    })?;
    rows.collect()
}
