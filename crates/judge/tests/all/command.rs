//! A program that judges.

use crate::trial::{Ended, Trial, good};

async fn run(script: &str, more: &str) -> (Trial, Ended) {
    let trial = Trial::new();
    std::fs::write(trial.home.path().join("judge.sh"), script).unwrap();
    let path = trial.home.path().join("judge.sh").display().to_string();
    let settings = format!(
        "[judges.own]\nprovider = \"command\"\ncommand = [\"sh\", \"{path}\"]\n{more}\n[chains]\ndefault = [\"own\"]"
    );
    let trial = trial.settings(&settings);
    let ended = trial.run().await;
    (trial, ended)
}

#[tokio::test]
async fn a_program_reads_the_question_and_prints_the_answer() {
    let script = format!("cat > \"$(dirname \"$0\")/asked.json\"\necho '{}'\n", good());
    let (trial, ended) = run(&script, "").await;
    assert_eq!(ended.name, "has_issue", "{:?}", ended.data);
    let asked: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(trial.home.path().join("asked.json")).unwrap()).unwrap();
    assert!(asked["messages"][0]["content"].as_str().unwrap().contains("# Task"));
    assert_eq!(asked["schema"]["properties"]["signal"]["enum"], serde_json::json!(["has_issue", "no_issue"]));
    assert_eq!(trial.judgement(&ended)["hearings"][0]["tries"][0]["provider"], "command");
}

#[tokio::test]
async fn a_program_that_does_not_read_may_answer_all_the_same() {
    let (_, ended) = run(&format!("echo '{}'", good()), "").await;
    assert_eq!(ended.name, "has_issue", "{:?}", ended.data);
}

#[tokio::test]
async fn a_program_that_fails_or_hangs_is_named() {
    let cases = [
        ("echo no such model >&2; exit 3", "", "sh ended with exit status: 3: no such model"),
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
async fn a_program_sees_none_of_our_environment_but_what_it_is_given() {
    let script = format!("env | cut -d= -f1 | sort | tr '\\n' ' ' > \"$(dirname \"$0\")/env\"\necho '{}'", good());
    let (trial, ended) = run(&script, "env = [\"CARGO_PKG_NAME\"]").await;
    assert_eq!(ended.name, "has_issue");
    let seen = std::fs::read_to_string(trial.home.path().join("env")).unwrap();
    let allowed =
        ["CARGO_PKG_NAME", "PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER", "PWD", "SHLVL", "_", "OLDPWD"];
    assert!(seen.contains("CARGO_PKG_NAME"), "{seen}");
    assert!(seen.split_whitespace().all(|name| allowed.contains(&name)), "{seen}");
}
