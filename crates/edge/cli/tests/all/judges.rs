//! Judges from the command line: the chain of judges, their answers, and the results.

use interlock_testkit_activity::model_server::{Dialect, ModelServer, Scripted};
use interlock_testkit_cli::session::Session;
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
    assert!(trace.stdout.contains("judge     near, confidence 1"), "{trace}");
    assert!(trace.stdout.contains(": the log says so") && trace.stdout.contains("evidence  judgement"), "{trace}");
    let last = session.run("trace l1 --json").unwrap().stdout.lines().last().unwrap().to_owned();
    let last: Json = serde_json::from_str(&last).unwrap();
    assert_eq!((&last["judge"]["name"], &last["activity"]["state"]), (&"near".into(), &"LOOKING".into()));
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
    assert!(trace.stdout.contains("LOOKING → DARK"), "the state that failed is named: {trace}");
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
fn a_question_that_was_put_to_a_person_stands_whatever_becomes_of_the_settings() {
    let server = ModelServer::saying(vec![Dialect::Chat.says("the lamp, you ask?")]);
    let left = at(&server).replace("[\"near\"]", "[\"near\", \"person\"]");
    for before in ["[chains]\njudge.lamp = [\"person\"]\n", &left] {
        for after in ["[chains]\ndefault = [\"rules\"]\n", "", "[chains", "[chains]\ndefault = [\"nobody\"]\n"] {
            let (_folder, session) = project(before);
            let ran = session.run("run lamp --name l1").unwrap();
            assert_eq!(ran.code, Some(4), "{ran}");
            session.write("home/judges.toml", after).unwrap();
            let shown = session.run("show l1").unwrap().stdout;
            assert!(shown.contains("| Is the lamp on?") && shown.contains("interlock send l1 on"), "{after}: {shown}");
            let resumed = session.run("resume l1").unwrap();
            assert_eq!(resumed.code, Some(4), "{after}: {resumed}");
            let sent = session.run("send l1 on --data '{\"brightness\": 7}'").unwrap();
            assert_eq!(sent.code, Some(0), "{after}: {sent}");
            assert_eq!(session.run("verify l1").unwrap().code, Some(0), "{after}");
        }
    }
}

#[test]
fn settings_that_cannot_be_used_are_said_before_there_is_a_run() {
    for (settings, word) in
        [("[chains]\njudge.lamp = [\"nobody\"]\n", "there is no judge `nobody`"), ("[chains", "judges.toml")]
    {
        let (_folder, session) = project(settings);
        let ran = session.run("run lamp --name l1").unwrap();
        assert_eq!(ran.code, Some(2), "{ran}");
        assert!(ran.stderr.contains(word), "{ran}");
        assert_eq!(session.run("runs --json").unwrap().stdout.trim(), "[]");
    }
}

fn drafted(slug: &str) -> String {
    let task = json!({ "id": "T-001", "priority": "P0", "title": "A switch", "files": ["theme.css"], "verify": ["make test"] });
    let prd = json!({
        "slug": slug, "title": "Dark mode", "context_and_goals": "Eyes that are tired.", "technical_approach": "A theme.",
        "tasks": [task], "risks": ["too dark"],
    });
    let data = json!({ "prd": prd });
    json!({ "reason": "it is small", "evidence_refs": ["requirement"], "confidence": 0.9, "signal": "prd_drafted", "data": data })
        .to_string()
}

fn make_repository(folder: &std::path::Path) {
    let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(folder).status().unwrap();
    assert!(made.success());
}

