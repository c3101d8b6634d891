//! `tool.call`: makes one call of a tool, or several calls of tools that only read, side by side.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Host, Outcome, Requests, Signal, Site, code,
    project::root,
    report::{Account, RunRecord},
    schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::{Evidence, EvidenceStore};
use interlock_policy::{PathOp, Request};
use interlock_process::{FIELDS, Sandbox};
use interlock_workspace::Workspace;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::{
    Effect, ErrorCode, Meaning, Tool, ToolError,
    accounted::account,
    args::Args,
    error::Failure,
    meaning::Source,
    requests::{protected, protected_path, requests},
    scene::Scene,
    seen::Memory,
    tools::{self, Reply, Work},
};

/// The fields of `with`, besides those that control confinement.
pub(crate) const KNOWN: [&str; 4] = ["call", "calls", "retry_after_ms", "granted"];

/// The most calls at once.
const CALLS_MAX: usize = 16;

/// The pauses before an idempotent call is made again, in milliseconds.
const RETRY_AFTER_MS: [u64; 3] = [200, 500, 1_000];

/// The most retries and the longest pause that a machine can order.
const RETRIES_MAX: usize = 5;
const PAUSE_MS_MAX: u64 = 10_000;

/// Calls tools.
#[derive(Clone, Debug)]
pub struct ToolCall {
    workspace: Workspace,
    sandbox: Sandbox,
    store: Option<PathBuf>,
    memory: Memory,
    meaning: Source,
}

#[derive(Debug, Deserialize)]
struct With {
    call: Option<Call>,
    calls: Option<Vec<Call>>,
    retry_after_ms: Option<Vec<u64>>,
}

/// A call as a model asks for it. Further fields are ignored.
#[derive(Clone, Debug, Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    args: Map<String, Json>,
    #[serde(default)]
    tool_call_id: Option<String>,
}

/// A finished call.
struct Answer {
    call: Call,
    result: Result<Json, ToolError>,
    evidence: Vec<Evidence>,
}

impl ToolCall {
    /// Creates the activity. `workspace` applies writes, `sandbox` confines commands, and `store` is Interlock's own
    /// directory, which no tool can read.
    pub fn new(workspace: Workspace, sandbox: Sandbox, store: Option<PathBuf>) -> Self {
        ToolCall { workspace, sandbox, store, memory: Memory::default(), meaning: Source::default() }
    }

    /// Lets `search` order places by meaning, if a server for vectors is configured.
    #[must_use]
    pub fn with_meaning(self, meaning: Arc<dyn Meaning>) -> Self {
        ToolCall { meaning: Source(Some(meaning)), ..self }
    }

    /// Returns the requests of one call that no decision of `policy.call` covers.
    fn requests_of(&self, call: &Call, given: &Arguments<'_>, folder: &Path) -> Requests {
        let denied = |why: String| Outcome::error(code::POLICY_DENIED, why);
        let tool = tools::find(&call.name).ok_or_else(|| denied(unknown(&call.name).message))?;
        // The tool refuses such arguments too, and does nothing.
        if Args::check(&tool, &call.args).is_err() {
            return Ok(Vec::new());
        }
        let root = root(folder);
        let mut asked = Vec::new();
        for request in requests(&call.name, &call.args).map_err(denied)? {
            match request {
                Request::Command(command) => {
                    let freedoms = self.sandbox.freedoms(given, folder, &command)?;
                    asked.extend(std::iter::once(Request::Command(command)).chain(freedoms));
                }
                Request::Patch(patch) => asked.extend(protected(&patch, &root, &root)),
                // Reading is confined to the workspace.
                Request::Path { op: PathOp::Read, .. } => {}
                Request::Path { op, path } => asked.extend(protected_path(&root, &root.join(path), op)),
                // The machine decides about the network of a command, so it is among the freedoms.
                Request::Unconfined { .. } => {}
                Request::Connect { .. } | Request::Git(_) => asked.push(request),
            }
        }
        Ok(asked)
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let (calls, is_several, pauses) = read(&attempt.with)?;
        let (this, of) = (self.clone(), attempt.clone());
        let scene = blocking(move || {
            let seen = this.memory.of(&of);
            Scene::of(of, &this.workspace, &this.sandbox, this.store.as_deref(), seen)
        });
        let scene = scene.await??.with_meaning(self.meaning.clone());
        let mut answers = match is_several {
            true => side_by_side(&scene, calls, &pauses).await?,
            false => {
                let mut answers = Vec::new();
                for call in calls {
                    answers.push(answer(&scene, call, &pauses).await?);
                }
                answers
            }
        };
        let (memory, of) = (self.memory.clone(), scene.clone());
        let seen = blocking(move || memory.keep(&of.attempt, &of.seen)).await??;
        let evidence: Vec<Evidence> =
            answers.iter_mut().flat_map(|answer| std::mem::take(&mut answer.evidence)).chain(seen).collect();
        let data = match is_several {
            true => several(&scene, answers),
            false => answers.into_iter().next().map(|answer| one(&scene, answer)).unwrap_or_default(),
        };
        Ok(RESULT.outcome(Value::from(data)).with(evidence))
    }
}

