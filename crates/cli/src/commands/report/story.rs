//! What a firmware run was about, for whoever will not read its records: what was wrong, what was changed, what that did, and what it cost.
//!
//! Everything here is taken from records and evidence; nothing is said that no record says. Other machines have no story of their own yet.

use interlock_chart::counted;
use interlock_journal::{AttemptResult, Entry, Phase, moment};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::{
    super::undo,
    File, Report,
    judged::{self, Judged},
    show,
    time::Time,
};

/// A part of a report.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) parts: Vec<Part>,
}

/// Something to be shown. A hash of evidence in a cell leads there.
pub(super) enum Part {
    Text(String),
    /// Commands to type, one to a line.
    Code(String),
    Table(Vec<&'static str>, Vec<Vec<String>>),
    Diff(String),
}

/// What a run was about.
pub(super) struct Story {
    pub(super) run: String,
    pub(super) folder: String,
    pub(super) input: Json,
    pub(super) context: Json,
    pub(super) status: &'static str,
    pub(super) baseline: Json,
    result: Json,
    pub(super) fix: String,
    /// What the last search and the last controls have left.
    pub(super) search: Json,
    pub(super) controls: Json,
    /// The person who let the patch be delivered, if one did.
    pub(super) vouched_by: Option<String>,
    /// The reason of the step that decided about the patch.
    pub(super) why: String,
    origin: Origin,
    pub(super) taken_back: Option<TakenBack>,
    judged: Judged,
    time: Time,
    trace: Vec<Json>,
}

/// Where a patch comes from.
enum Origin {
    Template,
    Model,
    Person(String),
    Unknown,
}

/// What was in the sources and is no more.
pub(super) struct TakenBack {
    at: String,
    by: String,
    /// Paths that were left alone, because somebody else had changed them.
    left: u64,
}

impl Origin {
    fn word(&self) -> &'static str {
        match self {
            Origin::Template => "template",
            Origin::Model => "model",
            Origin::Person(_) => "person",
            Origin::Unknown => "",
        }
    }
}

/// Whether a fix is on the branch that it was to be committed to.
#[derive(Serialize)]
struct Commit {
    branch: String,
    /// Nothing where nobody knows.
    is_made: Option<bool>,
    why_not: String,
}

impl TakenBack {
    fn in_words(&self) -> String {
        let left = match self.left {
            0 => String::new(),
            left => {
                format!(", but for {} that somebody else had changed", counted(left, "path", "paths"))
            }
        };
        format!("It was brought into the sources, and taken back {}{left}.", self.when())
    }

    pub(super) fn when(&self) -> String {
        format!("at {} by {}", self.at, self.by)
    }
}

impl Story {
    /// The story of a run, where it has one.
    pub(super) fn of(report: &Report) -> Option<Story> {
        if report.head.machine != "firmware" {
            return None;
        }
        let state = show::state_json(&report.follower.live, report.follower.now_ms());
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
        let judged = Judged::of(report);
        Some(Story {
            run: report.head.name.clone(),
            folder: report.follower.live.folder.display().to_string(),
            search: json("search").unwrap_or(Json::Null),
            controls: json("controls").unwrap_or(Json::Null),
            vouched_by: vouched_by(report),
            why: why(report),
            status,
            origin: origin(report, &context),
            taken_back: taken_back(report),
            baseline: json("baseline").unwrap_or(Json::Null),
            result: json("test_result").unwrap_or(Json::Null),
            fix: fix.or_else(|| all_patches(report, &context)).unwrap_or_else(|| text(&context["patch"])),
            time: Time::of(report, judged.latency_ms),
            judged,
            trace: trace(report),
            input,
            context,
        })
    }

    /// For people.
    pub(super) fn sections(&self) -> Vec<Section> {
        let all = [
            Section { title: "In one sentence", parts: vec![Part::Text(self.sentence())] },
            Section { title: "Failing cases", parts: self.failing_table() },
            Section { title: "What was wrong", parts: self.wrong() },
            Section { title: "What was changed", parts: self.changed() },
            Section { title: "Whether it was delivered, and why", parts: self.decision() },
            match self.is_measured_again() {
                true => Section { title: "Before and after", parts: self.before_and_after() },
                false => Section { title: "Cases", parts: self.as_found() },
            },
            Section { title: "Figures", parts: self.figures() },
            Section { title: "Similar cases", parts: self.similar() },
            Section { title: "Who judged", parts: self.asked() },
            Section { title: "Time", parts: self.spent() },
            Section { title: "To repeat it", parts: self.repeat() },
            Section { title: "Tools", parts: self.tools() },
        ];
        all.into_iter().filter(|section| !section.parts.is_empty()).collect()
    }

