//! What a judgement costs besides the model's time: rendering, asking over loopback, checking, keeping what was said on the disk. Beside it, in the
//! same round, what only asking over loopback takes: a bare request as long as the prompt to the same server.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Activity, Attempt, Canceller, Ending, Future, Host, Invocation, Outcome, StartRun, Taken};
use interlock_core::ActivityId;
use interlock_journal::{AttemptResult, Definition, Engine, Journal};
use interlock_judge::Judge;
use interlock_testkit::model_server::{Dialect, ModelServer};
use serde_json::json;

use crate::Result;

/// Judgements in a round; the best round counts.
const ROUND: u32 = 20;
const ROUNDS: usize = 5;

/// What is shown of a log.
const LINES: usize = 400;

struct Still;

impl Host for Still {
    fn progress(&self, _: &str, _: ActivityId, _: &str) {}

    fn now_ms(&self) -> i64 {
        0
    }

    fn sleep(&self, ms: u64) -> Future<()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }

    fn run(&self, _: StartRun) -> Ending {
        Box::pin(async { Outcome::error("FAILED", "there are no runs here") })
    }
}

/// Prints what a judgement costs, the whole way.
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
    let (mut best, mut bare) = (Duration::MAX, Duration::MAX);
    for round in 0..ROUNDS {
        let begun = Instant::now();
        for at in 0..ROUND {
            ask(&server.url, &with(round * ROUND as usize + at as usize))?;
        }
        bare = bare.min(begun.elapsed() / ROUND);
        let begun = Instant::now();
        for at in 0..ROUND {
            let mut attempt = attempt.clone();
            // Another question each time: what is kept already costs less to keep.
            attempt.with = with(round * ROUND as usize + at as usize);
            // As a run does it: what was said is on the disk before it counts.
            let evidence = attempt.evidence.clone();
            let (outcome, settled) = runtime.block_on(async {
                let outcome = judge.start(attempt).await;
                (outcome, tokio::task::spawn_blocking(move || evidence.settle()).await)
            });
            settled??;
            if !matches!(&outcome.result, AttemptResult::Signal { .. }) {
                return Err(format!("no verdict: {:?}", outcome.result).into());
            }
        }
        best = best.min(begun.elapsed() / ROUND);
    }
    let [best, bare] = [best, bare].map(|time| time.as_secs_f64() * 1000.0);
    println!(
        "judge: {best:.2} ms a judgement besides the model's time ({LINES} lines shown; rendered, asked over loopback, checked, kept); {bare:.2} ms of it would be a bare request"
    );
    Ok(())
}

/// A bare request with what is shown.
fn ask(url: &str, shown: &interlock_chart::Value) -> Result<()> {
    let body = serde_json::Value::from(shown).to_string();
    let place = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
    let mut stream = TcpStream::connect(place)?;
    write!(
        stream,
        "POST /chat/completions HTTP/1.1\r\nhost: {place}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply)?;
    Ok(())
}

fn with(at: usize) -> interlock_chart::Value {
    let log: String = (0..LINES).map(|line| format!("{at}.{line} test_divide ... ok\n")).collect();
    json!({ "prompt": "p.md", "task": format!("task {at}"), "log": log }).into()
}

fn attempt(home: &Path) -> Result<Attempt> {
    let journal = Journal::open(&home.join("store"))?;
    let data =
        json!({ "required": ["suggestion"], "properties": { "suggestion": { "type": "string", "minLength": 1 } } });
    let signals = ["code_bug", "check_bug"].map(|name| Taken { name: name.into(), data: data.clone() });
    let definition = Definition {
        hash: "h".into(),
        machine: "m".into(),
        version: 1,
        text: String::new(),
        files: vec![("p.md".into(), b"Say why the tests of {{task}} fail.".to_vec())],
    };
    let invocation = Invocation {
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
        is_kept: false,
        live: home.join("live.log"),
        evidence: journal.evidence().deferring(),
        host: Arc::new(Still),
        cancel: Canceller::new().1,
    })
}
