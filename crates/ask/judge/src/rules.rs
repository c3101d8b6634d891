//! Judging by rules: no model, no network, and the same answer every time.
//!
//! `interlock-triage` finds the failures in the logs of a question. The signals that the question allows select the answer
//! that follows from them. An answer invents nothing: every statement comes from a log or from the facts of the question.
//! Questions that the rules cannot decide stay unanswered.

mod decision;
mod planning;
mod session;
#[cfg(test)]
mod tests;

use interlock_triage::{Fault, Finding, Rules};
use serde_json::{Value, json};

use crate::{Exhibit, Question, Verdict};

/// The maximum number of hypotheses in an analysis.
const HYPOTHESES_MAX: usize = 3;

/// The confidence of an analysis that only knows that a result is missing: enough to look further.
const UNEXPLAINED: f64 = 0.5;

/// The maximum size of a fact that is read as a log.
const FACT_BYTES_MAX: usize = 256 * 1024;

/// The findings about a question, with the ids of the exhibits that contain them.
struct QuestionFindings<'q> {
    question: &'q Question,
    rules: &'q Rules,
    findings: Vec<Finding>,
    refs: Vec<String>,
}

/// Returns the verdict of the rules; `None` if no rule applies.
pub fn judge(question: &Question, rules: &Rules) -> Option<Verdict> {
    let allows = |names: &[&str]| names.iter().all(|name| question.signal(name).is_some());
    if allows(&["PASS", "FAIL", "INCONCLUSIVE"]) {
        // The evidence of the analysis dates from before the round that is judged now.
        return decision::of(&QuestionFindings::of(&without(question, "analysis"), rules));
    }
    let known = QuestionFindings::of(question, rules);
    if allows(&["patch_plan_ok"]) {
        return planning::plan(&known);
    }
    if allows(&["templates_wanted"]) {
        return planning::templates(&known);
    }
    if let Some(verdict) = session::judge(&known, allows) {
        return Some(verdict);
    }
    if allows(&["hypotheses_made"]) {
        return match known.findings.first().filter(|_| !known.is_diagnostic()) {
            Some(cause) => known.analysis(cause),
            None => known.unexplained(),
        };
    }
    let cause = known.findings.first()?;
    if allows(&["code_bug", "check_bug"]) {
        return known.advice(cause);
    }
    if allows(&["repairable", "unrepairable"]) {
        return known.repair(cause);
    }
    if allows(&["has_issue"]) {
        return known.issue(cause);
    }
    None
}

/// Returns the question without one fact, and without the evidence that only this fact refers to.
fn without(question: &Question, fact: &str) -> Question {
    let mut less = question.clone();
    let left_out = less.facts.as_object_mut().and_then(|facts| facts.remove(fact)).unwrap_or(Value::Null);
    let (mut gone, mut there) = (Vec::new(), Vec::new());
    crate::case::referred(&left_out, &mut gone);
    crate::case::referred(&less.facts, &mut there);
    less.evidence.retain(|exhibit| {
        let id = exhibit.id.as_str();
        id != fact && (!gone.contains(&id) || there.contains(&id))
    });
    less
}

impl<'q> QuestionFindings<'q> {
    fn of(question: &'q Question, rules: &'q Rules) -> Self {
        let (mut findings, mut refs): (Vec<Finding>, Vec<String>) = (Vec::new(), Vec::new());
        let shown = question
            .evidence
            .iter()
            .filter(|exhibit| is_log(exhibit))
            .map(|exhibit| (exhibit.id.as_str(), exhibit.text.as_str()));
        for (id, text) in shown.chain(said(&question.facts)) {
            let found = rules.classify(text);
            let is_shown = question.exhibit(id).is_some() && !refs.iter().any(|other| other == id);
            if !found.is_empty() && is_shown {
                refs.push(id.to_owned());
            }
            findings.extend(found);
        }
        // Findings that an earlier triage stored count like findings of this classification.
        findings.extend(question.evidence.iter().flat_map(sorted));
        // The finding nearest to the cause counts, regardless of the exhibit that contains it.
        findings.sort_by_key(|finding| finding.rank);
        findings = each_once(findings);
        if refs.is_empty() {
            // If no finding refers to an exhibit, the verdict refers to all of them.
            refs = question.evidence.iter().map(|exhibit| exhibit.id.clone()).collect();
        }
        QuestionFindings { question, rules, findings, refs }
    }

    fn fault(&self, finding: &Finding) -> Option<Fault> {
        self.rules.fault(&finding.class)
    }

