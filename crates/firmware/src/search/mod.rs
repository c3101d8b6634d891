//! `repair.search`: looks for a patch without a model. Where to look is said by what failing and passing cases execute, what to try by templates;
//! each candidate is built and tested in a copy, and the first that makes the cases pass which must, without losing any, is the patch.
//!
//! That is plausible, not proven: how sure it can be follows from how many cases execute what was changed.

mod sight;
mod sources;
mod trials;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Effect, Outcome};
use interlock_repair::{Candidate, Search, Suspect, candidates, confidence, localise};
use interlock_testbench::{Operation, Profile, Trouble, environment};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    area::Area,
    bench,
    build::Build,
    hand::{Done, Settings, blocking, failed, given, keep, refs, signal},
};
use sight::Sight;
use trials::Trials;

/// How long a search may go on, where nothing else ends it.
const SEARCH_MAX: Duration = Duration::from_secs(20 * 60);

/// How many more candidates are tried after the first good one, where it is not sure enough: another that says the same may be likelier.
const SECOND_THOUGHTS: usize = 15;

/// How sure is sure enough.
const SURE: f64 = 0.8;

/// How many suspects the evidence names.
const SUSPECTS_TOLD: usize = 20;

#[derive(Deserialize)]
pub(crate) struct With {
    pub(crate) tree: String,
    #[serde(default)]
    pub(crate) repo: String,
    #[serde(default)]
    pub(crate) build: Build,
    pub(crate) test_profile: Profile,
    #[serde(default)]
    pub(crate) baseline: String,
    #[serde(default)]
    pub(crate) constraints: Constraints,
    #[serde(default)]
    pub(crate) change_constraint: String,
    /// What was tried in the round before, and was not enough.
    #[serde(default)]
    pub(crate) previous_patch: String,
}

#[derive(Clone, Default, Deserialize)]
pub(crate) struct Constraints {
    #[serde(default)]
    pub(crate) allowed_paths: Vec<String>,
    #[serde(default)]
    pub(crate) forbidden_paths: Vec<String>,
}

/// What became of a search.
struct Found {
    /// The best so far, with how sure it can be.
    candidate: Option<(Candidate, f64)>,
    /// How many cases there are.
    cases: usize,
    covering: usize,
    tried: usize,
    made: usize,
    suspects: Vec<Value>,
}

/// Looks for a patch.
pub(crate) async fn search(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: With = given(&attempt)?;
    if with.change_constraint == "logging_only" {
        return Ok(invalid("templates change code; they do not add logging", &[]));
    }
    if let Some(why) = unfit(&with.test_profile).map_err(|trouble| bench::wrong(&trouble))? {
        return Ok(invalid(&why, &[]));
    }
    let begun = Instant::now();
    let mut trials = match Trials::begin(&settings, &attempt, &with).await? {
        Ok(trials) => trials,
        Err(why) => return Ok(invalid(&why, &[])),
    };
    let found = look(&settings, &attempt, &with, &mut trials, begun).await?;
    let told = json!({
        "suspects": found.suspects,
        "candidates": found.made,
        "tried": found.tried,
        "seconds": begun.elapsed().as_secs_f64(),
        "found": found.candidate.as_ref().map(|(candidate, _)| &candidate.summary),
    });
    let evidence = keep(&attempt, "search", "application/json", format!("{told:#}\n").into_bytes()).await?;
    let Some((candidate, confidence)) = found.candidate else {
        let why = format!("none of {} candidates that were tried makes the cases pass", found.tried);
        return Ok(invalid(&why, &refs(std::slice::from_ref(&evidence))).with([evidence]));
    };
    remember(&settings, &attempt, &candidate.patch).await?;
    let summary = format!(
        "by template, after {} of {} candidates: {} ({} of {} cases execute it)",
        found.tried, found.made, candidate.summary, found.covering, found.cases
    );
    let data = json!({
        "patch": candidate.patch,
        "confidence": confidence,
        "summary": summary,
        "programs_ms": trials.programs_ms,
    });
    Ok(signal("patch_generated", data).with([evidence]))
}

