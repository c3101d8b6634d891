//! Trying candidates: each is written into a copy, built, run, and taken out again.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Outcome};
use interlock_journal::Hash;
use interlock_repair::{Candidate, Trial};
use interlock_testbench::{
    Profile, Ran, Start, Trouble,
    results::{Measured, Status, Verdict},
};
use serde::{Deserialize, Serialize};

use super::{With, sources::Sources};
use crate::{
    area::Area,
    bench::{self, Open},
    build::{self, Build, Keeping},
    hand::{Settings, blocking, failed},
};

/// How much longer than the tree as it is a start of a candidate may take, and what it may take in any case.
const SLOWER_MAX: u32 = 10;
const TRIAL_MIN: Duration = Duration::from_secs(5);

/// Why there is nothing to try.
pub(super) struct Unfit {
    /// In words.
    pub(super) why: String,
    /// Whether it would be the same another time.
    pub(super) is_certain: bool,
    /// How long programs took to show it.
    pub(super) programs: Duration,
}

/// What a candidate has come to.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Came {
    pub(super) trial: Trial,
    /// Whether all that must pass does, and nothing that passed is lost.
    pub(super) is_good: bool,
    /// Whether it would be the same another time: nobody has stopped or killed anything.
    pub(super) is_certain: bool,
    /// What it was built into, where that is all that runs.
    pub(super) image: Option<String>,
}

/// A copy in which candidates are tried.
pub(super) struct Trials {
    settings: Arc<Settings>,
    attempt: Attempt,
    build: Build,
    folder: PathBuf,
    before: Option<Measured>,
    pub(super) sources: Sources,
    pub(super) open: Open,
    /// How the tree does as it is.
    pub(super) measured: Measured,
    /// What the tree as it is was built into, where that is all that runs.
    pub(super) first_image: Option<String>,
    /// How long it took.
    took: Duration,
    /// What images that ran have come to: the same image need not run again.
    ran: BTreeMap<String, Came>,
    /// How long compilers and environments were at work.
    pub(super) programs: Duration,
}

impl Trials {
    /// Builds and runs the tree as it is.
    pub(super) async fn begin(
        settings: &Arc<Settings>,
        attempt: &Attempt,
        with: &With,
    ) -> Result<Result<Self, Unfit>, Outcome> {
        let area = Area::of(settings, attempt)?;
        let copy = area.trial();
        let (keeper, of, tree, into) = (Arc::clone(settings), attempt.folder.clone(), with.tree.clone(), copy.clone());
        blocking(move || keeper.workspace.copy_tree(&of, &tree, &into).map_err(failed)).await?;
        let folder = build::folder_in(settings, attempt, &with.repo, copy.clone()).await?;
        let built = build::build(settings, attempt, &with.build, &folder, Keeping::Nothing).await?;
        if let Err(why) = &built.image {
            let why = format!("templates need a tree that builds, and this one does not: {why}");
            return Ok(Err(Unfit { why, is_certain: built.is_certain, programs: built.programs }));
        }
        let mut profile = with.test_profile.clone();
        (profile.confirm, profile.repetitions, profile.coverage) = (false, 1, false);
        let open = match bench::begin(settings, attempt, profile, &folder).await {
            Ok(open) => open,
            Err(trouble) => return Err(bench::wrong(&trouble)),
        };
        let (of, hash) = (attempt.clone(), with.baseline.clone());
        let before = blocking(move || bench::baseline(&of, &hash)).await?;
        let (root, within) = (copy, folder.clone());
        let sources = blocking(move || Ok(Sources::read(&root, &within))).await?;
        let nothing = bench::measure(&open.session, None)?;
        let mut trials = Trials {
            settings: Arc::clone(settings),
            attempt: attempt.clone(),
            build: with.build.clone(),
            folder,
            before,
            sources,
            open,
            measured: nothing,
            first_image: None,
            took: Duration::ZERO,
            ran: BTreeMap::new(),
            programs: built.programs,
        };
        trials.place_image().await?;
        trials.first_image = trials.image();
        let built = trials.programs;
        trials.measured = trials.measure().await?;
        trials.took = trials.programs - built;
        let came = trials.came(trials.trial(&trials.measured), false, &trials.measured);
        trials.note(&came);
        let is_stable = |id: &str| !trials.is_flaky(id);
        let is_bad =
            trials.measured.cases.iter().any(|case| case.case.status.is_bad() && is_stable(&case.case.case_id));
        if is_bad {
            return Ok(Ok(trials));
        }
        let why = trials.measured.reasons.first().map(String::as_str).unwrap_or_default();
        let why = format!("templates need a case that fails, and none does: {why}");
        Ok(Err(Unfit { why, is_certain: false, programs: trials.programs }))
    }

    /// Whether a case disagreed with itself on the untouched tree: nothing is searched for it.
    pub(super) fn is_flaky(&self, id: &str) -> bool {
        self.before.as_ref().is_some_and(|before| before.flaky.iter().any(|flaky| flaky.case_id == id))
    }

    /// Lets no start of a candidate take much longer than the tree as it is took for all its cases: many run in circles, and each would take all
    /// the time there is.
    pub(super) fn hurry(&mut self) {
        let measured = &self.measured;
        let has_ended = measured.fault.is_empty() && measured.exit_code >= 0 && measured.missing_tests == 0;
        let profile = &mut self.open.session.profile;
        // Where nobody says which cases there are, nobody knows whether these are all.
        if has_ended && !profile.cases.is_empty() && self.took > Duration::ZERO {
            shorten(profile, self.took);
        }
    }

