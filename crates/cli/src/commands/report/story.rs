//! What a firmware run was about, for whoever will not read its records: what was wrong, what was changed, what that did, and what it cost.
//!
//! Everything here is taken from records and evidence; nothing is said that no record says. Other machines have no story of their own yet.

use interlock_journal::{AttemptResult, Entry, Phase};
use serde_json::{Map, Value as Json, json};

use super::{File, Report, show};

/// A part of a report.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) parts: Vec<Part>,
}

/// Something to be shown. A cell that is the hash of evidence leads there.
pub(super) enum Part {
    Text(String),
    Table(Vec<&'static str>, Vec<Vec<String>>),
    Diff(String),
}

/// What a run was about.
pub(super) struct Story {
    input: Json,
    context: Json,
    status: &'static str,
    baseline: Json,
    result: Json,
    fix: String,
    models: Models,
    time: Time,
    trace: Vec<Json>,
}

/// What models were asked.
#[derive(Default)]
struct Models {
    calls: Vec<Vec<String>>,
    tokens: (u64, u64),
    cost: f64,
    latency_ms: u64,
}

/// Where the time went.
#[derive(Default)]
struct Time {
    total_ms: u64,
    programs_ms: u64,
    models_ms: u64,
    waiting_ms: u64,
}

impl Time {
    fn own_ms(&self) -> u64 {
        self.total_ms.saturating_sub(self.programs_ms + self.models_ms + self.waiting_ms)
    }

    fn own_percent(&self) -> f64 {
        let busy = self.total_ms.saturating_sub(self.waiting_ms).max(1);
        self.own_ms() as f64 / busy as f64 * 100.0
    }
}

impl Story {
    /// The story of a run, where it has one.
    pub(super) fn of(report: &Report) -> Option<Story> {
        if report.head.machine != "firmware" {
            return None;
        }
        let state = show::state_json(&report.follower.live);
        let (input, context) = (state["input"].clone(), state["context"].clone());
        let last = |name: &str| report.files.iter().rev().find(|file| file.evidence.name == name);
        let json = |name: &str| last(name).and_then(File::whole).and_then(|text| serde_json::from_str(text).ok());
        let status = match report.follower.phase() {
            Phase::Succeeded => "SUCCESS",
            Phase::Failed => "FAILURE",
            Phase::Aborted => "ABORTED",
            _ => "",
        };
        let fix = last("fix").and_then(File::whole).map(str::to_owned).filter(|text| !text.is_empty());
        Some(Story {
            status,
            baseline: json("baseline").unwrap_or(Json::Null),
            result: json("test_result").unwrap_or(Json::Null),
            fix: fix.unwrap_or_else(|| text(&context["patch"])),
            models: models(report),
            time: time(report),
            trace: trace(report),
            input,
            context,
        })
    }

    /// For people.
    pub(super) fn sections(&self) -> Vec<Section> {
        let all = [
            Section { title: "What was wrong", parts: self.wrong() },
            Section { title: "What was changed", parts: self.changed() },
            Section { title: "Before and after", parts: self.before_and_after() },
            Section { title: "Figures", parts: self.figures() },
            Section { title: "Similar cases", parts: self.similar() },
            Section { title: "Models", parts: self.asked() },
            Section { title: "Time", parts: self.spent() },
        ];
        all.into_iter().filter(|section| !section.parts.is_empty()).collect()
    }

    fn wrong(&self) -> Vec<Part> {
        let mut parts = vec![Part::Text(format!("Goal: {}", text(&self.input["goal"])))];
        let analysis = &self.context["analysis"];
        parts.extend(words(&analysis["summary"]).map(Part::Text));
        parts.extend(words(&analysis["root_cause"]).map(|cause| Part::Text(format!("Root cause: {cause}"))));
        let rows = list(&analysis["hypothesis_list"]).map(|one| {
            let refs = list(&one["evidence_refs"]).map(text).collect::<Vec<_>>().join(" ");
            vec![text(&one["description"]), text(&one["confidence"]), refs]
        });
        parts.extend(table(vec!["hypothesis", "confidence", "evidence"], rows.collect()));
        let refs = list(&self.context["evidence_refs"]).map(|hash| vec![text(hash)]);
        parts.extend(table(vec!["what it rests on"], refs.collect()));
        let error = &self.context["error_state"];
        if self.status == "FAILURE" && words(&error["type"]).is_some() {
            let said = format!(
                "Last error: {} in {}: {}",
                text(&error["type"]),
                text(&error["failed_state"]),
                text(&error["message"])
            );
            parts.push(Part::Text(said));
        }
        parts
    }

