//! The report on a firmware run, for readers who do not read its records: what was wrong, what was changed, what that did, and how sure it is.
//!
//! Everything is taken from records and evidence; no statement goes beyond them. `verdict.rs` has the opening sentence and the decision, `repair.rs` the
//! fault and the patch, `cases.rs` the results, `repeat.rs` the commands, `origin.rs` who wrote the patch and who vouched for it, `json.rs` the form for programs.

mod cases;
mod json;
mod origin;
mod repair;
mod repeat;
mod verdict;

use interlock_activity::report::{RecordedRun, Reverted, Section, Story, TimeSpent, reading::text};
use interlock_journal::Phase;
use interlock_judge::JudgementSummary;
use serde_json::Value as Json;

use origin::Origin;

/// The facts of a firmware run.
struct Facts {
    folder: String,
    input: Json,
    context: Json,
    status: &'static str,
    baseline: Json,
    result: Json,
    /// The patch; empty if there is none.
    fix: String,
    /// The results of the last search and the last controls.
    search: Json,
    controls: Json,
    /// The person who approved the patch that was delivered.
    vouched_by: Option<String>,
    /// The reason of the transition that decided about the patch.
    why: String,
    origin: Origin,
    reverted: Option<Reverted>,
    judged: JudgementSummary,
    time: TimeSpent,
    trace: Vec<Json>,
}

/// Tells the story of a run whose machine measures a baseline.
pub(crate) fn tell(run: &RecordedRun) -> Story {
    let facts = Facts::of(run);
    Story {
        sentence: facts.sentence(),
        sections: facts.sections(),
        repeat: facts.commands(),
        tools: facts.versions().into_iter().map(|(name, version)| (name, text(&version))).collect(),
        json: facts.json(),
        ..Story::default()
    }
}

impl Facts {
    fn of(run: &RecordedRun) -> Self {
        let status = match run.phase {
            Phase::Succeeded => "SUCCESS",
            Phase::Incomplete => "INCOMPLETE",
            Phase::Failed => "FAILURE",
            Phase::Aborted => "ABORTED",
            Phase::Active | Phase::Waiting | Phase::Paused => "",
        };
        let fix = run.last("fix").and_then(|file| run.text(file)).filter(|text| !text.is_empty());
        let judged = JudgementSummary::of(run);
        Facts {
            folder: run.folder.display().to_string(),
            search: run.last_json("search"),
            controls: run.last_json("controls"),
            vouched_by: origin::vouched_by(run),
            why: origin::why(run),
            status,
            origin: origin::of(run),
            reverted: run.reverted.clone(),
            baseline: run.last_json("baseline"),
            result: run.last_json("test_result"),
            fix: fix.or_else(|| origin::all_patches(run)).unwrap_or_else(|| text(&run.context["patch"])),
            time: TimeSpent::of(run, judged.latency_ms),
            judged,
            trace: json::trace(run),
            input: run.input.clone(),
            context: run.context.clone(),
        }
    }

    fn sections(&self) -> Vec<Section> {
        let results = match self.is_measured_again() {
            true => Section::new("Before and after", self.before_and_after()),
            false => Section::new("Cases", self.as_found()),
        };
        vec![
            Section::new("Failing cases", self.failing_table()),
            Section::new("Cause", self.wrong()),
            Section::new("Changes", self.changed()),
            Section::new("Delivery", self.decision()),
            results,
            Section::new("Figures", self.figures()),
            Section::new("Similar cases", self.similar()),
        ]
    }

    /// Whether there is a result to compare the tree as it was found with.
    fn is_measured_again(&self) -> bool {
        !self.result.is_null()
    }
}
