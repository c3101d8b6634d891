//! The activities of a firmware task: a table with one entry for each.

use std::{path::PathBuf, sync::Arc};

use interlock_activity::{
    Activity, Attempt, EffectClass, Ending, Outcome, Registry, Requests, Signal, Site, code,
    report::{Account, ExecutedCommand, RecordedRun, RunRecord, Story, reading::text},
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::{Evidence, EvidenceStore};
use interlock_process::Sandbox;
use interlock_workspace::Workspace;
use serde::de::DeserializeOwned;

use crate::{
    area, baseline, bench, build, collect, copy, delivery, excerpts, fields, knowledge, objections, rounds, search,
    story,
};

/// The services that all these activities share.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Stores trees and checkpoints.
    pub workspace: Workspace,
    /// The confinement of programs.
    pub sandbox: Sandbox,
    /// The store's directory, which holds the knowledge base and the resource locks.
    pub home: Option<PathBuf>,
}

/// The result of an activity: both variants are outcomes, the error one ends it early.
pub(crate) type Done = Result<Outcome, Outcome>;

/// One activity of the table.
struct FirmwareActivity {
    name: &'static str,
    summary: &'static str,
    signals: &'static [Signal],
    begin: fn(Arc<Settings>, Attempt) -> Ending,
    settings: Arc<Settings>,
    /// Only the delivery changes the workspace; all other activities can run again. An operation that must not run
    /// twice, such as flashing a board, refuses the second attempt itself.
    effect: EffectClass,
    /// True if this activity checks the task and cleans up for all of them. Every activity of a machine is asked at
    /// the start and end of a run, and one answer is enough.
    answers_for_all: bool,
    /// True for the one activity that adds its part to the report.
    tells_story: bool,
}

impl FirmwareActivity {
    /// Marks an activity that changes the sources.
    fn writing(self) -> Self {
        FirmwareActivity { effect: EffectClass::Write, ..self }
    }

    /// Marks the activity that reports objections to a task and cleans up after a run.
    fn answering_for_all(self) -> Self {
        FirmwareActivity { answers_for_all: true, ..self }
    }

    /// The one that tells the story of a run.
    fn telling(self) -> Self {
        FirmwareActivity { tells_story: true, ..self }
    }
}

