//! `search`: the places that matter for a question, by the repository map and by words.

use std::collections::BTreeMap;

use interlock_codemap::{Survey, Wish};
use interlock_regular_file as regular_file;
use serde_json::{Value as Json, json};

use super::{arguments, number, text};
use crate::{Effect, Tool, ToolError, args::Args, problem::io, scene::Scene, walk::Walk};

/// The number of hits if the call gives none.
const HITS: usize = 20;

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

pub(super) fn call(scene: &Scene, args: &Args) -> Result<Json, ToolError> {
    let (query, max) = (args.need("query"), args.number("max", HITS));
    let survey = Survey::of(&scene.root, scene.store.as_deref());
    let survey = survey.map_err(|error| io(error.to_string()))?;
    let ranking = survey.rank(&Wish::goal(query));
    // Half of the room is for places that only mention the words.
    let symbols = ranking.places(max.div_ceil(2));
    let mut hits: Vec<Json> = Vec::new();
    for place in &symbols {
        let summary = format!("{} {}", place.kind, place.signature);
        hits.push(json!({
            "path": place.path, "line": place.line, "end_line": place.end_line, "source": "symbol", "summary": summary,
        }));
    }
    hits.extend(mentions(scene, query)?.into_iter().take(max.saturating_sub(hits.len())));
    Ok(json!({ "hits": hits, "method": "the repository map and the words of the query" }))
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
        let Ok(content) = regular_file::read(&scene.root, &entry.path, FILE_BYTES_MAX) else { continue };
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
