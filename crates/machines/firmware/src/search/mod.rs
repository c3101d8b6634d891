//! `repair.search`: searches for a patch without a model. The lines that failing and passing cases execute select the
//! place, and templates select the change. Each candidate is built and tested in a copy. The first one that makes all
//! required cases pass without losing any is the patch.
//!
//! Such a patch is plausible, not proven: its confidence follows from the number of failing cases that execute the
//! changed line.

mod diagnose;
mod look;
mod memory;
mod sight;
mod sources;
mod trials;
mod tried;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, EffectClass, Outcome};
use interlock_chart::counted;
use interlock_journal::Evidence;
use interlock_repair::{Candidate, TRIALS_MAX, believed};
use interlock_testbench::{Operation, Profile, Trouble, environment};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    bench,
    build::Build,
    table::{Done, Settings, given, keep, refs, signal},
};
use look::look;
use memory::Memory;
pub(crate) use sources::Sources;
use trials::{Trials, Unfit};
use tried::Tried;

/// The number of candidates that may leave the image unchanged before the search concludes that the image is not
/// built from these sources.
const UNCHANGED_MAX: usize = 10;

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
    /// True if nothing explains the failure yet, and the patch is to print and not to repair.
    #[serde(default)]
    pub(crate) diagnostic: bool,
}

#[derive(Clone, Default, Deserialize)]
pub(crate) struct Constraints {
    #[serde(default)]
    pub(crate) allowed_paths: Vec<String>,
    #[serde(default)]
    pub(crate) forbidden_paths: Vec<String>,
}

/// The result of a search.
#[derive(Default)]
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
    /// The candidates that were tried, with their results.
    trials: Vec<Value>,
}

impl SearchResult {
    /// Reports whether changes of the sources do not affect the image.
    fn is_deaf(&self) -> bool {
        self.unchanged >= UNCHANGED_MAX && self.unchanged == self.tried
    }

    /// Returns the record of the search that becomes evidence.
    fn told(&self, tried_again: usize, took: Duration) -> Value {
        json!({
            "suspects": self.suspects,
            "candidates": self.made,
            "tried": self.tried,
            "tried_before_it_was_cut_off": tried_again,
            "seconds": took.as_secs_f64(),
            "found": self.candidate.as_ref().map(|(candidate, _)| &candidate.summary),
            "oddity": self.oddity,
            "other_candidates_that_pass": self.others,
            "trials": self.trials,
        })
    }

    /// Describes the chosen candidate; `in_vain` is the reason why no candidate repairs everything.
    fn summary(&self, candidate: &Candidate, in_vain: &str) -> String {
        let (tried, made, change) = (self.tried, self.made.min(TRIALS_MAX), &candidate.summary);
        let witnesses = match self.cases {
            _ if self.candidate.is_none() => format!("it repairs a part: {in_vain}"),
            0 => "it is not known which cases execute it".to_owned(),
            cases => format!("{} of {cases} cases execute it, {} of them failing", self.covering, self.witnesses),
        };
        let mut summary = format!("by template, after {tried} of at most {made} candidates: {change} ({witnesses})");
        if self.others > 0 {
            let others = counted(self.others, "other candidate makes", "other candidates make");
            summary.push_str(&format!("; {others} the cases pass too"));
        }
        summary.extend(self.oddity.iter().map(|odd| format!("; {odd}")));
        summary
    }

    /// Returns the confidence in a candidate. The ranking score does not separate right patches from wrong ones, so it
    /// alone delivers only if the task asks for that.
    fn believed(&self, deliver: &str, candidate: &Candidate, ranked: f64) -> f64 {
        match deliver {
            "measured" => ranked,
            _ => ranked.min(believed(Some(candidate.template), self.witnesses)),
        }
    }

