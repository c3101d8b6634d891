//! The result of each candidate of a search, one line each, in the run's area: an interrupted search continues from
//! there instead of building everything again.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::collections::BTreeMap;

use interlock_activity::{Attempt, Outcome};
use interlock_repair::Candidate;
use serde::{Deserialize, Serialize};
use tokio::{
    fs::{self, File, OpenOptions},
    io::AsyncWriteExt,
};

use super::trials::Came;
use crate::{area::Area, table::Settings};

/// The results of one search over all its attempts.
pub(super) struct Tried {
    /// `None` if the file cannot be written: it only serves the next attempt.
    file: Option<File>,
    known: BTreeMap<String, Came>,
    /// The number of results that were reused.
    pub(super) again: usize,
}

#[derive(Serialize, Deserialize)]
struct Line {
    patch: String,
    came: Came,
}

impl Tried {
    /// Loads the results of earlier attempts, if there were any.
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
        // An interrupted attempt may have left an incomplete line, which is skipped.
        let lines = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        let known = lines.map(|line| (line.patch, line.came)).collect();
        Ok(Tried { file, known, again: 0 })
    }

    /// Returns the earlier result of a candidate.
    pub(super) fn recall(&mut self, candidate: &Candidate) -> Option<Came> {
        let known = self.known.get(&candidate.patch).cloned();
        self.again += usize::from(known.is_some());
        known
    }

    /// Records the result of a candidate.
    pub(super) async fn add(&mut self, candidate: &Candidate, came: &Came) {
        let line = Line { patch: candidate.patch.clone(), came: came.clone() };
        if let (Some(file), Ok(text)) = (&mut self.file, serde_json::to_string(&line)) {
            let _ = file.write_all(format!("\n{text}\n").as_bytes()).await;
            let _ = file.flush().await;
        }
    }
}
