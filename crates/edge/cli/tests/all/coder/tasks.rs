//! The tasks of `examples/coder-tasks`, with their scripted models: the right one is verified, its twin never is.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use interlock_testkit_activity::model_server::{CoderTurn, Dialect, Move, coder_model};
use interlock_testkit_cli::session::{Session, Transcript};
use serde_json::{Value as Json, json};

/// The most confirmations of one turn.
const CONFIRMATIONS_MAX: usize = 10;

fn tasks() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/coder-tasks");
    let mut tasks: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    tasks.retain(|task| task.is_dir());
    tasks.sort();
    tasks
}

/// Returns the tasks that can be played here. Those in TypeScript need its compiler.
fn playable() -> (Vec<PathBuf>, Option<PathBuf>) {
    let mut tasks = tasks();
    assert_eq!(tasks.len(), 12);
    let compiler = interlock_testkit_activity::parts::installed("typescript.sh");
    tasks.retain(|task| compiler.is_some() || !task.join("files/tsconfig.json").exists());
    (tasks, compiler)
}

/// Plays a script of a task in a copy of its project. Returns the end of the turn and the folder.
fn play(task: &Path, script: &str, compiler: Option<&Path>) -> (Transcript, tempfile::TempDir) {
    let script: Json = serde_json::from_str(&fs::read_to_string(task.join(script)).unwrap()).unwrap();
    let goal = fs::read_to_string(task.join("goal.txt")).unwrap().trim().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let repo = folder.path().join("repo");
    let copied = Command::new("cp").arg("-r").arg(task.join("files")).arg(&repo).status().unwrap();
    assert!(copied.success());
    if let Some(compiler) = compiler.filter(|_| repo.join("tsconfig.json").exists()) {
        std::os::unix::fs::symlink(compiler.join("node_modules"), repo.join("node_modules")).unwrap();
    }
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "Begin"],
    ] {
        assert!(Command::new("git").args(arguments).current_dir(&repo).status().unwrap().success());
    }
    let texts = |list: &Json| -> Vec<String> {
        list.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let (files, moves) = (texts(&script["files"]), script["moves"].as_array().unwrap().iter().map(reply).collect());
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let model = coder_model(Dialect::Chat, vec![CoderTurn::change(&goal, &files, &[], moves)]);
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &repo)
        .with("INTERLOCK_HOME", folder.path().join("home").display().to_string())
        .with("XDG_CACHE_HOME", folder.path().join("cache").display().to_string());
    let judges = format!(
        "[judges.model]\nprovider = \"{}\"\nbase_url = \"{}\"\nmodel = \"m\"\nwindow_tokens = 64000\nretries_max = 0\n\
         [chains]\ndefault = [\"model\"]\n",
        Dialect::Chat.provider(),
        model.url
    );
    session.write("../home/judges.toml", &judges).unwrap();
    let mut ended = session.run(&format!("coder '{goal}' --name t1")).unwrap();
    for _ in 0..CONFIRMATIONS_MAX {
        if ended.code != Some(4) {
            break;
        }
        let yes = json!({ "answer": "yes", "scope": "session" });
        ended = session.run(&format!("send t1 CONFIRM --data '{yes}'")).unwrap();
    }
    (ended, folder)
}

fn reply(step: &Json) -> Move {
    let calls = step["calls"].as_array().unwrap().iter();
    Move::Calls(
        String::new(),
        calls.map(|call| (call["name"].as_str().unwrap().to_owned(), call["args"].clone())).collect(),
    )
}

fn checked(task: &Path, folder: &Path) -> bool {
    let check = fs::read_to_string(task.join("check.sh")).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-ec", &check]).current_dir(folder.join("repo"));
    shell.output().unwrap().status.success()
}

#[test]
fn every_task_is_carried_out_and_verified() {
    let (tasks, compiler) = playable();
    std::thread::scope(|scope| {
        for task in &tasks {
            scope.spawn(|| {
                let (ended, folder) = play(task, "right.json", compiler.as_deref());
                assert_eq!(ended.code, Some(0), "{} {ended}", task.display());
                assert!(checked(task, folder.path()), "{}", task.display());
            });
        }
    });
}

#[test]
fn no_task_that_is_done_wrong_is_verified() {
    let (tasks, compiler) = playable();
    std::thread::scope(|scope| {
        for task in &tasks {
            scope.spawn(|| {
                let (ended, folder) = play(task, "wrong.json", compiler.as_deref());
                assert!(matches!(ended.code, Some(1 | 5)), "{} {ended}", task.display());
                assert!(!checked(task, folder.path()), "the check of {} finds nothing wrong", task.display());
            });
        }
    });
}
