//! Tests of `command.run` with real processes.

use std::process::Command;

use interlock_activities::{CommandRun, Sandbox};
use interlock_activity::Activity;
use serde_json::{Value, json};

use crate::trial::{EndedAttempt, Trial, sandbox, until};

fn command() -> CommandRun {
    CommandRun::new(Default::default(), sandbox())
}

async fn run(with: Value) -> (Trial, EndedAttempt) {
    let trial = Trial::new(with);
    let ended = trial.run(command()).await;
    (trial, ended)
}

#[tokio::test]
async fn exit_code_and_output_are_reported_and_kept() {
    let (trial, ended) = run(json!({ "command": "printf 'a\\nb\\n'; printf 'oops\\n' >&2; exit 3" })).await;
    assert_eq!(ended.name, "failed");
    assert_eq!((&ended.data["exit_code"], &ended.data["signal"]), (&json!(3), &json!(null)));
    assert_eq!((&ended.data["stdout"], &ended.data["stderr"]), (&json!("a\nb\n"), &json!("oops\n")));
    // The hash that git gives an empty tree.
    assert_eq!(ended.data["tree"], json!("4b825dc642cb6eb9a060e54bf8d69288fbee4904"));
    assert_eq!(ended.data["truncated"], json!(false));
    assert!(ended.data["duration_ms"].is_i64());
    assert_eq!(trial.evidence(&ended, "stdout").unwrap(), b"a\nb\n");
    assert_eq!(trial.evidence(&ended, "stderr").unwrap(), b"oops\n");
}

#[tokio::test]
async fn signals_follow_from_the_exit_code() {
    let cases = [
        (json!({ "command": "true" }), "passed", json!(0), "exit code 0"),
        (json!({ "command": "echo done; echo" }), "passed", json!(0), "done"),
        (json!({ "command": "false" }), "failed", json!(1), "exit code 1"),
        (json!({ "command": "exit 5", "ok_codes": [5] }), "passed", json!(5), "exit code 5"),
        (json!({ "command": "kill -9 $$" }), "failed", json!(137), "exit code 137"),
        (json!({ "command": "no-such-program 2>/dev/null" }), "failed", json!(127), "exit code 127"),
        (json!({ "command": ["echo", "$HOME; *"] }), "passed", json!(0), "$HOME; *"),
        (json!({ "command": "true", "signals": { "zero": "lint_pass" } }), "lint_pass", json!(0), "exit code 0"),
        (json!({ "command": "false", "signals": { "nonzero": "bad" } }), "bad", json!(1), "exit code 1"),
    ];
    for (with, name, code, summary) in cases {
        let (_, ended) = run(with.clone()).await;
        assert_eq!((ended.name.as_str(), &ended.data["exit_code"]), (name, &code), "{with}");
        assert_eq!(ended.data["summary"], summary, "{with}");
    }
}

#[tokio::test]
async fn what_cannot_be_used_is_named() {
    let cases = [
        (json!({}), "`with.command` is missing"),
        (json!({ "command": " " }), "`with.command` is empty"),
        (json!({ "command": [] }), "`with.command` is empty"),
        (json!({ "command": 3 }), "`with.command` must be a string or a list, not a int"),
        (json!({ "command": ["x", {}] }), "`with.command` must be a list of strings, not a list"),
        (json!({ "command": "true", "cwd": ".." }), "`with.cwd` is outside the run's directory"),
        (json!({ "command": "true", "cwd": "/" }), "`with.cwd` is outside the run's directory"),
        (json!({ "command": "true", "cwd": "nowhere" }), "`with.cwd` cannot be used"),
        (json!({ "command": "true", "env": ["x"] }), "`with.env` must be a map of strings, not a list"),
        (json!({ "command": "true", "env": { "A=B": "x" } }), "`with.env` has an invalid variable name: `A=B`"),
        (json!({ "command": "true", "stdin": 3 }), "`with.stdin` must be a string, not 3"),
        (json!({ "command": "true", "timeout_s": -1 }), "`with.timeout_s` must be between 0 and"),
        (json!({ "command": "true", "timeout_s": "1m" }), "`with.timeout_s` must be a number of seconds, not \"1m\""),
        (json!({ "command": "true", "output_bytes_max": -1 }), "`with.output_bytes_max` must be a whole number from 0"),
        (json!({ "command": "true", "ok_codes": ["x"] }), "`with.ok_codes` must be a list of whole numbers"),
        (
            json!({ "command": "true", "signals": { "one": "x" } }),
            "`with.signals` has `one`; the keys are zero, nonzero and unproved",
        ),
        (json!({ "command": "true", "comand": "x" }), "`with.comand` is not known; the fields are command, cwd"),
        (json!("true"), "`with` must be a map, not a string"),
    ];
    for (with, message) in cases {
        let (code, found) = run(with.clone()).await.1.error();
        assert_eq!(code, "BAD_INPUT", "{with}");
        assert!(found.starts_with(message), "{with}: {found}");
    }
}

