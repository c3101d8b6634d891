//! The verdict on a firmware run: one sentence, the failing cases, and who delivered the patch and why.

use interlock_activity::report::{
    Part,
    reading::{list, text, words},
};
use interlock_chart::counted;
use interlock_repair::MEASURED_MAX;
use serde_json::Value as Json;

use super::Facts;

/// Cases and files that the sentence names.
const NAMED_MAX: usize = 2;

/// The longest message of a case that the sentence or a table shows.
const MESSAGE_CHARS_MAX: usize = 160;

impl Facts {
    /// Returns the first sentence: the problem, the change, its delivery, and the confidence with its reason.
    pub(super) fn sentence(&self) -> String {
        let parts = [self.what_was_wrong(), self.what_changed(), self.how_sure()];
        let said = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        format!("{}.", said.trim_end_matches('.'))
    }

    fn what_was_wrong(&self) -> String {
        let failing = self.failing();
        if failing.is_empty() {
            let found = words(&self.context["found"]).or_else(|| self.nothing_wrong());
            return found.unwrap_or_else(|| "No case is known to fail".to_owned());
        }
        let total = list(&self.baseline["measured"]["cases"]).count();
        let named = failing.iter().take(NAMED_MAX).map(|case| {
            let place = if case.place.is_empty() { String::new() } else { format!(" at {}", case.place) };
            format!("`{}`: {}{place}", case.id, if case.message.is_empty() { &case.status } else { &case.message })
        });
        let more = match failing.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let named = named.collect::<Vec<_>>().join(", ");
        let fail = if failing.len() == 1 { "fails" } else { "fail" };
        format!("{} of {} {fail} as found ({named}{more})", failing.len(), counted(total, "case", "cases"))
    }

    fn what_changed(&self) -> String {
        if self.fix.is_empty() {
            return if self.status == "SUCCESS" {
                "nothing was changed".to_owned()
            } else {
                "no patch was found".to_owned()
            };
        }
        let files: Vec<&str> = self.fix.lines().filter_map(|line| line.strip_prefix("+++ b/")).collect();
        let named = files.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
        let more =
            if files.len() > NAMED_MAX { format!(" and {} more", files.len() - NAMED_MAX) } else { String::new() };
        let change =
            if named.is_empty() { "a patch was made".to_owned() } else { format!("the patch changes {named}{more}") };
        let whether = match (self.status, &self.reverted) {
            (_, Some(back)) => format!("was in the sources and was undone {}", back.when()),
            ("SUCCESS", None) => "is in the sources".to_owned(),
            ("", None) => "is not in the sources yet".to_owned(),
            _ => "is NOT in the sources".to_owned(),
        };
        format!("{change} and {whether}")
    }

    fn how_sure(&self) -> String {
        if self.fix.is_empty() {
            return String::new();
        }
        let witnesses = words(&self.context["witnesses"]).map(|why| format!(": {why}")).unwrap_or_default();
        let doubts = words(&self.context["doubts"]).map(|why| format!("; in doubt because {why}")).unwrap_or_default();
        if let Some(by) = &self.vouched_by {
            return format!("a person ({by}) vouched for it{witnesses}{doubts}");
        }
        format!("it is {} sure at most{witnesses}{doubts}", self.confidence())
    }

    /// How sure the whole patch can be at most. Without a person's word, never more than was ever measured, whatever the
    /// machine compared with its threshold.
    pub(super) fn confidence(&self) -> f64 {
        let kept = self.context["kept_confidence"].as_f64().unwrap_or(0.0);
        if self.vouched_by.is_some() { kept } else { kept.min(MEASURED_MAX) }
    }

    /// The cases that failed as the tree was found, with what they said and where.
    pub(super) fn failing_table(&self) -> Vec<Part> {
        let rows = self.failing().into_iter().map(|case| vec![case.id, case.status, case.message, case.place]);
        Part::table(&["case", "outcome", "message", "place"], rows.collect()).into_iter().collect()
    }

    pub(super) fn failing(&self) -> Vec<Failing> {
        let cases = list(&self.baseline["measured"]["cases"]);
        let bad =
            cases.filter(|case| matches!(case["status"].as_str(), Some("failed" | "crashed" | "timeout" | "missing")));
        bad.map(Failing::of).collect()
    }

    /// The confidence of the run, its tries, and the reason why the patch was delivered or not.
    pub(super) fn decision(&self) -> Vec<Part> {
        let mut rows = Vec::new();
        let mut row = |name: &str, value: String| {
            if !value.is_empty() {
                rows.push(vec![name.to_owned(), value]);
            }
        };
        if !self.fix.is_empty() {
            row("confidence, at most", self.confidence().to_string());
        }
        row("template finding", text(&self.context["patch_found"]));
        row("candidates tried", self.candidates());
        row("witnesses", text(&self.context["witnesses"]));
        row("doubts", text(&self.context["doubts"]));
        row("controls", self.controls_in_words());
        row(if self.status == "SUCCESS" { "why it was delivered" } else { "why it ended" }, self.why.clone());
        let mut parts: Vec<Part> = Part::table(&["what", ""], rows).into_iter().collect();
        if self.input["deliver"] == "measured" {
            parts.insert(0, Part::Text(MEASURED_WARNING.to_owned()));
        }
        parts
    }

    fn candidates(&self) -> String {
        match (self.search["tried"].as_u64(), self.search["candidates"].as_u64()) {
            (Some(tried), Some(made)) => {
                let seconds = self.search["seconds"].as_f64().unwrap_or(0.0);
                format!("{tried} of {made} that templates offer, in {seconds:.0} s")
            }
            _ => String::new(),
        }
    }

    fn controls_in_words(&self) -> String {
        match (self.controls["controls"].as_u64(), self.controls["starts"].as_u64()) {
            (Some(0), _) | (None, _) | (_, None) => String::new(),
            (Some(runs), Some(starts)) => {
                format!("{} of each tree, {}", counted(runs, "run", "runs"), counted(starts, "start", "starts"))
            }
        }
    }
}

/// The warning of a report on a run whose figures alone may deliver a patch.
pub(super) const MEASURED_WARNING: &str = "Warning: the task says `deliver: measured`, so figures alone may bring a patch into the sources. At most 56 of 100 \
                                patches that pass all cases were right where that was counted, and their figures do not tell them from the others.";

/// A case that failed on the tree as it was found.
pub(super) struct Failing {
    pub(super) id: String,
    pub(super) status: String,
    pub(super) message: String,
    pub(super) place: String,
}

impl Failing {
    fn of(case: &Json) -> Failing {
        let place = &case["location"];
        let place = words(&place["file"]).map(|file| format!("{file}:{}", place["line"])).unwrap_or_default();
        let message = text(&case["message"]);
        let message = message.lines().next().unwrap_or_default().chars().take(MESSAGE_CHARS_MAX).collect();
        Failing { id: text(&case["case_id"]), status: text(&case["status"]), message, place }
    }
}