    fn verdict(&self, signal: &str, data: Value, confidence: f64, reason: String) -> Option<Verdict> {
        self.question.signal(signal)?;
        Some(Verdict { signal: signal.to_owned(), data, confidence, reason, evidence_refs: self.refs.clone() })
    }

    fn reason(&self, cause: &Finding) -> String {
        let means = self.rules.meaning(&cause.class).unwrap_or("something is wrong");
        format!("{means}: {}{} (rule {})", cause.cause, place(cause), cause.rule)
    }

    /// Makes an analysis with a hypothesis for each of the nearest findings. It names a root cause only if the message
    /// itself is one.
    fn analysis(&self, cause: &Finding) -> Option<Verdict> {
        let confidence = sureness(cause);
        let hypotheses: Vec<Value> = self
            .findings
            .iter()
            .take(HYPOTHESES_MAX)
            .map(|finding| {
                json!({
                    "description": format!("{}{}", finding.cause, place(finding)),
                    "evidence_refs": self.refs,
                    "suggested_actions": [finding.suggestion],
                    "confidence": sureness(finding),
                })
            })
            .collect();
        let is_root =
            ["compile", "link", "missing_dependency", "missing_tool", "disk_full"].contains(&cause.class.as_str());
        let root_cause = if is_root { format!("{}{}", cause.cause, place(cause)) } else { String::new() };
        let summary = self.reason(cause);
        let analysis = json!({ "summary": summary, "root_cause": root_cause, "hypothesis_list": hypotheses, "confidence": confidence });
        self.verdict("hypotheses_made", json!({ "confidence": confidence, "analysis": analysis }), confidence, summary)
    }

    /// Reports whether the round is to observe and not to repair.
    fn is_diagnostic(&self) -> bool {
        self.question.facts.get("diagnostic") == Some(&Value::Bool(true))
    }

    /// Makes an analysis of a failure that nothing printed explains: in a diagnostic round it names what has to be
    /// observed, later what is known. Without a measured result there is nothing to say.
    fn unexplained(&self) -> Option<Verdict> {
        let cases = self.question.facts.pointer("/test_result/cases")?.as_array()?;
        let named = cases.iter().filter_map(|case| case["case_id"].as_str()).take(HYPOTHESES_MAX).collect::<Vec<_>>();
        let of = if named.is_empty() { "any case".to_owned() } else { named.join(", ") };
        let (summary, action) = match self.is_diagnostic() {
            true => (
                format!("nothing that is printed explains the failure: the program does not report {of}"),
                "Print the arguments and results of the functions that run before the output ends.",
            ),
            false => (
                format!("the program does not report {of}, and nothing that it prints says why"),
                "Look at the functions that run before the output ends.",
            ),
        };
        let hypothesis = json!({ "description": summary, "evidence_refs": self.refs, "suggested_actions": [action], "confidence": UNEXPLAINED });
        let analysis =
            json!({ "summary": summary, "root_cause": "", "hypothesis_list": [hypothesis], "confidence": UNEXPLAINED });
        let data = json!({ "confidence": UNEXPLAINED, "analysis": analysis });
        self.verdict("hypotheses_made", data, UNEXPLAINED, summary)
    }

    /// Decides if the code or the check is wrong.
    fn advice(&self, cause: &Finding) -> Option<Verdict> {
        let signal = match self.fault(cause)? {
            Fault::Code => "code_bug",
            Fault::Environment => "check_bug",
        };
        let data = json!({ "reason": self.reason(cause), "suggestion": instruction(cause) });
        self.verdict(signal, data, sureness(cause), self.reason(cause))
    }

    /// Proposes one step that repairs the cause on top of the change. A plan cannot repair a fault of the environment.
    fn repair(&self, cause: &Finding) -> Option<Verdict> {
        let reason = self.reason(cause);
        if self.fault(cause)? == Fault::Environment {
            return self.verdict("unrepairable", json!({ "reason": reason }), sureness(cause), reason);
        }
        let step = json!({ "step_id": self.free_step(), "title": format!("Repair: {}", cause.cause), "intent": instruction(cause) });
        let patch = json!({ "reason": reason, "remove_steps": [], "update_steps": [], "add_steps": [step] });
        let data = json!({ "patch": patch, "builds_on_change": true, "reason": reason });
        self.verdict("repairable", data, sureness(cause), reason)
    }