#[tokio::test]
async fn what_cannot_be_started_has_failed() {
    let cases = [
        (json!({ "command": ["no-such-program"] }), "there is no program called `no-such-program`"),
        (json!({ "command": ["./plain"] }), "`./plain` is not a program that can be started"),
        (json!({ "command": ["/"] }), "`/` is not a program that can be started"),
    ];
    for (with, message) in cases {
        let trial = Trial::new(with);
        std::fs::write(trial.folder.join("plain"), "text").unwrap();
        let error = trial.run(command()).await.error();
        assert_eq!(error, ("FAILED".to_owned(), format!("it could not be started: {message}")));
    }
}

#[tokio::test]
async fn the_environment_is_what_was_given_and_little_else() {
    let with =
        json!({ "command": "env | cut -d= -f1 | sort | tr '\\n' ' '", "env": { "MINE": 1, "PATH": "/usr/bin:/bin" } });
    let (_, ended) = run(with).await;
    let names: Vec<_> = ended.data["stdout"].as_str().unwrap().split_whitespace().collect();
    for name in ["MINE", "PATH", "INTERLOCK_RUN", "INTERLOCK_ATTEMPT"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    let shell = ["_", "OLDPWD", "PWD", "SHLVL"];
    let known = ["HOME", "LANG", "TERM", "TMPDIR", "USER", "MINE", "PATH", "INTERLOCK_RUN", "INTERLOCK_ATTEMPT"];
    // Private caches of tools that fail without one.
    let caches = ["GOCACHE", "GOLANGCI_LINT_CACHE", "STATICCHECK_CACHE", "CCACHE_DIR", "ZIG_GLOBAL_CACHE_DIR"];
    let expected = [&shell[..], &known, &caches].concat();
    let others: Vec<_> = names.iter().filter(|name| !expected.contains(name)).collect();
    assert!(others.iter().all(|name| name.starts_with("LC_")), "{others:?}");
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "there is something to leave out");
}

#[tokio::test]
async fn it_reads_what_it_is_given_in_the_folder_it_is_given() {
    let trial = Trial::new(json!({ "command": ["sh", "-c", "pwd; cat"], "cwd": "sub dir", "stdin": "first\nsecond" }));
    std::fs::create_dir(trial.folder.join("sub dir")).unwrap();
    let ended = trial.run(command()).await;
    assert_eq!(ended.data["stdout"], format!("{}/sub dir\nfirst\nsecond", trial.folder.display()));
    let left: Vec<_> = std::fs::read_dir(trial.attempt.live.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "only the live file is left: {left:?}");
    let (_, nothing) = run(json!({ "command": "cat; echo over" })).await;
    assert_eq!(nothing.data["stdout"], "over\n");
}

#[tokio::test]
async fn a_link_does_not_lead_out_of_the_folder() {
    let trial = Trial::new(json!({ "command": "pwd", "cwd": "out" }));
    std::os::unix::fs::symlink("/", trial.folder.join("out")).unwrap();
    let (code, message) = trial.run(command()).await.error();
    assert_eq!(code, "BAD_INPUT");
    assert!(message.starts_with("`with.cwd` is outside the run's directory"), "{message}");
}

#[tokio::test]
async fn output_beyond_the_limit_is_read_but_not_kept() {
    let with = json!({ "command": "yes 12345678 | head -c 1000000; echo end >&2", "output_bytes_max": 1000 });
    let (trial, ended) = run(with).await;
    assert_eq!((ended.name.as_str(), &ended.data["truncated"]), ("passed", &json!(true)));
    assert_eq!(trial.evidence(&ended, "stdout").unwrap(), "12345678\n".repeat(112).as_bytes()[..1000]);
    assert_eq!(ended.data["stdout"].as_str().unwrap().len(), 4096, "the end of it is still known");
    assert_eq!(trial.evidence(&ended, "stderr").unwrap(), b"end\n");
}

#[tokio::test]
async fn every_byte_of_a_long_output_is_kept() {
    let (trial, ended) = run(json!({ "command": "seq 1 200000; printf '\\377\\000'" })).await;
    let expected: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    assert_eq!(trial.evidence(&ended, "stdout").unwrap(), [expected.as_bytes(), b"\xff\0"].concat());
    assert!(ended.data["stdout"].as_str().unwrap().ends_with("200000\n\u{fffd}\0"));
}

#[tokio::test]
async fn output_can_be_watched_while_it_comes() {
    let trial = Trial::new(json!({ "command": "echo here; echo there >&2; until [ -e go ]; do sleep 0.01; done" }));
    let running = tokio::spawn(command().start(trial.attempt.clone()));
    let live = trial.attempt.live.clone();
    until(|| std::fs::read_to_string(&live).ok().filter(|text| text.contains("here\n") && text.contains("there\n")))
        .await;
    until(|| trial.host.said.lock().unwrap().first().cloned()).await;
    std::fs::write(trial.folder.join("go"), "").unwrap();
    assert_eq!(EndedAttempt::new(running.await.unwrap()).name, "passed");
}

