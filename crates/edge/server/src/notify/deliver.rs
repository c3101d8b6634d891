//! Sends the messages of the outbox: a POST with a signature, or a program that reads the message.

use std::{process::Stdio, time::Duration};

use interlock_beneath::programs;
use interlock_http::{Address, Client, Method, Request, header};
use interlock_runtime::{Clock as _, SystemClock};
use ring::hmac;
use tokio::{io::AsyncWriteExt as _, process::Command};

use super::{
    outbox::{Message, Outbox},
    settings::{Rule, Settings},
};

/// The time that a receiver has to answer.
const ANSWER_WAIT: Duration = Duration::from_secs(20);

/// The pauses between tries, in milliseconds. After the last one the message is dead: about a day in all.
const PAUSES_MS: [i64; 9] = [2_000, 10_000, 60_000, 300_000, 900_000, 3_600_000, 10_800_000, 21_600_000, 43_200_000];

/// The most messages that are sent in one round.
const ROUND_MAX: usize = 50;

/// Sends the messages that are due. A failure is noted in the outbox and does not stop the others.
pub(super) async fn due(settings: &Settings, outbox: &Outbox) {
    let Ok(messages) = outbox.due(SystemClock.now_ms(), ROUND_MAX) else { return };
    for message in messages {
        let sent = match settings.rules.iter().find(|rule| rule.receiver() == message.receiver) {
            Some(rule) => tokio::time::timeout(ANSWER_WAIT, send(rule, &message)).await,
            None => Ok(Err("notify.toml no longer names this receiver".to_owned())),
        };
        let now_ms = SystemClock.now_ms();
        // If the outbox cannot be written, the message is sent again later: at least once.
        let _ = match sent.unwrap_or_else(|_| Err("no answer in time".to_owned())) {
            Ok(()) => outbox.sent(&message, now_ms),
            Err(why) => {
                let pause = usize::try_from(message.tries).ok().and_then(|tries| PAUSES_MS.get(tries));
                outbox.failed(&message, &why, pause.map(|pause| now_ms + pause))
            }
        };
    }
}

async fn send(rule: &Rule, message: &Message) -> Result<(), String> {
    match &rule.url {
        Some(url) => post(rule, url, message).await,
        None => run(&rule.command, message).await,
    }
}

async fn post(rule: &Rule, url: &str, message: &Message) -> Result<(), String> {
    let (address, path) = Address::parse(url)?;
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/json")
        .header("interlock-id", &message.id);
    if let Some(key) = rule.key()? {
        let seconds = SystemClock.now_ms() / 1_000;
        request = request.header("interlock-signature", signature(&key, seconds, message));
    }
    let request = request.body(message.content.clone().into_bytes()).map_err(|error| error.to_string())?;
    let connection = Client::default().connect(&address).await.map_err(|error| error.to_string())?;
    let response = connection.send(request).await.map_err(|error| error.to_string())?;
    match response.status {
        200..=299 => Ok(()),
        status => Err(format!("the receiver answered {status}")),
    }
}

/// Returns the signature: the time, and the HMAC-SHA256 of the time, the id and the content.
fn signature(key: &str, seconds: i64, message: &Message) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    let signed = hmac::sign(&key, format!("{seconds}.{}.{}", message.id, message.content).as_bytes());
    let hex: String = signed.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={seconds},v1={hex}")
}

#[expect(clippy::disallowed_methods, reason = "the settings name the program, and no program can change them")]
async fn run(command: &[String], message: &Message) -> Result<(), String> {
    let Some((program, arguments)) = command.split_first() else { return Err("the command is empty".to_owned()) };
    let found = programs::find(program, &[]).ok_or_else(|| {
        format!("cannot start {program}: there is no such program outside of directories that runs can change; name its whole path")
    })?;
    let mut child = Command::new(found)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("cannot start {program}: {error}"))?;
    if let Some(mut input) = child.stdin.take() {
        // A program that does not read its input is not an error.
        let _ = input.write_all(message.content.as_bytes()).await;
    }
    let status = child.wait().await.map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("{program} ended with {status}")) }
}
