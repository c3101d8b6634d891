//! Activities on the files of a run, with a real git.

use std::{fs, process::Command, sync::Arc};

use interlock_activities::{
    GitCommit, WorkspaceApply, WorkspaceCheckpoint, WorkspaceCommit, WorkspaceContext, WorkspaceOpen, WorkspaceRestore,
    WorkspaceSnapshot, WorkspaceUndo,
};
use interlock_activity::HandledSignal;
use interlock_workspace::{Place, Workspace};
use serde_json::json;

use crate::trial::{EndedAttempt, Trial, sandbox};

/// Creates a repository with one commit and an uncommitted change.
fn repository(with: serde_json::Value, signals: &[&str]) -> (Trial, Workspace) {
    let mut trial = Trial::new(with);
    let mut invocation = (*trial.attempt.invocation).clone();
    invocation.signals = signals.iter().map(|name| HandledSignal { name: (*name).into(), data: json!({}) }).collect();
    trial.attempt.invocation = Arc::new(invocation);
    let workspace = Workspace::new(trial.folder.with_file_name("home"));
    fs::write(trial.folder.join("a"), "one\n").unwrap();
    git(&trial, &["init", "-q", "-b", "main"]);
    git(&trial, &["config", "user.name", "Ada"]);
    git(&trial, &["config", "user.email", "ada@localhost"]);
    git(&trial, &["add", "."]);
    git(&trial, &["commit", "-q", "-m", "first"]);
    fs::write(trial.folder.join("mine"), "not committed\n").unwrap();
    (trial, workspace)
}

