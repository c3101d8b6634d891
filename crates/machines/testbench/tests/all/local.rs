//! Tests of the environment that runs on this computer.

use std::{fs, path::PathBuf, time::Duration};

use expect_test::expect;
use interlock_activity::EffectClass;
use interlock_testbench::{Operation, Start, Stop, Trouble};
use serde_json::json;

use crate::trial::{Trial, profile, start, until, wrong};

fn trial(config: serde_json::Value) -> Trial {
    let trial = Trial::new(profile("local", config), None);
    fs::write(trial.session.sources.join("source.txt"), "source\n").unwrap();
    trial
}

#[tokio::test]
async fn command_returns_its_exit_code_and_logs_all_output() {
    for (command, code, logs) in [
        ("echo fine", 0, vec![("stdout.log", "fine\n")]),
        ("echo bad >&2; exit 7", 7, vec![("stderr.log", "bad\n")]),
        ("echo one; echo two >&2", 0, vec![("stdout.log", "one\n"), ("stderr.log", "two\n")]),
        ("cat source.txt; kill -SEGV $$", 139, vec![("stdout.log", "source\n")]),
        ("true", 0, vec![]),
    ] {
        let trial = trial(json!({ "command": command }));
        let seen = trial.run(&[]).await;
        assert_eq!(seen.ran.stop, Stop::Exited { code }, "{command}");
        let said: Vec<_> = seen.ran.logs.iter().map(|log| fs::read_to_string(seen.folder.join(log)).unwrap()).collect();
        let expected: Vec<_> = logs.iter().map(|(_, text)| (*text).to_owned()).collect();
        assert_eq!(said, expected, "{command}");
        let names: Vec<_> = logs.iter().map(|(name, _)| PathBuf::from(name)).collect();
        assert_eq!(seen.ran.logs, names, "{command}");
    }
}

#[tokio::test]
async fn start_passes_case_arguments_variables_and_command() {
    let trial = trial(json!({ "command": "echo {case} [{args}] $COLOUR" }));
    let told = Start {
        id: "it's one".to_owned(),
        environment_vars: [("COLOUR".to_owned(), "blue".to_owned())].into(),
        ..start(&["a b", "c"])
    };
    let (ran, folder) = trial.try_run(&told).await;
    assert_eq!(ran.unwrap().stop, Stop::Exited { code: 0 });
    assert_eq!(fs::read_to_string(folder.join("stdout.log")).unwrap(), "it's one [a b c] blue\n");
    let own = Start { command: "echo own {args}".to_owned(), ..start(&["x"]) };
    let (_, folder) = trial.try_run(&own).await;
    assert_eq!(fs::read_to_string(folder.join("stdout.log")).unwrap(), "own x\n");
}

#[tokio::test]
async fn only_reports_of_this_start_are_fetched() {
    let command =
        "mkdir -p out/deep; echo new > out/deep/new.xml; echo other > out/other.txt; ln -s /etc/passwd out/link.xml";
    let trial = trial(json!({ "command": command, "reports": ["out/**/*.xml"], "artifacts": ["out/*.txt"] }));
    let out = trial.session.sources.join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("old.xml"), "all passed, some time ago").unwrap();
    let seen = trial.run(&[]).await;
    assert_eq!(seen.ran.reports, [PathBuf::from("reports/out/deep/new.xml")]);
    assert_eq!(seen.ran.artifacts, [PathBuf::from("artifacts/out/other.txt")]);
    assert_eq!(fs::read_to_string(seen.folder.join("reports/out/deep/new.xml")).unwrap(), "new\n");
}

#[tokio::test]
async fn a_copy_is_changed_instead_of_the_sources() {
    let command = "echo changed > source.txt; cat source.txt";
    for (place, left, effect) in [("copy", "source\n", EffectClass::Read), ("sources", "changed\n", EffectClass::Write)]
    {
        let trial = trial(json!({ "command": command, "where": place }));
        let seen = trial.run(&[]).await;
        assert_eq!(seen.log(), "changed\n", "{place}");
        assert_eq!(fs::read_to_string(trial.session.sources.join("source.txt")).unwrap(), left, "{place}");
        assert_eq!(trial.environment.effect(Operation::Run), effect);
        assert!(!seen.folder.join("copy").exists());
    }
}

#[tokio::test]
async fn command_cannot_write_outside_of_the_sources() {
    let trial = trial(json!({ "command": "echo x > ../outside.txt; echo x > inside.txt; ls inside.txt" }));
    let seen = trial.run(&[]).await;
    assert_eq!(seen.log(), "inside.txt\n");
    assert!(!trial.home().join("outside.txt").exists());
}

