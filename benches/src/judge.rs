//! The cost of a judgement besides the model's time: rendering, checking and storing the conversation on disk. The
//! model's time is the time that the judge records for it, from the request over loopback to the answer.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{
    Activity, Attempt, Canceller, Ending, Future, HandledSignal, Host, Invocation, Outcome, OutcomeKind, StartRun,
};
use interlock_core::ActivityId;
use interlock_journal::{Definition, EvidenceStore};
use interlock_judge::Judge;
use interlock_testkit_activity::model_server::{Dialect, ModelServer};
use serde_json::json;

use crate::{Result, size};

/// Judgements per round; the best round counts.
const ROUND: u32 = size(20, 2) as u32;
const ROUNDS: usize = size(5, 1);

/// The number of log lines in the prompt.
const LINES: usize = 400;

/// A host whose milliseconds are microseconds, so that the recorded times are more precise.
struct Quick(Instant);

impl Host for Quick {
    fn progress(&self, _: &str, _: ActivityId, _: &str) {}

    fn now_ms(&self) -> i64 {
        i64::try_from(self.0.elapsed().as_micros()).unwrap_or(i64::MAX)
    }

    fn sleep(&self, ms: u64) -> Future<()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }

    fn run(&self, _: StartRun) -> Ending {
        Box::pin(async { Outcome::error("FAILED", "there are no runs here") })
    }
}

/// Measures a complete judgement and prints its cost.
pub(crate) fn report() -> Result<()> {
    let home = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
    let answer = json!({
        "reason": "the second case fails", "evidence_refs": ["log"], "confidence": 0.9, "signal": "code_bug",
        "data": { "suggestion": "check for zero" },
    });
    let server = ModelServer::saying(vec![Dialect::Chat.says(&answer.to_string())]);
    let settings = format!(
        "[judges.m]\nprovider = \"openai-chat\"\nbase_url = \"{}\"\nmodel = \"m\"\nwindow_tokens = 100000\n[chains]\ndefault = [\"m\"]\n",
        server.url
    );
    std::fs::write(home.path().join("judges.toml"), settings)?;
    let (judge, attempt) = (Judge::new(Some(home.path().to_owned())), attempt(home.path())?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut best = (Duration::MAX, Duration::ZERO);
    for round in 0..ROUNDS {
        let (mut spent, mut asking) = (Duration::ZERO, Duration::ZERO);
        for at in 0..ROUND {
            let mut attempt = attempt.clone();
            // A different question each time, because content that is already stored costs less to store.
            attempt.with = with(round * ROUND as usize + at as usize);
            // As in a run, the conversation is on disk before the result counts.
            let (evidence, kept, begun) = (attempt.evidence.clone(), attempt.evidence.clone(), Instant::now());
            let (outcome, settled) = runtime.block_on(async {
                let outcome = judge.start(attempt).await;
                (outcome, tokio::task::spawn_blocking(move || evidence.settle()).await)
            });
            settled??;
            spent += begun.elapsed();
            asking += asked(&kept, &outcome)?;
            if !matches!(&outcome.kind, OutcomeKind::Signal { .. }) {
                return Err(format!("no verdict: {:?}", outcome.kind).into());
            }
        }
        best = best.min(((spent - asking) / ROUND, asking / ROUND));
    }
    let [own, asking] = [best.0, best.1].map(|time| time.as_secs_f64() * 1000.0);
    println!(
        "judge: {own:.2} ms a judgement besides the model's time ({LINES} lines shown; rendered, checked, kept on the disk), and {asking:.2} ms asking a model over loopback that answers at once"
    );
    Ok(())
}

/// The time of the model request, as the judgement recorded it.
fn asked(store: &EvidenceStore, outcome: &Outcome) -> Result<Duration> {
    let judgement = outcome.evidence.iter().find(|kept| kept.name == "judgement").ok_or("nothing was put down")?;
    let judgement: serde_json::Value = serde_json::from_slice(&store.get(&judgement.hash)?)?;
    let micros = judgement["hearings"][0]["tries"][0]["took_ms"].as_u64().ok_or("no time was put down")?;
    Ok(Duration::from_micros(micros))
}

fn with(at: usize) -> interlock_chart::Value {
    let log: String = (0..LINES).map(|line| format!("{at}.{line} test_divide ... ok\n")).collect();
    json!({ "prompt": "p.md", "task": format!("task {at}"), "log": log }).into()
}

fn attempt(home: &Path) -> Result<Attempt> {
    let data =
        json!({ "required": ["suggestion"], "properties": { "suggestion": { "type": "string", "minLength": 1 } } });
    let signals = ["code_bug", "check_bug"].map(|name| HandledSignal { name: name.into(), data: data.clone() });
    let definition = Definition {
        hash: "h".into(),
        machine: "m".into(),
        version: 1,
        text: String::new(),
        files: vec![("p.md".into(), b"Say why the tests of {{task}} fail.".to_vec())],
    };
    let invocation = Invocation {
        is_declared_read: false,
        name: "judge.advise".into(),
        state: "ADVISING".into(),
        signals: signals.into(),
        definition: Arc::new(definition),
    };
    Ok(Attempt {
        run: "bench".into(),
        activity: ActivityId(1),
        invocation: Arc::new(invocation),
        number: 1,
        begun_ms: 0,
        with: with(0),
        folder: home.to_owned(),
        snapshot: None,
        live: home.join("live.log"),
        evidence: EvidenceStore::open(home.join("evidence"))?.deferring(),
        host: Arc::new(Quick(Instant::now())),
        cancel: Canceller::new().1,
    })
}