    async fn place_image(&mut self) -> Result<(), Outcome> {
        if self.build.image.is_empty() {
            return Ok(());
        }
        let to = self.open.session.folder.join("image");
        tokio::fs::copy(self.folder.join(&self.build.image), &to).await.map_err(failed)?;
        self.open.session.image = Some(to);
        self.open.session.save().map_err(failed)?;
        let bench = self.open.bench(&self.settings, &self.attempt);
        self.open.environment.deploy(bench).await.map_err(|trouble| bench::wrong(&trouble))
    }

    /// Runs these starts, whatever becomes of them.
    pub(super) async fn run(&mut self, starts: Vec<Start>) -> Result<Vec<Ran>, Outcome> {
        let begun = Instant::now();
        let ran = bench::run_some(&self.settings, &self.attempt, &self.open, starts).await;
        self.programs += begun.elapsed();
        ran.map_err(|trouble| bench::wrong(&trouble))
    }

    async fn measure(&mut self) -> Result<Measured, Outcome> {
        match bench::run_all(&self.settings, &self.attempt, &self.open).await {
            Ok(ran) => self.programs += ran.programs,
            // What was lost is measured as that.
            Err(Trouble::Runner(_)) => {}
            Err(trouble) => return Err(bench::wrong(&trouble)),
        }
        let (session, before) = (self.open.session.clone(), self.before.clone());
        blocking(move || bench::measure(&session, before.as_ref())).await
    }

    /// Tries a candidate, and takes it out again.
    pub(super) async fn try_out(&mut self, candidate: &Candidate) -> Result<Came, Outcome> {
        let mut changed = Vec::new();
        for path in candidate.edits.keys() {
            let Some(text) = self.sources.texts.get(path) else { continue };
            let Some(new) = candidate.apply(path, text) else { continue };
            tokio::fs::write(self.sources.root.join(path), new).await.map_err(failed)?;
            changed.push((path.clone(), text.clone()));
        }
        let tried = self.built_and_run().await;
        for (path, text) in changed {
            tokio::fs::write(self.sources.root.join(path), text).await.map_err(failed)?;
        }
        tried
    }

    async fn built_and_run(&mut self) -> Result<Came, Outcome> {
        let building = build::build(&self.settings, &self.attempt, &self.build, &self.folder, Keeping::Nothing);
        // Much where every case was started on its own, so that it goes meanwhile.
        let (built, emptied) = tokio::join!(building, empty(self.open.session.folder.join("runs")));
        let built = built?;
        emptied.map_err(failed)?;
        self.programs += built.programs;
        if built.image.is_err() {
            let trial = Trial::default();
            return Ok(Came { trial, is_good: false, is_certain: built.is_certain, image: None });
        }
        self.place_image().await?;
        if let Some(came) = self.image().and_then(|image| self.ran.get(&image).cloned()) {
            return Ok(came);
        }
        let measured = self.measure().await?;
        let is_good =
            measured.verdict == Verdict::Pass && bench::regressions(&measured, self.before.as_ref()).is_empty();
        let came = self.came(self.trial(&measured), is_good, &measured);
        self.note(&came);
        Ok(came)
    }

    /// What was measured, as a search wants to hear it: without what is flaky.
    pub(super) fn trial(&self, measured: &Measured) -> Trial {
        let stable = || measured.cases.iter().filter(|case| !self.is_flaky(&case.case.case_id));
        let with = |is: fn(Status) -> bool| stable().filter(move |case| is(case.case.status));
        Trial {
            built: true,
            passed: with(|status| status == Status::Passed).map(|case| case.case.case_id.clone()).collect(),
            failed: with(|status| status != Status::Passed && status != Status::Skipped)
                .map(|case| (case.case.case_id.clone(), case.case.message.clone()))
                .collect(),
        }
    }

    fn came(&self, trial: Trial, is_good: bool, measured: &Measured) -> Came {
        Came { trial, is_good, is_certain: measured.verdict != Verdict::EnvError, image: self.image() }
    }

    fn note(&mut self, came: &Came) {
        if let (true, Some(image)) = (came.is_certain, &came.image) {
            self.ran.insert(image.clone(), came.clone());
        }
    }

    /// The hash of what is to run, where that is all there is: elsewhere a build may make more than it is said to.
    fn image(&self) -> Option<String> {
        let image = self.open.session.image.as_ref().filter(|_| self.open.session.profile.env_type == "qemu")?;
        std::fs::read(image).ok().map(|content| Hash::of(&content).to_string())
    }
}

fn shorten(profile: &mut Profile, took: Duration) {
    let most = took.saturating_mul(SLOWER_MAX).max(TRIAL_MIN).as_secs();
    profile.timeout_sec = profile.timeout_sec.min(most);
    let own = profile.suites.iter_mut().filter_map(|suite| suite.timeout_sec.as_mut());
    own.for_each(|own| *own = most.min(*own));
}

async fn empty(folder: PathBuf) -> std::io::Result<()> {
    let _ = tokio::fs::remove_dir_all(&folder).await;
    tokio::fs::create_dir_all(&folder).await
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use super::*;

    #[test]
    fn a_candidate_gets_ten_times_what_the_tree_took_and_never_more_than_is_allowed() {
        let hurried = |took| {
            let text = r#"{"env_type":"local","timeout_sec":60,"suites":[{"id":"a","timeout_sec":30},{"id":"b"}]}"#;
            let mut profile: Profile = serde_json::from_str(text).unwrap();
            shorten(&mut profile, Duration::from_millis(took));
            (profile.timeout_sec, profile.suites[0].timeout_sec, profile.suites[1].timeout_sec)
        };
        assert_eq!(hurried(20), (5, Some(5), None));
        assert_eq!(hurried(1_500), (15, Some(15), None));
        assert_eq!(hurried(60_000), (60, Some(30), None));
    }
}