    fn changed(&self) -> Vec<Part> {
        if self.fix.is_empty() {
            return vec![Part::Text("Nothing was changed.".to_owned())];
        }
        let origin = match text(&self.context["patch_origin"]).as_str() {
            "template" => "The patch comes from templates: plausible, not proven.",
            "model" => "The patch comes from a model.",
            _ => "",
        };
        let whether = if self.status == "SUCCESS" {
            "It is in the sources."
        } else {
            "It is not in the sources: they are as they were found."
        };
        let mut parts = vec![Part::Text(format!("{origin} {whether}").trim().to_owned())];
        parts.extend(words(&self.context["patch_plan"]["summary"]).map(|plan| Part::Text(format!("Plan: {plan}"))));
        parts.push(Part::Diff(self.fix.clone()));
        let risk = format!(
            "Risk of all patches: {:.2}. {}",
            self.context["risk_total"].as_f64().unwrap_or(0.0),
            text(&self.context["risk_reasons"])
        );
        parts.push(Part::Text(risk.trim().to_owned()));
        parts
    }

    /// Every case that did not pass both times, and how many did.
    fn before_and_after(&self) -> Vec<Part> {
        let rows = self.cases();
        let same = rows.iter().filter(|row| row[1] == "passed" && row[2] == "passed").count();
        let shown: Vec<Vec<String>> =
            rows.iter().filter(|row| row[1] != "passed" || row[2] != "passed").cloned().collect();
        let mut parts: Vec<Part> = table(vec!["case", "before", "after"], shown).into_iter().collect();
        if same > 0 {
            parts.push(Part::Text(format!("{same} more cases passed before and pass now.")));
        }
        parts
    }

    fn cases(&self) -> Vec<Vec<String>> {
        let before = statuses(&self.baseline["measured"]);
        let after = statuses(&self.result);
        let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
        names.sort();
        names.dedup();
        let of = |map: &Map<String, Json>, name: &str| map.get(name).map_or("–".to_owned(), text);
        names.iter().map(|name| vec![(*name).clone(), of(&before, name), of(&after, name)]).collect()
    }

    fn figures(&self) -> Vec<Part> {
        let (before, after) = (&self.baseline["measured"]["metrics"], &self.result["metrics"]);
        let thresholds = &self.input["constraints"]["metrics"];
        let names = after.as_object().into_iter().flatten().map(|(name, _)| name);
        let rows = names.map(|name| {
            let threshold = if thresholds[name].is_null() { String::new() } else { thresholds[name].to_string() };
            vec![name.clone(), text(&before[name]), text(&after[name]), threshold]
        });
        table(vec!["figure", "before", "after", "threshold"], rows.collect()).into_iter().collect()
    }

    fn similar(&self) -> Vec<Part> {
        let rows =
            list(&self.context["similar"]).map(|one| vec![text(&one["id"]), text(&one["title"]), text(&one["result"])]);
        table(vec!["entry", "what it was about", "result"], rows.collect()).into_iter().collect()
    }

    fn asked(&self) -> Vec<Part> {
        let Models { calls, tokens, cost, .. } = &self.models;
        let mut parts: Vec<Part> =
            table(vec!["judgement", "by", "said", "evidence"], calls.clone()).into_iter().collect();
        if tokens.0 + tokens.1 > 0 {
            parts.push(Part::Text(format!("{} tokens in, {} out, cost {cost:.4}.", tokens.0, tokens.1)));
        } else if !calls.is_empty() {
            parts.push(Part::Text("No model was asked: rules and templates did the work.".to_owned()));
        }
        parts
    }

    fn spent(&self) -> Vec<Part> {
        let time = &self.time;
        let seconds = |ms: u64| format!("{:.2} s", ms as f64 / 1_000.0);
        let rows = vec![
            vec!["from start to end".to_owned(), seconds(time.total_ms)],
            vec!["compilers, emulators, tests".to_owned(), seconds(time.programs_ms)],
            vec!["models".to_owned(), seconds(time.models_ms)],
            vec!["waiting for people".to_owned(), seconds(time.waiting_ms)],
            vec!["Interlock itself".to_owned(), format!("{} ({:.1} %)", seconds(time.own_ms()), time.own_percent())],
        ];
        table(vec!["what", "time"], rows).into_iter().collect()
    }