    /// Records a candidate that makes all cases pass. The most likely one is kept; `(covering, witnesses)` counts the
    /// cases that execute it and those of them that fail.
    fn accept(&mut self, candidate: Candidate, sure: f64, counts: (usize, usize), image: Option<String>) {
        self.others += usize::from(self.candidate.is_some());
        if self.candidate.as_ref().is_none_or(|(_, before)| sure > *before) {
            (self.covering, self.witnesses) = counts;
            (self.candidate, self.image) = (Some((candidate, sure)), image);
        }
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
    let has_model = has_model(&settings, &attempt);
    if let Some(why) = refusal(&with).map_err(|trouble| bench::wrong(&trouble))? {
        return Ok(nothing(&why, has_model));
    }
    let memory = Memory::of(&settings, &attempt, &with).await?;
    if let Some(why) = memory.exhausted.get(&with.tree).filter(|_| !with.diagnostic) {
        return Ok(nothing(why, has_model));
    }
    let begun = Instant::now();
    let mut trials = match Trials::begin(&settings, &attempt, &with).await? {
        Ok(trials) => trials,
        Err(Unfit { why, is_certain, programs }) => {
            if is_certain {
                memory.exhaust(&with.tree, &why).await?;
            }
            return Ok(nothing_after(&why, programs, None, has_model));
        }
    };
    if with.diagnostic {
        return diagnose::diagnose(&attempt, &with, memory, &mut trials).await;
    }
    let mut tried = Tried::of(&settings, &attempt).await?;
    let mut found = SearchResult::default();
    let ended = look(&attempt, &with, &memory, &mut trials, &mut tried, (begun, &mut found)).await;
    let told = found.told(tried.again, begun.elapsed());
    let evidence = keep(&attempt, "search", "application/json", format!("{told:#}\n").into_bytes()).await?;
    if let Err(stopped) = ended {
        // Candidates that were tried before a search was stopped are not tried again.
        return Err(stopped.with([evidence]));
    }
    let in_vain = found.in_vain(trials.sources.texts.len());
    let Some((candidate, ranked)) = found.candidate.as_ref().or(found.part.as_ref()) else {
        memory.exhaust(&with.tree, &in_vain).await?;
        return Ok(nothing_after(&in_vain, trials.programs, Some(evidence), has_model));
    };
    memory.add(&attempt, &candidate.patch, found.image.clone()).await?;
    let data = json!({
        "patch": candidate.patch,
        "confidence": stated(found.believed(&with.deliver, candidate, *ranked)),
        "summary": found.summary(candidate, &in_vain),
        "programs_ms": bench::milliseconds(trials.programs),
    });
    Ok(signal("patch_generated", data).with([evidence]))
}

/// Returns the reason why a search is not worth starting.
fn refusal(with: &With) -> Result<Option<String>, Trouble> {
    if with.change_constraint == "logging_only" {
        let refused = if with.refused.is_empty() { "it" } else { &with.refused };
        return Ok(Some(format!("templates add no logging, which is all that is allowed after {refused}")));
    }
    unfit(&with.test_profile)
}

/// Rounds a confidence down to two digits; more would pretend a precision that is not there.
fn stated(confidence: f64) -> f64 {
    (confidence * 100.0).floor() / 100.0
}

/// Returns the reason why templates are not tried in this environment: every candidate is deployed and run, and
/// wearing out a board is not acceptable for trials.
fn unfit(profile: &Profile) -> Result<Option<String>, Trouble> {
    let environment = environment(profile)?;
    let is_external = |operation| environment.effect(operation) == EffectClass::External;
    let why =
        || format!("templates are not tried on `{}`: each candidate would have to be deployed there", profile.env_type);
    Ok((is_external(Operation::Deploy) || is_external(Operation::Run)).then(why))
}

/// Returns the outcome of a search that found nothing after programs ran.
fn nothing_after(why: &str, programs: Duration, evidence: Option<Evidence>, has_model: bool) -> Outcome {
    let evidence = Vec::from_iter(evidence);
    let programs_ms = bench::milliseconds(programs);
    let data =
        json!({ "summary": why, "evidence_refs": refs(&evidence), "programs_ms": programs_ms, "has_model": has_model });
    signal("nothing_found", data).with(evidence)
}

fn nothing(why: &str, has_model: bool) -> Outcome {
    signal("nothing_found", json!({ "summary": why, "evidence_refs": [], "has_model": has_model }))
}

/// Reports whether another judge than the rules can be asked for a patch. Without one, another round of the same steps
/// ends as this one did.
fn has_model(settings: &Settings, attempt: &Attempt) -> bool {
    let judges = interlock_judge::settings::Settings::load(settings.home.as_deref(), &attempt.folder);
    judges.is_ok_and(|judges| judges.chain("judge.patch").iter().any(|name| *name != interlock_judge::settings::RULES))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use interlock_repair::{Hints, candidates};

    use super::*;

    fn candidate() -> Candidate {
        let text = "int f(int n) {\n    return n <= 8;\n}\n".to_owned();
        let texts = BTreeMap::from([("a.c".to_owned(), text)]);
        let suspect = interlock_repair::Suspect { path: "a.c".into(), line: 2, score: 1.0, why: String::new() };
        let offered = candidates(&texts, &[suspect], &Hints::default());
        let mut search = interlock_repair::Search::new(texts, offered, interlock_repair::Trial::default());
        search.next().unwrap()
    }

    #[test]
    fn most_likely_candidate_is_kept_and_the_others_are_counted() {
        let mut found = SearchResult { tried: 3, made: 9, cases: 4, ..SearchResult::default() };
        found.accept(candidate(), 0.5, (2, 1), Some("first".into()));
        found.accept(candidate(), 0.4, (4, 4), Some("second".into()));
        found.accept(candidate(), 0.6, (3, 2), Some("third".into()));
        assert_eq!((found.image.as_deref(), found.covering, found.witnesses, found.others), (Some("third"), 3, 2, 2));
        let summary = found.summary(&candidate(), "");
        assert!(summary.starts_with("by template, after 3 of at most 9 candidates: "), "{summary}");
        assert!(
            summary
                .ends_with("(3 of 4 cases execute it, 2 of them failing); 2 other candidates make the cases pass too"),
            "{summary}"
        );
        // Templates may offer more candidates than are tried.
        let offered = SearchResult { made: TRIALS_MAX + 800, ..found };
        let summary = offered.summary(&candidate(), "");
        assert!(summary.contains(&format!("after 3 of at most {TRIALS_MAX} candidates")), "{summary}");
    }

    #[test]
    fn empty_search_says_why() {
        let found = |made, tried, known| SearchResult { made, tried, known, kept_from: 1, ..SearchResult::default() };
        let cases = [
            (found(0, 0, 0), 0, "templates know C, and there is no C source"),
            (found(0, 0, 0), 1, "none of 1 C sources may be changed: see `allowed_paths` and `forbidden_paths`"),
            (found(0, 0, 2), 3, "all template candidates were found before and were refused or not sufficient"),
            (found(0, 0, 0), 3, "templates offer nothing for the lines that failing cases execute"),
            (found(9, 4, 0), 3, "none of 4 candidates that were tried makes the cases pass, of 9 that templates offer"),
            (found(4, 4, 0), 3, "none of the 4 candidates that templates offer makes the cases pass"),
        ];
        for (found, sources, expected) in cases {
            assert_eq!(found.in_vain(sources), expected);
        }
        let deaf = SearchResult { tried: UNCHANGED_MAX, unchanged: UNCHANGED_MAX, ..SearchResult::default() };
        assert!(deaf.is_deaf() && deaf.in_vain(3).contains("left the image as it was"));
    }

    #[test]
    fn confidence_is_rounded_down() {
        assert_eq!((stated(0.999), stated(0.7), stated(0.0)), (0.99, 0.7, 0.0));
    }
}