#[tokio::test]
async fn the_tree_is_that_of_the_folder_afterwards() {
    let trial = Trial::new(json!({ "command": "git init -q . && echo x > new && git add new" }));
    let ended = trial.run(command()).await;
    let expected = Command::new("git").current_dir(&trial.folder).arg("write-tree").output().unwrap();
    let expected = String::from_utf8(expected.stdout).unwrap().trim().to_owned();
    assert_eq!(ended.data["tree"], expected);
    let mut attempt = trial.attempt.clone();
    attempt.with = interlock_chart::Value::from(json!({ "command": "echo y > new", "tree": expected }));
    assert_eq!(EndedAttempt::new(command().start(attempt.clone()).await).name, "passed");
    let (code, message) = EndedAttempt::new(command().start(attempt).await).error();
    assert_eq!(code, "TREE_CHANGED");
    assert!(message.ends_with(&format!("not {expected}, for which the command is meant")), "{message}");
}

#[tokio::test]
async fn a_command_with_its_own_folder_writes_there_and_nowhere_else_in_the_workspace() {
    let script = "touch inside; touch ../outside 2>/dev/null; pwd | sed 's,.*/,,'; ls ..";
    let (trial, ended) = run(json!({ "command": script, "folder": "out/docs" })).await;
    assert_eq!((ended.name.as_str(), &ended.data["stdout"]), ("passed", &json!("docs\ndocs\n")), "{:?}", ended.data);
    assert!(trial.folder.join("out/docs/inside").exists());
    assert!(!trial.folder.join("out/outside").exists());
    let cases = [
        (json!({ "command": "true", "folder": ".." }), "`with.folder` is outside the run's directory"),
        (json!({ "command": "true", "folder": ".git/hooks" }), "`with.folder` is hidden"),
        (json!({ "command": "true", "folder": "." }), "`with.folder` is the run's directory itself"),
        (json!({ "command": "true", "folder": "a", "write": ["b"] }), "`with.folder` is the only writable directory"),
        (
            json!({ "command": "true", "folder": "a", "sandbox": "none" }),
            "`with.folder` is the only writable directory",
        ),
    ];
    for (with, expected) in cases {
        let (_, ended) = run(with.clone()).await;
        let (code, message) = ended.error();
        assert_eq!(code, "BAD_INPUT", "{with}");
        assert!(message.starts_with(expected), "{with}: {message}");
    }
}

#[tokio::test]
async fn a_command_that_is_declared_to_read_leaves_the_workspace_as_it_is() {
    let mut trial = Trial::new(json!({ "command": "echo changed > file; rm -f file; echo new > made; cat other" }));
    for name in ["file", "other"] {
        std::fs::write(trial.folder.join(name), "as it was\n").unwrap();
    }
    let invocation = (*trial.attempt.invocation).clone();
    trial.attempt.invocation =
        std::sync::Arc::new(interlock_activity::Invocation { is_declared_read: true, ..invocation });
    let ended = trial.run(command()).await;
    assert_eq!((ended.name.as_str(), &ended.data["stdout"]), ("passed", &json!("as it was\n")));
    assert_eq!(std::fs::read_to_string(trial.folder.join("file")).unwrap(), "as it was\n");
    assert!(!trial.folder.join("made").exists());
}

#[tokio::test]
async fn a_key_that_signs_anchors_is_never_read_and_not_allowed_in_the_workspace() {
    let place = tempfile::tempdir().unwrap();
    let key = place.path().join("anchor.key");
    std::fs::write(&key, "the-key").unwrap();
    let with = json!({ "command": format!("cat {}; true", key.display()) });
    let with_key =
        |key: &std::path::Path| CommandRun::new(Default::default(), Sandbox { keys: vec![key.into()], ..sandbox() });
    let trial = Trial::new(with.clone());
    assert_eq!(trial.run(command()).await.data["stdout"], json!("the-key"));
    let trial = Trial::new(with.clone());
    assert_eq!(trial.run(with_key(&key)).await.data["stdout"], json!(""));
    let trial = Trial::new(with);
    let inside = trial.folder.join("anchor.key");
    std::fs::write(&inside, "the-key").unwrap();
    let (code, message) = trial.run(with_key(&inside)).await.error();
    assert_eq!(code, "SANDBOX");
    assert!(message.contains("is in the workspace") && message.contains("Move it to another directory"), "{message}");
}

#[tokio::test]
async fn a_link_in_place_of_the_run_s_directory_gives_no_access() {
    let elsewhere = tempfile::tempdir().unwrap();
    for with in [
        json!({ "command": "echo x > x" }),
        json!({ "command": "echo x > x", "cwd": "." }),
        json!({ "command": "echo x > x", "folder": "out" }),
    ] {
        let mut trial = Trial::new(with.clone());
        Command::new("git").args(["init", "-q"]).current_dir(&trial.folder).status().unwrap();
        trial.attempt.folder = trial.folder.join("sub");
        std::os::unix::fs::symlink(elsewhere.path(), &trial.attempt.folder).unwrap();
        let ended = trial.run(command()).await;
        let (_, message) = ended.error();
        assert!(message.contains("symbolic link"), "{with}: {message}");
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0, "{with}");
    }
}