/// Reads the calls, whether they were given as `calls`, and the pauses before retries.
fn read(with: &Value) -> Result<(Vec<Call>, bool, Vec<u64>), Outcome> {
    let bad = |why: String| Outcome::error(code::BAD_INPUT, why);
    let with: With =
        serde_json::from_value(Json::from(with)).map_err(|error| bad(format!("`with` does not fit: {error}")))?;
    let mut pauses = with.retry_after_ms.unwrap_or_else(|| RETRY_AFTER_MS.to_vec());
    pauses.truncate(RETRIES_MAX);
    pauses.iter_mut().for_each(|pause| *pause = (*pause).min(PAUSE_MS_MAX));
    match (with.call, with.calls) {
        (Some(call), None) => Ok((vec![call], false, pauses)),
        (None, Some(calls)) if (1..=CALLS_MAX).contains(&calls.len()) => Ok((calls, true, pauses)),
        (None, Some(calls)) => {
            Err(bad(format!("`with.calls` has {} calls; 1 to {CALLS_MAX} are possible", calls.len())))
        }
        _ => Err(bad("`with` needs either `call` or `calls`".to_owned())),
    }
}

/// Makes several calls at once. Only tools that read can be called side by side, because writes need an order.
async fn side_by_side(scene: &Scene, calls: Vec<Call>, pauses: &[u64]) -> Result<Vec<Answer>, Outcome> {
    let mut running = Vec::new();
    for call in calls {
        let (scene, pauses) = (scene.clone(), pauses.to_vec());
        running.push(tokio::spawn(async move {
            match tools::find(&call.name).filter(|tool| tool.effect != Effect::Read) {
                None => answer(&scene, call, &pauses).await,
                Some(tool) => Ok(Answer { result: Err(not_alone(&tool)), call, evidence: Vec::new() }),
            }
        }));
    }
    let mut answers = Vec::new();
    for call in running {
        answers.push(call.await.map_err(|error| Outcome::error(code::FAILED, error.to_string()))??);
    }
    Ok(answers)
}

fn not_alone(tool: &Tool) -> ToolError {
    let why = format!("{} does not only read, so it cannot run beside other calls; it was not run", tool.name);
    ToolError::new(ErrorCode::InvalidArgs, why).then("call it alone")
}

/// Makes one call, and makes it again if the tool is idempotent and the error may go away.
async fn answer(scene: &Scene, call: Call, pauses: &[u64]) -> Result<Answer, Outcome> {
    let is_idempotent = tools::find(&call.name).is_some_and(|tool| tool.idempotent);
    let pauses = if is_idempotent { pauses } else { &[] };
    match retried(&*scene.attempt.host, pauses, || attempt_call(scene, &call)).await {
        Ok(Reply { payload, evidence }) => Ok(Answer { call, result: Ok(payload), evidence }),
        Err(Failure::Tool(error)) => Ok(Answer { call, result: Err(error), evidence: Vec::new() }),
        Err(Failure::Attempt(outcome)) => Err(*outcome),
    }
}

/// Repeats a call after each pause while its error may go away.
async fn retried<F: Future<Output = Result<Reply, Failure>>>(
    host: &dyn Host,
    pauses: &[u64],
    call: impl Fn() -> F,
) -> Result<Reply, Failure> {
    let mut done = call().await;
    for pause in pauses {
        match &done {
            Err(Failure::Tool(error)) if error.is_transient => host.sleep(*pause).await,
            _ => break,
        }
        done = call().await;
    }
    done
}

async fn attempt_call(scene: &Scene, call: &Call) -> Result<Reply, Failure> {
    let entry = tools::entry(&call.name).ok_or_else(|| unknown(&call.name))?;
    let args = Args::check(&(entry.tool)(), &call.args)?;
    match entry.work {
        Work::Program => tools::run_program(scene, &args).await,
        Work::Files(work) => {
            let scene = scene.clone();
            let done = blocking(move || work(&scene, &args)).await?;
            Ok(Reply::from(done?))
        }
    }
}

fn unknown(name: &str) -> ToolError {
    let tools = tools::catalogue();
    let names = tools.iter().map(|tool| tool.name);
    let hint = interlock_suggest::did_you_mean_or_list(name, "the tools are", names);
    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    ToolError::new(ErrorCode::InvalidArgs, format!("there is no tool called `{name}`{hint}"))
}

