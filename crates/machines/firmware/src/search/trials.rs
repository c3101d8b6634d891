//! Tries candidates: each is written into a copy, built, run and removed again.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Outcome};
use interlock_beneath::whole;
use interlock_journal::Hash;
use interlock_repair::{Candidate, Edit, Trial};
use interlock_test_results::{Measured, Status, Verdict};
use interlock_testbench::{Profile, Ran, Start, Trouble};
use serde::{Deserialize, Serialize};

use super::{
    With,
    sources::{self, Sources},
};
use crate::{
    area::Area,
    bench::{self, Open},
    build::{self, Build, Keeping},
    table::{Settings, blocking, failed},
};

/// The factor by which a candidate's start may be slower than the unchanged tree, and the time that it may take in
/// any case.
const SLOWER_MAX: u32 = 10;
const TRIAL_MIN: Duration = Duration::from_secs(5);

/// The reason why nothing can be tried.
pub(super) struct Unfit {
    /// The reason as text.
    pub(super) why: String,
    /// True if another attempt would give the same result.
    pub(super) is_certain: bool,
    /// The time that programs took to find out.
    pub(super) programs: Duration,
}

/// The result of a candidate.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Came {
    pub(super) trial: Trial,
    /// True if all required cases pass and no passing case is lost.
    pub(super) is_good: bool,
    /// True if another attempt would give the same result: no program was stopped or killed.
    pub(super) is_certain: bool,
    /// The hash of the built image, if the image is all that runs.
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
    /// The measurement of the unchanged tree.
    pub(super) measured: Measured,
    /// The image hash of the unchanged tree, if the image is all that runs.
    pub(super) first_image: Option<String>,
    /// The time that the unchanged tree took for its cases.
    took: Duration,
    /// The results of images that ran, by hash: the same image does not run again.
    ran: BTreeMap<String, Came>,
    /// The total time of compilers and environments.
    pub(super) programs: Duration,
}

impl Trials {
    /// Builds and runs the unchanged tree.
    pub(super) async fn begin(
        settings: &Arc<Settings>,
        attempt: &Attempt,
        with: &With,
    ) -> Result<Result<Self, Unfit>, Outcome> {
        let copy = Area::of(settings, attempt)?.trial();
        let (keeper, of, tree, into) = (Arc::clone(settings), attempt.folder.clone(), with.tree.clone(), copy.clone());
        blocking(move || keeper.workspace.copy_tree(&of, &tree, &into).map_err(failed)).await?;
        let folder = build::folder_in(settings, attempt, &with.repo, copy.clone()).await?;
        let built = build::build(settings, attempt, &with.build, &folder, Keeping::Nothing).await?;
        if let Err(why) = &built.image {
            let why = format!("templates need a tree that builds, and this one does not: {why}");
            return Ok(Err(Unfit { why, is_certain: built.is_certain, programs: built.programs }));
        }
        let mut trials = Self::open(settings, attempt, with, (copy, folder), built.programs).await?;
        trials.measure_unchanged().await?;
        if with.diagnostic || trials.has_stable_failure() {
            return Ok(Ok(trials));
        }
        let why = trials.measured.reasons.first().map(String::as_str).unwrap_or_default();
        let why = format!("templates need a case that fails, and none does: {why}");
        Ok(Err(Unfit { why, is_certain: false, programs: trials.programs }))
    }

    /// Opens the environment for a tree that builds: `copy` is its root, `folder` the directory of the task within it.
    async fn open(
        settings: &Arc<Settings>,
        attempt: &Attempt,
        with: &With,
        (copy, folder): (PathBuf, PathBuf),
        programs: Duration,
    ) -> Result<Self, Outcome> {
        let mut profile = with.test_profile.clone();
        (profile.confirm, profile.repetitions, profile.coverage) = (false, 1, false);
        let open = bench::begin(settings, attempt, profile, &folder).await.map_err(|trouble| bench::wrong(&trouble))?;
        let (of, hash) = (attempt.clone(), with.baseline.clone());
        let before = blocking(move || bench::baseline(&of, &hash)).await?;
        let within = folder.clone();
        let sources = blocking(move || Ok(Sources::read(&copy, &within))).await?;
        let measured = bench::measure(&open.session, None)?;
        Ok(Trials {
            settings: Arc::clone(settings),
            attempt: attempt.clone(),
            build: with.build.clone(),
            folder,
            before,
            sources,
            open,
            measured,
            first_image: None,
            took: Duration::ZERO,
            ran: BTreeMap::new(),
            programs,
        })
    }

    /// Runs the unchanged tree and records its image and its results.
    async fn measure_unchanged(&mut self) -> Result<(), Outcome> {
        self.place_image().await?;
        self.first_image = self.image();
        let built = self.programs;
        self.measured = self.measure().await?;
        self.took = self.programs - built;
        let came = self.came(self.trial(&self.measured), false, &self.measured);
        self.note(&came);
        Ok(())
    }

