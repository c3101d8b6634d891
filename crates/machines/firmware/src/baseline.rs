//! `testbench.baseline`: measures the untouched tree. A build or a case that fails here is a fact, not an error.
//!
//! Before a failing case is believed, it runs again as a control, and the setup is checked. Flaky cases and setup
//! errors are reported as such and no search is started for them.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Outcome, code};
use interlock_journal::Evidence;
use interlock_test_results::{self as results, Flaky, Measured, Status, Verdict};
use interlock_testbench::{Operation, Profile, Reset, Trouble, environment};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    area::Area,
    bench::{
        self, Open,
        controls::{self, Tally, Tree, Wish},
    },
    build::{self, Build, Keeping},
    copy, packages,
    rounds::{self, Threshold},
    setup::{self, SetUp},
    table::{Done, Settings, blocking, given, keep, refs, signal},
    tools,
};

#[derive(Deserialize)]
struct With {
    tree: String,
    #[serde(default)]
    build: Build,
    test_profile: Profile,
    #[serde(default)]
    repo: String,
    #[serde(default)]
    metrics: BTreeMap<String, Threshold>,
    /// The known description of the failure, whether or not a case reproduces it.
    #[serde(default)]
    failure_log: String,
    /// The number of times that failing cases run again; 0 if the task does not set it.
    #[serde(default)]
    controls: u32,
    /// The paths that may be changed. If the image is built from none of them, the setup is wrong.
    #[serde(default)]
    allowed_paths: Vec<String>,
    /// True if the environment must be reset first: an earlier attempt may have left it in an intermediate state.
    #[serde(default)]
    reset: bool,
}

/// Builds and tests the untouched tree.
pub(crate) async fn measure(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: With = given(&attempt)?;
    if let Some(package) = build::missing(&with.build) {
        return Ok(signal("toolchain_missing", json!({ "package": package })));
    }
    let place = environment(&with.test_profile).map_err(|trouble| bench::wrong(&trouble))?;
    for operation in [Operation::Deploy, Operation::Run] {
        bench::once(&*place, &attempt, operation)?;
    }
    copy::bring(&settings, &attempt, &with.tree).await?;
    let folder = build::folder_in(&settings, &attempt, &with.repo, Area::of(&settings, &attempt)?.copy()).await?;
    let built = build::build(&settings, &attempt, &with.build, &folder, Keeping::All).await?;
    let tools = tools::versions(&settings, &attempt, &with.build, &with.test_profile, &folder).await;
    let mut baseline =
        Baseline { image: built.image, tested: None, evidence: built.evidence, programs: built.programs };
    match &baseline.image {
        Err(why) => {
            let is_there = |program: &str| build::is_installed(&with.build, program);
            if let Some(program) = packages::not_found(why, is_there) {
                let package = packages::to_install(&program);
                return Ok(signal("toolchain_missing", json!({ "package": package })).with(baseline.evidence));
            }
            if let Some(fault) = setup::refused_build(why, &folder) {
                return setup_wrong(&attempt, &fault, baseline.evidence);
            }
        }
        Ok(image) => match opened_and_tested(&settings, &attempt, &with, &folder, image).await? {
            Ok(tested) => baseline.add(tested),
            Err(trouble) => return not_tested(&attempt, trouble, baseline.evidence),
        },
    }
    if let Some(fault) = baseline.setup_fault() {
        return setup_wrong(&attempt, fault, baseline.evidence.clone());
    }
    let slips = baseline.slips(&with.test_profile.cases);
    if !slips.is_empty() {
        return Err(Outcome::error(code::BAD_INPUT, slips.join("; ")).with(baseline.evidence));
    }
    let file = told(&baseline.image, baseline.measured(), &baseline.evidence, &tools);
    let kept = keep(&attempt, "baseline", "application/json", file).await?;
    let telling = baseline.tested.as_ref().map(|it| bench::telling(&attempt, &it.measured, &it.logs));
    let hint = baseline.image.as_ref().err().map(|why| alone(&settings, &attempt, why)).unwrap_or_default();
    Ok(baseline.outcome(&with, &hint, (kept, telling.unwrap_or_default()), declares(&attempt, "baseline_flaky")))
}