    /// Returns a step id that the plan does not use yet.
    fn free_step(&self) -> String {
        let plan = self.question.facts.get("plan").map(Value::to_string).unwrap_or_default();
        let free = (1..1_000).map(|number| format!("repair-{number}")).find(|id| !plan.contains(&format!("\"{id}\"")));
        free.unwrap_or_else(|| "repair".to_owned())
    }

    /// Reports an issue if the logs show that the code fails. No rule can decide that code works, so there is no
    /// opposite verdict.
    fn issue(&self, cause: &Finding) -> Option<Verdict> {
        if self.fault(cause)? != Fault::Code {
            return None;
        }
        let data = json!({ "reason": self.reason(cause), "suggestion": instruction(cause) });
        self.verdict("has_issue", data, sureness(cause), self.reason(cause))
    }
}

/// Reads the findings that a triage stored as evidence.
fn sorted(exhibit: &Exhibit) -> Vec<Finding> {
    let is_json = exhibit.media_type.starts_with("application/json") && exhibit.name.starts_with("evidence ");
    let Some(Ok(kept)) = is_json.then(|| serde_json::from_str::<Value>(&exhibit.text)) else { return Vec::new() };
    let findings = kept["findings"].as_array().into_iter().flatten();
    findings.enumerate().filter_map(|(at, found)| Finding::kept(found, at)).collect()
}

/// Merges findings with the same class and cause.
fn each_once(findings: Vec<Finding>) -> Vec<Finding> {
    let mut once: Vec<Finding> = Vec::new();
    for finding in findings {
        if !once.iter().any(|other| other.class == finding.class && other.cause == finding.cause) {
            once.push(finding);
        }
    }
    once
}

/// Estimates the probability that a finding is the cause: a compiler names the cause, a crash shows only its effect.
fn sureness(finding: &Finding) -> f64 {
    match (finding.class.as_str(), finding.line.is_some()) {
        ("compile" | "link" | "missing_dependency" | "missing_tool" | "disk_full", _) => 0.85,
        (_, true) => 0.7,
        ("hard_fault" | "watchdog_reset" | "crash" | "timeout", false) => 0.5,
        _ => 0.55,
    }
}

fn place(finding: &Finding) -> String {
    match (&finding.file, finding.line) {
        // The cause of a hang already names its location.
        (Some(file), Some(line)) if finding.cause.contains(&format!("{file}:{line}")) => String::new(),
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        (Some(file), None) => format!(" in {file}"),
        _ => String::new(),
    }
}

fn instruction(finding: &Finding) -> String {
    format!("{}{}. {}", finding.cause, place(finding), finding.suggestion)
}

/// Words in the names of exhibits and facts that hold program output.
const PRINTED: [&str; 9] = ["log", "stdout", "stderr", "serial", "console", "output", "trace", "failure", "report"];

/// Reports if an exhibit is program output, and not a file or a request that only mentions errors.
fn is_log(exhibit: &Exhibit) -> bool {
    let name = exhibit.name.to_lowercase();
    let is_content = ["File: ", "diff --git ", "# binary: "].iter().any(|start| exhibit.text.starts_with(start));
    let is_text = exhibit.media_type.starts_with("text/plain") && !is_content;
    is_text && (name.starts_with("evidence ") || PRINTED.iter().any(|word| name.contains(word)))
}

/// Returns the program output inside the facts, with the name of each fact. Strings at the top level are exhibits
/// already.
fn said(facts: &Value) -> Vec<(&str, &str)> {
    // At the top level, `message` is the message of a person.
    let fields = facts.as_object().into_iter().flatten().filter(|(name, _)| *name != "message");
    fields
        .flat_map(|(name, value)| {
            printed(name, value, PRINTED_DEPTH_MAX).into_iter().map(move |text| (name.as_str(), text))
        })
        .collect()
}

/// The maximum depth to which facts are searched.
const PRINTED_DEPTH_MAX: usize = 6;

fn printed<'v>(name: &str, value: &'v Value, depth: usize) -> Vec<&'v str> {
    let is_printed = ["error_state", "message", "summary", "test_result"].contains(&name)
        || PRINTED.iter().any(|word| name.contains(word));
    match value {
        Value::String(text) if is_printed && text.len() <= FACT_BYTES_MAX => vec![text],
        Value::Object(fields) if depth > 0 => {
            fields.iter().flat_map(|(name, value)| printed(name, value, depth - 1)).collect()
        }
        Value::Array(items) if depth > 0 => items.iter().flat_map(|item| printed(name, item, depth - 1)).collect(),
        _ => Vec::new(),
    }
}
