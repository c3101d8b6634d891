//! Secrets that pass through a run are redacted everywhere: in the store and in the output.

use std::{
    io::{Read, Write},
    net::TcpListener,
    path::Path,
};

use interlock_testkit_cli::session::Session;
use tempfile::TempDir;

/// The secrets in two halves. Sources contain only the halves, so a whole secret was printed, sent or answered.
const HALVES: [(&str, &str); 4] = [
    ("ghp_FAKE0fake1FAKE2fake3", "FAKE4fake5FAKE6fake7FAKE8"),
    ("hunter2FAKE", "fake9horse"),
    ("sk-ant-api03-FAKE0fake1FAKE2", "fake3FAKE4fake5FAKE6"),
    ("MIIFAKE0fake1FAKE2fake3FAKE4fake5FAKE6fake7", "FAKE8fake9FAKE0fake1"),
];

/// A machine that prints a token, a named password and a private key, then asks a server and a person.
const LEAKY: &str = "\
machine: leaky
version: 1
summary: Lets secrets pass through it in every way there is.
input: { type: object, properties: { url: { type: string }, password: { type: string } } }
context: { seen: '' }
events:
  note:
    from: user
    summary: Leave a note
    data: { type: object, required: [text], properties: { text: { type: string }, api_token: { type: string } } }
initial: printing
on: { error: { target: lost, reason: '${event.message}' } }
states:
  printing:
    invoke:
      activity: command.run
      with:
        command: |
          printf 'using ghp_FAKE0fake1FAKE2fake3%s now\\n' FAKE4fake5FAKE6fake7FAKE8
          printf 'DB_PASSW%s=hunter2FAKE%s\\n' ORD fake9horse >&2
          printf -- '-----BEGIN PRIVATE %s-----\\nMIIFAKE0fake1FAKE2fake3FAKE4fake5FAKE6fake7%s\\n-----END PRIVATE KEY-----\\n' KEY FAKE8fake9FAKE0fake1
          printf 'last ghp_FAKE0fake1FAKE2fake3%s' FAKE4fake5FAKE6fake7FAKE8
      signals: [passed, failed]
    on:
      passed: { target: asking, reason: 'it printed ${event.summary}', assign: { seen: '${event.stdout}' } }
      failed: { target: lost }
  asking:
    invoke: { activity: http.request, with: { url: '${input.url}' }, signals: [succeeded, failed] }
    on:
      succeeded: { target: waiting, reason: 'the server says ${event.body}' }
      failed: { target: lost }
  waiting:
    on: { note: { target: done, reason: 'somebody says ${event.text}' } }
  done: { type: final, outcome: success }
  lost: { type: final, outcome: failure }
";

fn secrets() -> Vec<String> {
    HALVES.iter().map(|(first, second)| format!("{first}{second}")).collect()
}

/// Starts a server that answers once, with secrets in the body and in a header.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let [token, password, key, _] = <[String; 4]>::try_from(secrets()).unwrap();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 4096]).unwrap();
        let body = format!("{{\"key\": \"{key}\", \"login\": {{\"password\": \"{password}\"}}}}");
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-token: {token}\r\n");
        write!(socket, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    });
    format!("http://{address}/")
}

fn project() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &here)
        .with("INTERLOCK_HOME", here.join("home").display().to_string())
        .with("INTERLOCK_USER", "ada");
    session.write(".interlock/machines/leaky/machine.yaml", LEAKY).unwrap();
    (folder, session)
}

/// Returns every file below a directory with its content, decompressed if it is compressed.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
            continue;
        }
        let content = std::fs::read(&path).unwrap_or_default();
        if path.extension().is_some_and(|kind| kind == "zst") {
            found.push((format!("{} unpacked", path.display()), zstd::decode_all(content.as_slice()).unwrap()));
        }
        found.push((path.display().to_string(), content));
    }
    found
}

