//! What each candidate of a search has come to, a line for each, in the run's own area: a search that was cut off goes on where it was instead of
//! building everything again.

use std::collections::BTreeMap;

use interlock_activity::{Attempt, Outcome};
use interlock_repair::Candidate;
use serde::{Deserialize, Serialize};
use tokio::{
    fs::{self, File, OpenOptions},
    io::AsyncWriteExt,
};

use super::trials::Came;
use crate::{area::Area, hand::Settings};

/// The results of one search, over all its tries.
pub(super) struct Tried {
    /// Nothing where it cannot be written: it is only for the next try.
    file: Option<File>,
    known: BTreeMap<String, Came>,
    /// How many of them were of use again.
    pub(super) again: usize,
}

#[derive(Serialize, Deserialize)]
struct Line {
    patch: String,
    came: Came,
}

impl Tried {
    /// What tries before this one have found out, if there were any.
    pub(super) async fn of(settings: &Settings, attempt: &Attempt) -> Result<Self, Outcome> {
        let path = Area::of(settings, attempt)?.file(&format!("search-{}.jsonl", attempt.activity));
        let text = match attempt.number {
            ..=1 => Vec::new(),
            _ => fs::read(&path).await.unwrap_or_default(),
        };
        let file = OpenOptions::new().create(true).append(true).open(&path).await.ok();
        if let (true, Some(file)) = (text.is_empty(), &file) {
            let _ = file.set_len(0).await;
        }
        // Whoever was cut off may have left half a line, which is none.
        let lines = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        let known = lines.map(|line| (line.patch, line.came)).collect();
        Ok(Tried { file, known, again: 0 })
    }

    /// What a candidate has come to before.
    pub(super) fn recall(&mut self, candidate: &Candidate) -> Option<Came> {
        let known = self.known.get(&candidate.patch).cloned();
        self.again += usize::from(known.is_some());
        known
    }

    /// Remembers what a candidate has come to.
    pub(super) async fn add(&mut self, candidate: &Candidate, came: &Came) {
        let line = Line { patch: candidate.patch.clone(), came: came.clone() };
        if let (Some(file), Ok(text)) = (&mut self.file, serde_json::to_string(&line)) {
            let _ = file.write_all(format!("\n{text}\n").as_bytes()).await;
            let _ = file.flush().await;
        }
    }
}
