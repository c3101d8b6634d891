//! A program as a judge, in its sandbox.

use std::net::TcpListener;

use interlock_judge::Judge;
use interlock_process::Sandbox;
use interlock_sandbox::Config;
use interlock_testkit_activity::launcher::launcher;
use serde_json::{Value as Json, json};

use crate::trial::{EndedAttempt, Trial, good};

/// Returns the script followed by a verdict that contains the value of `$found`.
fn telling(script: &str) -> String {
    let answer = json!({
        "reason": "it was tried", "evidence_refs": ["diff"], "confidence": 1, "signal": "has_issue",
        "data": { "suggestion": "FOUND" },
    });
    format!("{script}\ncat <<END\n{}\nEND\n", answer.to_string().replace("FOUND", "found: $found"))
}

async fn run(script: &str, more: &str) -> (Trial, EndedAttempt) {
    run_in(script, more, Config::default()).await
}

async fn run_in(script: &str, more: &str, config: Config) -> (Trial, EndedAttempt) {
    let trial = Trial::new();
    std::fs::write(trial.home.path().join("judge.sh"), script).unwrap();
    std::fs::write(trial.folder.join("main.c"), "int main(void);\n").unwrap();
    let path = trial.home.path().join("judge.sh").display().to_string();
    let settings = format!(
        "[judges.own]\nprovider = \"command\"\ncommand = [\"sh\", \"{path}\"]\n{more}\n[chains]\ndefault = [\"own\"]"
    );
    let trial = trial.settings(&settings);
    let sandbox = Sandbox { launcher: launcher(), config, ..Sandbox::default() };
    let judge = Judge::confined(Some(trial.home.path().to_owned()), sandbox);
    let ended = trial.run_with(&judge).await;
    (trial, ended)
}

/// Returns the value that the script reported.
fn found(ended: &EndedAttempt) -> &str {
    ended.data["suggestion"].as_str().unwrap_or_else(|| panic!("{:?}", ended.data)).trim_start_matches("found:").trim()
}

/// Returns the enforced confinement, as it is stored.
fn enforced(trial: &Trial, ended: &EndedAttempt) -> Json {
    trial.judgement(ended)["hearings"][0]["tries"][0]["confined"]["enforced"].clone()
}

#[tokio::test]
async fn program_reads_the_question_and_prints_the_answer() {
    let script = telling(
        r#"found=$(tr -d '"\\' | grep -o 'role:user\|# Task\|enum:.has_issue,no_issue.' | sort -u | tr '\n' ' ')"#,
    );
    let (trial, ended) = run(&script, "").await;
    assert_eq!(found(&ended).trim(), "# Task enum:[has_issue,no_issue] role:user");
    assert_eq!(trial.judgement(&ended)["hearings"][0]["tries"][0]["provider"], "command");
}

#[tokio::test]
async fn program_that_does_not_read_stdin_may_answer() {
    let (_, ended) = run(&format!("echo '{}'", good()), "").await;
    assert_eq!(ended.name, "has_issue", "{:?}", ended.data);
}

#[tokio::test]
async fn program_that_fails_or_hangs_is_named() {
    let cases = [
        ("echo no such model >&2; exit 3", "", "sh ended with exit code 3: no such model"),
        ("sleep 60", "timeouts = { total_s = 0.3 }", "no answer of the command within 0.3 s"),
        ("echo TODO", "", "4 answers were refused"),
    ];
    for (script, more, expected) in cases {
        let (code, message) = run(script, more).await.1.error();
        assert_eq!(code, "MODEL_FAILURE");
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn program_gets_only_the_named_environment_variables() {
    let script = telling("found=$(env | cut -d= -f1 | sort | tr '\\n' ' ')");
    let (_, ended) = run(&script, "env = [\"CARGO_PKG_NAME\"]").await;
    let seen = found(&ended);
    let allowed = [
        "CARGO_PKG_NAME",
        "PATH",
        "HOME",
        "LANG",
        "TERM",
        "TMPDIR",
        "USER",
        "PWD",
        "SHLVL",
        "_",
        "OLDPWD",
        "INTERLOCK_RUN",
        "INTERLOCK_MARK",
        "INTERLOCK_ATTEMPT",
        // Private caches of tools that fail without one.
        "GOCACHE",
        "GOLANGCI_LINT_CACHE",
        "STATICCHECK_CACHE",
        "CCACHE_DIR",
        "ZIG_GLOBAL_CACHE_DIR",
    ];
    assert!(seen.contains("CARGO_PKG_NAME"), "{seen}");
    assert!(seen.split_whitespace().all(|name| allowed.contains(&name) || name.starts_with("LC_")), "{seen}");
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "the test needs a variable that is hidden");
}

#[tokio::test]
async fn program_can_write_only_to_its_temporary_directory() {
    let script = telling(
        r#"
        try() { if (eval "$1") 2> /dev/null; then found="$found $2"; fi; }
        try 'echo evil >> main.c' wrote-the-project
        try 'rm main.c' deleted-in-the-project
        try 'echo evil > "$(dirname "$0")/evil"' wrote-the-store
        try 'mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit' wrote-a-hook
        try 'echo mine > "$TMPDIR/mine"' wrote-its-own
        "#,
    );
    let cache = tempfile::tempdir().unwrap();
    // Directories that build programs may write to are read-only, too.
    let config = Config { write: vec![cache.path().into()], ..Config::default() };
    let (trial, ended) = run_in(&script, "", config).await;
    assert_eq!(found(&ended), "wrote-its-own");
    assert!(!trial.home.path().join("evil").exists() && !trial.folder.join(".git").exists());
    assert_eq!(std::fs::read_to_string(trial.folder.join("main.c")).unwrap(), "int main(void);\n");
    let enforced = enforced(&trial, &ended);
    assert!(enforced["landlock_abi"].is_number(), "{enforced}");
    assert!(!enforced["write"].to_string().contains(cache.path().to_str().unwrap()), "{enforced}");
}

#[tokio::test]
async fn program_has_no_network_unless_the_settings_allow_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = telling(&format!(
        "if python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)' 2> /dev/null; then found=connected; else found=alone; fi"
    ));
    let (trial, ended) = run(&script, "").await;
    assert_eq!((found(&ended), enforced(&trial, &ended)["network"].as_str()), ("alone", Some("off")));
    let (trial, ended) = run(&script, "network = \"on\"").await;
    assert_eq!((found(&ended), enforced(&trial, &ended)["network"].as_str()), ("connected", Some("on")));
}

#[tokio::test]
async fn required_sandbox_cannot_be_disabled_by_a_judge() {
    let required = || Config { require_sandbox: true, ..Config::default() };
    let (_, ended) = run_in(&format!("echo '{}'", good()), "sandbox = \"none\"", required()).await;
    let (_, message) = ended.error();
    assert!(message.contains("own: a sandbox is required here, but the judge has `sandbox = \"none\"`"), "{message}");
    let (_, ended) = run_in(&format!("echo '{}'", good()), "", required()).await;
    assert_eq!(ended.name, "has_issue", "{:?}", ended.data);
}
