//! The untouched and the patched tree side by side, each in a separate session.

use std::{path::Path, path::PathBuf, sync::Arc};

use interlock_activity::{Attempt, Outcome};
use interlock_journal::Hash;
use interlock_test_results::Measured;
use interlock_testbench::{Profile, Reset, Trouble};
use serde_json::Value;

use super::With;
use crate::{
    area::Area,
    bench::{self, Open},
    build::{self, Keeping},
    table::{Settings, blocking, failed},
};

/// The environment types that need only the image of a tree.
const IMAGE_IS_ENOUGH: [&str; 3] = ["qemu", "target_board", "bmc"];

/// Both trees, ready to run.
pub(super) struct Pair {
    /// `None` if the untouched tree does not build.
    pub(super) untouched: Option<Open>,
    pub(super) patched: Open,
}

impl Pair {
    /// Copies both trees and builds those without a kept image.
    pub(super) async fn make(
        settings: &Arc<Settings>,
        attempt: &Attempt,
        with: &With,
        before: Option<&Measured>,
    ) -> Result<Result<Self, Trouble>, Outcome> {
        let area = Area::of(settings, attempt)?;
        let old = side(settings, attempt, with, &with.base, area.untouched()).await?;
        let new = side(settings, attempt, with, &with.tree, area.copy()).await?;
        let image = untouched_image(attempt, &with.baseline).await?;
        let is_enough = IMAGE_IS_ENOUGH.contains(&with.test_profile.env_type.as_str());
        let activity = attempt.activity;
        let untouched = match before {
            Some(_) => {
                let kept = image.filter(|image| is_enough && !image.is_empty());
                open(settings, attempt, with, &old, kept.as_deref(), &format!("{activity}u")).await?
            }
            None => Ok(None),
        };
        let untouched = match untouched {
            Ok(untouched) => untouched,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let kept = Some(with.artifact.as_str()).filter(|image| is_enough && !image.is_empty());
        match open(settings, attempt, with, &new, kept, &format!("{activity}p")).await? {
            Ok(Some(patched)) => Ok(Ok(Pair { untouched, patched })),
            Ok(None) => Ok(Err(Trouble::environment("the patched tree no longer builds"))),
            Err(trouble) => Ok(Err(trouble)),
        }
    }

    /// Tears down both sessions and releases the resource.
    pub(super) async fn end(self, settings: &Arc<Settings>, attempt: &Attempt) {
        for open in self.untouched.iter().chain([&self.patched]) {
            let _ = open.environment.teardown(open.bench(settings, attempt)).await;
        }
        bench::let_go(&attempt.run);
    }
}

/// Copies a tree into a directory; returns the repository's directory within it.
async fn side(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    with: &With,
    tree: &str,
    into: PathBuf,
) -> Result<PathBuf, Outcome> {
    let (keeper, of, tree, to) = (Arc::clone(settings), attempt.folder.clone(), tree.to_owned(), into.clone());
    blocking(move || keeper.workspace.copy_tree(&of, &tree, &to).map_err(failed)).await?;
    build::folder_in(settings, attempt, &with.repo, into).await
}

/// Opens a session for one side with its image; returns `None` if the tree must be built and does not build.
async fn open(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    with: &With,
    folder: &Path,
    image: Option<&str>,
    handle: &str,
) -> Result<Result<Option<Open>, Trouble>, Outcome> {
    if image.is_none() {
        let built = build::build(settings, attempt, &with.build, folder, Keeping::Nothing).await?;
        if built.image.is_err() {
            return Ok(Ok(None));
        }
    }
    let profile = Profile { confirm: false, repetitions: 1, coverage: false, ..with.test_profile.clone() };
    let mut open = match bench::begin_as(settings, attempt, profile, folder, handle).await {
        Ok(open) => open,
        Err(trouble) => return Ok(Err(trouble)),
    };
    if with.reset
        && let Err(trouble) = open.environment.reset(open.bench(settings, attempt), Reset::Restart).await
    {
        return Ok(Err(trouble));
    }
    match image {
        Some(image) => bench::place(attempt, &mut open.session, image).await?,
        None if with.build.image.is_empty() => {}
        None => {
            let to = open.session.folder.join("image");
            let (folder, image, into) = (folder.to_owned(), with.build.image.clone(), to.clone());
            blocking(move || build::copy_image(&folder, &image, &into).map_err(failed)).await?;
            open.session.image = Some(to);
            open.session.save().map_err(failed)?;
        }
    }
    Ok(Ok(Some(open)))
}

/// Returns the hash of the image that the baseline has kept.
async fn untouched_image(attempt: &Attempt, baseline: &str) -> Result<Option<String>, Outcome> {
    let Some(hash) = Hash::from_hex(baseline) else { return Ok(None) };
    let store = attempt.evidence.clone();
    blocking(move || {
        let text = store.get(&hash).map_err(failed)?;
        let value: Value = serde_json::from_slice(&text).map_err(failed)?;
        Ok(value["build"]["image"].as_str().map(str::to_owned))
    })
    .await
}
