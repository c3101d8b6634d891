//! The results of earlier searches of a run. They are kept in the run's area, which is a cache: if they are lost, the
//! search runs again.

#![expect(
    clippy::disallowed_methods,
    reason = "the run's area belongs to Interlock; programs write in directories below it"
)]

use std::{collections::BTreeMap, path::PathBuf};

use interlock_activity::{Attempt, Outcome};
use interlock_repair::Suspect;
use serde::{Deserialize, Serialize};

use super::With;
use crate::{
    area::Area,
    table::{Settings, failed},
};

/// The memory of a run's searches.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Memory {
    #[serde(skip)]
    path: PathBuf,
    /// Patches that were found and did not suffice, with the activity that found each.
    #[serde(default)]
    tried: BTreeMap<String, String>,
    /// The images of those patches: another patch that builds the same image is equivalent.
    #[serde(default)]
    images: BTreeMap<String, String>,
    /// Trees in which nothing was found, with the reason: another search would find nothing either.
    #[serde(default)]
    pub(super) exhausted: BTreeMap<String, String>,
    /// The lines of functions that a diagnostic change has shown to run, by file.
    #[serde(default)]
    observed: BTreeMap<String, Vec<(usize, usize)>>,
}

impl Memory {
    /// Loads the memory before a search and adds the patch of the previous round.
    pub(super) async fn of(settings: &Settings, attempt: &Attempt, with: &With) -> Result<Self, Outcome> {
        let path = Area::of(settings, attempt)?.file("searches.json");
        let text = tokio::fs::read(&path).await.unwrap_or_default();
        let mut memory: Memory = serde_json::from_slice(&text).unwrap_or_default();
        // A repeated attempt finds the same patches again, so the finds of its own activity do not count.
        let own = attempt.activity.to_string();
        memory.tried.retain(|_, activity| *activity != own);
        memory.images.retain(|_, activity| *activity != own);
        memory.tried.insert(with.previous_patch.clone(), String::new());
        Ok(Memory { path, ..memory })
    }

    /// Reports whether a patch was found before and did not suffice.
    pub(super) fn knows(&self, patch: &str) -> bool {
        self.tried.contains_key(patch)
    }

    /// Reports whether an earlier patch built the same image.
    pub(super) fn knows_image(&self, image: Option<&str>) -> bool {
        image.is_some_and(|image| self.images.contains_key(image))
    }

    /// Records a patch that an attempt has found, and the image that it built.
    pub(super) async fn add(mut self, attempt: &Attempt, patch: &str, image: Option<String>) -> Result<(), Outcome> {
        self.tried.insert(patch.to_owned(), attempt.activity.to_string());
        self.images.extend(image.map(|image| (image, attempt.activity.to_string())));
        self.save().await
    }

    /// Records that nothing was found in a tree.
    pub(super) async fn exhaust(mut self, tree: &str, why: &str) -> Result<(), Outcome> {
        self.exhausted.insert(tree.to_owned(), why.to_owned());
        self.save().await
    }

    /// Records the functions that a diagnostic change has shown to run.
    pub(super) async fn observe(mut self, functions: BTreeMap<String, Vec<(usize, usize)>>) -> Result<(), Outcome> {
        self.observed = functions;
        self.save().await
    }

    /// Reports whether a line belongs to a function that is known to run.
    pub(super) fn has_run(&self, suspect: &Suspect) -> bool {
        let of = self.observed.get(&suspect.path).into_iter().flatten();
        of.into_iter().any(|(first, last)| (*first..=*last).contains(&suspect.line))
    }

    async fn save(&self) -> Result<(), Outcome> {
        let text = serde_json::to_vec(self).map_err(failed)?;
        tokio::fs::write(&self.path, text).await.map_err(failed)
    }
}
