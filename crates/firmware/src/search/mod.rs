//! `repair.search`: looks for a patch without a model. Where to look is said by what failing and passing cases execute, what to try by templates;
//! each candidate is built and tested in a copy, and the first that makes the cases pass which must, without losing any, is the patch.
//!
//! That is plausible, not proven: how sure it can be follows from how many failing cases execute what was changed.

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

use interlock_activity::{Attempt, Effect, Outcome};
use interlock_chart::counted;
use interlock_repair::{Candidate, Search, Suspect, TRIALS_MAX, believed, candidates, confidence, localise};
use interlock_testbench::{Operation, Profile, Trouble, environment};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    bench,
    build::Build,
    hand::{Done, Settings, blocking, given, keep, refs, signal},
    rounds::SURE,
};
use memory::Memory;
use sight::Sight;
pub(crate) use sources::Sources;
use trials::{Came, Trials, Unfit};
use tried::Tried;

/// How long a search may go on, where nothing else ends it.
const SEARCH_MAX: Duration = Duration::from_secs(20 * 60);

/// How many more candidates are tried after the first good one, where it is not sure enough: another that says the same may be likelier.
const SECOND_THOUGHTS: usize = 15;

/// How sure what repairs only a part can be, however many cases execute it: less than is brought into the sources without a person. Much makes one
/// check hold by chance.
const PART_SURE_MAX: f64 = 0.7;

/// How many candidates may leave the image as it was before it is clear that it is not made from these sources.
const UNCHANGED_MAX: usize = 10;

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
    /// `measured` where figures alone may deliver a patch; otherwise a person does.
    #[serde(default)]
    pub(crate) deliver: String,
    #[serde(default)]
    pub(crate) change_constraint: String,
    /// Why policy or a person refused what was found before, if that is why this is asked.
    #[serde(default)]
    pub(crate) refused: String,
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
    /// What the best was built into.
    image: Option<String>,
    /// The first that repairs a part of what fails, and breaks nothing: with it there may be another in the next round.
    part: Option<(Candidate, f64)>,
    /// How many cases there are.
    cases: usize,
    covering: usize,
    /// How many failing cases execute it: they tell it from other changes.
    witnesses: usize,
    /// How many other candidates make the cases pass as well.
    others: usize,
    tried: usize,
    /// How many were passed over, because they were found before and were not enough, or refused.
    known: usize,
    made: usize,
    suspects: Vec<Value>,
    /// How many sources may not be changed.
    kept_from: usize,
    /// What is odd about how cases are started.
    oddity: Option<String>,
    /// How many candidates were built into the very image of the tree as it is.
    unchanged: usize,
}

impl Found {
    /// Whether the image does not follow the sources.
    fn is_deaf(&self) -> bool {
        self.unchanged >= UNCHANGED_MAX && self.unchanged == self.tried
    }

    /// Why nothing was found, of so many sources.
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
                "what templates offer was found before, and was refused or not enough".to_owned()
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

/// Looks for a patch.
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
            0 => "nobody knows which cases execute it".to_owned(),
            cases => format!("{} of {cases} cases execute it, {} of them failing", found.covering, found.witnesses),
        }
    );
    if found.others > 0 {
        let others = counted(found.others, "other candidate makes", "other candidates make");
        summary.push_str(&format!("; {others} the cases pass too"));
    }
    summary.extend(found.oddity.iter().map(|odd| format!("; {odd}")));
    // What ranks candidates does not tell right patches from wrong ones, so it delivers only where the task asks for that.
    let confidence = match with.deliver.as_str() {
        "measured" => ranked,
        _ => ranked.min(believed(Some(candidate.template), found.witnesses)),
    };
    let data = json!({
        "patch": candidate.patch,
        // Two digits are more than it is known to.
        "confidence": (confidence * 100.0).floor() / 100.0,
        "summary": summary,
        "programs_ms": bench::milliseconds(trials.programs),
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

fn nothing(why: &str) -> Outcome {
    signal("nothing_found", json!({ "summary": why, "evidence_refs": [] }))
}

/// Every line alike, where nothing points anywhere: neither coverage nor a place that was named.
fn anywhere(texts: &BTreeMap<String, String>) -> Vec<Suspect> {
    let why = "nothing points anywhere else";
    let line = |path: &str, line| Suspect { path: path.to_owned(), line, score: 0.5, why: why.to_owned() };
    texts.iter().flat_map(|(path, text)| (1..=text.lines().count()).map(move |at| line(path, at))).collect()
}

/// Tries one candidate after the other until one is good, or time is up.
async fn look(
    attempt: &Attempt,
    with: &With,
    memory: &Memory,
    trials: &mut Trials,
    tried: &mut Tried,
    begun: Instant,
) -> Result<Found, Outcome> {
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
    let mut found = Found {
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
        // Many may have to be looked at before one is worth trying.
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
            // The same in other words.
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
    // Those that wait were not looked at: some may be none.
    found.made = found.tried + search.waiting();
    Ok(found)
}