/// Adds all activities of this crate to a registry.
pub fn all(registry: Registry, settings: Settings) -> Registry {
    let settings = Arc::new(settings);
    let hand = |name, summary, signals, begin| FirmwareActivity {
        name,
        summary,
        signals,
        begin,
        settings: Arc::clone(&settings),
        effect: EffectClass::Read,
        answers_for_all: false,
        tells_story: false,
    };
    let hands = [
        hand(
            "copy.apply",
            "Applies a patch to a tree and stores the result.",
            const { &[Signal::open("workspace_updated"), Signal::open("apply_failed")] },
            |s, a| ending(copy::apply(s, a)),
        ),
        hand(
            "copy.deliver",
            "Writes the changes of a tree to the sources.",
            const { &[Signal::open("delivered"), Signal::open("delivery_failed")] },
            |s, a| ending(copy::deliver(s, a)),
        )
        .writing(),
        hand("copy.restore", "Restores the run's copy to a tree.", const { &[] }, |s, a| ending(copy::restore(s, a))),
        hand(
            "copy.sources",
            "Stores the source excerpts that a judge receives.",
            const { &[Signal::open("sources_read")] },
            |s, a| ending(excerpts::sources(s, a)),
        ),
        hand(
            "build.prepare",
            "Checks that the programs a build needs are installed.",
            const { &[Signal::open("build_env_ready"), Signal::open("toolchain_missing")] },
            |s, a| ending(build::prepare(s, a)),
        ),
        hand(
            "build.run",
            "Builds a tree in the run's copy.",
            const { &[Signal::open("build_ok"), Signal::open("build_failed")] },
            |s, a| ending(build::run(s, a)),
        ),
        hand(
            "build.clean",
            "Removes the output of earlier builds.",
            const { &[Signal::open("build_cleaned")] },
            |s, a| ending(build::clean(s, a)),
        ),
        hand(
            "testbench.baseline",
            "Builds and tests the untouched tree.",
            const {
                &[
                    Signal::open("baseline_measured"),
                    Signal::open("baseline_flaky"),
                    Signal::open("setup_wrong"),
                    Signal::open("toolchain_missing"),
                    Signal::open("env_failed"),
                ]
            },
            |s, a| ending(baseline::measure(s, a)),
        )
        .telling(),
        hand(
            "testbench.setup",
            "Leases an environment in which firmware runs.",
            const { &[Signal::open("resource_allocated"), Signal::open("env_failed")] },
            |s, a| ending(bench::setup(s, a)),
        )
        .answering_for_all(),
        hand(
            "testbench.flash",
            "Deploys the image to the environment.",
            const { &[Signal::open("deployed"), Signal::open("env_failed")] },
            |s, a| ending(bench::flash(s, a)),
        ),
        hand(
            "testbench.health_check",
            "Checks that the firmware is alive.",
            const { &[Signal::open("env_ready"), Signal::open("env_failed")] },
            |s, a| ending(bench::health_check(s, a)),
        ),
        hand(
            "testbench.run",
            "Runs the test cases.",
            const { &[Signal::open("test_finished"), Signal::open("runner_crashed")] },
            |s, a| ending(bench::run(s, a)),
        ),
        hand(
            "testbench.fetch_logs",
            "Fetches logs.",
            const { &[Signal::open("logs_fetched"), Signal::open("artifacts_missing")] },
            |s, a| ending(bench::fetch_logs(s, a)),
        ),
        hand(
            "testbench.fetch_artifacts",
            "Binds artifacts and metrics to the result.",
            const { &[Signal::open("result_normalized"), Signal::open("artifacts_missing")] },
            |s, a| ending(bench::fetch_artifacts(s, a)),
        ),
        hand("testbench.reset", "Resets the environment.", const { &[Signal::open("environment_reset")] }, |s, a| {
            ending(bench::reset(s, a))
        }),
        hand(
            "results.normalize",
            "Normalises the results and lists what was measured.",
            const {
                &[
                    Signal::open("tests_passed"),
                    Signal::open("tests_failed"),
                    Signal::open("tests_inconclusive"),
                    Signal::open("tests_flaky"),
                    Signal::open("environment_broken"),
                    Signal::open("artifacts_missing"),
                ]
            },
            |s, a| ending(bench::normalize(s, a)),
        ),
        hand(
            "convergence.measure",
            "Compares a round with the baseline.",
            const { &[Signal::open("round_measured")] },
            |s, a| ending(rounds::measure(s, a)),
        ),
        hand(
            "delivery.examine",
            "Runs the repaired cases on the untouched and the patched tree alternately, and examines the patch.",
            const {
                &[
                    Signal::open("controls_agreed"),
                    Signal::open("doubts_found"),
                    Signal::open("controls_disagreed"),
                    Signal::open("env_failed"),
                ]
            },
            |s, a| ending(delivery::examine(s, a)),
        ),
        hand(
            "evidence.collect",
            "Saves the logs and dumps that exist.",
            const { &[Signal::open("evidence_collected")] },
            |s, a| ending(collect::collect(s, a)),
        ),
        hand(
            "knowledge.record",
            "Writes a round to the knowledge base.",
            const { &[Signal::open("round_recorded")] },
            |s, a| ending(knowledge::record(s, a)),
        ),
        hand("knowledge.search", "Searches for similar cases.", const { &[Signal::open("similar_found")] }, |s, a| {
            ending(knowledge::search(s, a))
        }),
        hand(
            "repair.search",
            "Searches for a patch by templates; builds and tests each candidate.",
            const { &[Signal::open("patch_generated"), Signal::open("nothing_found")] },
            |s, a| ending(search::search(s, a)),
        ),
    ];
    hands.into_iter().fold(registry, Registry::with)
}

