//! The history of the repository, read with real git.

use std::fs;

use serde_json::json;

use crate::trial::Trial;

#[tokio::test]
async fn diffs_and_commits_are_shown() {
    let trial = Trial::new(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    trial.write("a.txt", "two\n");
    trial.git(&["commit", "--quiet", "--all", "--message=Change a"]);
    trial.write("b.txt", "c\n");
    let log = trial.call("git_log", json!({})).await.unwrap();
    let commits = log["commits"].as_array().unwrap();
    let subjects: Vec<_> = commits.iter().map(|commit| commit["subject"].as_str().unwrap()).collect();
    assert_eq!(subjects, ["Change a", "Begin here"]);
    assert_eq!(commits[0]["author"], "A Person");
    let log = trial.call("git_log", json!({ "path": "b.txt", "max": 5 })).await.unwrap();
    assert_eq!(log["commits"].as_array().unwrap().len(), 1);
    let diff = trial.call("git_diff", json!({})).await.unwrap();
    assert!(diff["diff"].as_str().unwrap().contains("-b\n+c\n"), "{diff}");
    let diff = trial.call("git_diff", json!({ "from": "HEAD~1", "to": "HEAD", "path": "a.txt" })).await.unwrap();
    assert!(diff["diff"].as_str().unwrap().contains("-one\n+two\n"), "{diff}");
    let diff = trial.call("git_diff", json!({ "path": "a.txt" })).await.unwrap();
    assert_eq!(diff["diff"], "");
}

#[tokio::test]
async fn options_are_no_commits_and_no_program_of_the_repository_runs() {
    let trial = Trial::new(&[("a.txt", "one\n"), (".gitattributes", "*.txt diff=evil filter=evil\n")]);
    let mark = trial.home.path().join("ran");
    let evil = format!("touch {}", mark.display());
    for setting in ["diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "core.pager"] {
        trial.git(&["config", setting, &evil]);
    }
    fs::write(trial.folder.join("a.txt"), "two\n").unwrap();
    let diff = trial.call("git_diff", json!({})).await.unwrap();
    assert!(diff["diff"].as_str().unwrap().contains("+two"), "{diff}");
    assert!(!mark.exists());
    let output = format!("--output={}", mark.display());
    let (code, message) = trial.fail("git_diff", json!({ "from": output })).await;
    assert!(code == "E_INVALID_ARGS" && message.contains("`from`"), "{message}");
    assert!(!mark.exists());
    assert_eq!(trial.fail("git_diff", json!({ "from": "no-such-branch" })).await.0, "E_IO");
}