fn assert_nowhere(what: &str, content: &[u8]) {
    for secret in secrets() {
        let is_there = content.windows(secret.len()).any(|part| part == secret.as_bytes());
        assert!(!is_there, "{secret} is in {what}:\n{}", String::from_utf8_lossy(content));
    }
}

#[test]
fn secrets_that_pass_through_a_run_are_nowhere_afterwards() {
    let (folder, session) = project();
    let [token, password, key, _] = <[String; 4]>::try_from(secrets()).unwrap();
    let mut shown = String::new();
    let mut say = |words: &[&str]| {
        let output = session.command("").args(words).output().unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(matches!(output.status.code(), Some(0 | 4)), "{words:?}\n{said}");
        shown.push_str(&said);
    };
    say(&[
        "run",
        "leaky",
        "--name",
        "l1",
        "--set",
        &format!("url={}", server()),
        "--set",
        &format!("password={password}"),
    ]);
    let data = format!("{{\"text\": \"the key is {key}\", \"api_token\": \"{token}\"}}");
    say(&["send", "l1", "note", "--data", &data]);
    for words in [
        &["show", "l1"][..],
        &["show", "l1", "--json"],
        &["trace", "l1"],
        &["trace", "l1", "--json"],
        &["replay", "l1", "--json"],
        &["report", "l1"],
        &["evidence", "l1", "--json"],
        &["verify", "l1"],
    ] {
        say(words);
    }
    assert!(shown.contains("[redacted: github token]"), "{shown}");
    assert_nowhere("what was shown", shown.as_bytes());
    let kept = files(&folder.path().join("home"));
    assert!(kept.iter().any(|(_, content)| String::from_utf8_lossy(content).contains("[redacted: private key]")));
    kept.iter().for_each(|(name, content)| assert_nowhere(name, content));
}

/// A machine that applies a patch that a person sends.
const PATCHING: &str = "\
machine: patching
version: 1
summary: Applies what it is sent.
context: { patch: '' }
events:
  change:
    from: user
    summary: Change the files
    data: { type: object, required: [patch], properties: { patch: { type: string } } }
initial: waiting
states:
  waiting:
    on: { change: { target: applying, assign: { patch: '${event.patch}' } } }
  applying:
    invoke: { activity: workspace.apply, with: { patch: '${context.patch}' }, signals: [workspace_updated, apply_failed] }
    on:
      workspace_updated: { target: done, reason: '${event.summary}' }
      apply_failed: { target: lost, reason: '${event.summary}' }
      error: { target: lost, reason: '${event.code}' }
  done: { type: final, outcome: success }
  lost: { type: final, outcome: failure }
";

/// Returns lines of real code that contain a token.
fn code() -> String {
    let token = &secrets()[0];
    format!(
        "    login(user=None, password=None,\n        client_secret=None)\n    connect(password=password,)\n\"pbkdf2-password\": \"1.2.1\",\nTOKEN = \"{token}\"\n"
    )
}

fn patch() -> String {
    let lines: String = code().lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: login.py\n{lines}*** End Patch\n")
}

#[test]
fn a_patch_is_written_as_it_is_and_recorded_without_its_secrets() {
    let (folder, session) = project();
    session.write("patching.yaml", PATCHING).unwrap();
    let run = session.command("run patching.yaml --name p1").output().unwrap();
    assert_eq!(run.status.code(), Some(4), "{}", String::from_utf8_lossy(&run.stderr));
    let data = serde_json::json!({ "patch": patch() }).to_string();
    let sent = session.command("").args(["send", "p1", "change", "--data", &data]).output().unwrap();
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    session.command("resume p1").output().unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("login.py")).unwrap(), code());
    for words in ["show p1 --json", "trace p1 --json", "report p1"] {
        let output = session.command(words).output().unwrap();
        assert_nowhere(words, &[output.stdout, output.stderr].concat());
    }
    // Snapshots hold files unchanged; everything else in the store contains no secret.
    for (name, content) in files(&folder.path().join("home")) {
        if !name.contains("/workspaces/") {
            assert_nowhere(&name, &content);
        }
    }
}
