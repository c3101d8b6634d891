//! Search by meaning: orders places by the likeness of their vectors to that of the query.
//!
//! The vectors come from a server that the binary knows; this crate only compares them.

use std::{path::Path, sync::Arc};

use interlock_activity::Future;
use serde_json::Value as Json;

/// A source of vectors whose angle tells how alike two texts are.
pub trait Meaning: Send + Sync {
    /// Returns one vector per text, in the same order; `None` if no server is configured for this directory.
    fn vectors(&self, folder: &Path, texts: Vec<String>) -> Future<Result<Option<Vec<Vec<f32>>>, String>>;
}

/// A source of vectors that can be printed, or none.
#[derive(Clone, Default)]
pub(crate) struct Source(pub(crate) Option<Arc<dyn Meaning>>);

impl std::fmt::Debug for Source {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(if self.0.is_some() { "Source(..)" } else { "Source(none)" })
    }
}

/// Orders hits by their likeness to a query, best first. Returns false if there are no vectors to compare, and the reason
/// if the server failed. May block; must be called on a thread for blocking work.
pub(crate) fn order(source: &Source, folder: &Path, query: &str, hits: &mut Vec<Json>) -> Result<bool, String> {
    let Some(meaning) = source.0.as_ref().filter(|_| !hits.is_empty()) else { return Ok(false) };
    let text = |hit: &Json| {
        format!("{}: {}", hit["path"].as_str().unwrap_or_default(), hit["summary"].as_str().unwrap_or_default())
    };
    let texts: Vec<String> = std::iter::once(query.to_owned()).chain(hits.iter().map(text)).collect();
    let count = texts.len();
    let handle = tokio::runtime::Handle::try_current().map_err(|error| error.to_string())?;
    let Some(vectors) = handle.block_on(meaning.vectors(folder, texts))? else { return Ok(false) };
    let Some((wanted, rest)) = vectors.split_first().filter(|_| vectors.len() == count) else {
        return Err("the server returned another number of vectors".to_owned());
    };
    let mut ranked: Vec<(f32, Json)> =
        rest.iter().map(|vector| likeness(wanted, vector)).zip(std::mem::take(hits)).collect();
    ranked.sort_by(|(one, _), (two, _)| two.total_cmp(one));
    hits.extend(ranked.into_iter().map(|(_, hit)| hit));
    Ok(true)
}

/// Returns the cosine of the angle between two vectors; 0 if they cannot be compared.
fn likeness(one: &[f32], two: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (dot(one, one) * dot(two, two)).sqrt();
    if one.len() != two.len() || lengths <= f32::EPSILON { 0.0 } else { dot(one, two) / lengths }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_compared_by_their_angle() {
        assert!((likeness(&[1.0, 0.0], &[3.0, 0.0]) - 1.0).abs() < 1e-6);
        assert_eq!(likeness(&[1.0, 0.0], &[0.0, 2.0]), 0.0);
        assert_eq!(likeness(&[1.0], &[1.0, 2.0]), 0.0);
        assert_eq!(likeness(&[0.0], &[1.0]), 0.0);
    }
}