fn ending(work: impl Future<Output = Done> + Send + 'static) -> Ending {
    Box::pin(async move { work.await.unwrap_or_else(|error| error) })
}

impl Activity for FirmwareActivity {
    fn name(&self) -> &str {
        self.name
    }

    fn summary(&self) -> &str {
        self.summary
    }

    fn effect(&self) -> EffectClass {
        self.effect
    }

    fn signals(&self) -> &[Signal] {
        self.signals
    }

    fn schema(&self) -> Schema {
        fields::of(self.name)
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn objections(&self, input: &Value, folder: &std::path::Path) -> Vec<String> {
        if self.answers_for_all { objections::of(input, folder) } else { Vec::new() }
    }

    fn run_ended(&self, run: &str) {
        if self.answers_for_all {
            bench::forget(run);
            area::remove(&self.settings, run);
        }
    }

    fn story(&self, run: &RecordedRun) -> Option<Story> {
        self.tells_story.then(|| story::tell(run))
    }

    /// The programs of builds and tests, which report their time together. The story of the run says what they showed.
    fn account(&self, record: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        let commands = record.ended().and_then(|ended| {
            let duration_ms = Some(ended.data["programs_ms"].as_u64()?);
            let signal = ended.signal.as_deref()?;
            let has_passed = !["failed", "crashed", "broken"].iter().any(|word| signal.ends_with(word));
            let message = text(&ended.data["summary"]);
            let (command, exit_code) = (format!("{}: {signal}", self.name), ended.data["exit_code"].as_i64());
            Some(ExecutedCommand { command, has_passed, exit_code, duration_ms, message, ..ExecutedCommand::default() })
        });
        Some(Account { commands: commands.into_iter().collect(), ..Account::default() })
    }

    fn start(&self, attempt: Attempt) -> Ending {
        (self.begin)(Arc::clone(&self.settings), attempt)
    }
}

/// Parses the machine's `with` fields into the type that an activity needs. Null fields count as absent.
pub(crate) fn given<T: DeserializeOwned>(attempt: &Attempt) -> Result<T, Outcome> {
    let mut json = serde_json::Value::from(&attempt.with);
    if let Some(fields) = json.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    serde_json::from_value(json)
        .map_err(|error| Outcome::error(code::BAD_INPUT, format!("`with` does not fit: {error}")))
}

/// Runs blocking work on the thread pool for it.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Outcome> + Send + 'static,
) -> Result<T, Outcome> {
    let broken =
        |error: tokio::task::JoinError| Outcome::error(code::FAILED, format!("it failed unexpectedly: {error}"));
    tokio::task::spawn_blocking(work).await.map_err(broken)?
}

/// Returns the error outcome with a message.
pub(crate) fn failed(why: impl std::fmt::Display) -> Outcome {
    Outcome::error(code::FAILED, why.to_string())
}

/// Stores content as evidence under a name.
pub(crate) async fn keep(attempt: &Attempt, name: &str, media: &str, content: Vec<u8>) -> Result<Evidence, Outcome> {
    let (store, name, media) = (attempt.evidence.clone(), name.to_owned(), media.to_owned());
    blocking(move || {
        let kept = store.put(&name, &media, &content);
        kept.map_err(|error| Outcome::not_stored(format!("`{name}` could not be stored: {error}")))
    })
    .await
}

/// Returns the outcome of a signal with its data.
pub(crate) fn signal(name: &str, data: serde_json::Value) -> Outcome {
    Outcome::signal(name, Value::from(data))
}

/// Returns the hashes by which machines refer to evidence.
pub(crate) fn refs(evidence: &[Evidence]) -> Vec<String> {
    evidence.iter().map(|evidence| evidence.hash.to_string()).collect()
}
