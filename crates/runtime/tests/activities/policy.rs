//! `policy.check`, `policy.plan` and `policy.call`, as the built-in machines ask them.

use std::fs;

use expect_test::{Expect, expect};
use interlock_activity::Activity;
use interlock_runtime::activities::{Gate, PolicyCall, PolicyCheck, PolicyPlan};
use serde_json::{Value, json};

use crate::trial::{Ended, Trial};

fn gate() -> Gate {
    Gate::new(Vec::new())
}

fn told(ended: &Ended) -> String {
    let mut data = ended.data.clone();
    if let Some(fields) = data.as_object_mut() {
        fields.remove("evidence_refs");
    }
    format!("{} {data}\n", ended.name)
}

const MAIN: &str = "int main(void)\n{\n    int x = 3;\n    return x;\n}\n";
const TEST: &str = "void test_x(void)\n{\n    assert(x() == 3);\n}\n";

/// A folder with a program and its test.
fn trial(with: Value) -> Trial {
    let trial = Trial::new(with);
    for (path, text) in [("src/main.c", MAIN), ("tests/test_x.c", TEST), ("infra/a.txt", "a\n")] {
        let path = trial.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    trial
}

/// A patch of one line of a file: `line` becomes `lines`.
fn diff(path: &str, number: usize, line: &str, lines: &[&str]) -> String {
    let added: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    format!("--- a/{path}\n+++ b/{path}\n@@ -{number},1 +{number},{} @@\n-{line}\n{added}", lines.len())
}

async fn checks(cases: &[Value], expected: Expect) {
    let mut lines = String::new();
    for with in cases {
        lines += &told(&trial(with.clone()).run(PolicyCheck::new(&gate())).await);
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
    checks(&cases, expect![[r#""#]]).await;
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
    checks(&cases, expect![[r#""#]]).await;
}

#[tokio::test]
async fn what_was_found_is_evidence() {
    let trial = trial(json!({ "patch": diff("src/main.c", 3, "    int x = 3;", &["    int x = 4;"]) }));
    let ended = trial.run(PolicyCheck::new(&gate())).await;
    let kept: Value = serde_json::from_slice(&trial.evidence(&ended, "policy").unwrap()).unwrap();
    assert_eq!(kept["problems"], json!([]));
    assert!(kept["risk"]["factors"].as_array().unwrap().len() > 5, "{kept}");
}

#[tokio::test]
async fn a_sensitive_patch_is_valid_once_a_person_has_granted_it() {
    let trial = trial(json!({ "patch": diff("infra/a.txt", 1, "a", &["b"]) }));
    assert_eq!(trial.run(PolicyCheck::new(&gate())).await.name, "patch_invalid");
    trial.host.granted.lock().unwrap().push("fs.write:infra/a.txt".to_owned());
    assert_eq!(trial.run(PolicyCheck::new(&gate())).await.name, "patch_valid");
}

/// What the coder machine gives besides what it asks about.
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
    json!({ "call": { "name": name, "args": args }, "plan": { "plan_id": "p-1" } })
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
    let mut online = call("run_terminal_cmd", json!({ "command": "npm install left-pad" }));
    online["allow_network"] = json!(true);
    let cases = [
        call("read_file", json!({ "path": "src/main.c" })),
        call("grep", json!({ "pattern": "x" })),
        write.clone(),
        granted(write, "single_action", &["fs.write:plan p-1"]),
        call("apply_patch", json!({ "patch": patch })),
        call("write_file", json!({ "path": "auth/key.c", "content": "x" })),
        call("delete_file", json!({ "path": "src/main.c" })),
        test.clone(),
        granted(test.clone(), "single_action", &["proc.exec:npm test"]),
        granted(test.clone(), "single_action", &["proc.exec:npm run build"]),
        granted(test, "session", &["proc.exec:npm run build"]),
        call("run_terminal_cmd", json!({ "command": "npm install left-pad" })),
        online,
        call("run_terminal_cmd", json!({ "command": "sudo true" })),
        call("write_file", json!({ "path": "/etc/hosts", "content": "x" })),
        call("write_file", json!({ "content": "x" })),
        call("launch", json!({})),
    ];
    asks(|| PolicyCall::new(&gate()), &cases, expect![[r#""#]]).await;
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
        granted(writes, "single_action", &["fs.write:plan p-1"]),
        plan(json!([step("a", json!([write("a.c"), write("b.c"), write("c.c")]))]), &[]),
        plan(json!([step("a", json!([]))]), &["npm test"]),
        plan(json!([step("a", json!([{ "name": "run_terminal_cmd", "args_hint": {} }]))]), &[]),
        plan(json!([step("a", json!([shell("git push --force")]))]), &[]),
        plan(json!([step("a", json!([shell("curl https://example.com")]))]), &[]),
        plan(json!([step("a", json!([{ "name": "launch", "args_hint": {} }]))]), &[]),
        patched,
        impossible,
    ];
    asks(|| PolicyPlan::new(&gate()), &cases, expect![[r#""#]]).await;
}
