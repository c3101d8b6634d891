//! `search`: the places that matter for a question, by the repository map and by words, ordered by meaning if a server for
//! vectors is configured.

use interlock_policy::Request;
use std::collections::BTreeMap;

use interlock_beneath as beneath;
use interlock_codemap::{RankedSymbol, Survey, Wish};
use serde_json::{Value as Json, json};

use super::{arguments, number, text};
use crate::{
    Effect, Tool, ToolError,
    args::Args,
    meaning,
    problem::io,
    requests::{Given, Unstated},
    scene::Scene,
    walk::Walk,
};

/// The number of hits if the call gives none.
const HITS: usize = 20;

/// The most places whose vectors are compared with that of the query.
const CANDIDATES_MAX: usize = 96;

/// The shortest word of a query that is searched for.
const WORD_MIN: usize = 3;

/// The most words of a query that are searched for.
const WORDS_MAX: usize = 12;

/// The longest file that is searched for words.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

pub(super) fn tool() -> Tool {
    Tool {
        name: "search",
        description: "Finds the definitions and files that matter for a question in words, such as `where are timeouts \
                      read`. Use `grep` if you know the text.",
        args_schema: arguments(
            1,
            [
                ("query", text("What is looked for, in words or names")),
                ("max", number(1, 100, "The most hits; 20 if it is missing")),
            ],
        ),
        result: "`hits` (`path`, `line`, `end_line`, `source`: symbol or text, `summary`), `method`",
        permission: "fs.read",
        effect: Effect::Read,
        idempotent: true,
    }
}

pub(super) fn requests(given: &Given<'_>) -> Result<Vec<Request>, Unstated> {
    given.reads_place()
}

pub(super) fn call(scene: &Scene, args: &Args) -> Result<Json, ToolError> {
    let (query, max) = (args.need("query"), args.number("max", HITS));
    // With vectors, more places are candidates than are shown.
    let wide = if scene.meaning.0.is_some() { CANDIDATES_MAX.max(max) } else { max };
    let mut hits = candidates(scene, query, wide)?;
    let ordered = meaning::order(&scene.meaning, &scene.attempt.folder, query, &mut hits);
    if !matches!(ordered, Ok(true)) {
        hits = narrowed(hits, max);
    }
    hits.truncate(max);
    let method =
        if matches!(ordered, Ok(true)) { "by meaning" } else { "the repository map and the words of the query" };
    let mut said = json!({ "hits": hits, "method": method });
    if let Err(why) = ordered {
        said["note"] = json!(format!("the search by meaning failed: {why}"));
    }
    Ok(said)
}

/// Returns the best of the candidates: half of them definitions, if there are enough mentions.
fn narrowed(hits: Vec<Json>, max: usize) -> Vec<Json> {
    let (mut symbols, mentions): (Vec<Json>, Vec<Json>) = hits.into_iter().partition(|hit| hit["source"] == "symbol");
    symbols.truncate(max.saturating_sub(mentions.len().min(max / 2)));
    symbols.extend(mentions);
    symbols
}

/// Returns definitions that the repository map ranks high, then files that mention the words.
fn candidates(scene: &Scene, query: &str, max: usize) -> Result<Vec<Json>, ToolError> {
    let survey = Survey::of(&scene.root, scene.store.as_deref());
    let survey = survey.map_err(|error| io(error.to_string()))?;
    // Half of the room is for places that only mention the words.
    let symbols = survey.rank(&Wish::goal(query)).places(max.div_ceil(2));
    let symbol = |place: &RankedSymbol| {
        let summary = format!("{} {}", place.kind, place.signature);
        json!({
            "path": place.path, "line": place.line, "end_line": place.end_line, "source": "symbol", "summary": summary,
        })
    };
    let mut hits: Vec<Json> = symbols.iter().map(symbol).collect();
    hits.extend(mentions(scene, query)?.into_iter().take(max.saturating_sub(hits.len())));
    Ok(hits)
}

/// Returns the files that have the most words of the query, with the line that has the most.
fn mentions(scene: &Scene, query: &str) -> Result<Vec<Json>, ToolError> {
    let words = words(query);
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let mut found: BTreeMap<(usize, usize, String), Json> = BTreeMap::new();
    for entry in Walk::below(scene, std::path::Path::new(""), None)? {
        if entry.is_folder || entry.is_link {
            continue;
        }
        let Ok(content) = beneath::read(&scene.root, &entry.path, FILE_BYTES_MAX) else { continue };
        let Ok(text) = std::str::from_utf8(&content) else { continue };
        let lower = text.to_lowercase();
        let in_file = words.iter().filter(|word| lower.contains(*word)).count();
        if in_file == 0 {
            continue;
        }
        let score = |line: &str| words.iter().filter(|word| line.contains(*word)).count();
        let best = lower.lines().enumerate().map(|(at, line)| (score(line), std::cmp::Reverse(at))).max();
        let Some((in_line, std::cmp::Reverse(at))) = best else { continue };
        let path = entry.path.to_string_lossy().into_owned();
        let summary: String = text.lines().nth(at).unwrap_or_default().trim().chars().take(200).collect();
        let hit = json!({ "path": path, "line": at + 1, "end_line": at + 1, "source": "text", "summary": summary });
        found.insert((words.len() - in_file, words.len() - in_line, path), hit);
    }
    Ok(found.into_values().collect())
}

fn words(query: &str) -> Vec<String> {
    let mut words: Vec<String> = query
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() >= WORD_MIN)
        .collect();
    words.sort_unstable();
    words.dedup();
    words.truncate(WORDS_MAX);
    words
}