/// Why templates are not tried there, in words: every candidate is brought there and run, and what wears a board out is no trial.
fn unfit(profile: &Profile) -> Result<Option<String>, Trouble> {
    let environment = environment(profile)?;
    let is_external = |operation| environment.effect(operation) == Effect::External;
    let why = || format!("templates are not tried on `{}`: each candidate would be brought there", profile.env_type);
    Ok((is_external(Operation::Deploy) || is_external(Operation::Run)).then(why))
}

fn invalid(why: &str, refs: &[String]) -> Outcome {
    signal("patch_invalid", json!({ "summary": why, "evidence_refs": refs }))
}

/// Every line alike, where nothing points anywhere: neither coverage nor a place that was named.
fn anywhere(texts: &BTreeMap<String, String>) -> Vec<Suspect> {
    let why = "nothing points anywhere else";
    let line = |path: &str, line| Suspect { path: path.to_owned(), line, score: 0.5, why: why.to_owned() };
    texts.iter().flat_map(|(path, text)| (1..=text.lines().count()).map(move |at| line(path, at))).collect()
}

/// Tries one candidate after the other until one is good, or time is up.
async fn look(
    settings: &Settings,
    attempt: &Attempt,
    with: &With,
    trials: &mut Trials,
    begun: Instant,
) -> Result<Found, Outcome> {
    let sight = Sight::of(trials).await?;
    let sources = trials.sources.clone();
    let mut suspects = localise(&sight.coverage, &sight.named);
    if suspects.is_empty() {
        suspects = anywhere(&sources.texts);
    }
    let (ranked, hints) = (suspects.clone(), sight.hints(&sources, with)?);
    let list = blocking(move || Ok(candidates(&sources.texts, &ranked, &hints))).await?;
    let told = suspects.iter().take(SUSPECTS_TOLD).map(
        |suspect| json!({ "path": suspect.path, "line": suspect.line, "score": suspect.score, "why": suspect.why }),
    );
    let mut found = Found {
        candidate: None,
        cases: sight.coverage.len(),
        covering: 0,
        tried: 0,
        made: list.len(),
        suspects: told.collect(),
    };
    let tried_before = tried(settings, attempt, &with.previous_patch).await?;
    let mut search = Search::new(trials.sources.texts.clone(), list, trials::trial(&trials.measured));
    let mut last = usize::MAX;
    while let Some(candidate) = search.next() {
        if begun.elapsed() > SEARCH_MAX || found.tried >= last {
            break;
        }
        if tried_before.contains(&candidate.patch) {
            continue;
        }
        found.tried += 1;
        let text = format!("candidate {} of {}: {}", found.tried, found.made, candidate.summary);
        attempt.host.progress(&attempt.run, attempt.activity, &text);
        let (trial, is_good) = trials.try_out(&candidate).await?;
        search.tell(&candidate, &trial);
        if is_good {
            last = last.min(found.tried + SECOND_THOUGHTS);
            let covering = sight.covering(&candidate);
            let sure = confidence(candidate.template, covering, found.cases);
            if found.candidate.as_ref().is_none_or(|(_, before)| sure > *before) {
                (found.covering, found.candidate) = (covering, Some((candidate, sure)));
            }
            if sure >= SURE {
                break;
            }
        }
    }
    Ok(found)
}

/// Patches that were found by earlier searches of the run and were not enough.
async fn tried(settings: &Settings, attempt: &Attempt, previous: &str) -> Result<BTreeSet<String>, Outcome> {
    let path = Area::of(settings, attempt)?.file("tried.json");
    let text = tokio::fs::read(path).await.unwrap_or_default();
    let mut tried: BTreeSet<String> = serde_json::from_slice(&text).unwrap_or_default();
    tried.insert(previous.to_owned());
    Ok(tried)
}

async fn remember(settings: &Settings, attempt: &Attempt, patch: &str) -> Result<(), Outcome> {
    let mut tried = tried(settings, attempt, patch).await?;
    // A try that was cut off finds the same again: what it has found itself does not count as tried.
    tried.insert(patch.to_owned());
    let path = Area::of(settings, attempt)?.file("tried.json");
    let text = serde_json::to_vec(&tried).map_err(failed)?;
    tokio::fs::write(path, text).await.map_err(failed)
}
