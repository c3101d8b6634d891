//! Programs and requests start only after policy, or a person, has allowed them.

use std::fs;

use expect_test::{Expect, expect};
use interlock_activities::{CommandRun, External, Gate, HttpRequest, LogsTriage, Sandbox, WorkspaceApply};
use interlock_activity::{Activity, Registry};
use interlock_sandbox::{Config, Network};
use interlock_tools::ToolCall;
use interlock_workspace::Workspace;
use serde_json::{Value, json};

use crate::trial::{EndedAttempt, Trial, sandbox};

fn gate() -> Gate {
    Gate::new(Vec::new())
}

/// Returns a registry with one activity, behind a gate.
fn guarded(activity: impl Activity) -> Registry {
    Registry::default().behind(gate()).with(activity)
}

fn command() -> Registry {
    guarded(CommandRun::new(Workspace::default(), sandbox()))
}

/// Describes the end of an attempt in one line: its code, the permissions that a person must grant, and the reason.
fn told(ended: &EndedAttempt) -> String {
    let code = ended.data["code"].as_str().unwrap_or(&ended.name);
    let scopes = ended.data["scope"].as_array().map(|scopes| format!(" {}", json!(scopes))).unwrap_or_default();
    let reason = ended.data["reason"].as_str().or(ended.data["message"].as_str()).unwrap_or_default();
    format!("{code}{scopes} {reason}\n")
}

async fn check(registry: &Registry, cases: &[Value], expected: Expect) {
    let mut lines = String::new();
    for with in cases {
        lines += &told(&Trial::new(with.clone()).run_in(registry).await);
    }
    expected.assert_eq(&lines);
}