/// Returns the outcome if the environment could not run the tests.
fn not_tested(attempt: &Attempt, trouble: Trouble, evidence: Vec<Evidence>) -> Done {
    match trouble {
        Trouble::Missing { program, package } => {
            let package = packages::named(&program, &package);
            Ok(signal("toolchain_missing", json!({ "package": package })).with(evidence))
        }
        Trouble::Setup(fault) => setup_wrong(attempt, &fault, evidence),
        trouble @ (Trouble::Config { .. } | Trouble::Cancelled) => Err(bench::wrong(&trouble)),
        trouble => {
            let data = json!({ "summary": trouble.to_string(), "evidence_refs": refs(&evidence) });
            Ok(signal("env_failed", data).with(evidence))
        }
    }
}

/// The untouched tree, built and tested.
struct Baseline {
    /// The image, or the reason why the tree does not build.
    image: Result<String, String>,
    /// The result of the tests, if the tree builds.
    tested: Option<Tested>,
    evidence: Vec<Evidence>,
    /// The time of compilers and environments.
    programs: Duration,
}

impl Baseline {
    fn add(&mut self, tested: Tested) {
        self.programs += tested.programs;
        self.evidence.extend(tested.logs.iter().cloned());
        self.tested = Some(tested);
    }

    fn measured(&self) -> Option<&Measured> {
        self.tested.as_ref().map(|tested| &tested.measured)
    }

    /// Returns the setup error. Results in another format explain the measurement better and come first.
    fn setup_fault(&self) -> Option<&str> {
        self.tested.as_ref().filter(|tested| tested.misread.is_none())?.fault.as_deref()
    }

    /// Returns the mistakes in the task that the results show.
    fn slips(&self, expected: &[String]) -> Vec<String> {
        let mut slips = self.measured().map(|measured| slips(expected, measured)).unwrap_or_default();
        slips.extend(self.tested.as_ref().and_then(|tested| tested.misread.clone()));
        slips
    }

    fn is_passing(&self) -> bool {
        self.tested.as_ref().is_some_and(|tested| tested.is_passing)
    }

    fn is_only_flaky(&self) -> bool {
        self.tested.as_ref().is_some_and(|tested| tested.is_only_flaky)
    }

    /// Returns the number of passing cases and of all cases.
    fn counts(&self) -> (usize, usize) {
        self.measured().map_or((0, 0), |it| (it.passed_tests, it.total_tests + it.missing_tests))
    }

    /// Returns the thresholds that the untouched tree already violates.
    fn missed(&self, thresholds: &BTreeMap<String, Threshold>) -> Vec<String> {
        let broken = |it: &Measured| rounds::broken(thresholds, &it.metrics, &it.metrics);
        self.measured().map(|it| broken(it).iter().map(ToString::to_string).collect()).unwrap_or_default()
    }

    /// Describes the baseline in a sentence; `hint` is added if the tree does not build.
    fn summary(&self, missed: &[String], hint: &str) -> String {
        let (passed, total) = self.counts();
        match (&self.image, self.measured()) {
            (Err(why), _) => format!("the untouched tree does not build: {why}{hint}"),
            (Ok(_), Some(measured)) => {
                let why = measured.reasons.first().filter(|_| measured.verdict != Verdict::Pass);
                let why = flaky_in_words(measured).or_else(|| why.cloned());
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                let missed: String = missed.iter().map(|missed| format!("; {missed}")).collect();
                let is_other = self.is_passing() && !self.is_only_flaky() && !why.is_empty();
                let others = if is_other { "; the failing cases are not targets" } else { "" };
                format!("{passed} of {total} cases pass on the untouched tree{why}{others}{missed}")
            }
            (Ok(_), None) => String::new(),
        }
    }

    /// Returns the outcome; `kept` is the stored measurement. `tells_flaky` is true if the machine handles a baseline
    /// in which only flaky cases fail.
    fn outcome(
        mut self,
        with: &With,
        hint: &str,
        (kept, telling): (Evidence, Vec<Evidence>),
        tells_flaky: bool,
    ) -> Outcome {
        let missed = self.missed(&with.metrics);
        let targets = &with.test_profile.targets;
        let compact =
            self.measured().map_or(json!({}), |measured| bench::compact(measured, None, targets, (&kept, &telling)));
        let (reference, summary) = (kept.hash.to_string(), self.summary(&missed, hint));
        let programs_ms = bench::milliseconds(self.programs);
        self.evidence.insert(0, kept);
        if self.is_only_flaky() && tells_flaky {
            let data =
                json!({ "ref": reference, "summary": summary, "test_result": compact, "programs_ms": programs_ms });
            return signal("baseline_flaky", data).with(self.evidence);
        }
        let nothing_told = with.failure_log.trim().is_empty();
        let converged = self.is_passing() && nothing_told && missed.is_empty() && !self.is_only_flaky();
        let (passed, total) = self.counts();
        let passed_targets = compact["passed_targets"].as_u64().unwrap_or(0);
        let data = json!({ "passed_targets": passed_targets, "converged": converged, "test_result": compact, "ref": reference, "passed": passed, "total": total, "summary": summary, "programs_ms": programs_ms });
        signal("baseline_measured", data).with(self.evidence)
    }
}

