//! Who judged in a run: models, rules and people; and what models used up.

use interlock_chart::counted;
use interlock_journal::{AttemptResult, By, Entry};
use interlock_judge::settings::RULES;
use serde_json::Value as Json;

use super::{
    Report,
    story::{list, text},
};

/// What every judgement begins with.
const JUDGE: &str = "judge.";

/// Who judged, in the order of the records, and what models used up.
#[derive(Default)]
pub(super) struct Judged {
    /// Judgement, by whom, what was said, and the evidence.
    pub(super) rows: Vec<Vec<String>>,
    /// Requests to models. Rules and people are none.
    pub(super) requests: u64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cost: f64,
    pub(super) latency_ms: u64,
    /// Requests that nobody answered as asked.
    unanswered: u64,
    by_person: bool,
    by_rules: bool,
}

impl Judged {
    /// From all records of a run.
    pub(super) fn of(report: &Report) -> Self {
        let mut judged = Judged::default();
        for step in &report.steps {
            let evidence = step.entry.evidence().iter().filter(|evidence| evidence.name == "judgement");
            for kept in evidence {
                let file = report.files.iter().find(|file| file.evidence.hash == kept.hash);
                let said = file.and_then(|file| serde_json::from_str(file.whole()?).ok());
                said.into_iter().for_each(|said| judged.hear(&said, &kept.hash.to_string()));
            }
            let is_judgement = step.activity.as_ref().filter(|name| name.starts_with(JUDGE));
            if let (Some(name), Some((by, signal))) = (is_judgement, by_hand(&step.entry)) {
                judged.by_person = true;
                judged.rows.push(vec![name.clone(), format!("a person ({})", by.name), signal, String::new()]);
            }
        }
        judged
    }

    fn hear(&mut self, said: &Json, hash: &str) {
        let judge = said["judge"].as_str().unwrap_or("nobody").to_owned();
        self.by_rules |= judge == RULES;
        self.rows.push(vec![text(&said["activity"]), judge, text(&said["verdict"]["signal"]), hash.to_owned()]);
        let number = |value: &Json| value.as_u64().unwrap_or(0);
        let mut ended = None;
        for tried in list(&said["hearings"]).flat_map(|hearing| list(&hearing["tries"])) {
            // Until it may be asked again is the model's time too.
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

    /// What it came to, in a sentence; nothing where nobody judged.
    pub(super) fn in_words(&self) -> Option<String> {
        if self.rows.is_empty() {
            return None;
        }
        if self.requests > 0 {
            let Judged { requests, input_tokens, output_tokens, cost, .. } = self;
            let failed = match self.unanswered {
                0 => String::new(),
                unanswered => format!(" {unanswered} of them failed; the judgements say how."),
            };
            let requests = counted(*requests, "request to a model", "requests to models");
            return Some(format!("{requests}: {input_tokens} tokens in, {output_tokens} out, cost {cost:.4}.{failed}"));
        }
        let who = match (self.by_person, self.by_rules) {
            (true, true) => "a person, rules and templates",
            (true, false) => "a person",
            (false, _) => "rules and templates",
        };
        Some(format!("No model was asked: {who} did the work."))
    }
}

/// The person who answered in place of an activity, and with which signal.
pub(super) fn by_hand(entry: &Entry) -> Option<(&By, String)> {
    match entry {
        Entry::Outcome { by: Some(by), result: AttemptResult::Signal { name, .. }, .. } => Some((by, name.clone())),
        Entry::Outcome { by: Some(by), result: AttemptResult::Error { .. }, .. } => Some((by, "error".to_owned())),
        _ => None,
    }
}