#[tokio::test]
async fn a_command_is_refused_or_asked_for_before_it_starts() {
    let cases = [
        json!({ "command": "sudo true" }),
        json!({ "command": ["sudo", "true"] }),
        json!({ "command": "true && $(echo sudo) true" }),
        json!({ "command": "npm install left-pad" }),
        json!({ "command": "cat /root/.ssh/id_rsa" }),
        json!({ "command": ["sh"], "stdin": "sudo true" }),
        json!({ "command": "true", "env": { "LD_PRELOAD": "./x.so" } }),
        json!({ "command": "rm -rf .", "cwd": "." }),
        json!({ "command": "true", "env": { "LEVEL": "3" } }),
    ];
    check(&command(), &cases, expect![[r#"
        POLICY_DENIED `sudo true`: it would run with the rights of another user (rule other-rights)
        POLICY_DENIED `sudo true`: it would run with the rights of another user (rule other-rights)
        CONFIRMATION_NEEDED ["proc.exec:exact:9759be14cf6669c48c1e6214212433c8: true && $(echo sudo) true"] `… true`: the program is known only at run time: its effects cannot be read from the command line
        CONFIRMATION_NEEDED ["net.connect:npm install left-pad"] `npm install left-pad`: it downloads code and runs it (rule install)
        POLICY_DENIED read `/root/.ssh/id_rsa`: it holds credentials or secrets (rule credentials)
        CONFIRMATION_NEEDED ["proc.exec:exact:89c4ec9f6b3f1086b158d8ef03dfe815: sh"] `sh`: it runs what it reads, and that is not known: its effects cannot be read from the command line
        CONFIRMATION_NEEDED ["proc.exec:exact:2eb5a789aa2af698666dacb92de2473a: env LD_PRELOAD=./x.so true"] `LD_PRELOAD=./x.so`: it changes which code other programs run: its effects cannot be read from the command line
        POLICY_DENIED delete `.`: it contains the workspace
        passed 
    "#]]).await;
}

#[tokio::test]
async fn a_program_that_speaks_json_is_a_command_too() {
    let cases = [json!({ "program": "sudo", "args": ["true"] }), json!({ "program": "docker", "args": ["ps"] })];
    check(&guarded(External::new(sandbox())), &cases, expect![[r#"
        POLICY_DENIED `sudo true`: it would run with the rights of another user (rule other-rights)
        CONFIRMATION_NEEDED ["net.connect:docker ps"] `docker ps`: it acts on other computers or services, or with more rights (rule elsewhere)
    "#]]).await;
}

#[tokio::test]
async fn a_request_is_refused_or_asked_for_by_its_host() {
    let cases = [
        json!({ "url": "http://example.com/" }),
        json!({ "url": "https://example.com:8443/" }),
        json!({ "url": "http://169.254.169.254/latest" }),
        json!({ "url": "http://0xa9fea9fe/latest" }),
        json!({ "url": "nonsense" }),
    ];
    check(
        &guarded(HttpRequest::default()),
        &cases,
        expect![[r#"
        CONFIRMATION_NEEDED ["net.connect:example.com"] connect to `example.com:80`: no rule allows that host
        CONFIRMATION_NEEDED ["net.connect:example.com"] connect to `example.com:8443`: no rule allows that host
        POLICY_DENIED connect to `169.254.169.254:80`: it hands out credentials of this computer (rule cloud-metadata)
        POLICY_DENIED connect to `0xa9fea9fe:80`: it hands out credentials of this computer (rule cloud-metadata)
        BAD_INPUT `with.url` must begin with http:// or https://
    "#]],
    )
    .await;
}

#[tokio::test]
async fn nothing_of_a_refused_command_is_done() {
    let trial = Trial::new(json!({ "command": "touch made; sudo true" }));
    assert_eq!(trial.run_in(&command()).await.error().0, "POLICY_DENIED");
    assert!(!trial.folder.join("made").exists());
}

#[tokio::test]
async fn what_a_person_has_granted_is_done_and_its_use_told() {
    let trial = Trial::new(json!({ "command": "mkdir infra && touch infra/made" }));
    let asked = trial.run_in(&command()).await;
    assert_eq!(asked.error().0, "CONFIRMATION_NEEDED");
    let scopes: Vec<String> = serde_json::from_value(asked.data["scope"].clone()).unwrap();
    let hint = format!("Hint: grant it with `interlock grant run-1 '{}'`", scopes.join("' '"));
    assert!(asked.error().1.ends_with(&hint), "{:?}", asked.error());
    assert!(trial.host.used.lock().unwrap().is_empty());
    *trial.host.granted.lock().unwrap() = scopes.clone();
    assert_eq!(trial.run_in(&command()).await.name, "passed");
    assert!(trial.folder.join("infra/made").exists());
    let used = trial.host.used.lock().unwrap();
    assert_eq!((used.len(), &used[0].scopes, &*used[0].run, used[0].number), (1, &scopes, "run-1", 1));
}

fn project(trial: &Trial, policy: &str) {
    fs::create_dir_all(trial.folder.join(".interlock")).unwrap();
    fs::write(trial.folder.join(".interlock/policy.toml"), policy).unwrap();
}

const NO_MAKE: &str = "version = 1\n[[command]]\nname = \"make\"\nprefix = [\"make\"]\ndecision = \"deny\"\nreason = \"make is \
                       not used here\"\nmatch = [\"make all\"]\n";

#[tokio::test]
async fn a_projects_policy_counts_and_a_run_keeps_the_one_it_met() {
    let trial = Trial::new(json!({ "command": "make --version" }));
    let registry = command();
    project(&trial, NO_MAKE);
    assert_eq!(
        trial.run_in(&registry).await.error(),
        ("POLICY_DENIED".into(), "`make --version`: make is not used here (rule make)".into())
    );
    fs::remove_file(trial.folder.join(".interlock/policy.toml")).unwrap();
    assert_eq!(trial.run_in(&registry).await.error().0, "POLICY_DENIED");
}

#[tokio::test]
async fn a_policy_that_is_a_pipe_or_a_link_is_refused_and_nothing_waits_for_it() {
    let trial = Trial::new(json!({ "command": "true" }));
    project(&trial, NO_MAKE);
    let path = trial.folder.join(".interlock/policy.toml");
    fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let (code, message) = trial.run_in(&command()).await.error();
    assert_eq!(code, "BAD_POLICY");
    assert!(message.ends_with("policy.toml is a named pipe, not a regular file"), "{message}");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    let (code, message) = trial.run_in(&command()).await.error();
    assert_eq!(code, "BAD_POLICY");
    assert!(message.ends_with("policy.toml is a symbolic link; links are not followed here"), "{message}");
}

#[tokio::test]
async fn a_policy_that_cannot_be_used_stops_everything_and_says_where() {
    let trial = Trial::new(json!({ "command": "true" }));
    project(&trial, &NO_MAKE.replace("make all", "ninja"));
    let (code, message) = trial.run_in(&command()).await.error();
    assert_eq!(code, "BAD_POLICY");
    assert!(message.contains(".interlock/policy.toml:") && message.contains("ninja"), "{message}");
}

#[tokio::test]
async fn what_a_machine_takes_out_of_a_programs_way_is_asked_for() {
    let cases = [
        json!({ "command": "true", "network": "on" }),
        json!({ "command": ["true"], "sandbox": "none" }),
        json!({ "command": "true", "write": ["/opt/cache", "/tmp/interlock-cache"] }),
        json!({ "command": "true", "write": ["~/.ssh"] }),
        json!({ "command": "true", "write": ["/"] }),
        json!({ "command": "true", "network": "loopback", "sandbox": "landlock", "write": ["."] }),
        json!({ "command": "true", "network": "some" }),
        json!({ "command": "true", "network": "only", "hosts": ["api.example.com:443", "127.0.0.1:11434"] }),
        json!({ "command": "true", "network": "only", "hosts": ["169.254.169.254:80"] }),
        json!({ "command": "true", "network": "only", "hosts": ["127.0.0.1:11434"] }),
        json!({ "command": "true", "network": "only", "hosts": ["example.com"] }),
        json!({ "command": "true", "network": "only" }),
        json!({ "command": "true", "hosts": ["api.example.com:443"] }),
    ];
    check(&command(), &cases, expect![[r#"
        CONFIRMATION_NEEDED ["net.connect:true"] `true` with the network on: it could reach any host, including those that rules deny
        CONFIRMATION_NEEDED ["proc.unconfined:true"] `true` without a sandbox: nothing would confine it to the workspace
        CONFIRMATION_NEEDED ["fs.write:/opt/cache"] let a program write `/opt/cache`: it is outside of the workspace
        POLICY_DENIED let a program write `/root/.ssh`: it holds credentials or secrets (rule credentials)
        POLICY_DENIED let a program write `/`: it holds credentials or secrets (rule credentials)
        passed 
        BAD_INPUT `with.network` is `some`; use one of off, unix, loopback, only, on
        CONFIRMATION_NEEDED ["net.connect:api.example.com"] connect to `api.example.com:443`: no rule allows that host
        POLICY_DENIED connect to `169.254.169.254:80`: it hands out credentials of this computer (rule cloud-metadata)
        passed 
        BAD_INPUT `with.hosts` `example.com` is not a host with a port, such as api.example.com:443
        BAD_INPUT `with.hosts` is missing: `network: only` needs the hosts to reach
        BAD_INPUT `with.hosts` needs `network: only`
    "#]]).await;
    let cases = [json!({ "program": "true", "args": ["x"], "network": "on", "sandbox": "none" })];
    check(&guarded(External::new(sandbox())), &cases, expect![[r#"
        CONFIRMATION_NEEDED ["net.connect:true x","proc.unconfined:true x"] `true x` with the network on: it could reach any host, including those that rules deny; `true x` without a sandbox: nothing would confine it to the workspace
    "#]]).await;
}

#[tokio::test]
async fn what_the_user_or_the_project_has_settled_is_not_asked_for() {
    let with = json!({ "command": "true", "network": "on", "write": ["/opt/cache"] });
    let trial = Trial::new(with.clone());
    project(&trial, "version = 1\n[otherwise]\nany_host = \"allow\"\nwrite_below_outside = \"allow\"\n");
    assert_eq!(trial.run_in(&command()).await.name, "passed");
    let settings = Config { network: Network::On, write: vec!["/opt/cache".into()], ..Config::default() };
    let settled = guarded(CommandRun::new(Workspace::default(), Sandbox { config: settings, ..sandbox() }));
    assert_eq!(Trial::new(with).run_in(&settled).await.name, "passed");
    let hosts = json!({ "command": "true", "network": "only", "hosts": ["api.example.com:443"] });
    let settings = Config { hosts: vec!["api.example.com:443".into()], ..Config::default() };
    let settled = guarded(CommandRun::new(Workspace::default(), Sandbox { config: settings, ..sandbox() }));
    assert_eq!(Trial::new(hosts).run_in(&settled).await.name, "passed");
    let none = json!({ "command": "true", "sandbox": "none" });
    let trial = Trial::new(none);
    assert_eq!(trial.run_in(&command()).await.error().0, "CONFIRMATION_NEEDED");
    *trial.host.granted.lock().unwrap() = vec!["proc.unconfined:true".to_owned()];
    assert_eq!(trial.run_in(&command()).await.name, "passed");
}

fn added(path: &str) -> Value {
    json!({ "patch": format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n") })
}

/// A patch needs a person's permission to write files that decide which programs run outside of the sandbox, and can
/// never write files that hold rules.
#[tokio::test]
async fn a_patch_does_not_change_what_runs_elsewhere() {
    let cases = [
        ".interlock/policy.toml",
        ".interlock/judges.toml",
        "sub/.interlock/machines/coder/machine.yaml",
        ".github/workflows/ci.yml",
        ".gitmodules",
        "Jenkinsfile",
    ];
    let expected = expect![[r#"
        POLICY_DENIED write `.interlock/policy.toml`: a run must not change the policy that applies to it (rule policy)
        CONFIRMATION_NEEDED ["fs.write:.interlock/judges.toml"] write `.interlock/judges.toml`: it defines machines and settings of runs (rule machines)
        CONFIRMATION_NEEDED ["fs.write:sub/.interlock/machines/coder/machine.yaml"] write `sub/.interlock/machines/coder/machine.yaml`: it defines machines and settings of runs (rule machines)
        CONFIRMATION_NEEDED ["fs.write:.github/workflows/ci.yml"] write `.github/workflows/ci.yml`: it runs on other computers with other people's keys (rule automation)
        CONFIRMATION_NEEDED ["fs.write:.gitmodules"] write `.gitmodules`: it decides which programs git starts (rule git-settings)
        CONFIRMATION_NEEDED ["fs.write:Jenkinsfile"] write `Jenkinsfile`: it runs on other computers with other people's keys (rule automation)
    "#]];
    let apply = guarded(WorkspaceApply::new(Workspace::default()));
    check(&apply, &cases.map(added), expected).await;
    let trial = Trial::new(added(".github/workflows/ci.yml"));
    *trial.host.granted.lock().unwrap() = vec!["fs.write:.github/workflows/ci.yml".into()];
    trial.run_in(&apply).await;
    assert!(trial.folder.join(".github/workflows/ci.yml").exists(), "a person has said yes");
    let free = Trial::new(added("src/a.c"));
    free.run_in(&apply).await;
    assert!(free.folder.join("src/a.c").exists() && free.host.used.lock().unwrap().is_empty());
}

/// The settings may restrict every program to listed hosts; a machine that lists more hosts needs permission.
#[tokio::test]
async fn hosts_beyond_those_of_the_settings_are_asked_for() {
    let config = Config { network: Network::Only, hosts: vec!["api.example.com:443".into()], ..Config::default() };
    let settled = guarded(CommandRun::new(Workspace::default(), Sandbox { config, ..sandbox() }));
    let cases = [
        json!({ "command": "true", "hosts": ["api.example.com:443"] }),
        json!({ "command": "true", "hosts": ["elsewhere.example.com:443"] }),
    ];
    check(&settled, &cases, expect![[r#"
        passed 
        CONFIRMATION_NEEDED ["net.connect:elsewhere.example.com"] connect to `elsewhere.example.com:443`: no rule allows that host
    "#]]).await;
}

/// Nothing starts unless somebody has allowed its requests.
#[tokio::test]
async fn without_a_gatekeeper_only_attempts_without_requests_start() {
    let open = Registry::default().with(CommandRun::new(Workspace::default(), sandbox()));
    let ended = Trial::new(json!({ "command": "true" })).run_in(&open).await;
    assert_eq!(ended.error().0, "POLICY_DENIED");
    let ended = Trial::new(json!({})).run_in(&Registry::default().with(LogsTriage)).await;
    assert_eq!(ended.name, "evidence_missing");
}

#[tokio::test]
async fn a_call_of_a_tool_is_admitted_by_what_the_tool_asks_for() {
    let tools = guarded(ToolCall::new(Workspace::default(), sandbox(), None));
    let call = |name: &str, args: Value| json!({ "call": { "name": name, "args": args } });
    let cases = [
        call("run_terminal_cmd", json!({ "command": "sudo true" })),
        call("write_file", json!({ "path": ".github/workflows/ci.yml", "content": "" })),
        call("delete_file", json!({ "path": ".gitmodules" })),
        call("apply_patch", added("Jenkinsfile")),
        call("frobnicate", json!({ "command": "sudo true" })),
        json!({ "calls": [{ "name": "glob", "args": { "pattern": "*" } }, { "name": "rm", "args": {} }] }),
        json!({ "calls": [{ "name": "glob", "args": { "pattern": "*" } }] }),
        call("run_terminal_cmd", json!({ "command": ["sudo", "true"] })),
    ];
    check(&tools, &cases, expect![[r#"
        POLICY_DENIED `sudo true`: it would run with the rights of another user (rule other-rights)
        CONFIRMATION_NEEDED ["fs.write:.github/workflows/ci.yml"] write `.github/workflows/ci.yml`: it runs on other computers with other people's keys (rule automation)
        CONFIRMATION_NEEDED ["fs.delete:.gitmodules"] delete `.gitmodules`: it decides which programs git starts (rule git-settings)
        CONFIRMATION_NEEDED ["fs.write:Jenkinsfile"] write `Jenkinsfile`: it runs on other computers with other people's keys (rule automation)
        POLICY_DENIED there is no tool called `frobnicate`; the tools are `read_file`, `list_dir`, `glob`, `grep`, `search`, `apply_patch`, `write_file`, `delete_file`, …
        POLICY_DENIED there is no tool called `rm`; the tools are `read_file`, `list_dir`, `glob`, `grep`, `search`, `apply_patch`, `write_file`, `delete_file`, …
        TOOL_CALL_RESULT 
        TOOL_CALL_RESULT 
    "#]]).await;
}

/// Opening such a file to a program also needs permission.
#[tokio::test]
async fn opening_such_a_file_to_a_program_is_asked_for() {
    let cases = [".interlock", ".github/workflows", ".gitmodules", ".interlock/policy.toml"];
    let cases = cases.map(|path| json!({ "command": "true", "write": [path] }));
    let expected = expect![[r#"
        CONFIRMATION_NEEDED ["fs.write:.interlock"] let a program write `.interlock`: it defines machines and settings of runs (rule machines)
        CONFIRMATION_NEEDED ["fs.write:.github/workflows"] let a program write `.github/workflows`: it runs on other computers with other people's keys (rule automation)
        CONFIRMATION_NEEDED ["fs.write:.gitmodules"] let a program write `.gitmodules`: it decides which programs git starts (rule git-settings)
        POLICY_DENIED let a program write `.interlock/policy.toml`: a run must not change the policy that applies to it (rule policy)
    "#]];
    check(&command(), &cases, expected).await;
}

/// Reading a pipe would block forever, and some devices have no end.
#[tokio::test]
async fn a_policy_that_is_no_file_is_refused_at_once() {
    let makes: [(&str, &str); 3] = [
        ("mkfifo .interlock/policy.toml", "regular"),
        ("ln -s /dev/zero .interlock/policy.toml", "link"),
        ("rmdir .interlock && ln -s /dev .interlock", "link"),
    ];
    for (make, why) in makes {
        let trial = Trial::new(json!({ "command": "true" }));
        fs::create_dir(trial.folder.join(".interlock")).unwrap();
        let made = std::process::Command::new("sh").args(["-c", make]).current_dir(&trial.folder).status();
        assert!(made.unwrap().success());
        let ended = tokio::time::timeout(std::time::Duration::from_secs(10), trial.run_in(&command())).await.unwrap();
        let (code, message) = ended.error();
        assert!(code == "BAD_POLICY" && message.contains(why), "{make}: {code} {message}");
    }
}
