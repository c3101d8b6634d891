//! `copy.apply` and `copy.restore`: trees as values. `copy.deliver`: brings the changes of a tree into the sources.

use std::{collections::BTreeMap, sync::Arc};

use interlock_activity::{Attempt, Outcome};
use interlock_knowledge::Came;
use interlock_workspace::{Error, patch::Patch};
use serde::Deserialize;
use serde_json::json;

use crate::{
    area::Area,
    knowledge::{self, Round},
    table::{Done, Settings, blocking, failed, given, keep, refs, signal},
};

/// The checkpoint of the sources as they were found.
const BASE: &str = "base";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Apply {
    tree: String,
    patch: String,
}

/// Applies a patch to a tree and returns the new tree. A patch is applied completely or not at all.
pub(crate) async fn apply(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Apply = given(&attempt)?;
    let evidence = keep(&attempt, "patch", "text/x-diff", with.patch.clone().into_bytes()).await?;
    let (of, keeper) = (attempt.clone(), Arc::clone(&settings));
    let found = blocking(move || Ok(keeper.workspace.find_checkpoint(&of.folder, &of.run, BASE).ok()));
    let (of, keeper, from) = (attempt.clone(), Arc::clone(&settings), with.tree.clone());
    let applied = blocking(move || {
        let patch = match Patch::parse(with.patch.as_bytes()) {
            Ok(patch) => patch,
            Err(problem) => return Ok(Err(problem.to_string())),
        };
        let made = keeper.workspace.apply_to_tree(&of.folder, &of.run, &with.tree, &patch);
        match made {
            Ok(tree) => Ok(Ok((tree, patch.summary()))),
            Err(error @ Error::Patch(_)) => Ok(Err(error.to_string())),
            Err(error) => Err(failed(error)),
        }
    });
    let (base, applied) = tokio::join!(found, applied);
    let (tree, summary) = match applied? {
        Ok(made) => made,
        Err(summary) => {
            let refs = refs(std::slice::from_ref(&evidence));
            return Ok(signal("apply_failed", json!({ "summary": summary, "evidence_refs": refs })).with([evidence]));
        }
    };
    let mut kept = vec![evidence];
    // If this is not the first patch, a reader wants to see all patches together.
    if let Some(base) = base?.filter(|base| base.tree != from) {
        let (of, to) = (attempt.clone(), tree.clone());
        let all = blocking(move || settings.workspace.diff_trees(&of.folder, &base.tree, &to).map_err(failed)).await?;
        kept.push(keep(&attempt, "patches", "text/x-diff", all).await?);
    }
    Ok(signal("workspace_updated", json!({ "tree": tree, "summary": summary })).with(kept))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Restore {
    tree: String,
}

/// Restores the run's copy to a tree, so that the next build starts from that tree.
pub(crate) async fn restore(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Restore = given(&attempt)?;
    let name = attempt.invocation.signal_names().next().unwrap_or("restored").to_owned();
    bring(&settings, &attempt, &with.tree).await?;
    Ok(signal(&name, json!({ "tree": with.tree })))
}

/// Updates the run's copy to the content of a tree.
pub(crate) async fn bring(settings: &Arc<Settings>, attempt: &Attempt, tree: &str) -> Result<(), Outcome> {
    let into = Area::of(settings, attempt)?.copy();
    let (settings, folder, tree) = (Arc::clone(settings), attempt.folder.clone(), tree.to_owned());
    blocking(move || settings.workspace.copy_tree(&folder, &tree, &into).map_err(failed)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deliver {
    base: String,
    tree: String,
    /// The round to record as the one that fixed the failure.
    round: Option<Round>,
}

/// Applies the changes of a tree to the sources, completely or not at all. Changes that others made there in the
/// meantime stay.
pub(crate) async fn deliver(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Deliver = given(&attempt)?;
    let (of, keeper, tree) = (attempt.clone(), Arc::clone(&settings), with.tree.clone());
    let patch = blocking(move || keeper.workspace.diff_trees(&of.folder, &with.base, &tree).map_err(failed)).await?;
    let evidence = keep(&attempt, "fix", "text/x-diff", patch.clone()).await?;
    let (of, keeper) = (attempt.clone(), Arc::clone(&settings));
    let delivered = blocking(move || {
        let summary = match patch.is_empty() {
            true => "no change was necessary".to_owned(),
            false => {
                let patch = Patch::parse(&patch).map_err(failed)?;
                match keeper.workspace.apply(&of.folder, &patch, &BTreeMap::new()) {
                    Ok(_) => patch.summary(),
                    Err(error @ Error::Patch(_)) => return Ok(Err(error.to_string())),
                    Err(error) => return Err(failed(error)),
                }
            }
        };
        Ok(Ok(summary))
    });
    let outcome = match delivered.await? {
        Ok(summary) => {
            if let Some(round) = with.round {
                knowledge::remember(&settings, &attempt, round, Came::Fixed).await;
            }
            signal("delivered", json!({ "tree": with.tree, "summary": summary }))
        }
        Err(summary) => {
            let refs = refs(std::slice::from_ref(&evidence));
            signal("delivery_failed", json!({ "summary": summary, "evidence_refs": refs }))
        }
    };
    Ok(outcome.with([evidence]))
}
