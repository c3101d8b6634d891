//! The judges of a run: models, rules and people; and what the models used.

use interlock_activity::report::{
    RecordedRun, RunRecord,
    reading::{list, text},
};
use interlock_chart::counted;
use interlock_journal::{AttemptResult, By, Entry};
use serde_json::Value as Json;

use crate::settings::RULES;

/// The prefix of every judgement's name.
const JUDGE: &str = "judge.";

/// Every judgement of a run, in the order of the records, and what the models used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgementSummary {
    /// One row per judgement: its name, the judge, the signal, and the hash of the evidence.
    pub rows: Vec<Vec<String>>,
    /// Requests to models.
    pub requests: u64,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// The cost of all requests.
    pub cost: f64,
    /// The time that the models took.
    pub latency_ms: u64,
    /// Requests without a usable answer.
    unanswered: u64,
    by_person: bool,
    by_rules: bool,
}

impl JudgementSummary {
    /// Reads all records of a run.
    pub fn of(run: &RecordedRun) -> Self {
        let mut judged = JudgementSummary::default();
        for record in &run.records {
            for kept in record.entry.evidence().iter().filter(|evidence| evidence.name == "judgement") {
                let said = run.text(kept).and_then(|text| serde_json::from_str(&text).ok());
                said.into_iter().for_each(|said| judged.hear(&said, &kept.hash.to_string()));
            }
            judged.see_person(record);
        }
        judged
    }

    fn see_person(&mut self, record: &RunRecord) {
        let judgement = record.activity.as_ref().filter(|activity| activity.name.starts_with(JUDGE));
        if let (Some(activity), Some((by, signal))) = (judgement, by_hand(&record.entry)) {
            self.by_person = true;
            self.rows.push(vec![activity.name.clone(), format!("a person ({})", by.name), signal, String::new()]);
        }
    }

    fn hear(&mut self, said: &Json, hash: &str) {
        let judge = said["judge"].as_str().unwrap_or("nobody").to_owned();
        self.by_rules |= judge == RULES;
        self.rows.push(vec![text(&said["activity"]), judge, text(&said["verdict"]["signal"]), hash.to_owned()]);
        let number = |value: &Json| value.as_u64().unwrap_or(0);
        let mut ended = None;
        for tried in list(&said["hearings"]).flat_map(|hearing| list(&hearing["tries"])) {
            // The wait before a repeated request is the model's time too.
            let begun = number(&tried["begun_ms"]);
            self.latency_ms += ended.map_or(0, |ended| begun.saturating_sub(ended));
            ended = Some(begun + number(&tried["took_ms"]));
            self.unanswered += u64::from(!tried["fault"].is_null());
            self.requests += 1;
            self.input_tokens += number(&tried["usage"]["input_tokens"]);
            self.output_tokens += number(&tried["usage"]["output_tokens"]);
            self.latency_ms += number(&tried["took_ms"]);
            self.cost += tried["cost"].as_f64().unwrap_or(0.0);
        }
    }

    /// A sentence on what the models used; nothing if there was no judgement.
    pub fn in_words(&self) -> Option<String> {
        if self.rows.is_empty() {
            return None;
        }
        if self.requests > 0 {
            let JudgementSummary { requests, input_tokens, output_tokens, cost, .. } = self;
            let failed = match self.unanswered {
                0 => String::new(),
                unanswered => format!(" {unanswered} of them failed; see the judgements."),
            };
            let requests = counted(*requests, "request to a model", "requests to models");
            return Some(format!("{requests}: {input_tokens} tokens in, {output_tokens} out, cost {cost:.4}.{failed}"));
        }
        let who = match (self.by_person, self.by_rules) {
            (true, true) => "a person, rules and templates",
            (true, false) => "a person",
            (false, _) => "rules and templates",
        };
        Some(format!("No model was asked; {who} decided."))
    }
}

/// The person who answered in place of an activity, and the signal.
pub fn by_hand(entry: &Entry) -> Option<(&By, String)> {
    match entry {
        Entry::Outcome { by: Some(by), result: AttemptResult::Signal { name, .. }, .. } => Some((by, name.clone())),
        Entry::Outcome { by: Some(by), result: AttemptResult::Error { .. }, .. } => Some((by, "error".to_owned())),
        _ => None,
    }
}
