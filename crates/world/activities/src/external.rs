//! `external`: runs a program that reads one JSON object and writes one, so that activities can be written in any
//! language.

use std::ffi::OsString;

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Invocation, Outcome, Requests, Signal, Site, code,
    report::{Account, ExecutedCommand, RunRecord, Worker, command_line, reading::text},
    schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::EvidenceStore;
use interlock_policy::{Command, Request};

use interlock_process::{self as program, FIELDS, How, Plan, Sandbox, Tell};
use interlock_sandbox::Rules;

/// The fields of `with`, besides those of the sandbox.
const OWN: [&str; 4] = ["program", "args", "input", "timeout_s"];

/// The longest answer of a program, and the most bytes kept of its standard error.
const OUTPUT_BYTES: u64 = 16 * 1024 * 1024;

/// Runs a program and takes its answer as the outcome.
#[derive(Clone, Debug)]
pub struct External {
    sandbox: Sandbox,
}

impl External {
    /// Creates the activity. `sandbox` confines the programs.
    pub fn new(sandbox: Sandbox) -> Self {
        External { sandbox }
    }
}

impl Activity for External {
    fn name(&self) -> &str {
        "external"
    }

    fn summary(&self) -> &str {
        "Starts a program that reads one JSON object and prints one as its answer."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::External
    }

    fn signals(&self) -> &[Signal] {
        &[]
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([
            ("program", schema::meaning("program")),
            ("args", schema::list(schema::plain())),
            ("input", schema::any()),
            ("timeout_s", schema::number()),
        ]);
        schema::needing(schema::also(fields, &program::schema()), &["program"])
    }

    fn requests(&self, site: &Site<'_>) -> Requests {
        let given = Arguments::new(site.with, &[&OWN[..], &FIELDS].concat())?;
        let program = given.need_text("program")?.to_owned();
        let words = std::iter::once(program).chain(given.texts("args")?.unwrap_or_default());
        let command = Command::Words(words.collect());
        let freedoms = self.sandbox.freedoms(&given, site.folder, &command)?;
        Ok(std::iter::once(Request::Command(command)).chain(freedoms).collect())
    }

    fn account(&self, record: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        Some(account(record).unwrap_or_default())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let sandbox = self.sandbox.clone();
        Box::pin(async move { run(attempt, &sandbox).await.unwrap_or_else(|error| error) })
    }
}

/// Returns the program that was started. Its answer is a signal of its own, so it verifies nothing by itself.
fn account(record: &RunRecord) -> Option<Account> {
    let ended = record.ended()?;
    let words = std::iter::once(&ended.with["program"]).chain(ended.with["args"].as_array().into_iter().flatten());
    let command = ExecutedCommand {
        command: command_line(&words.cloned().collect())?,
        has_passed: ended.signal.is_some(),
        message: text(&ended.data["message"]),
        ..ExecutedCommand::default()
    };
    Some(Account { commands: vec![command], worker: Worker::Others, ..Account::default() })
}

async fn run(attempt: Attempt, sandbox: &Sandbox) -> Result<Outcome, Outcome> {
    let plan = plan(&attempt, sandbox)?;
    let failed = |why: String| Outcome::error(code::FAILED, why);
    let ended = program::run(&attempt, &plan).await?;
    let stopped = program::not_ended(&ended.how, &plan, ended.duration);
    let (mut stdout, talk) = (ended.stdout, ended.shown.last_line());
    let answer = stdout.content().map_err(|error| failed(error.to_string()))?;
    let is_truncated = stdout.is_truncated;
    let evidence = program::keep(&attempt, vec![stdout, ended.stderr], ended.confined).await?;
    let outcome = stopped.unwrap_or_else(|| match is_truncated {
        true => failed(format!("its answer is longer than {OUTPUT_BYTES} bytes")),
        false => understand(&answer, &attempt.invocation).unwrap_or_else(|why| failed(said(&why, &ended.how, talk))),
    });
    Ok(outcome.with(evidence))
}

fn said(why: &str, how: &How, talk: Option<String>) -> String {
    let code = match how {
        How::Exited { code, .. } => format!(" (exit code {code})"),
        _ => String::new(),
    };
    let talk = talk.map(|line| format!("; its last line was: {line}")).unwrap_or_default();
    format!("{why}{code}{talk}")
}

fn plan(attempt: &Attempt, sandbox: &Sandbox) -> Result<Plan, Outcome> {
    let given = Arguments::new(&attempt.with, &[&OWN[..], &FIELDS].concat())?;
    let folder = Arguments::new(&Value::empty(), &[])?.folder("folder", &attempt.folder)?;
    let program = given.need_text("program")?;
    let env = Default::default();
    let not_started = |why| Outcome::error(code::FAILED, format!("it could not be started: {why}"));
    let arguments = given.texts("args")?.unwrap_or_default();
    let timeout = given.seconds("timeout_s")?;
    let program = program::find(program, &folder, &env).map_err(not_started)?;
    Ok(Plan {
        words: std::iter::once(program.into()).chain(arguments.into_iter().map(OsString::from)).collect(),
        stdin: question(attempt, given.value("input")),
        folder,
        env,
        timeout,
        output_bytes_max: OUTPUT_BYTES,
        tell: [Tell::Nothing, Tell::Each],
        rules: Rules { keeps_workspace: attempt.invocation.is_declared_read, ..sandbox.rules(&given, attempt)? },
        launcher: sandbox.launcher.clone(),
    })
}

fn question(attempt: &Attempt, input: Option<&Value>) -> Vec<u8> {
    let question = serde_json::json!({
        "run": &*attempt.run,
        "activity": attempt.activity.0,
        "attempt": attempt.number,
        "with": input.map_or(serde_json::Value::Null, serde_json::Value::from),
        "signals": attempt.invocation.signal_names().collect::<Vec<_>>(),
        "folder": attempt.folder.to_string_lossy(),
    });
    format!("{question}\n").into_bytes()
}

/// Parses the answer, one JSON object: `{signal, data?}` or `{error: {code, message}}`.
fn understand(answer: &[u8], invocation: &Invocation) -> Result<Outcome, String> {
    if answer.iter().all(u8::is_ascii_whitespace) {
        return Err("it printed nothing on stdout".to_owned());
    }
    let answer: serde_json::Value =
        serde_json::from_slice(answer).map_err(|error| format!("its answer is not one JSON object: {error}"))?;
    let fields = answer.as_object().ok_or("its answer is not a JSON object")?;
    if let Some(name) = fields.keys().find(|name| !["signal", "data", "error"].contains(&name.as_str())) {
        return Err(format!("its answer has the unknown field `{name}`; the fields are signal, data and error"));
    }
    match (fields.get("signal"), fields.get("error")) {
        (Some(signal), None) => {
            let name = signal.as_str().ok_or("the signal in its answer is not a string")?;
            if !invocation.takes(name) {
                let known = invocation.signal_names().collect::<Vec<_>>().join(", ");
                return Err(format!("it answered with the signal `{name}`; the machine accepts {known}"));
            }
            let data = fields.get("data").filter(|data| !data.is_null());
            Ok(Outcome::signal(name, data.cloned().map_or_else(Value::empty, Value::from)))
        }
        (None, Some(error)) => {
            let field = |name: &str| error.get(name).and_then(|field| field.as_str());
            let code = field("code").ok_or("the error in its answer has no `code`")?;
            Ok(Outcome::error(code, field("message").unwrap_or_default()))
        }
        _ => Err("its answer must have either `signal` or `error`".to_owned()),
    }
}