    /// Reports whether a case fails, or is not reported, that was not flaky on the untouched tree.
    fn has_stable_failure(&self) -> bool {
        let is_failure = |status: Status| status.is_bad() || status == Status::Missing;
        self.measured.cases.iter().any(|case| is_failure(case.case.status) && !self.is_flaky(&case.case.case_id))
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Reports whether a case was flaky on the untouched tree: no fix is searched for it.
    pub(super) fn is_flaky(&self, id: &str) -> bool {
        self.before.as_ref().is_some_and(|before| before.flaky.iter().any(|flaky| flaky.case_id == id))
    }

    /// Limits the time of a candidate's start to a multiple of the unchanged tree's time for all cases: many
    /// candidates loop forever, and each would use up its whole timeout.
    pub(super) fn hurry(&mut self) {
        let measured = &self.measured;
        let has_ended = measured.fault.is_empty() && measured.exit_code >= 0 && measured.missing_tests == 0;
        let profile = &mut self.open.session.profile;
        // If the profile lists no cases, the measured ones may not be all.
        if has_ended && !profile.cases.is_empty() && self.took > Duration::ZERO {
            shorten(profile, self.took);
        }
    }

    async fn place_image(&mut self) -> Result<(), Outcome> {
        if self.build.image.is_empty() {
            return Ok(());
        }
        let to = self.open.session.folder.join("image");
        let (folder, image, into) = (self.folder.clone(), self.build.image.clone(), to.clone());
        blocking(move || build::copy_image(&folder, &image, &into).map_err(failed)).await?;
        self.open.session.image = Some(to);
        self.open.session.save().map_err(failed)?;
        let bench = self.open.bench(&self.settings, &self.attempt);
        self.open.environment.deploy(bench).await.map_err(|trouble| bench::wrong(&trouble))
    }

    /// Runs the given starts, whether or not they succeed.
    pub(super) async fn run(&mut self, starts: Vec<Start>) -> Result<Vec<Ran>, Outcome> {
        let begun = Instant::now();
        let ran = bench::run_some(&self.settings, &self.attempt, &self.open, starts).await;
        self.programs += begun.elapsed();
        ran.map_err(|trouble| bench::wrong(&trouble))
    }

    async fn measure(&mut self) -> Result<Measured, Outcome> {
        match bench::run_all(&self.settings, &self.attempt, &self.open).await {
            Ok(ran) => self.programs += ran.programs,
            // A lost start is measured as lost.
            Err(Trouble::Runner(_)) => {}
            Err(trouble) => return Err(bench::wrong(&trouble)),
        }
        let (session, before) = (self.open.session.clone(), self.before.clone());
        blocking(move || bench::measure(&session, before.as_ref())).await
    }

    /// Tries a candidate and restores the sources.
    pub(super) async fn try_out(&mut self, candidate: &Candidate) -> Result<Came, Outcome> {
        self.try_edits(&candidate.edits).await
    }

    /// Tries edits and restores the sources.
    pub(super) async fn try_edits(&mut self, edits: &BTreeMap<String, Vec<Edit>>) -> Result<Came, Outcome> {
        let mut changed = Vec::new();
        for (path, edits) in edits {
            let Some(text) = self.sources.texts.get(path) else { continue };
            let Some(new) = interlock_repair::apply(text, edits) else { continue };
            self.write(path, new).await?;
            changed.push((path.clone(), text.clone()));
        }
        let tried = self.built_and_run().await;
        for (path, text) in changed {
            self.write(&path, text).await?;
        }
        tried
    }

    /// Writes a source of the copy.
    async fn write(&self, path: &str, text: String) -> Result<(), Outcome> {
        let (root, path) = (self.sources.root.clone(), PathBuf::from(path));
        blocking(move || sources::write(&root, &path, &text).map_err(failed)).await
    }

    async fn built_and_run(&mut self) -> Result<Came, Outcome> {
        let building = build::build(&self.settings, &self.attempt, &self.build, &self.folder, Keeping::Nothing);
        // The directory is large if every case was started alone, so it is emptied during the build.
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

    /// Converts a measurement for the search, without the flaky cases.
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

    /// Returns the hash of the image if the image is all that runs. In other environments a build may produce more
    /// files than the declared image.
    fn image(&self) -> Option<String> {
        let image = self.open.session.image.as_ref().filter(|_| self.open.session.profile.env_type == "qemu")?;
        whole::read(image, build::IMAGE_BYTES_MAX).ok().map(|content| Hash::of(&content).to_string())
    }
}

fn shorten(profile: &mut Profile, took: Duration) {
    let most = took.saturating_mul(SLOWER_MAX).max(TRIAL_MIN).as_secs();
    profile.timeout_sec = profile.timeout_sec.min(most);
    let own = profile.suites.iter_mut().filter_map(|suite| suite.timeout_sec.as_mut());
    own.for_each(|own| *own = most.min(*own));
}

async fn empty(folder: PathBuf) -> std::io::Result<()> {
    tokio::task::spawn_blocking(move || Ok(whole::empty(folder)?)).await?
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use super::*;

    #[test]
    fn candidate_timeout_is_ten_times_the_tree_time_within_the_profile_limit() {
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
