//! `run_terminal_cmd`: runs a command in the sandbox.

use interlock_policy::{Command, Freedom, Request};
use std::{path::PathBuf, time::Duration};

use interlock_activity::{Arguments, Outcome};
use interlock_beneath as beneath;
use interlock_process::{self as program, FIELDS, How, Plan, ProgramResult, Stream, Tell};
use serde_json::{Value as Json, json};

use super::{Reply, arguments, flag, number, text};
use crate::{
    Effect, ErrorCode, Tool, ToolError,
    args::Args,
    cut,
    error::Failure,
    problem::system,
    requests::{Given, Unstated},
    scene::{FILE_BYTES_MAX, Scene},
};

/// The time limit if the call gives none.
const TIMEOUT_S: usize = 120;

/// The most bytes kept of each stream as evidence.
const KEPT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The most bytes of each stream in a result.
const SHOWN_BYTES_MAX: usize = 16 * 1024;

/// The way to read output that is left out.
const REST: &str = "run it again with less output, such as `| grep` or `| tail`";

pub(super) fn tool() -> Tool {
    Tool {
        name: "run_terminal_cmd",
        description: "Runs a command line with /bin/sh in the workspace, confined: no writes outside of the workspace, no \
                      input, and no network unless the person allows it. It ends with the command; nothing runs on in the \
                      background. An exit code other than 0 is a result, not an error.",
        args_schema: arguments(
            1,
            [
                ("command", text("The command line")),
                (
                    "cwd",
                    text("The directory to run it in, relative to the workspace's root; the root if it is missing"),
                ),
                ("network", flag("Whether the command needs the network; a person is asked")),
                ("timeout_s", number(1, 1_800, "The seconds after which it is stopped; 120 if it is missing")),
            ],
        ),
        result: "`exit_code`, `signal`, `stdout`, `stderr`, `duration_ms`, `truncated`; `network` if it could use the \
                 network: `on`, or the hosts; `breaches` if it tried what the sandbox forbids",
        permission: "proc.exec",
        effect: Effect::Write,
        idempotent: false,
    }
}

pub(super) fn requests(given: &Given<'_>) -> Result<Vec<Request>, Unstated> {
    let command = given.need("command")?;
    let freedom = Freedom::AnyHost;
    let online = given.flag("network").then(|| Request::Unconfined { freedom, command: command.clone() });
    Ok(std::iter::once(Request::Command(Command::Shell(command))).chain(online).collect())
}

/// Runs the command of a call to its end.
pub(crate) async fn call(scene: &Scene, args: &Args) -> Result<Reply, Failure> {
    let plan = plan(scene, args)?;
    let network = network(&plan);
    if args.flag("network") && network.is_none() {
        let why = "the command needs the network, and this call has none";
        return Err(ToolError::new(ErrorCode::PolicyDenied, why).into());
    }
    let own = unchanged(scene).await;
    let ended = program::run(&scene.attempt, &plan).await;
    adopt(scene, own).await;
    let mut ended = ended?;
    let stopped = program::not_ended(&ended.how, &plan, ended.duration);
    let mut payload = payload(&mut ended)?;
    if let Some(network) = network {
        payload["network"] = network;
    }
    let ProgramResult { stdout, stderr, confined, .. } = ended;
    let evidence = program::keep(&scene.attempt, vec![stdout, stderr], confined).await?;
    match stopped {
        None => Ok(Reply { payload, evidence }),
        Some(outcome) => Err(with_output(outcome.with(evidence), &payload)),
    }
}

fn plan(scene: &Scene, args: &Args) -> Result<Plan, Failure> {
    let folder = scene.root.join(scene.place(args.text("cwd"))?);
    if !folder.is_dir() {
        return Err(ToolError::argument("cwd", "is not a directory").into());
    }
    let given = Arguments::new(&scene.attempt.with, &[&crate::activity::KNOWN[..], &FIELDS].concat());
    let given = given.map_err(Outcome::from)?;
    let seconds = u64::try_from(args.number("timeout_s", TIMEOUT_S)).unwrap_or(u64::MAX);
    Ok(Plan {
        words: ["/bin/sh", "-c", args.need("command")].map(Into::into).into(),
        folder,
        env: Default::default(),
        stdin: Vec::new(),
        timeout: Some(Duration::from_secs(seconds)),
        output_bytes_max: KEPT_BYTES_MAX,
        tell: [Tell::NowAndThen; 2],
        rules: scene.sandbox.rules(&given, &scene.attempt)?,
        launcher: scene.sandbox.launcher.clone(),
    })
}

/// Returns the network that the command could use, for its result; `None` if it had none.
fn network(plan: &Plan) -> Option<Json> {
    match plan.rules.network.name() {
        "only" => Some(json!(plan.rules.hosts)),
        "on" => Some(json!("on")),
        _ => None,
    }
}

/// Returns the files that are as the model has seen them: changes that the command makes to them are the run's own.
async fn unchanged(scene: &Scene) -> Vec<PathBuf> {
    let scene = scene.clone();
    let look = move || scene.seen.unchanged(|path| beneath::read(&scene.root, path, FILE_BYTES_MAX).ok());
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// Records the new versions of files that were as the model has seen them.
async fn adopt(scene: &Scene, own: Vec<PathBuf>) {
    let scene = scene.clone();
    let look = move || {
        for path in own {
            match beneath::read(&scene.root, &path, FILE_BYTES_MAX) {
                Ok(content) => scene.seen.add(&path, &content),
                Err(_) => scene.seen.remove(&path),
            }
        }
    };
    // A thread that panics has recorded nothing, and then the model reads the files again.
    let _ = tokio::task::spawn_blocking(look).await;
}

fn payload(ended: &mut ProgramResult) -> Result<Json, ToolError> {
    let (code, signal) = match ended.how {
        How::Exited { code, signal } => (Some(code), signal),
        _ => (None, None),
    };
    let (stdout, stdout_cut) = shown(&mut ended.stdout)?;
    let (stderr, stderr_cut) = shown(&mut ended.stderr)?;
    let mut said = json!({
        "exit_code": code,
        "signal": signal,
        "stdout": stdout,
        "stderr": stderr,
        "duration_ms": u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
        "truncated": stdout_cut || stderr_cut || ended.stdout.is_truncated || ended.stderr.is_truncated,
    });
    let breaches = ended.confined.ended.breaches.iter();
    let breaches: Vec<Json> = breaches.map(|breach| json!({ "rule": breach.rule, "said": breach.said })).collect();
    if !breaches.is_empty() {
        said["breaches"] = json!(breaches);
    }
    Ok(said)
}

fn shown(stream: &mut Stream) -> Result<(String, bool), ToolError> {
    let content = stream.content().map_err(|error| system(std::path::Path::new("the output"), &error))?;
    Ok(cut::middle(&String::from_utf8_lossy(&content), SHOWN_BYTES_MAX, REST))
}

/// Adds the output to the error of a command that was stopped, so that the reason can be found.
fn with_output(outcome: Outcome, payload: &Json) -> Failure {
    let failure = Failure::from(outcome);
    let Failure::Tool(error) = failure else { return failure };
    let text = |name: &str| payload[name].as_str().unwrap_or_default().to_owned();
    let output = text("stdout") + &text("stderr");
    let last = cut::end(&output, 1_000);
    let said = if last.trim().is_empty() {
        "it printed nothing".to_owned()
    } else {
        format!("its output ended with:\n{last}")
    };
    let message = format!("the command {}; {said}", error.message.trim_start_matches("it "));
    Failure::Tool(ToolError { message, ..error })
}