fn git(trial: &Trial, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(&trial.folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn give(trial: &mut Trial, with: serde_json::Value) {
    trial.attempt.with = with.into();
}

fn read(trial: &Trial, name: &str) -> Option<String> {
    fs::read_to_string(trial.folder.join(name)).ok()
}

#[tokio::test]
async fn a_patch_is_applied_or_says_why_not() {
    let patch = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n";
    let (mut trial, workspace) = repository(json!({ "patch": patch }), &["workspace_updated", "apply_failed"]);
    let apply = || WorkspaceApply::new(workspace.clone());
    let done = trial.run(apply()).await;
    assert_eq!(
        (done.name.as_str(), read(&trial, "a").as_deref()),
        ("workspace_updated", Some("two\n")),
        "{:?}",
        done.data
    );
    assert_eq!(done.data["summary"], "1 file changed, 1 line added, 1 removed");
    assert_eq!(done.data["tree"].as_str(), workspace.tree(&trial.folder).ok().as_deref());
    assert_eq!(trial.evidence(&done, "patch").unwrap(), patch.as_bytes());
    let failed = trial.run(apply()).await;
    assert_eq!((failed.name.as_str(), failed.data["evidence_refs"].as_array().unwrap().len()), ("apply_failed", 2));
    assert!(failed.data["summary"].as_str().unwrap().contains("hunk 1"), "{:?}", failed.data);
    give(&mut trial, json!({ "patch": "nonsense" }));
    assert_eq!(trial.run(apply()).await.name, "apply_failed");
    give(&mut trial, json!({ "patch": patch, "tree": "0".repeat(40) }));
    assert_eq!(trial.run(apply()).await.error().0, "TREE_CHANGED");
    give(&mut trial, json!({ "patch": patch, "expect": { "../a": "x" } }));
    assert_eq!(trial.run(apply()).await.error().0, "BAD_INPUT");
}

#[tokio::test]
async fn a_snapshot_is_restored_by_its_tree_and_what_was_there_is_kept_first() {
    let (mut trial, workspace) = repository(json!({ "name": "base" }), &["rollback_point_made"]);
    let taken = trial.run(WorkspaceSnapshot::new(workspace.clone())).await;
    assert_eq!(taken.name, "rollback_point_made");
    fs::write(trial.folder.join("mine"), "changed by a person\n").unwrap();
    fs::write(trial.folder.join("new"), "new\n").unwrap();
    give(&mut trial, json!({ "tree": taken.data["tree"] }));
    let restored = trial.run(WorkspaceRestore::new(workspace.clone())).await;
    assert_eq!(
        (read(&trial, "mine").as_deref(), read(&trial, "new")),
        (Some("not committed\n"), None),
        "{:?}",
        restored.data
    );
    let stash = restored.data["stash"].as_str().unwrap();
    workspace.restore(&trial.folder, stash).unwrap();
    assert_eq!(read(&trial, "mine").as_deref(), Some("changed by a person\n"));
    give(&mut trial, json!({ "tree": "0".repeat(40) }));
    assert_eq!(trial.run(WorkspaceRestore::new(workspace.clone())).await.error().0, "NO_SNAPSHOT");
    give(&mut trial, json!({}));
    assert_eq!(trial.run(WorkspaceRestore::new(workspace)).await.error().0, "BAD_INPUT");
}

#[tokio::test]
async fn checkpoints_are_numbered_and_restored_by_name() {
    let (mut trial, workspace) = repository(json!({ "prefix": "chk" }), &["checkpoint_created"]);
    let make = || WorkspaceCheckpoint::new(workspace.clone());
    assert_eq!(trial.run(make()).await.data["tag"], "chk-1");
    fs::remove_file(trial.folder.join("a")).unwrap();
    assert_eq!(trial.run(make()).await.data["tag"], "chk-2");
    give(&mut trial, json!({ "checkpoint": "chk-1", "stash": true }));
    let restored = trial.run(WorkspaceRestore::new(workspace.clone())).await;
    assert!(restored.data["stash"].as_str().unwrap().starts_with("refs/interlock/run-1/"));
    assert_eq!(read(&trial, "a").as_deref(), Some("one\n"));
    give(&mut trial, json!({ "checkpoint": "chk-9" }));
    assert_eq!(trial.run(WorkspaceRestore::new(workspace)).await.error().0, "NO_SNAPSHOT");
}

#[tokio::test]
async fn a_commit_is_made_where_the_tree_is_the_tested_one() {
    let (mut trial, workspace) = repository(json!({}), &["commit_success", "commit_fail", "tree_changed"]);
    let tree = workspace.tree(&trial.folder).unwrap();
    let commit = || GitCommit::new(workspace.clone(), sandbox());
    give(&mut trial, json!({ "message": "a change", "tree": "0".repeat(40) }));
    let changed = trial.run(commit()).await;
    assert_eq!((changed.name.as_str(), changed.data["tree"].as_str()), ("tree_changed", Some(tree.as_str())));
    give(&mut trial, json!({ "message": "a change", "tree": tree }));
    let done = trial.run(commit()).await;
    assert_eq!((done.name.as_str(), done.data["branch"].as_str()), ("commit_success", Some("main")), "{:?}", done.data);
    assert_eq!(done.data["commit"].as_str(), Some(git(&trial, &["rev-parse", "HEAD"]).as_str()));
    let nothing = trial.run(commit()).await;
    assert_eq!(
        (nothing.name.as_str(), nothing.data["reason"].as_str()),
        ("commit_fail", Some("there is nothing to commit"))
    );
    assert_eq!(nothing.data["reason"], nothing.data["summary"]);
}

#[tokio::test]
async fn a_commit_on_another_branch_comes_with_a_text_for_a_pull_request() {
    let with = json!({ "branch": "interlock/coder-1", "message": null, "goal": "Add a file\nfor me", "pull_request_text": true });
    let (trial, workspace) = repository(with, &["commit_success", "commit_fail"]);
    let head = git(&trial, &["rev-parse", "HEAD"]);
    let done = trial.run(GitCommit::new(workspace, sandbox())).await;
    assert_eq!(done.data["branch"], "interlock/coder-1");
    assert_eq!(done.data["pull_request_text"], "# Add a file\n\nAdd a file\nfor me\n\n## Files\n\n- `mine` (+1 -0)\n");
    assert_eq!(git(&trial, &["rev-parse", "HEAD"]), head);
    assert_eq!(git(&trial, &["log", "-1", "--format=%s", "interlock/coder-1"]), "Add a file");
}

/// Adds a hook to the repository.
fn hook(trial: &Trial, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = trial.folder.join(".git/hooks").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn hooks_of_a_commit_are_confined() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let port = server.local_addr().unwrap().port();
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = outside.path().join("written");
    let with = json!({ "message": "a change", "hooks": true });
    let (trial, workspace) = repository(with, &["commit_success", "commit_fail", "tree_changed"]);
    let escape = format!(
        "echo x > {}\nbash -c 'echo > /dev/tcp/127.0.0.1/{port}'\necho evil >> .git/hooks/pre-commit\n\
         git config user.name Evil\ngit diff --cached --quiet && exit 1\nexit 0",
        file.display()
    );
    hook(&trial, "pre-commit", &escape);
    hook(&trial, "prepare-commit-msg", "echo prepared as $2 >> \"$1\"");
    hook(&trial, "commit-msg", "echo signed >> \"$1\"");
    let done = trial.run(GitCommit::new(workspace, sandbox())).await;
    assert_eq!(done.name, "commit_success", "{:?}", done.data);
    assert!(!file.exists(), "a hook wrote outside of the workspace");
    assert_eq!(server.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "a hook reached the network");
    assert_eq!(git(&trial, &["config", "user.name"]), "Ada");
    assert!(!fs::read_to_string(trial.folder.join(".git/hooks/pre-commit")).unwrap().contains("\nevil"));
    assert_eq!(git(&trial, &["log", "-1", "--format=%B"]), "a change\nprepared as message\nsigned");
    assert!(trial.evidence(&done, "sandbox").is_some());
}

#[tokio::test]
async fn hook_in_a_linked_worktree_reads_the_repository_and_cannot_change_it() {
    let with = json!({ "message": "a change", "hooks": true });
    let (mut trial, workspace) = repository(with, &["commit_success", "commit_fail"]);
    let main = trial.folder.clone();
    let linked = main.with_file_name("linked");
    git(&trial, &["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let script = format!(
        "git diff --cached --name-only > seen; git add seen && git reset -q -- seen\n\
         git write-tree > /dev/null || exit 1\nrm seen\ntouch {0}/evil {0}/.git/evil && exit 1\nexit 0",
        main.display()
    );
    hook(&trial, "pre-commit", &script);
    trial.attempt.folder.clone_from(&linked);
    fs::write(linked.join("new"), "new\n").unwrap();
    let done = trial.run(GitCommit::new(workspace, sandbox())).await;
    assert_eq!((done.name.as_str(), done.data["branch"].as_str()), ("commit_success", Some("side")), "{:?}", done.data);
    assert!(!main.join("evil").exists() && !main.join(".git/evil").exists());
}

#[tokio::test]
async fn hook_refuses_a_commit_or_makes_the_tree_differ() {
    let with = json!({ "message": "a change", "hooks": true });
    let (trial, workspace) = repository(with, &["commit_success", "commit_fail", "tree_changed"]);
    let head = git(&trial, &["rev-parse", "HEAD"]);
    let commit = || GitCommit::new(workspace.clone(), sandbox());
    hook(&trial, "pre-commit", "echo not like this; exit 1");
    let refused = trial.run(commit()).await;
    assert_eq!(refused.name, "commit_fail");
    assert_eq!(refused.data["reason"], "the hook pre-commit refused: not like this");
    hook(&trial, "pre-commit", "echo formatted > mine");
    let changed = trial.run(commit()).await;
    assert_eq!(changed.name, "tree_changed", "{:?}", changed.data);
    assert_eq!(changed.data["tree"].as_str(), workspace.tree(&trial.folder).ok().as_deref());
    hook(&trial, "commit-msg", "exit 3");
    assert_eq!(trial.run(commit()).await.data["reason"], "the hook commit-msg refused: exit code 3");
    assert_eq!(git(&trial, &["rev-parse", "HEAD"]), head);
    hook(&trial, "commit-msg", "exit 0");
    assert_eq!(trial.run(commit()).await.name, "commit_success", "the second time nothing is formatted");
}

#[tokio::test]
async fn a_commit_that_cannot_be_made_is_an_error_where_no_signal_is_for_that() {
    let (mut trial, workspace) = repository(json!({ "message": "feat: x" }), &["committed"]);
    let commit = || WorkspaceCommit::new(workspace.clone(), sandbox());
    assert_eq!(trial.run(commit()).await.name, "committed");
    assert_eq!(trial.run(commit()).await.error(), ("COMMIT_FAILED".into(), "there is nothing to commit".into()));
    give(&mut trial, json!({ "message": "x", "tree": "0".repeat(40) }));
    assert_eq!(trial.run(commit()).await.error().0, "TREE_CHANGED");
}

#[tokio::test]
async fn a_folder_is_opened_where_it_is_the_runs_own() {
    let (mut trial, workspace) = repository(json!({ "repo": ".", "constraints": {} }), &["config_loaded"]);
    let open = || WorkspaceOpen::new(workspace.clone());
    let opened: EndedAttempt = trial.run(open()).await;
    assert_eq!((opened.name.as_str(), opened.data["is_repository"].as_bool()), ("config_loaded", Some(true)));
    assert_eq!(opened.data["root"].as_str(), trial.folder.to_str());
    for wrong in ["..", "/", "nowhere", "a"] {
        give(&mut trial, json!({ "repo": wrong }));
        assert_eq!(trial.run(open()).await.error().0, "BAD_INPUT", "{wrong}");
    }
}

#[tokio::test]
async fn an_undo_needs_a_scope_it_knows_and_somebody_who_keeps_records() {
    let (mut trial, _) = repository(json!({ "scope": "turn" }), &["undone"]);
    assert_eq!(trial.run(WorkspaceUndo).await.error().0, "FAILED", "nobody keeps records here");
    for wrong in
        [json!({ "scope": "all" }), json!({ "scope": "step" }), json!({ "scope": "write" }), json!({ "scope": 1 })]
    {
        give(&mut trial, wrong);
        assert_eq!(trial.run(WorkspaceUndo).await.error().0, "BAD_INPUT");
    }
}

const RING: &str = "int ring_pop(void)\n{\n    return 0;\n}\n\nint ring_push(int value)\n{\n    return value;\n}\n";

/// Returns a pack of `workspace.context`, after checking that it fits the schema of the machine `coder`.
async fn pack(trial: &Trial, workspace: &Workspace) -> serde_json::Value {
    let ended = trial.run(WorkspaceContext::new(workspace.clone(), None)).await;
    assert_eq!(ended.name, "context_ready", "{:?}", ended.data);
    let schema = include_str!("../../../../../machines/coder/schemas/context-pack.json");
    let schema = serde_json::from_str(schema).unwrap();
    let pack = ended.data["pack"].clone();
    jsonschema::validate(&schema, &pack).unwrap();
    pack
}

#[tokio::test]
async fn a_plan_begins_with_the_places_that_its_goal_is_about() {
    let (mut trial, workspace) = repository(json!({}), &["context_ready"]);
    fs::write(trial.folder.join("ring.c"), RING).unwrap();
    fs::write(trial.folder.join("uart.c"), "int uart_send(int c)\n{\n    return c;\n}\n").unwrap();
    give(
        &mut trial,
        json!({ "goal": "pushing into the ring loses values", "constraints": ["no new files"], "max_snippets": 1 }),
    );
    let found = pack(&trial, &workspace).await;
    assert_eq!(found["retrieval_hits"][0]["summary"], "function int ring_push(int value)");
    let shown = json!([{ "path": "ring.c", "start_line": 6, "end_line": 9, "content": "int ring_push(int value)\n{\n    return value;\n}" }]);
    assert_eq!(found["code_snippets"], shown);
    assert_eq!(found["constraints"], json!(["no new files"]));
    give(&mut trial, json!({ "goal": "pushing into the ring", "max_lines_per_snippet": 1 }));
    assert_eq!(pack(&trial, &workspace).await["code_snippets"][0]["end_line"], 6);
    give(&mut trial, json!({ "goal": "pushing into the ring", "tokens_max": 0 }));
    assert_eq!(pack(&trial, &workspace).await["code_snippets"], json!([]));
}

#[tokio::test]
async fn a_plan_begins_with_what_a_log_names() {
    let (mut trial, workspace) = repository(json!({}), &["context_ready"]);
    fs::write(trial.folder.join("ring.c"), RING).unwrap();
    let log = trial.attempt.evidence.put("stderr", "text/plain", b"ring.c:3:5: error: no value\n").unwrap();
    give(&mut trial, json!({ "goal": "make it build", "evidence_refs": [log.hash.to_string()] }));
    assert_eq!(pack(&trial, &workspace).await["retrieval_hits"][0]["start_line"], 1);
    for bad in [json!({ "evidence_refs": ["nothing"] }), json!({ "max_snippets": 0 }), json!({ "goal": 3 })] {
        give(&mut trial, bad);
        assert_eq!(trial.run(WorkspaceContext::new(workspace.clone(), None)).await.error().0, "BAD_INPUT");
    }
}

/// Hooks start at the root of the workspace, so they can rename the directory of a run below it.
#[tokio::test]
async fn hook_cannot_put_a_link_in_place_of_the_directory_of_the_run() {
    let with = json!({ "message": "a change", "hooks": true });
    let (mut trial, workspace) = repository(with, &["commit_success", "commit_fail", "tree_changed"]);
    let (sub, elsewhere) = (trial.folder.join("sub"), tempfile::tempdir().unwrap());
    fs::create_dir(&sub).unwrap();
    fs::write(sub.join("b"), "b\n").unwrap();
    Place::now(&sub).unwrap().fix(&sub);
    trial.attempt.folder.clone_from(&sub);
    let swap = format!("mv sub s2 && ln -s {} sub; echo x > sub/x", elsewhere.path().display());
    hook(&trial, "pre-commit", &swap);
    let done = trial.run(GitCommit::new(workspace, sandbox())).await;
    assert!(trial.evidence(&done, "sandbox").is_some());
    assert!(!sub.is_symlink() && read(&trial, "sub/b").as_deref() == Some("b\n"), "{:?}", done.data);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

/// Git looks at the index and the objects that a hook has left, and may write there.
#[tokio::test]
async fn hook_cannot_lead_git_elsewhere_by_its_copies() {
    let elsewhere = tempfile::tempdir().unwrap();
    let place = elsewhere.path().display();
    let swaps = [
        format!("rm -r $GIT_OBJECT_DIRECTORY; ln -s {place} $GIT_OBJECT_DIRECTORY"),
        format!("cp $GIT_INDEX_FILE copy; rm $GIT_INDEX_FILE; ln -s {place}/index $GIT_INDEX_FILE; rm copy"),
        "rm $GIT_INDEX_FILE; mkfifo $GIT_INDEX_FILE".to_owned(),
    ];
    for swap in swaps {
        let with = json!({ "message": "a change", "hooks": true });
        let (trial, workspace) = repository(with, &["commit_success", "commit_fail", "tree_changed"]);
        git(&trial, &["add", "mine"]);
        hook(&trial, "pre-commit", &swap);
        let done = trial.run(GitCommit::new(workspace, sandbox())).await;
        assert_eq!(done.name, "commit_fail", "{swap}: {:?}", done.data);
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "{swap}");
    }
}
