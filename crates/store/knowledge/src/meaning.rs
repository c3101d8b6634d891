//! Search by meaning: makes the vectors that entries lack, then merges keyword and vector results.
//!
//! A search does not fail if no vectors can be made: it uses keywords alone and reports the reason.

use interlock_journal::Error;

use crate::{Entry, Filter, Hit, Knowledge};

/// The most entries that get their vectors during one search; the next search continues.
const ENTRIES_PER_SEARCH: usize = 256;

/// The longest text that is sent, in characters: models read no more than some thousand words of it.
const TEXT_CHARS_MAX: usize = 6_000;

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResult {
    /// The entries, best first.
    pub hits: Vec<Hit>,
    /// The reason for which only keywords were used, if vectors were to be used too.
    pub trouble: Option<String>,
}

/// Makes vectors of texts.
#[derive(Clone, Copy, Debug)]
pub struct Vectors<'a, F> {
    /// The model's name: vectors of different models cannot be compared.
    pub model: &'a str,
    /// Returns one vector for each text, in their order, or the problem in words.
    pub make: F,
}

/// Finds entries by keyword and, if `vectors` is given, by meaning.
///
/// # Errors
///
/// If the knowledge base cannot be read. A failure to make vectors is not an error: see [`SearchResult::trouble`].
pub async fn search<F>(
    knowledge: &Knowledge,
    vectors: Option<Vectors<'_, F>>,
    text: &str,
    filter: &Filter,
    at_most: usize,
) -> Result<SearchResult, Error>
where
    F: AsyncFn(&[String]) -> Result<Vec<Vec<f32>>, String>,
{
    let Some(vectors) = vectors else {
        return Ok(SearchResult { hits: knowledge.search(text, filter, at_most)?, trouble: None });
    };
    match vector_of(knowledge, &vectors, text).await? {
        Ok(vector) => {
            let hits = knowledge.search_meaning(text, (vectors.model, &vector), filter, at_most)?;
            Ok(SearchResult { hits, trouble: None })
        }
        Err(trouble) => Ok(SearchResult { hits: knowledge.search(text, filter, at_most)?, trouble: Some(trouble) }),
    }
}

/// Returns the vector of a text, and stores the vectors of entries that had none.
async fn vector_of<F>(
    knowledge: &Knowledge,
    vectors: &Vectors<'_, F>,
    text: &str,
) -> Result<Result<Vec<f32>, String>, Error>
where
    F: AsyncFn(&[String]) -> Result<Vec<Vec<f32>>, String>,
{
    let entries = knowledge.without_vector(vectors.model, ENTRIES_PER_SEARCH)?;
    let mut texts: Vec<String> = vec![text.chars().take(TEXT_CHARS_MAX).collect()];
    texts.extend(entries.iter().map(meaning));
    let mut made = match (vectors.make)(&texts).await {
        Ok(made) => made.into_iter(),
        Err(why) => return Ok(Err(why)),
    };
    let own = made.next().ok_or_else(|| "there is no vector of the text".to_owned());
    for (entry, vector) in entries.iter().zip(made) {
        knowledge.keep_vector(entry, vectors.model, &vector)?;
    }
    Ok(own)
}

/// The text that an entry's vector is made of: title, symptom and cause. The patch is left out, because it would outweigh the rest.
fn meaning(entry: &Entry) -> String {
    let text = format!("{}\n{}\n{}", entry.title, entry.symptom, entry.cause);
    text.chars().take(TEXT_CHARS_MAX).collect()
}
