//! `policy.check`, `policy.plan` and `policy.call`, as the built-in machines invoke them.

use std::fs;

use expect_test::{Expect, expect};
use interlock_activities::{Gate, PolicyCheck, policy_call, policy_plan};
use interlock_activity::Activity;
use serde_json::{Value, json};

use crate::trial::{EndedAttempt, Trial};

fn gate() -> Gate {
    Gate::new(Vec::new())
}

fn told(ended: &EndedAttempt) -> String {
    let mut data = ended.data.clone();
    if let Some(fields) = data.as_object_mut() {
        fields.remove("evidence_refs");
    }
    format!("{} {data}\n", ended.name)
}

const MAIN: &str = "int main(void)\n{\n    int x = 3;\n    return x;\n}\n";
const TEST: &str = "void test_x(void)\n{\n    assert(x() == 3);\n}\n";

/// Creates a directory with a program and its test.
fn trial(with: Value) -> Trial {
    let trial = Trial::new(with);
    for (path, text) in [("src/main.c", MAIN), ("tests/test_x.c", TEST), ("infra/a.txt", "a\n")] {
        let path = trial.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    trial
}

/// Returns a patch that replaces `line`, which is line `number` of a file, with `lines`.
fn diff(path: &str, number: usize, line: &str, lines: &[&str]) -> String {
    let added: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    format!("--- a/{path}\n+++ b/{path}\n@@ -{number},1 +{number},{} @@\n-{line}\n{added}", lines.len())
}

async fn checks(cases: &[Value], expected: Expect) {
    let mut lines = String::new();
    for with in cases {
        lines += &told(&trial(with.clone()).run(PolicyCheck::new(&gate(), Default::default())).await);
    }
    expected.assert_eq(&lines);
}

#[tokio::test]
async fn a_patch_is_valid_with_its_risk_or_refused_with_every_reason() {
    let good = diff("src/main.c", 3, "    int x = 3;", &["    int x = 4;"]);
    let with =
        |patch: &str| json!({ "patch": patch, "diagnostic": false, "change_constraint": "none", "constraints": {} });
    let cases = [
        with(&good),
        with("no patch"),
        with(&good.replace("x = 3", "y = 9")),
        with(&good.replace("src/main.c", "../main.c")),
        with(&diff("src/main.c", 3, "    int x = 3;", &["    system(\"rm -rf /\");"])),
        with(&diff("tests/test_x.c", 3, "    assert(x() == 3);", &["    // later"])),
        with(&diff("infra/a.txt", 1, "a", &["b"])),
        with(&diff("src/main.c", 3, "    int x = 3;", &["  int x = 3;"])),
    ];
    checks(&cases, expect![[r#"
        patch_valid {"reasons":"0.001: size 0.001 (2 lines)","risk_score":0.001}
        patch_invalid {"summary":"it contains no patch: neither a unified diff nor `*** Begin Patch`"}
        patch_invalid {"summary":"it does not apply: src/main.c: hunk 1 (line 3 of the patch) matches nowhere, and none of its lines is in the file"}
        patch_invalid {"summary":"the path `../main.c` is refused: it leads out with `..`"}
        patch_invalid {"summary":"dangerous calls: `system(` in src/main.c, `rm -rf` in src/main.c"}
        patch_invalid {"summary":"tests weakened: 1 fewer assertions in tests/test_x.c"}
        patch_invalid {"summary":"write `infra/a.txt`: the path is sensitive (rule sensitive); Hint: grant it with `interlock grant run-1 'fs.write:infra/a.txt'`"}
        patch_invalid {"summary":"src/main.c: only its formatting changes"}
    "#]]).await;
}

#[tokio::test]
async fn a_patch_is_held_to_what_the_run_is_held_to() {
    let good = diff("src/main.c", 3, "    int x = 3;", &["    int x = 4;"]);
    let log = "--- a/src/main.c\n+++ b/src/main.c\n@@ -3,1 +3,2 @@\n     int x = 3;\n+    printf(\"%d\\n\", x);\n";
    let many: Vec<String> = (0..30).map(|number| format!("    f({number});")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let cases = [
        json!({ "patch": good, "constraints": { "allowed_paths": ["lib/**"], "risk_threshold": 0.7 } }),
        json!({ "patch": good, "constraints": { "forbidden_paths": ["src/**"] } }),
        json!({ "patch": good, "constraints": { "allowed_paths": ["["] } }),
        json!({ "patch": good, "diagnostic": true }),
        json!({ "patch": log, "diagnostic": true }),
        json!({ "patch": good, "change_constraint": "logging_only" }),
        json!({ "patch": diff("src/main.c", 3, "    int x = 3;", &many), "change_constraint": "minimal_change" }),
        json!({ "patch": diff("src/main.c", 3, "    int x = 3;", &["  int x = 3;"]), "constraints": { "allow_formatting": true } }),
        json!({ "patch": 3 }),
    ];
    checks(&cases, expect![[r#"
        patch_invalid {"summary":"write `src/main.c`: it is not among the paths that may be changed"}
        patch_invalid {"summary":"write `src/main.c`: this run must not change it (rule forbidden here)"}
        error {"code":"BAD_INPUT","message":"`with.constraints` a glob in the allowed paths: unclosed character class; missing ']'"}
        patch_invalid {"summary":"src/main.c: only logging and assertions may be added, but this line is removed: int x = 3;"}
        patch_valid {"reasons":"0.151: no_evidence 0.15 (no evidence supports the change), size 0.001 (1 line)","risk_score":0.151}
        patch_invalid {"summary":"src/main.c: only logging and assertions may be added, but this line is removed: int x = 3;"}
        patch_invalid {"summary":"a minimal change has at most 2 files and 20 lines; this has 1 and 31"}
        patch_valid {"reasons":"0.001: size 0.001 (2 lines)","risk_score":0.001}
        error {"code":"BAD_INPUT","message":"`with` does not fit: invalid type: integer `3`, expected a string"}
    "#]]).await;
}

#[tokio::test]
async fn what_was_found_is_evidence() {
    let trial = trial(json!({ "patch": diff("src/main.c", 3, "    int x = 3;", &["    int x = 4;"]) }));
    let ended = trial.run(PolicyCheck::new(&gate(), Default::default())).await;
    let kept: Value = serde_json::from_slice(&trial.evidence(&ended, "policy").unwrap()).unwrap();
    assert_eq!(kept["problems"], json!([]));
    assert!(kept["risk"]["factors"].as_array().unwrap().len() > 5, "{kept}");
}

#[tokio::test]
async fn a_sensitive_patch_is_valid_once_a_person_has_granted_it() {
    let trial = trial(json!({ "patch": diff("infra/a.txt", 1, "a", &["b"]) }));
    assert_eq!(trial.run(PolicyCheck::new(&gate(), Default::default())).await.name, "patch_invalid");
    trial.host.granted.lock().unwrap().push("fs.write:infra/a.txt".to_owned());
    assert_eq!(trial.run(PolicyCheck::new(&gate(), Default::default())).await.name, "patch_valid");
}

/// Returns the input of the coder machine, with the fields under test added.
fn with(more: Value) -> Value {
    let mut with = json!({
        "dangerous": ["delete", "command", "network", "sensitive_path"], "sensitive_paths": ["auth/"],
        "allow_network": false, "ask_once": ["write"], "granted": [],
    });
    with.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    with
}

async fn asks<A: Activity>(make: impl Fn() -> A, cases: &[Value], expected: Expect) {
    let mut lines = String::new();
    for more in cases {
        lines += &told(&trial(with(more.clone())).run(make()).await);
    }
    expected.assert_eq(&lines);
}

fn call(name: &str, args: Value) -> Value {
    let files = json!([{ "type": "file", "value": "src/a.c" }, { "type": "file", "value": "./src/main.c" }]);
    let step =
        json!({ "step_id": "s1", "title": "", "intent": "", "status": "in_progress", "expected_artifacts": files });
    json!({ "call": { "name": name, "args": args }, "plan": { "plan_id": "p-1", "steps": [step] } })
}

fn granted(mut call: Value, scope: &str, permissions: &[&str]) -> Value {
    call["granted"] = json!([{ "scope": scope, "permissions": permissions, "for": "call" }]);
    call
}

#[tokio::test]
async fn a_tool_call_is_allowed_asked_for_or_denied() {
    let patch = diff("src/main.c", 3, "    int x = 3;", &["    int x = 4;"]);
    let test = call("run_terminal_cmd", json!({ "command": "npm test" }));
    let write = call("write_file", json!({ "path": "src/a.c", "content": "x" }));
    let unannounced = call("write_file", json!({ "path": "src/c.c", "content": "x" }));
    let mut online = call("run_terminal_cmd", json!({ "command": "npm install left-pad" }));
    online["allow_network"] = json!(true);
    // The command itself does not look as if it used the network.
    let flagged = call("run_terminal_cmd", json!({ "command": "make deps", "network": true }));
    let listed = |mut call: Value, is_granted: bool| {
        (call["allow_network"], call["hosts"]) = (json!(true), json!(["registry.example.com:443"]));
        match is_granted {
            true => granted(call, "single_action", &["net.connect:registry.example.com", "proc.exec:make deps"]),
            false => call,
        }
    };
    let cases = [
        call("read_file", json!({ "path": "src/main.c" })),
        call("grep", json!({ "pattern": "x" })),
        write.clone(),
        granted(write.clone(), "single_action", &["fs.write:plan p-1: src/a.c"]),
        // A yes covers the announced paths, and the yes to another plan for the session those that this one announces.
        granted(write.clone(), "single_action", &["fs.write:plan p-1: src/b.c"]),
        granted(write, "session", &["fs.write:plan p-0: src/b.c"]),
        granted(unannounced.clone(), "session", &["fs.write:plan p-1: src/a.c"]),
        granted(unannounced, "single_action", &["fs.write:src/c.c"]),
        call("apply_patch", json!({ "patch": patch })),
        call("write_file", json!({ "path": "auth/key.c", "content": "x" })),
        call("delete_file", json!({ "path": "src/main.c" })),
        test.clone(),
        granted(test.clone(), "single_action", &["proc.exec:npm test"]),
        granted(test.clone(), "single_action", &["proc.exec:npm run build"]),
        granted(test.clone(), "session", &["proc.exec:npm run build"]),
        granted(test, "session", &["proc.exec:npm test"]),
        call("run_terminal_cmd", json!({ "command": "npm install left-pad" })),
        online,
        flagged.clone(),
        listed(flagged.clone(), false),
        listed(flagged, true),
        call("run_terminal_cmd", json!({ "command": "sudo true" })),
        call("write_file", json!({ "path": "/etc/hosts", "content": "x" })),
        call("write_file", json!({ "content": "x" })),
        call("launch", json!({})),
    ];
    asks(|| policy_call(&gate()), &cases, expect![[r#"
        ALLOW {"effect":"read"}
        ALLOW {"effect":"read"}
        REQUIRE_CONFIRMATION {"permissions":["fs.write:plan p-1: src/a.c"],"reason":"it writes to the workspace"}
        ALLOW {"effect":"write"}
        REQUIRE_CONFIRMATION {"permissions":["fs.write:plan p-1: src/a.c"],"reason":"it writes to the workspace"}
        ALLOW {"effect":"write"}
        REQUIRE_CONFIRMATION {"permissions":["fs.write:src/c.c"],"reason":"no step of the plan announces that src/c.c is written"}
        ALLOW {"effect":"write"}
        REQUIRE_CONFIRMATION {"permissions":["fs.write:plan p-1: src/main.c"],"reason":"it writes to the workspace"}
        REQUIRE_CONFIRMATION {"permissions":["fs.write:auth/key.c"],"reason":"write `auth/key.c`: the path is sensitive (rule sensitive)"}
        REQUIRE_CONFIRMATION {"permissions":["fs.delete:src/main.c"],"reason":"it needs fs.delete:src/main.c"}
        REQUIRE_CONFIRMATION {"permissions":["proc.exec:npm test"],"reason":"it needs proc.exec:npm test"}
        ALLOW {"effect":"write"}
        REQUIRE_CONFIRMATION {"permissions":["proc.exec:npm test"],"reason":"it needs proc.exec:npm test"}
        REQUIRE_CONFIRMATION {"permissions":["proc.exec:npm test"],"reason":"it needs proc.exec:npm test"}
        ALLOW {"effect":"write"}
        DENY {"code":"E_POLICY_DENIED","reason":"the network is off: npm install left-pad"}
        REQUIRE_CONFIRMATION {"permissions":["net.connect:npm install left-pad"],"reason":"`npm install left-pad`: it downloads code and runs it (rule install); `npm install left-pad` with the network on: it could reach any host, including those that rules deny"}
        DENY {"code":"E_POLICY_DENIED","reason":"the network is off: make deps"}
        REQUIRE_CONFIRMATION {"permissions":["net.connect:registry.example.com","proc.exec:make deps"],"reason":"it needs proc.exec:make deps; connect to `registry.example.com:443`: no rule allows that host"}
        ALLOW {"effect":"external"}
        DENY {"code":"E_POLICY_DENIED","reason":"`sudo true`: it would run with the rights of another user (rule other-rights)"}
        DENY {"code":"E_POLICY_DENIED","reason":"write `/etc/hosts`: it belongs to the system or to a user's account (rule start-up-files)"}
        DENY {"code":"E_INVALID_ARGS","reason":"`write_file`: `path` is missing"}
        DENY {"code":"E_INVALID_ARGS","reason":"there is no tool called `launch`"}
    "#]]).await;
}

#[tokio::test]
async fn several_calls_are_allowed_if_all_of_them_only_read() {
    let read = json!({ "name": "read_file", "args": { "path": "src/main.c" } });
    let write = json!({ "name": "write_file", "args": { "path": "src/a.c", "content": "x" } });
    let several = |calls: Value| json!({ "call": { "name": "several", "args": {}, "calls": calls } });
    let log = json!({ "name": "git_log", "args": {} });
    asks(|| policy_call(&gate()), &[several(json!([read, log])), several(json!([read, write]))], expect![[r#"
        ALLOW {"effect":"read"}
        DENY {"code":"E_INVALID_ARGS","reason":"`write_file` cannot be called together with others: it does not only read"}
    "#]]).await;
}

#[tokio::test]
async fn a_turn_that_only_reads_writes_nothing() {
    let only_reads = |mut with: Value| {
        with["read_only"] = json!(true);
        with
    };
    let write = call("write_file", json!({ "path": "src/a.c", "content": "x" }));
    let cases = [
        only_reads(call("read_file", json!({ "path": "src/main.c" }))),
        only_reads(write.clone()),
        granted(write, "session", &["fs.write:plan p-9: src/b.c"]),
    ];
    asks(
        || policy_call(&gate()),
        &cases,
        expect![[r#"
        ALLOW {"effect":"read"}
        DENY {"code":"E_POLICY_DENIED","reason":"this turn only reads, and it needs fs.write:src/a.c"}
        ALLOW {"effect":"write"}
    "#]],
    )
    .await;
}

#[tokio::test]
async fn the_projects_own_commands_are_shown_with_a_plan_that_changes_something() {
    let tool = |name: &str| json!([{ "name": name, "args_hint": { "path": "a.c" } }]);
    let own = |steps: Value| {
        let mut with = plan(steps, &[]);
        with["commands"] = json!([{ "command": "make test", "kind": "test", "found_by": "Makefile" }]);
        with
    };
    let cases = [own(json!([step("a", tool("write_file"))])), own(json!([step("a", tool("read_file"))]))];
    asks(|| policy_plan(&gate()), &cases, expect![[r#"
        REQUIRE_CONFIRMATION {"permissions":["fs.write:plan p-1: a.c","proc.exec:make test"],"reason":"it writes to the workspace; it needs proc.exec:make test"}
        ALLOW {}
    "#]]).await;
}

fn plan(steps: Value, commands: &[&str]) -> Value {
    json!({ "plan": { "plan_id": "p-1", "steps": steps, "verification": { "commands": commands } }, "files_max": 2 })
}

fn step(id: &str, tools: Value) -> Value {
    json!({ "step_id": id, "title": id, "intent": "", "status": "pending", "tool_calls": tools })
}

#[tokio::test]
async fn a_plan_is_allowed_asked_for_once_or_denied() {
    let write = |path: &str| json!({ "name": "write_file", "args_hint": { "path": path } });
    let shell = |command: &str| json!({ "name": "run_terminal_cmd", "args_hint": { "command": command } });
    let mut done = step("a", json!([shell("sudo true")]));
    done["status"] = json!("done");
    let writes = plan(json!([step("a", json!([write("a.c")]))]), &[]);
    let patch = |add: Value| json!({ "remove_steps": [], "update_steps": [], "add_steps": [add] });
    let mut patched = plan(json!([done]), &[]);
    patched["patch"] = patch(json!({ "step_id": "b", "title": "B", "intent": "again" }));
    let mut impossible = patched.clone();
    impossible["patch"] = patch(json!({ "step_id": "a", "title": "A", "intent": "again" }));
    let cases = [
        plan(json!([step("a", json!([{ "name": "read_file", "args_hint": { "path": "src/main.c" } }]))]), &[]),
        writes.clone(),
        granted(writes, "single_action", &["fs.write:plan p-1: a.c"]),
        plan(json!([step("a", json!([write("a.c"), write("b.c"), write("c.c")]))]), &[]),
        plan(json!([step("a", json!([]))]), &["npm test"]),
        plan(json!([step("a", json!([{ "name": "run_terminal_cmd", "args_hint": {} }]))]), &[]),
        plan(json!([step("a", json!([shell("git push --force")]))]), &[]),
        plan(json!([step("a", json!([shell("curl https://example.com")]))]), &[]),
        plan(json!([step("a", json!([{ "name": "launch", "args_hint": {} }]))]), &[]),
        patched,
        impossible,
    ];
    asks(|| policy_plan(&gate()), &cases, expect![[r#"
        ALLOW {}
        REQUIRE_CONFIRMATION {"permissions":["fs.write:plan p-1: a.c"],"reason":"it writes to the workspace"}
        ALLOW {}
        REQUIRE_CONFIRMATION {"permissions":["fs.write:3 files of plan p-1","fs.write:plan p-1: a.c","fs.write:plan p-1: b.c","fs.write:plan p-1: c.c"],"reason":"it writes to the workspace; it changes 3 files, more than 2"}
        REQUIRE_CONFIRMATION {"permissions":["proc.exec:npm test"],"reason":"it needs proc.exec:npm test"}
        REQUIRE_CONFIRMATION {"permissions":["proc.exec:exact:eb6480d5b6d689eeb06bee0fdcf9738a: $COMMAND"],"reason":"`…`: the program is known only at run time: its effects cannot be read from the command line"}
        DENY {"code":"E_POLICY_DENIED","reason":"`git push --force` discards history that others may have: no snapshot holds the content that would be lost; the network is off: git push --force"}
        DENY {"code":"E_POLICY_DENIED","reason":"the network is off: example.com"}
        DENY {"code":"E_INVALID_ARGS","reason":"there is no tool called `launch`"}
        ALLOW {"plan":{"plan_id":"p-1","steps":[{"intent":"","status":"done","step_id":"a","title":"a","tool_calls":[{"args_hint":{"command":"sudo true"},"name":"run_terminal_cmd"}]},{"intent":"again","status":"pending","step_id":"b","title":"B"}],"verification":{"commands":[]}}}
        DENY {"code":"E_INVALID_ARGS","reason":"the step `a` is finished and cannot be changed"}
    "#]]).await;
}