#[test]
fn a_model_drafts_a_prd_and_the_machine_goes_on_with_the_file() {
    let evil = drafted("../../evil");
    let server = ModelServer::saying(vec![Dialect::Chat.says(&evil), Dialect::Chat.says(&drafted("dark-mode"))]);
    let (folder, session) = project(&at(&server));
    make_repository(folder.path());
    session.write("input.json", "{\"repo_path\": \".\", \"verify\": [\"make test\"]}").unwrap();
    assert_eq!(session.run("run prd --input input.json --name p1").unwrap().code, Some(4));
    let sent = session.run("send p1 USER_INPUT_REQUIREMENT --data '{\"requirement\": \"make it dark\"}'").unwrap();
    assert_eq!(sent.code, Some(4), "the next step is for a person: {sent}");
    let written = std::fs::read_to_string(folder.path().join("docs/prd/dark-mode.md")).unwrap();
    assert!(written.contains("- [ ] T-001: [P0] A switch (theme.css)\n  * Verify: make test\n"), "{written}");
    let trace = session.run("trace p1").unwrap().stdout;
    assert!(trace.contains("docs/prd/dark-mode.md was written"), "{trace}");
    assert_eq!(server.asked().len(), 2, "a name that leads elsewhere is no verdict");
    assert!(server.asked()[0].text().contains("make it dark"));
}

#[test]
fn a_prd_is_not_written_where_policy_forbids_it() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&drafted("dark-mode"))]);
    let (folder, session) = project(&at(&server));
    make_repository(folder.path());
    session.write("input.json", "{\"repo_path\": \".\", \"prd_dir\": \".git/hooks\"}").unwrap();
    assert_eq!(session.run("run prd --input input.json --name p1").unwrap().code, Some(4));
    let sent = session.run("send p1 USER_INPUT_REQUIREMENT --data '{\"requirement\": \"make it dark\"}'").unwrap();
    assert_eq!(sent.code, Some(4), "{sent}");
    let trace = session.run("trace p1").unwrap().stdout;
    assert!(trace.contains("no PRD: ") && !trace.contains("was written"), "{trace}");
    assert!(!folder.path().join(".git/hooks/dark-mode.md").exists());
}

/// Returns the spans that a collector received, and checks the request lines.
fn spans(collector: &ModelServer) -> Vec<Json> {
    let asked = collector.asked();
    asked.iter().for_each(|asked| assert_eq!(asked.line, "POST /v1/traces HTTP/1.1"));
    let of = |asked: &interlock_testkit_activity::model_server::ReceivedRequest| {
        asked.body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
    };
    asked.iter().flat_map(of).collect()
}

#[test]
fn a_run_tells_a_collector_of_every_request_where_one_is_configured_and_nobody_otherwise() {
    let nonsense = Dialect::Chat.says("the lamp, you ask?");
    let model =
        ModelServer::saying(vec![nonsense.clone(), Dialect::Chat.says(&lit()), nonsense, Dialect::Chat.says(&lit())]);
    let collector = ModelServer::saying(vec![Scripted::new(200, "application/json", "{}")]);
    let (_folder, session) = project(&at(&model));
    let ran = session.run("run lamp --name untold").unwrap();
    assert_eq!((ran.code, collector.asked().len()), (Some(0), 0), "{ran}");
    let told = session.clone().with("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.clone());
    let ran = told.run("run lamp --name told").unwrap();
    assert_eq!(ran.code, Some(0), "{ran}");
    let spans = spans(&collector);
    assert_eq!(spans.len(), 2, "one for each answer, also for the one that was refused: {spans:#?}");
    for span in &spans {
        let attribute = |key: &str| {
            let found = span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == key);
            found.unwrap_or_else(|| panic!("no {key} in {span:#}"))["value"].clone()
        };
        assert_eq!(span["name"], "chat tiny");
        assert_eq!(attribute("gen_ai.operation.name")["stringValue"], "chat");
        assert_eq!(attribute("gen_ai.request.model")["stringValue"], "tiny");
        assert_eq!(attribute("interlock.run")["stringValue"], "told");
        assert_eq!(attribute("interlock.activity")["stringValue"], "judge.lamp");
        assert_eq!(attribute("interlock.judge")["stringValue"], "near");
        for tokens in ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"] {
            assert!(attribute(tokens)["intValue"].as_str().unwrap().parse::<u64>().unwrap() > 0, "{span:#}");
        }
        assert!(!span.to_string().contains("Is the lamp on"), "no text of a prompt is sent");
    }
}

