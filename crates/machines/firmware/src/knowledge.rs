//! `knowledge.record` and `knowledge.search`: records the results of rounds for later runs and finds similar ones.
//!
//! The knowledge base itself is `interlock-knowledge`. A run continues if the knowledge base cannot be read or written.

use std::{collections::BTreeSet, sync::Arc};

use interlock_activity::{Attempt, Outcome};
use interlock_chart::counted;
use interlock_journal::{EvidenceStore, Hash};
use interlock_judge::settings::Settings as Judges;
use interlock_knowledge::{Came, Filter, Knowledge, Round as Written, Vectors};
use interlock_model::embeddings::Embedder;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::{
    learned::{self, ENTRIES_PER_LESSON, Lesson},
    table::{Done, Settings, blocking, failed, given, signal},
};

/// The number of similar cases that are returned.
const SIMILAR_MAX: usize = 5;

/// The number of characters of a triage or a patch that are searched for and shown.
const TEXT_CHARS_MAX: usize = 2_000;

/// The content of a round that is recorded.
#[derive(Deserialize)]
pub(crate) struct Round {
    #[serde(default)]
    iteration_index: u64,
    #[serde(default)]
    goal: String,
    #[serde(default)]
    analysis: Value,
    #[serde(default)]
    patch_plan: Value,
    #[serde(default)]
    patch: String,
    #[serde(default)]
    test_result: Value,
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    evidence_refs: Vec<String>,
    #[serde(default)]
    knowledge: About,
    /// The result of the round, if the machine states it.
    came: Option<Came>,
}

/// The classification under which a round is recorded.
#[derive(Default, Deserialize)]
struct About {
    #[serde(default)]
    product_line: String,
    #[serde(default)]
    tags: Vec<String>,
}

/// Records a round and reports a failure to do so.
pub(crate) async fn record(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let round: Round = given(&attempt)?;
    let came = round.came.unwrap_or_else(|| came(&round.test_result));
    write(&settings, &attempt, round, came).await?;
    Ok(signal("round_recorded", json!({})))
}

/// Records a round as a side effect of another activity, which continues if the recording fails.
pub(crate) async fn remember(settings: &Arc<Settings>, attempt: &Attempt, round: Round, came: Came) {
    let _ = write(settings, attempt, round, came).await;
}

async fn write(settings: &Arc<Settings>, attempt: &Attempt, round: Round, came: Came) -> Result<(), Outcome> {
    let Some(home) = settings.home.clone() else { return Ok(()) };
    let attempt = attempt.clone();
    blocking(move || {
        let written = round.written(&attempt, came);
        Knowledge::open(&home).and_then(|base| base.record(&written)).map(drop).map_err(failed)
    })
    .await
}

impl Round {
    /// Returns the round with the reason why it got no further.
    pub(crate) fn because(self, reasoning: String) -> Self {
        Round { reasoning, ..self }
    }

    /// Reports whether the round has a patch, applied or not.
    pub(crate) fn has_patch(&self) -> bool {
        !self.patch.is_empty()
    }

    /// Describes the failure before the round changed anything, and also the failure after it if the change did not
    /// help.
    fn symptom(&self, evidence: &EvidenceStore, came: Came) -> String {
        let before = short(&seen(&self.evidence_refs, evidence));
        let after = match not_passed(&self.test_result) {
            said if said.is_empty() => short(&self.reasoning),
            said => short(&said),
        };
        match came {
            _ if before.is_empty() => after,
            Came::Fixed | Came::Improved => before,
            _ if after.is_empty() || after == before => before,
            Came::NoChange | Came::Worse | Came::BuildFailed | Came::Refused => {
                format!("{before}\n\nAfter the change:\n{after}")
            }
        }
    }

    /// Returns the files that the round changed, or the planned files if there is no patch. A plan may name files
    /// relative to another root, so the two lists are never mixed.
    fn files(&self) -> Vec<String> {
        let changed: BTreeSet<&str> = self.patch.lines().filter_map(|line| line.strip_prefix("+++ b/")).collect();
        let planned = self.patch_plan["changes"].as_array().into_iter().flatten();
        let planned = planned.filter_map(|change| change["file"].as_str());
        let files = if changed.is_empty() { planned.collect() } else { changed };
        files.into_iter().map(str::to_owned).collect()
    }

    fn written(self, attempt: &Attempt, came: Came) -> Written {
        let redactor = attempt.evidence.redactor();
        let text = |value: &Value| redactor.text(value.as_str().unwrap_or_default()).into_owned();
        let cause = match text(&self.analysis["root_cause"]) {
            cause if cause.is_empty() => text(&self.analysis["summary"]),
            cause => cause,
        };
        let symptom = redactor.text(&self.symptom(&attempt.evidence, came)).into_owned();
        let files = self.files();
        Written {
            run: attempt.run.to_string(),
            iteration: self.iteration_index,
            at_ms: attempt.host.now_ms(),
            machine: "firmware".to_owned(),
            title: redactor.text(&self.goal).into_owned(),
            symptom,
            cause,
            patch: redactor.text(&self.patch).into_owned(),
            result: Some(came),
            product_line: self.knowledge.product_line,
            tags: self.knowledge.tags,
            files,
            confidence: self.analysis["confidence"].as_f64().unwrap_or(0.0),
            evidence_refs: self.evidence_refs,
        }
    }
}

/// Lists the cases that did not pass, with their messages.
fn not_passed(result: &Value) -> String {
    let cases = result["cases"].as_array().into_iter().flatten();
    let said = cases.filter(|case| !matches!(case["status"].as_str(), Some("passed" | "skipped"))).map(|case| {
        let text = |name: &str| case[name].as_str().unwrap_or_default();
        format!("{} {}: {}", text("case_id"), text("status"), text("message"))
    });
    said.collect::<Vec<_>>().join("\n")
}

