//! Judges from the command line: who answers, who is asked, and what becomes of it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use interlock_testkit::{
    model_server::{Dialect, ModelServer},
    session::Session,
};
use serde_json::{Value as Json, json};

const MACHINE: &str = r#"
machine: lamp
version: 1
summary: Finds out whether a lamp is on.
initial: LOOKING
on:
  error: { target: DARK, reason: "${event.code}: ${event.message}" }
states:
  LOOKING:
    invoke:
      activity: judge.lamp
      with: { prompt: prompts/lamp.md, log: "lamp: on" }
      signals:
        on: { required: [brightness], properties: { brightness: { type: integer } } }
        off: { properties: {} }
      effect: read
    on:
      on: { target: LIT, reason: "brightness ${event.brightness}" }
      off: { target: DARK, reason: it is off }
  LIT: { type: final, outcome: success }
  DARK: { type: final, outcome: failure }
"#;

fn project(settings: &str) -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home").display().to_string();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path()).with("INTERLOCK_HOME", home);
    session.write(".interlock/machines/lamp/machine.yaml", MACHINE).unwrap();
    session.write(".interlock/machines/lamp/prompts/lamp.md", "Is the lamp on?").unwrap();
    if !settings.is_empty() {
        session.write("home/judges.toml", settings).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(folder.path().join("home"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
    }
    (folder, session)
}

fn at(server: &ModelServer) -> String {
    let url = &server.url;
    format!(
        "[judges.near]\nprovider = \"openai-chat\"\nbase_url = \"{url}\"\nmodel = \"tiny\"\n[chains]\ndefault = [\"near\"]\n"
    )
}

fn lit() -> String {
    json!({ "reason": "the log says so", "evidence_refs": ["log"], "confidence": 1, "signal": "on", "data": { "brightness": 7 } }).to_string()
}

#[test]
fn a_model_is_asked_and_its_prompt_and_answer_are_evidence() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&lit())]);
    let (_folder, session) = project(&at(&server));
    let ran = session.run("run lamp --name l1").unwrap();
    assert_eq!(ran.code, Some(0), "{ran}");
    let trace = session.run("trace l1").unwrap();
    assert!(trace.stdout.contains("brightness 7"), "{trace}");
    let evidence = session.run("evidence l1").unwrap();
    assert!(evidence.stdout.contains("prompt") && evidence.stdout.contains("judgement"), "{evidence}");
    assert_eq!(session.run("verify l1").unwrap().code, Some(0));
}

#[test]
fn with_no_model_set_up_rules_are_asked_and_the_machine_hears_what_came_of_it() {
    let (_folder, session) = project("");
    let ran = session.run("run lamp --name l1").unwrap();
    assert_eq!(ran.code, Some(1), "{ran}");
    let trace = session.run("trace l1").unwrap();
    assert!(trace.stdout.contains("MODEL_FAILURE: there is no verdict; rules: "), "{trace}");
}

#[test]
fn a_person_who_judges_is_waited_for() {
    let (_folder, session) = project("[chains]\njudge.lamp = [\"person\"]\n");
    let ran = session.run("run lamp --name l1").unwrap();
    assert_eq!(ran.code, Some(4), "{ran}");
    let refused = session.run("send l1 on --data '{\"brightness\": \"7\"}'").unwrap();
    assert_eq!(refused.code, Some(2), "{refused}");
    let sent = session.run("send l1 on --data '{\"brightness\": 7}'").unwrap();
    assert_eq!(sent.code, Some(0), "{sent}");
}

#[test]
fn doctor_tells_which_models_answer() {
    let ready = json!({ "reason": "I am here", "evidence_refs": [], "confidence": 1, "signal": "ready", "data": {} });
    let server = ModelServer::saying(vec![Dialect::Chat.says(&ready.to_string())]);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let far = format!("[judges.far]\nprovider = \"ollama\"\nbase_url = \"http://{closed}\"\nmodel = \"m\"\n");
    let (_folder, session) = project(&format!("{}{far}", at(&server)));
    let doctor = session.run("doctor --json").unwrap();
    assert_eq!(doctor.code, Some(1), "{doctor}");
    let findings: Json = serde_json::from_str(&doctor.stdout).unwrap();
    let found =
        |name: &str| findings.as_array().unwrap().iter().find(|finding| finding["what"] == name).unwrap().clone();
    assert_eq!(found("judge near")["ok"], true);
    let said = found("judge near")["said"].as_str().unwrap().to_owned();
    assert!(
        said.starts_with(&format!("tiny at {}: answers in ", server.url))
            && said.ends_with("by schema; its answer fits"),
        "{said}"
    );
    assert_eq!(found("judge far")["ok"], false);
    assert!(found("judge far")["said"].as_str().unwrap().contains("could not be reached"));
    let (_folder, session) = project("");
    let doctor = session.run("doctor").unwrap();
    assert!(doctor.stdout.contains("no model is set up: rules judge"), "{doctor}");
}