fn one(scene: &Scene, answer: Answer) -> Json {
    let (ok, payload) = result(scene, answer.result);
    let mut said = json!({ "name": answer.call.name, "ok": ok, "payload": payload });
    if let Some(how) = how(ok, &said["payload"]) {
        said["how"] = json!(how);
    }
    said
}

/// Returns the end of a call in words for the trace, if it did not go as wished.
fn how(ok: bool, payload: &Json) -> Option<String> {
    match (ok, payload["exit_code"].as_i64(), payload["signal"].as_i64()) {
        (false, ..) => {
            let code = payload["error"]["code"].as_str().unwrap_or("E_IO");
            Some(format!("failed ({code}); the model is told why"))
        }
        (true, _, Some(signal)) => Some(format!("was ended by signal {signal}")),
        (true, Some(code), None) if code != 0 => Some(format!("ended with exit code {code}")),
        _ => None,
    }
}

fn several(scene: &Scene, answers: Vec<Answer>) -> Json {
    let results: Vec<Json> = answers
        .into_iter()
        .map(|answer| {
            let id = answer.call.tool_call_id.clone();
            let mut said = one(scene, answer);
            said["tool_call_id"] = json!(id);
            said
        })
        .collect();
    // Each result says how it went; together they are good if one is.
    let ok = results.iter().any(|result| result["ok"] == true);
    json!({ "name": "several", "ok": ok, "payload": { "results": results } })
}

fn result(scene: &Scene, result: Result<Json, ToolError>) -> (bool, Json) {
    match result {
        Ok(payload) => (true, payload),
        Err(error) => (false, json!({ "error": error.to_json(&scene.trace_id()) })),
    }
}

/// Runs work that may block on a thread for blocking work.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Outcome> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Outcome::error(code::FAILED, format!("the tool stopped: {error}")))
}

const RESULT: Signal = Signal::new("TOOL_CALL_RESULT", || {
    schema::fields([
        ("name", schema::text()),
        ("ok", schema::flag()),
        ("payload", schema::object()),
        ("how", schema::text()),
    ])
});

impl Activity for ToolCall {
    fn name(&self) -> &str {
        "tool.call"
    }

    fn summary(&self) -> &str {
        "Calls a tool of the coding agent: reads, searches, changes files or runs a command."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        &[RESULT]
    }

    fn schema(&self) -> Schema {
        let call = schema::needing(
            schema::open(schema::fields([
                ("name", schema::text()),
                ("args", schema::object()),
                ("tool_call_id", schema::text()),
            ])),
            &["name"],
        );
        let fields = schema::fields([
            ("call", call.clone()),
            ("calls", schema::list(call)),
            ("retry_after_ms", schema::list(schema::whole())),
            ("granted", schema::list(schema::any())),
        ]);
        schema::also(fields, &interlock_process::schema())
    }

    /// The commands and the protected files of all calls. `policy.call` decides on everything else before. A call of an
    /// unknown tool is refused, because nobody can say what it would do.
    fn requests(&self, site: &Site<'_>) -> Requests {
        let given = Arguments::new(site.with, &[&KNOWN[..], &FIELDS].concat())?;
        let (calls, ..) = read(site.with)?;
        let calls = calls.iter().map(|call| self.requests_of(call, &given, site.folder));
        Ok(calls.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn also_writes(&self) -> bool {
        true
    }

    fn run_ended(&self, run: &str) {
        self.memory.forget(run);
    }

    fn account(&self, record: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        Some(account(record).unwrap_or_default())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move {
            let known = [&KNOWN[..], &FIELDS].concat();
            match Arguments::new(&attempt.with, &known) {
                Ok(_) => this.run(attempt).await.unwrap_or_else(|outcome| outcome),
                Err(bad) => bad.into(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        path::Path,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use interlock_testkit_activity::Recorder;

    use super::*;
    use crate::problem::system;

    async fn tried(error: io::ErrorKind, failures: usize) -> (bool, usize, Vec<u64>) {
        let (host, count) = (Recorder::default(), AtomicUsize::new(0));
        let done = retried(&host, &RETRY_AFTER_MS, || async {
            match count.fetch_add(1, Ordering::SeqCst) < failures {
                true => Err(system(Path::new("a"), &error.into()).into()),
                false => Ok(json!({}).into()),
            }
        });
        let is_done = done.await.is_ok();
        let slept = host.slept_ms.lock().unwrap().clone();
        (is_done, count.into_inner(), slept)
    }

    #[tokio::test]
    async fn only_passing_errors_are_tried_again() {
        assert_eq!(tried(io::ErrorKind::Interrupted, 2).await, (true, 3, vec![200, 500]));
        assert_eq!(tried(io::ErrorKind::ResourceBusy, 9).await, (false, 4, vec![200, 500, 1_000]));
        assert_eq!(tried(io::ErrorKind::NotFound, 1).await, (false, 1, vec![]));
    }
}