/// Returns the failure at the start of a round as its triage read it: the first log that is not empty.
fn seen(refs: &[String], evidence: &EvidenceStore) -> String {
    let read = |hash: &str| String::from_utf8(evidence.get(&Hash::from_hex(hash)?).ok()?).ok();
    let triage: Value =
        refs.first().and_then(|hash| read(hash)).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let mut looked_at = triage["looked_at"].as_array().into_iter().flatten().filter_map(|log| {
        let text = read(log["evidence"].as_str()?)?;
        match log["source"].as_str()? {
            "baseline" => Some(not_passed(&serde_json::from_str::<Value>(&text).ok()?["measured"])),
            _ => Some(text.trim().to_owned()),
        }
    });
    looked_at.find(|text| !text.is_empty()).unwrap_or_default()
}

/// Returns the findings of a triage as text.
fn found_by_rules(triage: &str) -> String {
    let triage: Value = serde_json::from_str(triage).unwrap_or_default();
    let findings = triage["findings"].as_array().into_iter().flatten();
    let words =
        findings.flat_map(|one| ["cause", "excerpt", "file"].map(|name| one[name].as_str().unwrap_or_default()));
    words.filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns the beginning of a text.
fn short(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

fn came(result: &Value) -> Came {
    let lost = result["regressions"].as_array().is_some_and(|lost| !lost.is_empty());
    match result["verdict"].as_str() {
        Some("PASS") => Came::Fixed,
        _ if lost => Came::Worse,
        _ => Came::NoChange,
    }
}

#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    goal: String,
    #[serde(default)]
    evidence_refs: Vec<String>,
    #[serde(default)]
    product_line: String,
}

/// Searches for similar cases of the past.
pub(crate) async fn search(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Search = given(&attempt)?;
    let Some(home) = settings.home.clone() else {
        return Ok(found(&[]));
    };
    let of = attempt.clone();
    let (text, filter) = blocking(move || {
        let first = with.evidence_refs.first().and_then(|hash| Hash::from_hex(hash));
        let triage = first.and_then(|hash| of.evidence.get(&hash).ok()).unwrap_or_default();
        let found = found_by_rules(&String::from_utf8_lossy(&triage));
        let text = short(&format!("{found}\n{}", seen(&with.evidence_refs, &of.evidence)));
        let filter =
            Filter { product_line: Some(with.product_line).filter(|line| !line.is_empty()), ..Filter::default() };
        Ok((format!("{} {text}", with.goal), filter))
    })
    .await?;
    // A settings error is reported by the activities that need the settings; keyword search works without them.
    let server = Judges::load(Some(&home), &attempt.folder).ok().and_then(|judges| judges.embeddings);
    let embedder = server.as_ref().map(Embedder::new);
    let (mut cancel, thread) = (attempt.cancel.clone(), Handle::current());
    let (has_embedder, asked) = (embedder.is_some(), text.clone());
    // One thread at a time owns the knowledge base, also while a server computes vectors.
    let looked = blocking(move || {
        let base = Knowledge::open(&home).map_err(failed)?;
        let vectors = embedder.as_ref().map(|embedder| Vectors {
            model: embedder.model(),
            make: async |texts: &[String]| embedder.vectors(texts).await,
        });
        thread.block_on(async {
            tokio::select! {
                looked = interlock_knowledge::search(&base, vectors, &text, &filter, SIMILAR_MAX * ENTRIES_PER_LESSON) => looked.map_err(failed),
                () = cancel.cancelled() => Err(Outcome::cancelled("it was cancelled")),
            }
        })
    });
    let mut looked = looked.await?;
    // The run already knows its own rounds.
    looked.hits.retain(|hit| hit.entry.run != *attempt.run);
    // A vector result need not share a word with the query, so the check applies to keyword results only.
    if !has_embedder || looked.trouble.is_some() {
        looked.hits.retain(|hit| learned::is_similar(&asked, &hit.entry));
    }
    if let Some(trouble) = &looked.trouble {
        attempt.host.progress(&attempt.run, attempt.activity, &format!("searched by keyword only: {trouble}"));
    }
    Ok(found(&learned::once(looked.hits, SIMILAR_MAX)))
}

fn found(lessons: &[Lesson]) -> Outcome {
    let similar: Vec<Value> = lessons.iter().map(in_short).collect();
    let summary = match lessons {
        [] => "no similar case is known".to_owned(),
        [first, ..] => {
            let known = counted(lessons.len(), "similar case is known", "similar cases are known");
            format!("{known}, the first {}", first.hit.entry.id)
        }
    };
    signal("similar_found", json!({ "summary": summary, "similar": similar }))
}

fn in_short(lesson: &Lesson) -> Value {
    let entry = &lesson.hit.entry;
    json!({
        "id": entry.id,
        "title": entry.title,
        "symptom": short(&entry.symptom),
        "cause": short(&entry.cause),
        "patch": short(&entry.patch),
        "result": lesson.came(),
        "score": lesson.hit.score,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Round;

    #[test]
    fn planned_files_are_not_mixed_with_patched_files() {
        let files = |patch: &str| {
            let plan = json!({ "changes": [{ "file": "src/frame.c" }, { "file": "src/frame.c" }] });
            let round = json!({ "patch": patch, "patch_plan": plan, "came": null });
            serde_json::from_value::<Round>(round).unwrap().files()
        };
        assert_eq!(files("--- a/parser/src/frame.c\n+++ b/parser/src/frame.c\n"), ["parser/src/frame.c"]);
        assert_eq!(files(""), ["src/frame.c"]);
    }
}