    fn wrong(&self) -> Vec<Part> {
        let mut parts = vec![Part::Text(format!("Goal: {}", text(&self.input["goal"])))];
        parts.extend(self.nothing_wrong().map(Part::Text));
        let analysis = &self.context["analysis"];
        parts.extend(words(&analysis["summary"]).map(Part::Text));
        parts.extend(words(&analysis["root_cause"]).map(|cause| Part::Text(format!("Root cause: {cause}"))));
        let rows = list(&analysis["hypothesis_list"]).map(|one| {
            let refs = list(&one["evidence_refs"]).map(|one| shown_as(&text(one))).collect::<Vec<_>>().join(", ");
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

    /// Whether there is something to compare the tree as it was found with.
    fn is_measured_again(&self) -> bool {
        !self.result.is_null()
    }

    /// That there was nothing to repair.
    pub(super) fn nothing_wrong(&self) -> Option<String> {
        let is_so = self.status == "SUCCESS" && self.fix.is_empty() && !self.is_measured_again();
        let cases = self.cases();
        let has_all_passed = !cases.is_empty() && cases.iter().all(|row| row[1] == "passed");
        let what = if has_all_passed { "every case passes" } else { "every case that must pass does" };
        is_so.then(|| format!("Nothing: {what} on the tree as it was found."))
    }

    /// Whether somebody has said that a patch which cannot be sure by itself is the fix.
    fn is_vouched(&self) -> bool {
        self.vouched_by.is_some()
    }

    /// Whether the fix is on the branch that it was to be committed to. Nothing where there is no fix in the sources (any more), or the run's
    /// machine is so old that it does not say.
    fn commit(&self) -> Option<Commit> {
        let branch = words(&self.input["constraints"]["commit_branch"])?;
        let is_there = self.status == "SUCCESS" && self.taken_back.is_none() && !self.fix.is_empty();
        let why = |name: &str| self.context[name].as_str().map(|why| why.trim_end_matches('.').to_owned());
        let (not, unknown) = (why("not_committed").filter(|_| is_there)?, why("commit_unknown").unwrap_or_default());
        let is_made = if unknown.is_empty() { Some(not.is_empty()) } else { None };
        Some(Commit { branch, is_made, why_not: if unknown.is_empty() { not } else { unknown } })
    }

    fn in_sources(&self) -> String {
        let Some(Commit { branch, is_made, why_not }) = self.commit() else {
            return "It is in the sources.".to_owned();
        };
        match is_made {
            Some(true) => format!("It is in the sources, and committed to {branch}."),
            Some(false) => format!("It is in the working tree, and NOT committed to {branch}: {why_not}."),
            None => {
                format!("It is in the working tree; whether it is committed to {branch} is not known: {why_not}.")
            }
        }
    }

    fn changed(&self) -> Vec<Part> {
        if self.fix.is_empty() {
            return vec![Part::Text("Nothing was changed.".to_owned())];
        }
        let origin = match &self.origin {
            Origin::Template if self.is_vouched() => {
                "The patch comes from templates (plausible, not proven); a person vouched for it.".to_owned()
            }
            Origin::Template => "The patch comes from templates: plausible, not proven.".to_owned(),
            Origin::Model if self.vouched_by.is_some() => {
                "The patch comes from a model; a person vouched for it.".to_owned()
            }
            Origin::Model => "The patch comes from a model: plausible, not proven.".to_owned(),
            Origin::Person(name) => format!("The patch comes from a person ({name})."),
            Origin::Unknown => String::new(),
        };
        let whether = match &self.taken_back {
            Some(back) => back.in_words(),
            None if self.status == "SUCCESS" => self.in_sources(),
            None => "It is not in the sources: they are as they were found.".to_owned(),
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
            let same = counted(same, "more case passed before and passes now", "more cases passed before and pass now");
            parts.push(Part::Text(format!("{same}.")));
        }
        parts
    }

    /// The same where nothing was measured after.
    fn as_found(&self) -> Vec<Part> {
        let rows = self.cases().into_iter().map(|row| row[..2].to_vec());
        let (same, shown): (Vec<_>, Vec<_>) = rows.partition(|row| row[1] == "passed");
        let mut parts: Vec<Part> = table(vec!["case", "as it was found"], shown).into_iter().collect();
        if !same.is_empty() {
            parts.push(Part::Text(format!("{}.", counted(same.len(), "case passes", "cases pass"))));
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
        let last = if self.is_measured_again() { after } else { before };
        let thresholds = &self.input["constraints"]["metrics"];
        // What was not measured keeps to no threshold, and that is worth a line.
        let named = |of: &Json| of.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let unmeasured = named(thresholds).into_iter().filter(|name| last[name].is_null());
        let names = named(last).into_iter().chain(unmeasured);
        let row = |name: String| {
            let held = threshold(&thresholds[&name]);
            match self.is_measured_again() {
                true => vec![name.clone(), figure(&before[&name]), figure(&after[&name]), held],
                false => vec![name.clone(), figure(&before[&name]), held],
            }
        };
        let head = match self.is_measured_again() {
            true => vec!["figure", "before", "after", "threshold"],
            false => vec!["figure", "as it was found", "threshold"],
        };
        table(head, names.map(row).collect()).into_iter().collect()
    }

    fn similar(&self) -> Vec<Part> {
        let rows = list(&self.context["similar"]).map(|one| {
            // Older runs have how often on its own.
            let often = one["times"].as_u64().filter(|times| *times > 1).map(|times| format!(" ({times} times)"));
            let came = text(&one["result"]) + &often.unwrap_or_default();
            vec![text(&one["id"]), text(&one["title"]), came]
        });
        table(vec!["entry", "what it was about", "result"], rows.collect()).into_iter().collect()
    }

    fn asked(&self) -> Vec<Part> {
        let head = vec!["judgement", "by", "said", "evidence"];
        let said = self.judged.in_words().map(Part::Text);
        table(head, self.judged.rows.clone()).into_iter().chain(said).collect()
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
        let mut story = json!({
            "final_status": self.status,
            "iterations": self.context["iteration_index"],
            "goal": self.input["goal"],
            "patch_origin": self.origin.word(),
            "taken_back": self.taken_back.as_ref().map(|back| json!({ "at": back.at, "by": back.by })),
            "commit": self.commit(),
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
                "calls": self.judged.requests,
                "input_tokens": self.judged.input_tokens,
                "output_tokens": self.judged.output_tokens,
                "cost": self.judged.cost,
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
        });
        if let (Json::Object(story), Json::Object(verdict)) = (&mut story, self.verdict_json()) {
            story.extend(verdict);
        }
        story
    }
}

/// Nothing where there is nothing to show.
pub(super) fn table(head: Vec<&'static str>, rows: Vec<Vec<String>>) -> Option<Part> {
    (!rows.is_empty()).then_some(Part::Table(head, rows))
}

fn statuses(measured: &Json) -> Map<String, Json> {
    list(&measured["cases"]).map(|case| (text(&case["case_id"]), case["status"].clone())).collect()
}

pub(super) fn list(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

pub(super) fn text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub(super) fn words(value: &Json) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// The person whose word let a patch be delivered: the last who approved one that was then brought into the sources.
fn vouched_by(report: &Report) -> Option<String> {
    let moves: Vec<_> = report.moves().collect();
    let delivered = moves.iter().rposition(|step| step.to_state.as_deref() == Some("DELIVER"))?;
    let mut approved = moves[..=delivered].iter().rev().filter(|step| step.event.as_deref() == Some("approve"));
    approved.find_map(|step| step.by.as_ref().map(|by| by.name.clone()))
}

/// Why a patch was delivered or not: the reason of the last step to where that is decided, or else of the last step at all.
fn why(report: &Report) -> String {
    let all: Vec<_> = report.moves().collect();
    let is_to = |step: &interlock_runtime::Move, names: &[&str]| {
        step.to_state.as_deref().is_some_and(|name| names.contains(&name))
    };
    let last = all.last().filter(|step| !is_to(step, &["SUCCESS"]));
    let decided = all.iter().rev().find(|step| is_to(step, &["DELIVER", "PLAUSIBLE_FIX"]));
    last.or(decided).or(all.last()).and_then(|step| step.reason.clone()).unwrap_or_default()
}

/// Where the patch comes from: as the machine says, unless a person wrote it in place of a model.
fn origin(report: &Report, context: &Json) -> Origin {
    let written = report.steps.iter().rev().find(|step| {
        matches!(&step.entry, Entry::Outcome { result: AttemptResult::Signal { name, .. }, .. } if name == "patch_generated")
    });
    if let Some((by, _)) = written.and_then(|step| judged::by_hand(&step.entry)) {
        return Origin::Person(by.name.clone());
    }
    match text(&context["patch_origin"]).as_str() {
        "template" => Origin::Template,
        "model" => Origin::Model,
        _ => Origin::Unknown,
    }
}

/// Whether what the run wrote is taken back.
pub(super) fn taken_back(report: &Report) -> Option<TakenBack> {
    let undone = report.steps.iter().filter_map(|step| match &step.entry {
        Entry::Undone(undone) => Some((step.record.seq, undone.clone())),
        _ => None,
    });
    let undone: Vec<_> = undone.collect();
    let (seq, undone) = undo::standing(&undone)?;
    let record = &report.steps.iter().find(|step| step.record.seq == *seq)?.record;
    Some(TakenBack { at: moment::rfc3339(record.at_ms), by: undone.by.name.clone(), left: undone.left })
}

/// All patches that the last one was put on top of, with that, where there are more than one.
fn all_patches(report: &Report, context: &Json) -> Option<String> {
    let evidence = report.steps.iter().rev().find_map(|step| match &step.entry {
        Entry::Outcome { result: AttemptResult::Signal { name, .. }, evidence, .. } if name == "workspace_updated" => {
            Some(evidence)
        }
        _ => None,
    })?;
    let whole = |name: &str| {
        let hash = evidence.iter().find(|evidence| evidence.name == name)?.hash;
        report.files.iter().find(|file| file.evidence.hash == hash).and_then(File::whole)
    };
    // One that came later and was not applied stands for itself.
    let is_last = whole("patch") == Some(text(&context["patch"]).as_str());
    whole("patches").filter(|_| is_last).map(str::to_owned)
}

/// A figure without decimals that say nothing: most are counts.
fn figure(value: &Json) -> String {
    value.as_f64().map_or_else(|| text(value), |number| number.to_string())
}

/// What a judge names as evidence: the hash of a file, or one of the facts that it was given, which people know by other words.
fn shown_as(evidence: &str) -> String {
    let fact = match evidence {
        "goal" => "the goal",
        "repo_context" => "what the task says of the repository",
        "iteration_index" => "the number of the round",
        "diagnostic" => "whether there was a failure to look at",
        "error_state" => "the error of the round before",
        "guidance" => "what a person said",
        "similar" => "similar cases",
        "test_result" => "the results of the tests",
        "evidence_refs" => "what the logs were sorted into",
        "sources" => "the sources",
        other => other,
    };
    fact.to_owned()
}

/// What a figure is held to.
fn threshold(said: &Json) -> String {
    let known = [
        ("max", "at most ", ""),
        ("min", "at least ", ""),
        ("rise_max_percent", "at most ", " % more than before"),
        ("fall_max_percent", "at most ", " % less than before"),
    ];
    let words = known.iter().filter(|(name, ..)| !said[*name].is_null());
    words.map(|(name, before, after)| format!("{before}{}{after}", text(&said[*name]))).collect::<Vec<_>>().join(", ")
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use interlock_chart::model::Template;

    use super::{shown_as, threshold};

    #[test]
    fn every_fact_that_an_analysis_is_given_is_said_in_words() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines");
        let source = interlock_chart::library::load("firmware", &path).unwrap();
        let chart = source.read().chart.unwrap();
        let invoke = chart.invokes.iter().find(|invoke| invoke.activity == "judge.analysis").unwrap();
        let fields = if let Template::Map(fields) = &invoke.with { fields.as_slice() } else { &[] };
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"test_result"), "{names:?}");
        let facts = names.into_iter().filter(|name| !["prompt", "schema", "mode"].contains(name));
        let bare: Vec<&str> = facts.filter(|name| shown_as(name) == *name).collect();
        assert!(bare.is_empty(), "{bare:?}");
        assert_eq!(shown_as("0af1"), "0af1", "a hash stays one");
    }

    #[test]
    fn thresholds_are_said_in_words() {
        let check = |said, expected| assert_eq!(threshold(&said), expected);
        check(json!({ "max": 8192 }), "at most 8192");
        check(json!({ "rise_max_percent": 20 }), "at most 20 % more than before");
        check(json!({ "min": 3, "fall_max_percent": 2.5 }), "at least 3, at most 2.5 % less than before");
        check(json!(null), "");
    }
}
