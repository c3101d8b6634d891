//! `knowledge.record` and `knowledge.search`: what rounds have shown, written down for those to come, and looked up again.
//!
//! The knowledge base itself is the journal's (`interlock_journal::knowledge`). That it cannot be read or written is no reason to stop a run.

use std::sync::Arc;

use interlock_activity::{Attempt, Outcome, code};
use interlock_journal::{
    Hash,
    knowledge::{Came, Filter, Hit, Knowledge, Round as Written},
};
use interlock_judge::{
    embeddings::{self, Embedder},
    settings::Settings as Judges,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::hand::{Done, Settings, blocking, failed, given, signal};

/// How many similar cases are looked up.
const SIMILAR_MAX: usize = 5;

/// How much of a triage or of a patch is looked for and shown.
const TEXT_CHARS_MAX: usize = 2_000;

/// What is remembered of a round.
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
    /// What has come of it, where the machine says so.
    came: Option<Came>,
}

/// What it is remembered under.
#[derive(Default, Deserialize)]
struct About {
    #[serde(default)]
    product_line: String,
    #[serde(default)]
    tags: Vec<String>,
}

/// Writes a round down.
pub(crate) async fn record(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let round: Round = given(&attempt)?;
    let came = round.came.unwrap_or_else(|| came(&round.test_result));
    write(&settings, &attempt, round, came).await?;
    Ok(signal("round_recorded", json!({})))
}

/// Writes a round down beside something else; that this cannot be done is no reason not to do that.
pub(crate) async fn remember(settings: &Arc<Settings>, attempt: &Attempt, round: Round, came: Came) {
    let _ = write(settings, attempt, round, came).await;
}

async fn write(settings: &Arc<Settings>, attempt: &Attempt, round: Round, came: Came) -> Result<(), Outcome> {
    let Some(home) = settings.home.clone() else { return Ok(()) };
    let written = round.written(attempt, came);
    blocking(move || Knowledge::open(&home).and_then(|base| base.record(&written)).map(drop).map_err(failed)).await
}

impl Round {
    /// With why it came no further.
    pub(crate) fn because(self, reasoning: String) -> Self {
        Round { reasoning, ..self }
    }

    /// Whether there is something that was changed, or would have been.
    pub(crate) fn has_patch(&self) -> bool {
        !self.patch.is_empty()
    }

    fn written(self, attempt: &Attempt, came: Came) -> Written {
        let redactor = attempt.evidence.redactor();
        let text = |value: &Value| redactor.text(value.as_str().unwrap_or_default()).into_owned();
        let cause = match text(&self.analysis["root_cause"]) {
            cause if cause.is_empty() => text(&self.analysis["summary"]),
            cause => cause,
        };
        let changes = self.patch_plan["changes"].as_array().into_iter().flatten();
        let files = self.patch.lines().filter_map(|line| line.strip_prefix("+++ b/").map(str::to_owned));
        Written {
            run: attempt.run.to_string(),
            iteration: self.iteration_index,
            at_ms: attempt.host.now_ms(),
            machine: "firmware".to_owned(),
            title: redactor.text(&self.goal).into_owned(),
            symptom: symptom(&self.test_result, &self.reasoning),
            cause,
            patch: redactor.text(&self.patch).into_owned(),
            result: Some(came),
            product_line: self.knowledge.product_line,
            tags: self.knowledge.tags,
            files: files.chain(changes.filter_map(|change| change["file"].as_str().map(str::to_owned))).collect(),
            confidence: self.analysis["confidence"].as_f64().unwrap_or(0.0),
            evidence_refs: self.evidence_refs,
        }
    }
}

/// What was seen: the cases that did not pass, with what they say.
fn symptom(result: &Value, otherwise: &str) -> String {
    let cases = result["cases"].as_array().into_iter().flatten();
    let said = cases.map(|case| {
        let text = |name: &str| case[name].as_str().unwrap_or_default();
        format!("{} {}: {}", text("case_id"), text("status"), text("message"))
    });
    let said = said.collect::<Vec<_>>().join("\n");
    if said.is_empty() { otherwise.to_owned() } else { said.chars().take(TEXT_CHARS_MAX).collect() }
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

/// Looks for similar cases of the past.
pub(crate) async fn search(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Search = given(&attempt)?;
    let Some(home) = settings.home.clone() else {
        return Ok(found(&[]));
    };
    let of = attempt.clone();
    let (text, filter) = blocking(move || {
        let first = with.evidence_refs.first().and_then(|hash| Hash::from_hex(hash));
        let triage = first.and_then(|hash| of.evidence.get(&hash).ok()).unwrap_or_default();
        let text: String = String::from_utf8_lossy(&triage).chars().take(TEXT_CHARS_MAX).collect();
        let filter =
            Filter { product_line: Some(with.product_line).filter(|line| !line.is_empty()), ..Filter::default() };
        Ok((format!("{} {text}", with.goal), filter))
    })
    .await?;
    // Settings that cannot be read are said by those who need them; words can be looked for without.
    let server = Judges::load(Some(&home), &attempt.folder).ok().and_then(|judges| judges.embeddings);
    let embedder = server.as_ref().map(Embedder::new);
    let (mut cancel, thread) = (attempt.cancel.clone(), Handle::current());
    // The knowledge base belongs to one thread at a time, also while a server makes vectors.
    let looked = blocking(move || {
        let base = Knowledge::open(&home).map_err(failed)?;
        thread.block_on(async {
            tokio::select! {
                looked = embeddings::search(&base, embedder.as_ref(), &text, &filter, SIMILAR_MAX) => looked.map_err(failed),
                () = cancel.cancelled() => Err(Outcome::error(code::CANCELLED, "it was stopped")),
            }
        })
    });
    let looked = looked.await?;
    if let Some(trouble) = &looked.trouble {
        attempt.host.progress(&attempt.run, attempt.activity, &format!("looked for words only: {trouble}"));
    }
    Ok(found(&looked.hits))
}

fn found(hits: &[Hit]) -> Outcome {
    let similar: Vec<Value> = hits.iter().map(in_short).collect();
    let summary = match hits {
        [] => "no similar case is known".to_owned(),
        hits => format!("{} similar cases are known, the first {}", hits.len(), hits[0].entry.id),
    };
    signal("similar_found", json!({ "summary": summary, "similar": similar }))
}

fn in_short(hit: &Hit) -> Value {
    let short = |text: &str| text.chars().take(TEXT_CHARS_MAX).collect::<String>();
    let entry = &hit.entry;
    json!({
        "id": entry.id,
        "title": entry.title,
        "symptom": short(&entry.symptom),
        "cause": short(&entry.cause),
        "patch": short(&entry.patch),
        "result": entry.result.name(),
        "score": hit.score,
    })
}
