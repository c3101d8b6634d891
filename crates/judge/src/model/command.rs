//! A program that judges: it reads the question from stdin and prints the answer.

use std::process::Stdio;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Ask, Fault, Reply, Turn, Usage, estimate_tokens};
use crate::settings::Command;

/// The longest answer that is read.
const ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// How much of its complaints is shown.
const COMPLAINT_CHARS: usize = 300;

/// What a program gets of our environment.
const ENV: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER"];

/// Runs it once. It does not outlive the future.
pub(super) async fn run(command: &Command, ask: &Ask<'_>) -> Result<Reply, Fault> {
    let total = command.timeouts.total;
    let late = Fault::Timeout { what: "answer of the command", after_ms: total.as_secs_f64() * 1000.0 };
    let text = tokio::time::timeout(total, answer(command, ask)).await.map_err(|_| late)??;
    let usage = Usage { input_tokens: ask.tokens(), output_tokens: estimate_tokens(&text), is_estimate: true };
    Ok(Reply { text, finish: "exit 0".to_owned(), usage, ..Reply::default() })
}

async fn answer(command: &Command, ask: &Ask<'_>) -> Result<String, Fault> {
    let [program, arguments @ ..] = command.argv.as_slice() else {
        return Err(Fault::Local("the command is empty".to_owned()));
    };
    let local = |what: &str, error: std::io::Error| Fault::Local(format!("{what} {program}: {error}"));
    let names = ENV.iter().copied().chain(command.env.iter().map(String::as_str));
    let env = names.filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| local("starting", error))?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let question = question(ask);
    let write = async {
        // One that does not want to read it all may answer all the same.
        if let Some(mut stdin) = stdin {
            let _ = stdin.write_all(question.as_bytes()).await;
        }
    };
    let ((), said, complaints) = tokio::join!(write, read(stdout), read(stderr));
    let status = child.wait().await.map_err(|error| local("waiting for", error))?;
    let said = said.map_err(|error| local("reading", error))?;
    if !status.success() {
        let complaints = complaints.unwrap_or_default();
        let shown: String = complaints.trim().chars().take(COMPLAINT_CHARS).collect();
        return Err(Fault::Local(format!("{program} ended with {status}: {shown}")));
    }
    match said.len() as u64 > ANSWER_BYTES_MAX {
        true => Err(Fault::TooLong(ANSWER_BYTES_MAX as usize)),
        false => Ok(said),
    }
}

fn question(ask: &Ask<'_>) -> String {
    let said = |turn: &Turn| match turn {
        Turn::User(text) => json!({ "role": "user", "content": text }),
        Turn::Model(text) => json!({ "role": "assistant", "content": text }),
    };
    let turns: Vec<_> = ask.turns.iter().map(said).collect();
    json!({ "system": ask.system, "messages": turns, "schema": ask.schema }).to_string()
}

async fn read(stream: Option<impl AsyncReadExt + Unpin>) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(ANSWER_BYTES_MAX + 1).read_to_end(&mut bytes).await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
