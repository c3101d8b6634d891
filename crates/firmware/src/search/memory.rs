//! What earlier searches of a run have come to. It is in the run's own area, a cache like all there: what is lost with it is only searched again.

use std::{collections::BTreeMap, path::PathBuf};

use interlock_activity::{Attempt, Outcome};
use serde::{Deserialize, Serialize};

use super::With;
use crate::{
    area::Area,
    hand::{Settings, failed},
};

/// What is remembered.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Memory {
    #[serde(skip)]
    path: PathBuf,
    /// Patches that were found and were not enough, with the activity that found each.
    #[serde(default)]
    tried: BTreeMap<String, String>,
    /// What they were built into: another patch that makes the same image is the same in other words.
    #[serde(default)]
    images: BTreeMap<String, String>,
    /// Trees in which nothing was found, and why: looking again would find as little.
    #[serde(default)]
    pub(super) exhausted: BTreeMap<String, String>,
}

impl Memory {
    /// What is known before a search, with the patch of the round before.
    pub(super) async fn of(settings: &Settings, attempt: &Attempt, with: &With) -> Result<Self, Outcome> {
        let path = Area::of(settings, attempt)?.file("searches.json");
        let text = tokio::fs::read(&path).await.unwrap_or_default();
        let mut memory: Memory = serde_json::from_slice(&text).unwrap_or_default();
        // A try that was cut off finds the same again: what it has found itself does not count.
        let own = attempt.activity.to_string();
        memory.tried.retain(|_, activity| *activity != own);
        memory.images.retain(|_, activity| *activity != own);
        memory.tried.insert(with.previous_patch.clone(), String::new());
        Ok(Memory { path, ..memory })
    }

    /// Whether a patch was found before, and was not enough.
    pub(super) fn knows(&self, patch: &str) -> bool {
        self.tried.contains_key(patch)
    }

    /// Whether a patch that was found before has made the same image.
    pub(super) fn knows_image(&self, image: Option<&str>) -> bool {
        image.is_some_and(|image| self.images.contains_key(image))
    }

    /// Remembers a patch that an attempt has found, and what it was built into.
    pub(super) async fn add(mut self, attempt: &Attempt, patch: &str, image: Option<String>) -> Result<(), Outcome> {
        self.tried.insert(patch.to_owned(), attempt.activity.to_string());
        self.images.extend(image.map(|image| (image, attempt.activity.to_string())));
        self.save().await
    }

    /// Remembers that nothing was found in a tree.
    pub(super) async fn exhaust(mut self, tree: &str, why: &str) -> Result<(), Outcome> {
        self.exhausted.insert(tree.to_owned(), why.to_owned());
        self.save().await
    }

    async fn save(&self) -> Result<(), Outcome> {
        let text = serde_json::to_vec(self).map_err(failed)?;
        tokio::fs::write(&self.path, text).await.map_err(failed)
    }
}
