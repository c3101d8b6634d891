//! `repair.search`: searches for a patch without a model. The lines that failing and passing cases execute select the
//! place, and templates select the change. Each candidate is built and tested in a copy. The first one that makes all
//! required cases pass without losing any is the patch.
//!
//! Such a patch is plausible, not proven: its confidence follows from the number of failing cases that execute the
//! changed line.

mod memory;
mod sight;
mod sources;
mod trials;
mod tried;

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, EffectClass, Outcome};
use interlock_chart::counted;
use interlock_repair::{Candidate, Search, Suspect, TRIALS_MAX, believed, candidates, confidence, localise};
use interlock_testbench::{Operation, Profile, Trouble, environment};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    bench,
    build::Build,
    rounds::SURE,
    table::{Done, Settings, blocking, given, keep, refs, signal},
};
use memory::Memory;
use sight::Sight;
pub(crate) use sources::Sources;
use trials::{Came, Trials, Unfit};
use tried::Tried;

/// The time limit of a search.
const SEARCH_MAX: Duration = Duration::from_secs(20 * 60);

/// The number of candidates tried after the first good one if its confidence is too low: an equally good one may be
/// more likely.
const SECOND_THOUGHTS: usize = 15;

/// The upper bound of the confidence in a partial repair, regardless of the number of cases that execute it. It is
/// below the limit for delivery without a person, because many changes satisfy a single check by chance.
const PART_SURE_MAX: f64 = 0.7;

/// The number of candidates that may leave the image unchanged before the search concludes that the image is not
/// built from these sources.
const UNCHANGED_MAX: usize = 10;

/// The number of suspects that the evidence names.
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
    /// `measured` if the figures alone may deliver a patch; otherwise a person delivers it.
    #[serde(default)]
    pub(crate) deliver: String,
    #[serde(default)]
    pub(crate) change_constraint: String,
    /// The reason for which policy or a person refused the patch found before, if that is why the search runs again.
    #[serde(default)]
    pub(crate) refused: String,
    /// The patch of the previous round, which did not suffice.
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

/// The result of a search.
struct SearchResult {
    /// The best candidate so far, with its confidence.
    candidate: Option<(Candidate, f64)>,
    /// The image that the best candidate built.
    image: Option<String>,
    /// The first candidate that repairs a part of the failures and breaks nothing: the next round may find another
    /// one on top of it.
    part: Option<(Candidate, f64)>,
    /// The number of cases with coverage.
    cases: usize,
    covering: usize,
    /// The number of failing cases that execute the change; they distinguish it from other changes.
    witnesses: usize,
    /// The number of other candidates that make the cases pass too.
    others: usize,
    tried: usize,
    /// The number of candidates that were skipped because they were found before and did not suffice, or were
    /// refused.
    known: usize,
    made: usize,
    suspects: Vec<Value>,
    /// The number of sources that may not be changed.
    kept_from: usize,
    /// A warning about the way cases are started, if any.
    oddity: Option<String>,
    /// The number of candidates that built the same image as the unchanged tree.
    unchanged: usize,
}

impl SearchResult {
    /// Reports whether changes of the sources do not affect the image.
    fn is_deaf(&self) -> bool {
        self.unchanged >= UNCHANGED_MAX && self.unchanged == self.tried
    }

    /// Describes why nothing was found; `sources` is the number of C sources.
    fn in_vain(&self, sources: usize) -> String {
        match (self.made, self.tried) {
            (_, tried) if self.is_deaf() => format!(
                "all {tried} changes that were tried left the image as it was: is `build.image` made from these sources?"
            ),
            (0, _) if sources == 0 => "templates know C, and there is no C source".to_owned(),
            (0, _) if self.kept_from == sources => {
                format!("none of {sources} C sources may be changed: see `allowed_paths` and `forbidden_paths`")
            }
            (0, _) if self.known > 0 => {
                "all template candidates were found before and were refused or not sufficient".to_owned()
            }
            (0, _) => "templates offer nothing for the lines that failing cases execute".to_owned(),
            (made, tried) if tried < made => {
                format!(
                    "none of {tried} candidates that were tried makes the cases pass, of {made} that templates offer"
                )
            }
            (_, tried) if self.known > 0 => {
                format!("none of the {tried} other candidates that templates offer makes the cases pass")
            }
            (_, tried) => format!("none of the {tried} candidates that templates offer makes the cases pass"),
        }
    }
}

