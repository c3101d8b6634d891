//! The test fixture: one judgement without a run.

use std::{path::PathBuf, sync::Arc};

use interlock_activity::{Activity, Attempt, Canceller, HandledSignal, Invocation};
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::Definition;
use interlock_judge::Judge;
pub(crate) use interlock_testkit_activity::EndedAttempt;
use interlock_testkit_activity::{
    Recorder, attempt,
    model_server::{Dialect, ModelServer},
};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// A store, a directory and a machine with one state that judges.
pub(crate) struct Trial {
    pub(crate) home: TempDir,
    pub(crate) folder: PathBuf,
    pub(crate) host: Arc<Recorder>,
    pub(crate) canceller: Canceller,
    pub(crate) attempt: Attempt,
}

/// The signals of a review.
pub(crate) fn review() -> Json {
    let data = json!({
        "required": ["suggestion"],
        "properties": { "suggestion": { "type": "string", "minLength": 1 } },
    });
    json!({ "has_issue": data, "no_issue": { "properties": {} } })
}

/// An answer that is a valid verdict.
pub(crate) fn good() -> String {
    json!({
        "reason": "it divides by zero",
        "evidence_refs": ["diff"],
        "confidence": 0.75,
        "signal": "has_issue",
        "data": { "suggestion": "check for zero first" },
    })
    .to_string()
}

/// The same answer with an invalid signal.
pub(crate) fn bad() -> String {
    good().replace("\"has_issue\"", "\"approve\"")
}

impl Trial {
    /// Creates a review of a small change.
    pub(crate) fn new() -> Self {
        let files = [("prompts/review.md", "Review the change for {{task}}.")];
        let with = json!({ "prompt": "prompts/review.md", "task": "divide", "diff": "+ a / b\n" });
        Self::of("judge.review", with, &review(), &files)
    }

    /// Creates a trial of any judgement.
    pub(crate) fn of(name: &str, with: Json, signals: &Json, files: &[(&str, &str)]) -> Self {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("folder");
        std::fs::create_dir(&folder).unwrap();
        let signals = signals.as_object().unwrap().iter();
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        let definition = Definition {
            hash: "h".into(),
            machine: "m".into(),
            version: 1,
            text: String::new(),
            files: files.collect(),
        };
        let invocation = Invocation {
            name: name.into(),
            state: "JUDGING".into(),
            signals: signals.map(|(name, data)| HandledSignal { name: name.clone(), data: data.clone() }).collect(),
            is_declared_read: false,
            definition: Arc::new(definition),
        };
        let host = Arc::new(Recorder::default());
        let (attempt, canceller) = attempt(home.path(), &folder, host.clone());
        let (invocation, with) = (Arc::new(invocation), Value::from(with));
        let attempt = Attempt { activity: ActivityId(1), invocation, with, ..attempt };
        Trial { home, folder, host, canceller, attempt }
    }

    /// Sets the user's settings file.
    pub(crate) fn settings(self, text: &str) -> Self {
        std::fs::write(self.home.path().join("judges.toml"), text).unwrap();
        self
    }

    /// Configures one judge, `model`, at a server.
    pub(crate) fn at(self, dialect: Dialect, server: &ModelServer, more: &str) -> Self {
        let judge = judge("model", dialect, server, more);
        self.settings(&format!("{judge}\n[chains]\ndefault = [\"model\"]\n"))
    }

    pub(crate) fn judge(&self) -> Judge {
        Judge::new(Some(self.home.path().to_owned()))
    }

    /// Runs the judgement and returns its outcome.
    pub(crate) async fn run(&self) -> EndedAttempt {
        self.run_with(&self.judge()).await
    }

    pub(crate) async fn run_with(&self, judge: &Judge) -> EndedAttempt {
        let outcome = judge.start(self.attempt.clone()).await;
        self.host.record(&outcome);
        EndedAttempt::new(outcome)
    }

    /// Returns the evidence that was stored under a name.
    pub(crate) fn evidence(&self, ended: &EndedAttempt, name: &str) -> String {
        let found = ended.outcome.evidence.iter().find(|evidence| evidence.name == name);
        let found = found.unwrap_or_else(|| panic!("no evidence {name} in {:?}", ended.outcome.evidence));
        String::from_utf8(self.attempt.evidence.get(&found.hash).unwrap()).unwrap()
    }

    /// Returns the stored judgement with all hearings.
    pub(crate) fn judgement(&self, ended: &EndedAttempt) -> Json {
        serde_json::from_str(&self.evidence(ended, "judgement")).unwrap()
    }
}

/// Returns the configuration of a judge for `judges.toml`.
pub(crate) fn judge(name: &str, dialect: Dialect, server: &ModelServer, more: &str) -> String {
    let (provider, url) = (dialect.provider(), &server.url);
    format!("[judges.{name}]\nprovider = \"{provider}\"\nbase_url = \"{url}\"\nmodel = \"tiny\"\n{more}\n")
}
