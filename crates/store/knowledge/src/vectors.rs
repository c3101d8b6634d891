//! Finds entries by vector: the vectors of a model are compared by their cosine, and the results are merged with those
//! of the keyword search.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::{COLUMNS, Entry, Filter, Hit, entry, find};

/// The constant of reciprocal rank fusion: an entry at rank r (from 0) of a list scores 1 / (constant + r). An entry
/// that is first in both lists comes first; a low rank in one list hardly matters.
const RANK_SMOOTHING: f64 = 10.0;

/// Entries below this cosine are not related to the text.
const COSINE_MIN: f32 = 0.2;

/// The number of entries that are taken from each list, per entry that is wanted.
const CANDIDATES_PER_HIT: usize = 4;

/// Stores a vector, if the entry has not changed since the vector was made.
pub(super) fn keep(connection: &Connection, of: &Entry, model: &str, vector: &[f32]) -> rusqlite::Result<bool> {
    let sql = format!("SELECT {COLUMNS}, number FROM entry WHERE id = ?1");
    let now = connection.query_row(&sql, [&of.id], |row| Ok((entry(row)?, row.get::<_, i64>(15)?))).optional()?;
    let Some((_, number)) = now.filter(|(now, _)| now == of) else { return Ok(false) };
    let packed: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    let sql = "INSERT OR REPLACE INTO entry_vector (entry, model, packed) VALUES (?1, ?2, ?3)";
    connection.execute(sql, params![number, model, packed])?;
    Ok(true)
}

/// Returns entries without a vector of this model, newest first.
pub(super) fn missing(connection: &Connection, model: &str, at_most: usize) -> rusqlite::Result<Vec<Entry>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM entry WHERE NOT EXISTS (SELECT 1 FROM entry_vector WHERE entry = number AND model = ?1)
         ORDER BY at DESC, number DESC LIMIT ?2"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params![model, i64::try_from(at_most).unwrap_or(i64::MAX)], entry)?;
    rows.collect()
}

/// Merges keyword and vector results by rank (reciprocal rank fusion).
pub(super) fn search(
    connection: &Connection,
    text: &str,
    (model, meaning): (&str, &[f32]),
    filter: &Filter,
    at_most: usize,
) -> rusqlite::Result<Vec<Hit>> {
    let candidates = at_most.saturating_mul(CANDIDATES_PER_HIT);
    let by_words = find::by_words(connection, text, filter, candidates)?;
    let by_words = by_words.into_iter().filter(|hit| hit.score != 0.0).collect::<Vec<_>>();
    let by_meaning = nearest(connection, model, meaning, filter, candidates)?;
    let mut mixed: BTreeMap<String, Hit> = BTreeMap::new();
    for list in [by_words, by_meaning] {
        for (place, hit) in list.into_iter().enumerate() {
            let worth = 1.0 / (RANK_SMOOTHING + place as f64);
            let known = mixed.entry(hit.entry.id.clone()).or_insert(Hit { score: 0.0, ..hit });
            known.score += worth;
        }
    }
    let mut hits: Vec<Hit> = mixed.into_values().collect();
    hits.sort_by(|one, two| two.score.total_cmp(&one.score).then_with(|| two.entry.at.cmp(&one.entry.at)));
    hits.truncate(at_most);
    Ok(hits)
}

fn nearest(
    connection: &Connection,
    model: &str,
    meaning: &[f32],
    filter: &Filter,
    at_most: usize,
) -> rusqlite::Result<Vec<Hit>> {
    let (narrow, mut values) = find::narrowed(filter);
    values.insert(0, Box::new(model.to_owned()));
    let columns: String = COLUMNS.split(", ").map(|column| format!("entry.{column}")).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "SELECT {columns}, packed FROM entry_vector JOIN entry ON entry.number = entry_vector.entry WHERE entry_vector.model = ?{narrow}"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params_from_iter(values.iter()), |row| {
        let cosine = cosine(meaning, &unpacked(&row.get::<_, Vec<u8>>(15)?));
        Ok((cosine, entry(row)?))
    })?;
    let mut found = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    found.retain(|(cosine, _)| *cosine >= COSINE_MIN);
    found.sort_by(|(one, _), (two, _)| two.total_cmp(one));
    found.truncate(at_most);
    let hit = |(cosine, entry): (f32, Entry)| {
        let snippet = entry.symptom.split_whitespace().collect::<Vec<_>>().join(" ");
        Hit { snippet: snippet.chars().take(80).collect(), score: f64::from(cosine), entry }
    };
    Ok(found.into_iter().map(hit).collect())
}

fn unpacked(packed: &[u8]) -> Vec<f32> {
    packed.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect()
}

/// Returns the cosine of the angle between two vectors; 0 if they cannot be compared.
fn cosine(one: &[f32], two: &[f32]) -> f32 {
    if one.len() != two.len() {
        return 0.0;
    }
    let product =
        |one: &[f32], two: &[f32]| one.iter().zip(two).map(|(one, two)| f64::from(*one) * f64::from(*two)).sum::<f64>();
    let length = (product(one, one) * product(two, two)).sqrt();
    let cosine = product(one, two) / length;
    if cosine.is_finite() { cosine as f32 } else { 0.0 }
}