/// The last model gave an invalid answer three times; a person is shown the question and answers it.
#[test]
fn where_models_have_failed_a_person_is_asked_the_same_and_held_to_the_same() {
    let server = ModelServer::saying(vec![Dialect::Chat.says("the lamp, you ask?")]);
    let (_folder, session) = project(&at(&server).replace("[\"near\"]", "[\"near\", \"person\"]"));
    let ran = session.run("run lamp --name l1").unwrap();
    assert_eq!((ran.code, server.asked().len()), (Some(4), 4), "{ran}");
    let shown = session.run("show l1").unwrap().stdout;
    let expected = [
        "LOOKING invokes judge.lamp, which a person must answer: near: 4 answers were refused, the last because of answer",
        "| Is the lamp on?",
        "interlock send l1 on --data '{\"brightness\":1}'",
        "interlock send l1 off",
    ];
    expected.iter().for_each(|line| assert!(shown.contains(line), "{line} is not in\n{shown}"));
    let offered: Json = serde_json::from_str(&session.run("show l1 --json").unwrap().stdout).unwrap();
    assert_eq!(offered["offers"]["by_hand"][0]["question"], "Is the lamp on?");
    assert_eq!(offered["offers"]["by_hand"][0]["signals"][0]["data"]["required"], json!(["brightness"]));
    for wrong in ["on --data '{\"brightness\": \"7\"}'", "on --data '{\"brightness\": 7, \"colour\": \"red\"}'", "dim"]
    {
        let refused = session.run(&format!("send l1 {wrong}")).unwrap();
        assert_eq!(refused.code, Some(2), "{refused}");
    }
    let sent = session.run("send l1 on --data '{\"brightness\": 7}'").unwrap();
    assert_eq!(sent.code, Some(0), "{sent}");
    let trace = session.run("trace l1").unwrap().stdout;
    assert!(trace.contains("judge.lamp is left to a person") && trace.contains("brightness 7"), "{trace}");
    let evidence = session.run("evidence l1").unwrap().stdout;
    assert!(evidence.contains("prompt") && evidence.contains("judgement"), "what models said is kept: {evidence}");
    assert_eq!(session.run("verify l1").unwrap().code, Some(0));
    assert_eq!(session.run("replay l1").unwrap().code, Some(0));
    assert_eq!(server.asked().len(), 4, "nobody was asked again");
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
    assert!(doctor.stdout.contains("no model is configured: the built-in rules answer"), "{doctor}");
    let (_folder, session) = project("[chains]\ndefault = [\"person\"]\njudge.plan = [\"rules\"]\n");
    let doctor = session.run("doctor").unwrap();
    assert!(
        doctor.stdout.contains("no model is configured: a person answers, for judge.plan the built-in rules answer"),
        "{doctor}"
    );
    let server = ModelServer::saying(vec![Dialect::Chat.says("ready, I think")]);
    let (_folder, session) = project(&at(&server));
    let doctor = session.run("doctor").unwrap();
    assert!(doctor.stdout.contains("✗ judge near") && doctor.code == Some(1), "{doctor}");
}

#[test]
fn doctor_tells_of_chains_that_no_machine_asks_for() {
    let doctor = |settings: &str| project(settings).1.run("doctor").unwrap();
    let slip = doctor("[chains]\njudge.analysys = [\"rules\"]\n");
    assert_eq!(slip.code, Some(1), "{slip}");
    assert!(slip.stdout.contains("judge.analysys") && slip.stdout.contains("did you mean `judge.analysis`?"), "{slip}");
    let slip = doctor("[votes]\njudge.reslt = 3\n");
    assert!(slip.stdout.contains("did you mean `judge.result`?") && slip.code == Some(1), "{slip}");
    let elsewhere = doctor("[chains]\njudge.xylophone = [\"rules\"]\n");
    assert_eq!(elsewhere.code, Some(0), "it may be for a machine that is elsewhere: {elsewhere}");
    assert!(elsewhere.stdout.contains("names judge.xylophone, which no available machine"), "{elsewhere}");
    let known = doctor("[chains]\ndefault = [\"rules\"]\njudge.plan = [\"person\"]\n");
    assert!(known.code == Some(0) && !known.stdout.contains("no available machine"), "{known}");
}