    /// For programs: `machines/firmware/schemas/report.json`.
    pub(super) fn json(&self) -> Json {
        let result = |of: &Json| if of.is_object() { of.clone() } else { json!({}) };
        let case = |row: &Vec<String>| json!({ "case_id": row[0], "before": row[1], "after": row[2] });
        let refs: Vec<String> = list(&self.context["evidence_refs"]).map(text).collect();
        let knowledge: Vec<String> = list(&self.context["similar"]).map(|one| text(&one["id"])).collect();
        json!({
            "final_status": self.status,
            "iterations": self.context["iteration_index"],
            "goal": self.input["goal"],
            "artifacts": {
                "repo_snapshot": self.context["repo_snapshot"],
                "patch": self.fix,
                "build_artifact": self.context["build_artifact"],
                "test_result": result(&self.context["test_result"]),
                "patch_plan": result(&self.context["patch_plan"]),
                "logs": refs,
                "knowledge": knowledge,
            },
            "cases": self.cases().iter().map(case).collect::<Vec<_>>(),
            "metrics": { "before": result(&self.baseline["measured"]["metrics"]), "after": result(&self.result["metrics"]) },
            "risk": { "total": self.context["risk_total"], "reasons": self.context["risk_reasons"] },
            "models": {
                "calls": self.models.calls.len(),
                "input_tokens": self.models.tokens.0,
                "output_tokens": self.models.tokens.1,
                "cost": self.models.cost,
            },
            "time": {
                "total_ms": self.time.total_ms,
                "programs_ms": self.time.programs_ms,
                "models_ms": self.time.models_ms,
                "waiting_ms": self.time.waiting_ms,
                "own_ms": self.time.own_ms(),
                "own_percent": self.time.own_percent(),
            },
            "decision_trace": self.trace,
            "last_error": text(&self.context["error_state"]["message"]),
            "abort_reason": if self.status == "ABORTED" { self.trace.last().map_or(Json::Null, |last| last["reason"].clone()) } else { json!("") },
        })
    }
}

/// Nothing where there is nothing to show.
fn table(head: Vec<&'static str>, rows: Vec<Vec<String>>) -> Option<Part> {
    (!rows.is_empty()).then_some(Part::Table(head, rows))
}

fn statuses(measured: &Json) -> Map<String, Json> {
    list(&measured["cases"]).map(|case| (text(&case["case_id"]), case["status"].clone())).collect()
}

fn list(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn words(value: &Json) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

fn models(report: &Report) -> Models {
    let mut models = Models::default();
    let judgements = report.files.iter().filter(|file| file.evidence.name == "judgement");
    for (file, said) in judgements.filter_map(|file| Some((file, file.whole()?))) {
        let Ok(said) = serde_json::from_str::<Json>(said) else { continue };
        let row = [
            text(&said["activity"]),
            text(&said["judge"]),
            text(&said["verdict"]["signal"]),
            file.evidence.hash.to_string(),
        ];
        models.calls.push(row.to_vec());
        for tried in list(&said["hearings"]).flat_map(|hearing| list(&hearing["tries"])) {
            let number = |value: &Json| value.as_u64().unwrap_or(0);
            models.tokens.0 += number(&tried["usage"]["input_tokens"]);
            models.tokens.1 += number(&tried["usage"]["output_tokens"]);
            models.latency_ms += number(&tried["took_ms"]);
            models.cost += tried["cost"].as_f64().unwrap_or(0.0);
        }
    }
    models
}

/// Where the time went: programs as the activities that ran them say, models as their judgements say, people by how long their events let us wait.
fn time(report: &Report) -> Time {
    let mut time = Time { models_ms: models(report).latency_ms, ..Time::default() };
    let mut before = report.head.created_ms;
    for step in &report.steps {
        let passed = u64::try_from(step.record.at_ms.saturating_sub(before)).unwrap_or(0);
        before = step.record.at_ms;
        match &step.entry {
            Entry::Outcome { result: AttemptResult::Signal { data, .. }, .. } => {
                time.programs_ms += Json::from(data)["programs_ms"].as_u64().unwrap_or(0);
            }
            Entry::Event { .. } => time.waiting_ms += passed,
            _ => {}
        }
    }
    time.total_ms = u64::try_from(before.saturating_sub(report.head.created_ms)).unwrap_or(0);
    time
}

fn trace(report: &Report) -> Vec<Json> {
    let of = |step: &interlock_runtime::Move| {
        let json = serde_json::to_value(step).unwrap_or(Json::Null);
        let field = |name: &str| json.get(name).cloned().unwrap_or(Json::Null);
        json!({
            "from_state": text(&field("from_state")),
            "to_state": text(&field("to_state")),
            "reason": text(&field("reason")),
            "evidence_refs": field("evidence_refs"),
            "iteration_index": field("iteration_index"),
        })
    };
    report.moves().map(of).collect()
}
