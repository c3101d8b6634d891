//! The fault and the patch.

use interlock_activity::report::{
    Part, Reverted,
    reading::{list, text, words},
};
use interlock_chart::counted;
use serde::Serialize;

use super::{Facts, Origin};

/// Whether a fix was committed to the branch that the task names.
#[derive(Serialize)]
pub(super) struct Commit {
    branch: String,
    /// Nothing if it is not known.
    is_made: Option<bool>,
    why_not: String,
}

impl Facts {
    pub(super) fn wrong(&self) -> Vec<Part> {
        let mut parts = vec![Part::Text(format!("Goal: {}", text(&self.input["goal"])))];
        parts.extend(self.nothing_wrong().map(Part::Text));
        let analysis = &self.context["analysis"];
        parts.extend(words(&analysis["summary"]).map(Part::Text));
        parts.extend(words(&analysis["root_cause"]).map(|cause| Part::Text(format!("Root cause: {cause}"))));
        let rows = list(&analysis["hypothesis_list"]).map(|one| {
            let refs = list(&one["evidence_refs"]).map(|one| shown_as(&text(one))).collect::<Vec<_>>().join(", ");
            vec![text(&one["description"]), text(&one["confidence"]), refs]
        });
        parts.extend(Part::table(&["hypothesis", "confidence", "evidence"], rows.collect()));
        let refs = list(&self.context["evidence_refs"]).map(|hash| vec![text(hash)]);
        parts.extend(Part::table(&["evidence"], refs.collect()));
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

    /// Says that there was nothing to repair, if that is so.
    pub(super) fn nothing_wrong(&self) -> Option<String> {
        let is_so = self.status == "SUCCESS" && self.fix.is_empty() && !self.is_measured_again();
        let cases = self.cases();
        let has_all_passed = !cases.is_empty() && cases.iter().all(|row| row[1] == "passed");
        let what = if has_all_passed { "every case passes" } else { "every case that must pass does" };
        is_so.then(|| format!("Nothing: {what} on the tree as it was found."))
    }

    /// Whether the fix was committed to the branch that the task names. Nothing if the fix is not in the sources, or if the run's machine is too old
    /// to record it.
    pub(super) fn commit(&self) -> Option<Commit> {
        let branch = words(&self.input["constraints"]["commit_branch"])?;
        let is_there = self.status == "SUCCESS" && self.reverted.is_none() && !self.fix.is_empty();
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
            Some(false) => format!("It is in the working tree, but NOT committed to {branch}: {why_not}."),
            None => {
                format!("It is in the working tree; whether it is committed to {branch} is not known: {why_not}.")
            }
        }
    }

    pub(super) fn changed(&self) -> Vec<Part> {
        if self.fix.is_empty() {
            return vec![Part::Text("Nothing was changed.".to_owned())];
        }
        let origin = match &self.origin {
            Origin::Template if self.vouched_by.is_some() => {
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
        let whether = match &self.reverted {
            Some(back) => reverted(back),
            None if self.status == "SUCCESS" => self.in_sources(),
            None => "It is not in the sources, which are unchanged.".to_owned(),
        };
        let mut parts = vec![Part::Text(format!("{origin} {whether}").trim().to_owned())];
        parts.extend(words(&self.context["patch_plan"]["summary"]).map(|plan| Part::Text(format!("Plan: {plan}"))));
        parts.push(Part::Diff(self.fix.clone()));
        let risk = format!(
            "Risk of all patches: {:.3}. {}",
            self.context["risk_total"].as_f64().unwrap_or(0.0),
            text(&self.context["risk_reasons"])
        );
        parts.push(Part::Text(risk.trim().to_owned()));
        parts
    }
}

/// Says that the fix was in the sources and is not any more.
fn reverted(back: &Reverted) -> String {
    let left = match back.left {
        0 => String::new(),
        left => format!(", except {} that had been changed since", counted(left, "path", "paths")),
    };
    format!("It was written to the sources and undone {}{left}.", back.when())
}

/// Evidence that a judge names: the hash of a file, or one of the facts that it was given, which get words that people know.
fn shown_as(evidence: &str) -> String {
    let fact = match evidence {
        "goal" => "the goal",
        "repo_context" => "the task's description of the repository",
        "iteration_index" => "the number of the round",
        "diagnostic" => "whether there was a failure",
        "error_state" => "the error of the round before",
        "guidance" => "a person's comment",
        "similar" => "similar cases",
        "test_result" => "the results of the tests",
        "evidence_refs" => "the classification of the logs",
        "sources" => "the sources",
        other => other,
    };
    fact.to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use interlock_chart::model::Template;

    use super::shown_as;

    #[test]
    fn every_fact_that_an_analysis_is_given_has_words() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../machines");
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
}
