//! Permissions that a person has confirmed: for a run, for a workspace, and for a commit.

use std::sync::Arc;

use interlock_activities::{Gate, PolicyCommit, WorkspaceGrants, policy_call};
use interlock_activity::{Invocation, Registry};
use interlock_chart::library;
use interlock_journal::Definition;
use interlock_tools::ToolCall;
use interlock_workspace::Workspace;
use serde_json::{Value as Json, json};

use crate::trial::{Trial, sandbox};

/// Makes an attempt of the machine `coder`, with this text as its file.
fn of_coder(mut trial: Trial, text: &str) -> Trial {
    let definition =
        Definition { hash: "h".into(), machine: "coder".into(), version: 1, text: text.to_owned(), files: Vec::new() };
    let invocation = Invocation { definition: Arc::new(definition), ..(*trial.attempt.invocation).clone() };
    trial.attempt.invocation = Arc::new(invocation);
    trial
}

fn built_in() -> String {
    let (_, content) = library::builtin_files("coder").find(|(path, _)| *path == library::MACHINE_FILE).unwrap();
    String::from_utf8(content.to_vec()).unwrap()
}

fn granted(scope: &str, permission: &str) -> Json {
    json!([{ "scope": scope, "permissions": [permission] }])
}

const INSTALL: &str = "npm install left-pad";

/// Returns a call of a command that policy asks about.
fn install(granted: Json) -> Json {
    json!({ "call": { "name": "run_terminal_cmd", "args": { "command": INSTALL } }, "granted": granted })
}

#[tokio::test]
async fn the_gate_believes_only_machines_of_the_program() {
    let confirmed = install(granted("single_action", &format!("net.connect:{INSTALL}")));
    let other = install(granted("session", "net.connect:npm install"));
    let changed = built_in() + "\n";
    for (with, text, expected) in [
        (&confirmed, &built_in(), "TOOL_CALL_RESULT"),
        (&confirmed, &changed, "CONFIRMATION_NEEDED"),
        (&other, &built_in(), "CONFIRMATION_NEEDED"),
    ] {
        // Nothing is installed: the tool refuses the directory.
        let mut with = with.clone();
        with["call"]["args"]["cwd"] = json!("missing");
        let trial = of_coder(Trial::new(with.clone()), text);
        let tools = ToolCall::new(Workspace::default(), sandbox(), None);
        let ended = trial.run_in(&Registry::default().behind(Gate::new(Vec::new())).with(tools)).await;
        assert_eq!(ended.data["code"].as_str().unwrap_or(&ended.name), expected, "{with}");
    }
}

#[tokio::test]
async fn a_permission_for_the_workspace_is_kept_for_machines_of_the_program() {
    for (text, kept) in [(built_in(), 1), ("other".to_owned(), 0)] {
        let home = tempfile::tempdir().unwrap();
        let gate = Gate::new(Vec::new()).with_home(Some(home.path()));
        let test = |granted: Json| {
            json!({ "call": { "name": "run_terminal_cmd", "args": { "command": "npm test" } },
                "dangerous": ["command"], "granted": granted })
        };
        let confirmed = of_coder(Trial::new(test(granted("workspace", "proc.exec:npm test"))), &text);
        assert_eq!(confirmed.run(policy_call(&gate)).await.name, "ALLOW");
        let grants = WorkspaceGrants::new(home.path()).list().unwrap();
        assert_eq!(grants.len(), kept);
        // A later run in the same directory.
        let mut later = of_coder(Trial::new(test(json!([]))), &text);
        later.attempt.folder.clone_from(&confirmed.folder);
        later.attempt.run = "run-2".into();
        let ended = later.run(policy_call(&gate)).await;
        assert_eq!(ended.name == "ALLOW", kept == 1, "{:?}", ended.data);
        // Another directory.
        let elsewhere = of_coder(Trial::new(test(json!([]))), &text);
        assert_eq!(elsewhere.run(policy_call(&gate)).await.name, "REQUIRE_CONFIRMATION");
        if kept == 1 {
            assert_eq!(ended.data["grants"], json!([{ "id": "g1", "permission": "proc.exec:npm test" }]));
            // A revoked permission also ends for the run that confirmed it.
            WorkspaceGrants::new(home.path()).revoke("g1", 5).unwrap();
            assert_eq!(confirmed.run(policy_call(&gate)).await.name, "REQUIRE_CONFIRMATION");
        }
    }
}

#[tokio::test]
async fn a_commit_needs_a_permission() {
    const COMMIT: &str = "git.write:git commit";
    let commit = || PolicyCommit::new(&Gate::new(Vec::new()));
    let asked = Trial::new(json!({ "branch": "b" })).run(commit()).await;
    assert_eq!((asked.name.as_str(), &asked.data["permissions"]), ("REQUIRE_CONFIRMATION", &json!([COMMIT])));
    let confirmed = Trial::new(json!({ "granted": granted("single_action", COMMIT) }));
    assert_eq!(confirmed.run(commit()).await.name, "ALLOW");
    let by_grant = Trial::new(json!({}));
    by_grant.host.granted.lock().unwrap().push(COMMIT.to_owned());
    assert_eq!(by_grant.run(commit()).await.name, "ALLOW");
    assert_eq!(by_grant.host.used.lock().unwrap().len(), 1);
    let denied = Trial::new(json!({ "granted": granted("session", COMMIT) }));
    std::fs::create_dir(denied.folder.join(".interlock")).unwrap();
    let policy = "version = 1\n[otherwise]\ngit_write = \"deny\"\n";
    std::fs::write(denied.folder.join(".interlock/policy.toml"), policy).unwrap();
    assert_eq!(denied.run(commit()).await.name, "DENY");
}
