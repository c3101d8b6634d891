//! One judgement, apart from any run.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
};

use interlock_activity::{Activity, Attempt, Canceller, Ending, Future, Host, Invocation, Outcome, StartRun, Taken};
use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::{AttemptResult, Definition, EvidenceStore};
use interlock_judge::Judge;
use interlock_testkit::model_server::{Dialect, ModelServer};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// A store, a folder and a machine with one state that judges.
pub(crate) struct Trial {
    pub(crate) home: TempDir,
    pub(crate) folder: PathBuf,
    pub(crate) host: Arc<Recorder>,
    pub(crate) canceller: Canceller,
    pub(crate) attempt: Attempt,
}

/// Time passes only while somebody sleeps.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) slept_ms: Mutex<Vec<u64>>,
    pub(crate) said: Mutex<Vec<String>>,
    now_ms: AtomicI64,
}

impl Host for Recorder {
    fn progress(&self, _: &str, _: ActivityId, text: &str) {
        self.said.lock().unwrap().push(text.to_owned());
    }

    fn now_ms(&self) -> i64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    fn sleep(&self, ms: u64) -> Future<()> {
        self.slept_ms.lock().unwrap().push(ms);
        self.now_ms.fetch_add(ms as i64, Ordering::SeqCst);
        Box::pin(tokio::task::yield_now())
    }

    fn run(&self, _: StartRun) -> Ending {
        Box::pin(async { Outcome::error("FAILED", "no runs here") })
    }
}

/// What a review may say.
pub(crate) fn review() -> Json {
    let data = json!({
        "required": ["suggestion"],
        "properties": { "suggestion": { "type": "string", "minLength": 1 } },
    });
    json!({ "has_issue": data, "no_issue": { "properties": {} } })
}

/// An answer to it that is a verdict.
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

/// The same with something wrong.
pub(crate) fn bad() -> String {
    good().replace("\"has_issue\"", "\"approve\"")
}

impl Trial {
    /// A review of a small change.
    pub(crate) fn new() -> Self {
        let files = [("prompts/review.md", "Review the change for {{task}}.")];
        let with = json!({ "prompt": "prompts/review.md", "task": "divide", "diff": "+ a / b\n" });
        Self::of("judge.review", with, &review(), &files)
    }

    /// Any judgement.
    pub(crate) fn of(name: &str, with: Json, signals: &Json, files: &[(&str, &str)]) -> Self {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("folder");
        std::fs::create_dir(&folder).unwrap();
        let (host, (canceller, cancel)) = (Arc::new(Recorder::default()), Canceller::new());
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
            signals: signals.map(|(name, data)| Taken { name: name.clone(), data: data.clone() }).collect(),
            definition: Arc::new(definition),
        };
        let attempt = Attempt {
            run: "run-1".into(),
            activity: ActivityId(1),
            invocation: Arc::new(invocation),
            number: 1,
            begun_ms: 0,
            with: Value::from(with),
            folder: folder.clone(),
            snapshot: None,
            live: home.path().join("live.log"),
            evidence: EvidenceStore::open(home.path().join("evidence")).unwrap(),
            host: host.clone(),
            cancel,
        };
        Trial { home, folder, host, canceller, attempt }
    }

    /// With these settings of the user.
    pub(crate) fn settings(self, text: &str) -> Self {
        std::fs::write(self.home.path().join("judges.toml"), text).unwrap();
        self
    }

    /// With one judge, `model`, at a server.
    pub(crate) fn at(self, dialect: Dialect, server: &ModelServer, more: &str) -> Self {
        let judge = judge("model", dialect, server, more);
        self.settings(&format!("{judge}\n[chains]\ndefault = [\"model\"]\n"))
    }

    pub(crate) fn judge(&self) -> Judge {
        Judge::new(Some(self.home.path().to_owned()))
    }

    /// How it ends.
    pub(crate) async fn run(&self) -> Ended {
        self.run_with(&self.judge()).await
    }

    pub(crate) async fn run_with(&self, judge: &Judge) -> Ended {
        Ended::new(judge.start(self.attempt.clone()).await)
    }

    /// What was kept under a name.
    pub(crate) fn evidence(&self, ended: &Ended, name: &str) -> String {
        let found = ended.outcome.evidence.iter().find(|evidence| evidence.name == name);
        let found = found.unwrap_or_else(|| panic!("no evidence {name} in {:?}", ended.outcome.evidence));
        String::from_utf8(self.attempt.evidence.get(&found.hash).unwrap()).unwrap()
    }

    /// All that was said on the way.
    pub(crate) fn judgement(&self, ended: &Ended) -> Json {
        serde_json::from_str(&self.evidence(ended, "judgement")).unwrap()
    }
}

/// A judge for `judges.toml`.
pub(crate) fn judge(name: &str, dialect: Dialect, server: &ModelServer, more: &str) -> String {
    let (provider, url) = (dialect.provider(), &server.url);
    format!("[judges.{name}]\nprovider = \"{provider}\"\nbase_url = \"{url}\"\nmodel = \"tiny\"\n{more}\n")
}

/// An outcome to look at.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    /// The signal, or `error`.
    pub(crate) name: String,
    pub(crate) data: Json,
}

impl Ended {
    pub(crate) fn new(outcome: Outcome) -> Self {
        let (name, data) = match &outcome.result {
            AttemptResult::Signal { name, data } => (name.clone(), data),
            AttemptResult::Error { data } => ("error".to_owned(), data),
        };
        let data = Json::from(data);
        Ended { outcome, name, data }
    }

    /// The code and the message of an error.
    #[track_caller]
    pub(crate) fn error(&self) -> (String, String) {
        assert_eq!(self.name, "error", "{:?}", self.data);
        let field = |name: &str| self.data[name].as_str().unwrap().to_owned();
        (field("code"), field("message"))
    }
}