/// Searches for a patch with templates.
pub(crate) async fn search(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: With = given(&attempt)?;
    if with.change_constraint == "logging_only" {
        let refused = if with.refused.is_empty() { "it" } else { &with.refused };
        return Ok(nothing(&format!("templates add no logging, which is all that is allowed after {refused}")));
    }
    if let Some(why) = unfit(&with.test_profile).map_err(|trouble| bench::wrong(&trouble))? {
        return Ok(nothing(&why));
    }
    let memory = Memory::of(&settings, &attempt, &with).await?;
    if let Some(why) = memory.exhausted.get(&with.tree) {
        return Ok(nothing(why));
    }
    let begun = Instant::now();
    let mut trials = match Trials::begin(&settings, &attempt, &with).await? {
        Ok(trials) => trials,
        Err(Unfit { why, is_certain, programs }) => {
            if is_certain {
                memory.exhaust(&with.tree, &why).await?;
            }
            let data = json!({ "summary": why, "evidence_refs": [], "programs_ms": bench::milliseconds(programs) });
            return Ok(signal("nothing_found", data));
        }
    };
    let mut tried = Tried::of(&settings, &attempt).await?;
    let found = look(&attempt, &with, &memory, &mut trials, &mut tried, begun).await?;
    let told = json!({
        "suspects": found.suspects,
        "candidates": found.made,
        "tried": found.tried,
        "tried_before_it_was_cut_off": tried.again,
        "seconds": begun.elapsed().as_secs_f64(),
        "found": found.candidate.as_ref().map(|(candidate, _)| &candidate.summary),
        "oddity": found.oddity,
        "other_candidates_that_pass": found.others,
    });
    let evidence = keep(&attempt, "search", "application/json", format!("{told:#}\n").into_bytes()).await?;
    let in_vain = found.in_vain(trials.sources.texts.len());
    let is_part = found.candidate.is_none();
    let Some((candidate, ranked)) = found.candidate.or(found.part) else {
        let why = in_vain;
        memory.exhaust(&with.tree, &why).await?;
        let data = json!({ "summary": why, "evidence_refs": refs(std::slice::from_ref(&evidence)), "programs_ms": bench::milliseconds(trials.programs) });
        return Ok(signal("nothing_found", data).with([evidence]));
    };
    memory.add(&attempt, &candidate.patch, found.image).await?;
    let mut summary = format!(
        "by template, after {} of at most {} candidates: {} ({})",
        found.tried,
        found.made,
        candidate.summary,
        match found.cases {
            _ if is_part => format!("it repairs a part: {in_vain}"),
            0 => "it is not known which cases execute it".to_owned(),
            cases => format!("{} of {cases} cases execute it, {} of them failing", found.covering, found.witnesses),
        }
    );
    if found.others > 0 {
        let others = counted(found.others, "other candidate makes", "other candidates make");
        summary.push_str(&format!("; {others} the cases pass too"));
    }
    summary.extend(found.oddity.iter().map(|odd| format!("; {odd}")));
    // The ranking score does not separate right patches from wrong ones, so it alone delivers only if the task asks
    // for that.
    let confidence = match with.deliver.as_str() {
        "measured" => ranked,
        _ => ranked.min(believed(Some(candidate.template), found.witnesses)),
    };
    let data = json!({
        "patch": candidate.patch,
        // More than two digits would pretend a precision that is not there.
        "confidence": (confidence * 100.0).floor() / 100.0,
        "summary": summary,
        "programs_ms": bench::milliseconds(trials.programs),
    });
    Ok(signal("patch_generated", data).with([evidence]))
}

/// Returns the reason why templates are not tried in this environment: every candidate is deployed and run, and
/// wearing out a board is not acceptable for trials.
fn unfit(profile: &Profile) -> Result<Option<String>, Trouble> {
    let environment = environment(profile)?;
    let is_external = |operation| environment.effect(operation) == EffectClass::External;
    let why = || format!("templates are not tried on `{}`: each candidate would have to be deployed there", profile.env_type);
    Ok((is_external(Operation::Deploy) || is_external(Operation::Run)).then(why))
}