#[tokio::test]
async fn timeout_and_cancellation_leave_no_process() {
    let trial = trial(json!({ "command": "echo begun; sleep 60 & sleep 60" }));
    let short = Start { timeout: Duration::from_millis(300), ..start(&[]) };
    let (ran, _) = trial.try_run(&short).await;
    assert_eq!(ran.unwrap().stop, Stop::TimedOut);
    assert_eq!(trial.processes(), [] as [i32; 0]);
    let long = Start { id: "long".to_owned(), ..start(&[]) };
    let cancel = async {
        until(|| (trial.processes().len() > 1).then_some(())).await;
        trial.canceller.cancel();
    };
    let ((ran, _), ()) = tokio::join!(trial.try_run(&long), cancel);
    assert_eq!(ran, Err(Trouble::Cancelled));
    assert_eq!(trial.processes(), [] as [i32; 0]);
}

#[tokio::test]
async fn sanitizer_report_is_a_fault_despite_exit_code_zero() {
    let said = "echo '==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x4f2b'";
    let seen = trial(json!({ "command": said })).run(&[]).await;
    assert_eq!(seen.ran.stop, Stop::Exited { code: 0 });
    assert_eq!(seen.ran.faults.len(), 1, "{seen:?}");
    assert_eq!(seen.ran.faults[0].registers["pc"], "4f2b");
}

#[tokio::test]
async fn health_check_uses_the_configured_command() {
    for (health, expected) in [
        (json!(null), Ok("this computer is available")),
        (json!("echo ready"), Ok("ready")),
        (json!("echo no; exit 3"), Err("`echo no; exit 3` ended with 3: no")),
    ] {
        let trial = trial(json!({ "command": "true", "health": health }));
        trial.environment.setup(trial.bench()).await.unwrap();
        trial.environment.deploy(trial.bench()).await.unwrap();
        let said = trial.environment.health_check(trial.bench()).await.map_err(|trouble| trouble.to_string());
        assert_eq!(said, expected.map(str::to_owned).map_err(str::to_owned));
    }
}

#[test]
fn all_configuration_problems_are_reported() {
    let config =
        json!({ "folder": "../up", "where": "elsewhere", "reports": ["[", 3], "network": "all", "cmd": "make" });
    expect![[r#"
        `test_profile.config.where` must be one of sources, copy, not "elsewhere";
        `test_profile.config.reports` must be a list of texts, not another list;
        `test_profile.config.network` must be one of off, unix, loopback, on, not "all";
        `test_profile.config.command` is missing, and not every suite has one of its own;
        `test_profile.config.folder` must be a path within the sources;
        `test_profile.config.cmd` is not known;
        the fields are command, health, folder, where, reports, artifacts, network, write, faults, coverage, gcov, case_arg"#]]
    .assert_eq(&wrong("local", config));
}

/// A program that was compiled with `--coverage` tells which lines a case executes, also if cases run side by side.
#[tokio::test]
async fn executed_lines_of_a_case_are_recorded() {
    if !crate::trial::has_parts(&["cc", "gcov"]) {
        return;
    }
    let trial = trial(json!({ "command": "./it", "case_arg": "--only={case}" }));
    let source = "#include <string.h>\nint main(int count, char **words) {\n    if (count > 1 && !strcmp(words[1], \"--only=a\")) {\n        return 0;\n    }\n    return 3;\n}\n";
    fs::write(trial.session.sources.join("it.c"), source).unwrap();
    let built = std::process::Command::new("cc")
        .args(["--coverage", "-g", "-o", "it", "it.c"])
        .current_dir(&trial.session.sources)
        .status();
    assert!(built.unwrap().success());
    let lines = |args: &'static str| {
        let start = Start { id: args.to_owned(), coverage: true, ..start(&[args]) };
        let trial = &trial;
        async move {
            let (ran, _) = trial.try_run(&start).await;
            let coverage = ran.unwrap().coverage;
            coverage.into_iter().find(|(file, _)| file.ends_with("it.c")).map(|(_, lines)| lines).unwrap_or_default()
        }
    };
    let (a, b) = tokio::join!(lines("--only=a"), lines("--only=b"));
    assert_eq!((a, b), (vec![2, 3, 4], vec![2, 3, 6]));
    assert!(!trial.session.sources.join("it.gcda").exists(), "the sources are as they were");
}
