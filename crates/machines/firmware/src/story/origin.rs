//! The author of a patch, the person who approved it, and the reason why it was delivered or not.

use interlock_activity::report::{RecordedMove, RecordedRun, reading::text};
use interlock_journal::{AttemptResult, Entry};
use interlock_judge::by_hand;

/// The author of a patch.
pub(super) enum Origin {
    Template,
    Model,
    Person(String),
    Unknown,
}

impl Origin {
    /// The word for programs; empty if it is not known.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Origin::Template => "template",
            Origin::Model => "model",
            Origin::Person(_) => "person",
            Origin::Unknown => "",
        }
    }
}

/// Returns the person who approved the patch that was delivered: the last approval before the last delivery.
pub(super) fn vouched_by(run: &RecordedRun) -> Option<String> {
    let moves: Vec<_> = run.moves().collect();
    let delivered = moves.iter().rposition(|step| step.to_state.as_deref() == Some("DELIVER"))?;
    let mut approved = moves[..=delivered].iter().rev().filter(|step| step.event.as_deref() == Some("approve"));
    approved.find_map(|step| step.by.as_ref().map(|by| by.name.clone()))
}

/// Returns why a patch was delivered or not: the reason of the last step that decided it, or else of the last step at all.
pub(super) fn why(run: &RecordedRun) -> String {
    let all: Vec<_> = run.moves().collect();
    let is_to =
        |step: &RecordedMove, names: &[&str]| step.to_state.as_deref().is_some_and(|name| names.contains(&name));
    let last = all.last().filter(|step| !is_to(step, &["SUCCESS"]));
    let decided = all.iter().rev().find(|step| is_to(step, &["DELIVER", "PLAUSIBLE_FIX"]));
    last.or(decided).or(all.last()).and_then(|step| step.reason.clone()).unwrap_or_default()
}

/// Returns where the patch comes from: as the machine's context says, unless a person wrote it in place of a model.
pub(super) fn of(run: &RecordedRun) -> Origin {
    let written = run.records.iter().rev().find(|record| {
        matches!(&record.entry, Entry::Outcome { result: AttemptResult::Signal { name, .. }, .. } if name == "patch_generated")
    });
    if let Some((by, _)) = written.and_then(|record| by_hand(&record.entry)) {
        return Origin::Person(by.name.clone());
    }
    match text(&run.context["patch_origin"]).as_str() {
        "template" => Origin::Template,
        "model" => Origin::Model,
        _ => Origin::Unknown,
    }
}

/// Returns the patches of all rounds if the last patch was applied on top of others.
pub(super) fn all_patches(run: &RecordedRun) -> Option<String> {
    let evidence = run.records.iter().rev().find_map(|record| match &record.entry {
        Entry::Outcome { result: AttemptResult::Signal { name, .. }, evidence, .. } if name == "workspace_updated" => {
            Some(evidence)
        }
        _ => None,
    })?;
    let whole = |name: &str| evidence.iter().find(|file| file.name == name).and_then(|file| run.text(file));
    // A later patch that was not applied stands for itself.
    let is_last = whole("patch").is_some_and(|patch| patch == text(&run.context["patch"]));
    whole("patches").filter(|_| is_last)
}