fn nothing(why: &str) -> Outcome {
    signal("nothing_found", json!({ "summary": why, "evidence_refs": [] }))
}

/// Returns every line with the same score, for the case that neither coverage nor a named place points anywhere.
fn anywhere(texts: &BTreeMap<String, String>) -> Vec<Suspect> {
    let why = "no evidence points elsewhere";
    let line = |path: &str, line| Suspect { path: path.to_owned(), line, score: 0.5, why: why.to_owned() };
    texts.iter().flat_map(|(path, text)| (1..=text.lines().count()).map(move |at| line(path, at))).collect()
}

/// Tries the candidates one by one until one is good enough or the time is up.
async fn look(
    attempt: &Attempt,
    with: &With,
    memory: &Memory,
    trials: &mut Trials,
    tried: &mut Tried,
    begun: Instant,
) -> Result<SearchResult, Outcome> {
    let sight = Sight::of(trials).await?;
    trials.hurry();
    let sources = trials.sources.clone();
    let mut suspects = localise(&sight.coverage, &sight.named);
    if suspects.is_empty() {
        suspects = anywhere(&sources.texts);
    }
    let (ranked, hints) = (suspects.clone(), sight.hints(&sources, with)?);
    let kept_from = hints.read_only.len();
    let offered = blocking(move || Ok(candidates(&sources.texts, &ranked, &hints))).await?;
    let told = suspects.iter().take(SUSPECTS_TOLD).map(
        |suspect| json!({ "path": suspect.path, "line": suspect.line, "score": suspect.score, "why": suspect.why }),
    );
    let mut found = SearchResult {
        candidate: None,
        image: None,
        part: None,
        cases: sight.coverage.len(),
        covering: 0,
        witnesses: 0,
        others: 0,
        tried: 0,
        known: 0,
        made: 0,
        suspects: told.collect(),
        kept_from,
        oddity: sight.oddity.clone(),
        unchanged: 0,
    };
    let mut search = Search::new(trials.sources.texts.clone(), offered, trials.trial(&trials.measured));
    let mut last = usize::MAX;
    loop {
        let next;
        // Many candidates may have to be examined before one is worth trying.
        (search, next) = blocking(move || {
            let next = search.next();
            Ok((search, next))
        })
        .await?;
        let Some(candidate) = next else { break };
        if begun.elapsed() > SEARCH_MAX || found.tried >= last || found.is_deaf() {
            break;
        }
        if memory.knows(&candidate.patch) {
            found.known += 1;
            continue;
        }
        found.tried += 1;
        let made = (found.tried + search.waiting()).min(TRIALS_MAX);
        let text = format!("candidate {} of at most {made}: {}", found.tried, candidate.summary);
        attempt.host.progress(&attempt.run, attempt.activity, &text);
        let came = match tried.recall(&candidate) {
            Some(known) => known,
            None => {
                let came = trials.try_out(&candidate).await?;
                if came.is_certain {
                    tried.add(&candidate, &came).await;
                }
                came
            }
        };
        let Came { trial, is_good, image, .. } = came;
        found.unchanged += usize::from(image.is_some() && image == trials.first_image);
        if memory.knows_image(image.as_deref()) {
            // An equivalent patch was found before.
            found.known += 1;
            continue;
        }
        search.tell(&candidate, &trial);
        let covering = sight.covering(&candidate);
        let sure = confidence(candidate.template, covering, found.cases);
        if !is_good && found.part.is_none() && search.improved(&trial) {
            found.part = Some((candidate.clone(), sure.min(PART_SURE_MAX)));
        }
        if is_good {
            last = last.min(found.tried + SECOND_THOUGHTS);
            found.others += usize::from(found.candidate.is_some());
            if found.candidate.as_ref().is_none_or(|(_, before)| sure > *before) {
                found.witnesses = sight.witnesses(&candidate);
                (found.covering, found.candidate, found.image) = (covering, Some((candidate, sure)), image);
            }
            if sure >= SURE {
                break;
            }
        }
    }
    // The waiting candidates were not examined, so some of them may turn out invalid.
    found.made = found.tried + search.waiting();
    Ok(found)
}