/// Reports whether the invoking machine declares a signal: a run started with an older definition may not declare it.
fn declares(attempt: &Attempt, name: &str) -> bool {
    attempt.invocation.signal_names().any(|known| known == name)
}

/// Returns the result that the setup is wrong: as a signal if the machine declares it, otherwise as an error.
fn setup_wrong(attempt: &Attempt, why: &str, evidence: Vec<Evidence>) -> Done {
    if !declares(attempt, "setup_wrong") {
        return Err(Outcome::error(code::BAD_INPUT, why).with(evidence));
    }
    let data = json!({ "summary": why, "evidence_refs": refs(&evidence) });
    Ok(signal("setup_wrong", data).with(evidence))
}

/// Lists the cases with differing results, with the number of passes and runs.
fn flaky_in_words(measured: &Measured) -> Option<String> {
    let figure = |flaky: &Flaky| {
        let passed = flaky.statuses.iter().filter(|status| **status == Status::Passed).count();
        format!("{} passed in {passed} of {} runs of the same tree", flaky.case_id, flaky.statuses.len())
    };
    let told: Vec<String> = measured.flaky.iter().map(figure).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// The phrases with which a build reports a missing file.
const LACKS: [&str; 3] = ["No such file", "No rule to make target", "cannot find"];

/// Returns a hint that files beside the workspace directory were not copied, if a missing file may be the cause of
/// the build error.
fn alone(settings: &Settings, attempt: &Attempt, why: &str) -> String {
    match settings.workspace.is_repository(&attempt.folder) {
        Ok(false) if LACKS.iter().any(|words| why.contains(words)) => format!(
            " (not in a git repository, so only {} was copied: run `git init` in the directory that contains all sources)",
            attempt.folder.display()
        ),
        _ => String::new(),
    }
}

/// Finds names of unreported cases that nearly equal the names of reported ones: no change of the firmware can fix a
/// misspelled name. If the firmware did not run to its end, the list is empty, because that explains the missing
/// cases.
fn slips(expected: &[String], measured: &Measured) -> Vec<String> {
    let has_ended = measured.fault.is_empty() && measured.exit_code >= 0;
    let is_missing =
        |id: &str| measured.cases.iter().any(|case| case.case.case_id == id && case.case.status == Status::Missing);
    let reported = || {
        let there = measured.cases.iter().filter(|case| case.case.status != Status::Missing);
        there.map(|case| case.case.case_id.as_str()).filter(|id| !expected.iter().any(|name| name == id))
    };
    let slip = |name: &String| {
        let near = interlock_suggest::closest(name, reported()).filter(|_| is_missing(name))?;
        Some(format!("`test_profile.cases`: `{name}` is not reported by the tests; did you mean `{near}`?"))
    };
    let slips: Vec<String> = expected.iter().filter_map(slip).collect();
    if has_ended && slips.len() == measured.missing_tests { slips } else { Vec::new() }
}

fn told(
    image: &Result<String, String>,
    measured: Option<&Measured>,
    evidence: &[Evidence],
    tools: &BTreeMap<String, String>,
) -> Vec<u8> {
    let build = match image {
        Ok(image) => json!({ "ok": true, "image": image, "summary": "" }),
        Err(why) => json!({ "ok": false, "image": "", "summary": why }),
    };
    let baseline: Value =
        json!({ "build": build, "measured": measured, "evidence_refs": refs(evidence), "tools": tools });
    baseline.to_string().into_bytes()
}

struct Tested {
    measured: Measured,
    /// True if every case that must pass does. Other failures on the untouched tree are ignored, as they are in later
    /// rounds.
    is_passing: bool,
    /// A message if the results are in another format than the profile states.
    misread: Option<String>,
    /// The setup error, if there is one.
    fault: Option<String>,
    /// True if every required case that does not pass is flaky.
    is_only_flaky: bool,
    logs: Vec<Evidence>,
    programs: Duration,
}

/// Begins a session and tests the image in it.
async fn opened_and_tested(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    with: &With,
    sources: &Path,
    image: &str,
) -> Result<Result<Tested, Trouble>, Outcome> {
    match bench::begin(settings, attempt, with.test_profile.clone(), sources).await {
        Ok(open) => tested(settings, attempt, with, open, image).await,
        Err(trouble) => Ok(Err(trouble)),
    }
}

/// Tests an image in a session, with controls of the failing cases, and ends the session.
async fn tested(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    with: &With,
    mut open: Open,
    image: &str,
) -> Result<Result<Tested, Trouble>, Outcome> {
    if with.reset
        && let Err(trouble) = open.environment.reset(open.bench(settings, attempt), Reset::Restart).await
    {
        return Ok(Err(trouble));
    }
    bench::place(attempt, &mut open.session, image).await?;
    let ran = match run(settings, attempt, &open).await {
        Ok(ran) => ran,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let logs = bench::keep_logs(attempt, &open.session, Vec::new()).await?;
    let First { mut measured, misread, fault } = first(settings, attempt, with, &open).await?;
    let begun = Instant::now();
    if fault.is_none()
        && let Err(trouble) = control(settings, attempt, &open, with, &mut measured).await
    {
        return Ok(Err(trouble));
    }
    let programs = ran.programs + begun.elapsed();
    let is_only_flaky = is_only_flaky(&measured, &with.test_profile.targets);
    let (session, known) = (open.session.clone(), measured.clone());
    let again = blocking(move || bench::measure(&session, Some(&known))).await?;
    let _ = open.environment.teardown(open.bench(settings, attempt)).await;
    bench::let_go(&attempt.run);
    let is_passing = again.verdict == Verdict::Pass;
    Ok(Ok(Tested { measured, is_passing, misread, fault, is_only_flaky, logs, programs }))
}

/// The results of the first starts, before any control.
struct First {
    measured: Measured,
    misread: Option<String>,
    fault: Option<String>,
}

/// Reads the results of the first starts and checks the setup.
async fn first(settings: &Settings, attempt: &Attempt, with: &With, open: &Open) -> Result<First, Outcome> {
    let (session, root) = (open.session.clone(), Area::of(settings, attempt)?.copy());
    let (image_name, allowed_paths) = (with.build.image.clone(), with.allowed_paths.clone());
    blocking(move || {
        let mut measured = bench::measure(&session, None)?;
        measured.metrics.extend(bench::sizes(&session));
        let is_silent = measured.cases.iter().all(|case| case.case.status == Status::Missing);
        let misread = if is_silent { bench::misread(&session)? } else { None };
        let (image_name, allowed_paths) = (&image_name, &allowed_paths);
        let fault =
            setup::fault(&SetUp { session: &session, measured: &measured, root: &root, image_name, allowed_paths });
        Ok(First { measured, misread, fault })
    })
    .await
}

/// Runs the failing cases again and marks those that do not fail every time.
async fn control(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    open: &Open,
    with: &With,
    measured: &mut Measured,
) -> Result<(), Trouble> {
    let cases = controls::failing(measured, &with.test_profile.targets);
    if cases.is_empty() {
        controls::mark(measured, &Tally::default());
        return Ok(());
    }
    let trees = [Tree { name: "untouched", open, passes: false }];
    let before = measured.clone();
    let wish = Wish { cases: &cases, controls: with.controls, before: Some(&before) };
    let shown = controls::run(settings, attempt, &trees, &wish).await?;
    measured.metrics.insert("control_starts".to_owned(), shown.starts as f64);
    shown.tallies.iter().for_each(|tally| controls::mark(measured, tally));
    Ok(())
}

/// Reports whether nothing remains to search for once the flaky cases are left out.
fn is_only_flaky(measured: &Measured, targets: &[String]) -> bool {
    let ids = || measured.flaky.iter().map(|flaky| flaky.case_id.as_str());
    let is_wanted =
        |id: &str| targets.is_empty() || targets.iter().any(|name| results::meant(name, ids()).contains(&id));
    let is_missing = measured.missing_tests > 0;
    ids().any(is_wanted) && controls::failing(measured, targets).is_empty() && !is_missing
}

async fn run(settings: &Arc<Settings>, attempt: &Attempt, open: &Open) -> Result<bench::AllRan, Trouble> {
    open.environment.deploy(open.bench(settings, attempt)).await?;
    bench::run_all(settings, attempt, open).await.map_err(|trouble| match trouble {
        Trouble::Runner(why) => Trouble::Environment(why),
        other => other,
    })
}

#[cfg(test)]
mod tests;
