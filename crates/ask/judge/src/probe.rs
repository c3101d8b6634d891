//! Probes the configured judges: reports if each of them gives a valid answer.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use interlock_activity::{Attempt, Canceller, Ending, Future, Host, Invocation, Outcome, StartRun, code};
use interlock_core::ActivityId;
use interlock_http::Client;
use interlock_journal::{Definition, EvidenceStore};
use interlock_model::{AcceptedMeans, Ask, Model, Turn, settings::Backend};
use interlock_process::Sandbox;
use serde_json::{Value, json};

use crate::{
    AllowedSignal, Question,
    asker::AttemptAsks,
    check::{self, Form},
    prompt::{self, Mark},
    settings::Settings,
};

/// The maximum time that a judge may take for the probe.
const PATIENCE: Duration = Duration::from_secs(20);

/// The token limit of the probe's answer.
const REPLY_TOKENS_MAX: u32 = 200;

/// The result of probing one judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The judge's name in the settings.
    pub judge: String,
    /// True if it gave a valid answer.
    pub ok: bool,
    /// The judge's model or command, followed by the result or the failure.
    pub said: String,
}

/// Asks every judge a small question, one after the other. Each one costs a few hundred tokens.
pub async fn probe(home: Option<&Path>, folder: &Path, sandbox: &Sandbox) -> Result<Vec<Probe>, String> {
    let settings = Settings::load(home, folder)?;
    // A program is started within an attempt. The evidence of this attempt is discarded.
    let scratch = tempfile::tempdir().map_err(|error| format!("could not create a temporary directory: {error}"))?;
    let attempt = bare_attempt(scratch.path(), folder)?;
    let mut probes = Vec::new();
    for (name, backend) in settings.judges {
        probes.push(one(&name, backend, &attempt, sandbox).await);
    }
    Ok(probes)
}

async fn one(name: &str, mut backend: Backend, attempt: &Attempt, sandbox: &Sandbox) -> Probe {
    let what = match &mut backend {
        Backend::Server(server) => {
            server.retries_max = 0;
            server.timeouts.total = server.timeouts.total.min(PATIENCE);
            server.reply_tokens_max = server.reply_tokens_max.min(REPLY_TOKENS_MAX);
            format!("{} at {}", server.model, server.base_url)
        }
        Backend::Command(command) => {
            command.timeouts.total = command.timeouts.total.min(PATIENCE);
            command.argv.join(" ")
        }
    };
    let model = Model::new(name, backend, &Client::default(), &AcceptedMeans::default());
    let found = ask(&model, attempt, sandbox).await;
    let (ok, said) = match found {
        Ok(said) => (true, format!("{what}: {said}")),
        Err(why) => (false, format!("{what}: {why}")),
    };
    Probe { judge: name.to_owned(), ok, said }
}

async fn ask(model: &Model, attempt: &Attempt, sandbox: &Sandbox) -> Result<String, String> {
    let question = Question {
        prompt: "Say that you are ready.".to_owned(),
        signals: vec![AllowedSignal { name: "ready".to_owned(), data: json!({ "properties": {} }) }],
        schema: Value::Null,
        facts: json!({}),
        evidence: Vec::new(),
    };
    let form = Form::new(&question)?;
    let shown = prompt::show(&question, &form, &Mark::fresh()?, model.window_tokens())?;
    let turns = [Turn::User(shown.user)];
    let (schema, subset, bounded) = (form.schema(), form.subset(), form.bounded());
    let reply_tokens_max = model.reply_tokens_max();
    let (tools, instead_of_tools) = (&[], "");
    let system = &shown.system;
    let ask = Ask { system, turns: &turns, tools, instead_of_tools, schema, subset, bounded, reply_tokens_max };
    let called = model.ask(&ask, &AttemptAsks { attempt, sandbox }).await;
    let last = called.tries.last();
    let reply = called.reply.map_err(|fault| fault.to_string())?;
    let means = last.map(|tried| json!(tried.means)).unwrap_or_default();
    let took_ms = last.map_or(0, |tried| tried.took_ms);
    let answers = format!("answers in {took_ms} ms by {}", means.as_str().unwrap_or_default());
    // A judge that answers with an invalid verdict is not healthy.
    check::check(&form, &question, &reply.text).map_err(|problems| {
        let why = problems.first().map(ToString::to_string).unwrap_or_default();
        format!("{answers}; its answer does not fit ({why})")
    })?;
    Ok(format!("{answers}; its answer fits"))
}

/// Creates an attempt that belongs to no run, for programs that are only probed.
pub fn bare_attempt(scratch: &Path, folder: &Path) -> Result<Attempt, String> {
    let evidence = EvidenceStore::open(scratch.join("evidence")).map_err(|error| error.to_string())?;
    let definition =
        Definition { hash: String::new(), machine: String::new(), version: 1, text: String::new(), files: Vec::new() };
    let invocation = Invocation {
        name: "judge".to_owned(),
        state: String::new(),
        signals: Vec::new(),
        is_declared_read: false,
        definition: Arc::new(definition),
    };
    Ok(Attempt {
        run: "doctor".into(),
        activity: ActivityId(1),
        invocation: Arc::new(invocation),
        number: 1,
        begun_ms: 0,
        with: interlock_chart::Value::empty(),
        folder: folder.to_owned(),
        snapshot: None,
        live: scratch.join("live.log"),
        evidence,
        host: Arc::new(Bare),
        cancel: Canceller::new().1,
    })
}

/// A host that provides only the clock, because there is no run.
struct Bare;

impl Host for Bare {
    fn progress(&self, _: &str, _: ActivityId, _: &str) {}

    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn sleep(&self, ms: u64) -> Future<()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }

    fn run(&self, _: StartRun) -> Ending {
        Box::pin(async { Outcome::error(code::FAILED, "there is no run here") })
    }
}
