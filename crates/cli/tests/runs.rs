//! Runs as their users see them: stdout as it is, stderr behind a bar, the exit code where it is not 0.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::{path::Path, process::Command};

use expect_test::{Expect, expect};
use interlock_testkit::session::{Session, Transcript, without_times};
use serde_json::Value as Json;
use tempfile::TempDir;

const TEA: &str = "\
machine: tea
version: 1
summary: Makes tea, and asks how strong.
input: { type: object, required: [leaf], properties: { leaf: { type: string }, cups: { type: integer, default: 1 } } }
context: { strength: 0 }
events:
  drink: { from: user, summary: Drink it }
  stronger:
    from: user
    summary: Brew it longer
    data: { type: object, required: [minutes], properties: { minutes: { type: integer, minimum: 1 } } }
  abort: { from: user, summary: Pour it away }
initial: heating
on:
  abort: { target: poured_away, reason: nobody wants tea }
states:
  heating:
    invoke: { activity: kettle.boil, with: { cups: \"${input.cups}\" }, signals: [boiled] }
    on:
      boiled: { target: brewed, reason: \"the water for ${input.leaf} boils\" }
      error: { target: cold, reason: \"${event.message}\" }
  brewed:
    on:
      stronger:
        - { guard: event.minutes > 10, reason: it would be bitter }
        - { target: brewed, limit: 2, assign: { strength: \"${context.strength + event.minutes}\" } }
        - { target: cold, reason: it stood too long }
      drink: { target: drunk }
  drunk: { type: final, outcome: success }
  cold: { type: final, outcome: failure }
  poured_away: { type: final, outcome: aborted }
";

/// A project with one machine, and a store of its own.
fn project() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &here)
        .with("INTERLOCK_HOME", here.join("home").display().to_string())
        .with("INTERLOCK_USER", "ada");
    session.write(".interlock/machines/tea/machine.yaml", TEA).unwrap();
    (folder, session)
}

fn run(session: &Session, arguments: &str) -> Transcript {
    session.run(arguments).unwrap()
}

fn json(session: &Session, arguments: &str) -> Json {
    let transcript = run(session, &format!("{arguments} --json"));
    serde_json::from_str(&transcript.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}\n{transcript}"))
}

fn check(session: &Session, arguments: &str, expected: Expect) {
    expected.assert_eq(&without_times(&run(session, arguments).to_string()));
}

/// A run of tea that has come to `brewed`.
fn brewed() -> (TempDir, Session) {
    let (folder, session) = project();
    assert_eq!(run(&session, "run tea --set leaf=oolong --name t1").code, Some(4));
    assert_eq!(run(&session, "send t1 boiled").code, Some(4));
    (folder, session)
}

#[test]
fn a_machine_is_played_by_hand_from_its_start_to_its_end() {
    let (_folder, session) = project();
    check(
        &session,
        "run tea --set leaf=oolong --name t1",
        expect![[r#"
            t1  waiting  heating
            | run t1
            | hh:mm:ss  → heating  start
            | t1 waits in heating. To answer:
            |   heating has kettle.boil done, which is not available here; say how it went in its place
            |     it is given {"cups":1}
            |     interlock send t1 boiled
            |     interlock send t1 error --data '{"code":"FAILED","message":"…"}'  # It failed
            |     interlock send t1 abort  # Pour it away
            | `interlock show t1` has what it is about.
            [exit 4]
        "#]],
    );
    check(
        &session,
        "send t1 boiled",
        expect![[r#"
            t1  waiting  brewed
            | hh:mm:ss  heating → brewed  boiled  the water for oolong boils
            | t1 waits in brewed. To answer:
            |     interlock send t1 drink  # Drink it
            |     interlock send t1 stronger --data '{"minutes":1}'  # Brew it longer
            |     interlock send t1 abort  # Pour it away
            | `interlock show t1` has what it is about.
            [exit 4]
        "#]],
    );
    check(
        &session,
        "send t stronger --data '{\"minutes\": 2}'",
        expect![[r#"
            t1  waiting  brewed
            | hh:mm:ss  brewed → brewed  stronger
            | t1 waits in brewed. To answer:
            |     interlock send t1 drink  # Drink it
            |     interlock send t1 stronger --data '{"minutes":1}'  # Brew it longer
            |     interlock send t1 abort  # Pour it away
            | `interlock show t1` has what it is about.
            [exit 4]
        "#]],
    );
    check(
        &session,
        "send t1 drink",
        expect![[r#"
        t1  succeeded  drunk
        | hh:mm:ss  brewed → drunk  drink
    "#]],
    );
    check(
        &session,
        "send t1 drink",
        expect![[r#"
        | error: run t1 has ended
        [exit 2]
    "#]],
    );
}

#[test]
fn what_is_not_taken_is_refused_with_what_is() {
    let (_folder, session) = brewed();
    check(
        &session,
        "send t1 boiled",
        expect![[r#"
        | error: `boiled` is not yours to send: it comes from activity
        | Hint: it takes these now:
        |   drink     Drink it
        |   stronger  Brew it longer
        |   abort     Pour it away
        [exit 2]
    "#]],
    );
    check(
        &session,
        "send t1 stir",
        expect![[r#"
        | error: the machine tea knows no event `stir`
        | Hint: it takes these now:
        |   drink     Drink it
        |   stronger  Brew it longer
        |   abort     Pour it away
        [exit 2]
    "#]],
    );
    check(
        &session,
        "send t1 stronger",
        expect![[r#"
        | error: the data of `stronger` does not fit:
        |   "minutes" is a required property
        | Hint: interlock send t1 stronger --data '{"minutes":1}'
        [exit 2]
    "#]],
    );
    check(
        &session,
        "send t1 stronger --data '{'",
        expect![[r#"
        | error: the data is not JSON: EOF while parsing an object at line 1 column 1
        | Hint: --data '{"field": "value"}'
        [exit 2]
    "#]],
    );
    check(
        &session,
        "send tt drink",
        expect![[r#"
        | error: there is no run called `tt`
        | Hint: `interlock runs` lists them
        [exit 2]
    "#]],
    );
    let records = json(&session, "show t1")["seq"].clone();
    assert_eq!(records, 2, "what is refused leaves no record");
}

#[test]
fn exit_codes_say_how_a_run_ended() {
    for (event, expected) in [("drink", 0), ("'stronger' --data '{\"minutes\":11}'", 4), ("abort", 3)] {
        let (_folder, session) = brewed();
        assert_eq!(run(&session, &format!("send t1 {event}")).code, Some(expected), "{event}");
    }
    let (_folder, session) = project();
    assert_eq!(run(&session, "run tea --set leaf=oolong --name t1").code, Some(4));
    let failed = run(&session, "send t1 error --data '{\"code\": \"FAILED\", \"message\": \"no water\"}'");
    assert_eq!(failed.code, Some(1), "{failed}");
    assert_eq!(run(&session, "abort t1").code, Some(2));
}

#[test]
fn a_run_that_is_aborted_as_asked_is_good() {
    let (_folder, session) = brewed();
    check(
        &session,
        "abort t1",
        expect![[r#"
        t1  aborted  poured_away
        | hh:mm:ss  tea → poured_away  abort  nobody wants tea
    "#]],
    );
    check(
        &session,
        "abort t1",
        expect![[r#"
        | error: t1 has ended
        [exit 2]
    "#]],
    );
}

#[test]
fn bad_input_is_named_in_full_and_starts_nothing() {
    let (_folder, session) = project();
    check(
        &session,
        "run tea --set cups=many --set leaf=x --set leaf.y=z",
        expect![[r#"
        | error: `--set leaf.y`: there are no fields within `"x"`
        [exit 2]
    "#]],
    );
    check(
        &session,
        "run tea --set cups=many",
        expect![[r#"
            | error: the input does not fit the machine:
            |   "leaf" is a required property
            |   cups: "many" is not of type "integer"
            | Hint: `echo '{"leaf":"…"}' | interlock run tea --input -` has what it takes at least
            [exit 2]
        "#]],
    );
    check(
        &session,
        "run tee",
        expect![[r#"
        | error: there is no machine called `tee`
        | Hint: the machines here are brain, coder, firmware, notebook, prd, tea; a path to a folder or a file works too
        [exit 2]
    "#]],
    );
    check(
        &session,
        "run tea --set leaf=x --name 'a b'",
        expect![[r#"
        | error: `a b` cannot be the name of a run
        | Hint: letters, digits, `.`, `_` and `-`, at most 100, a letter or digit first
        [exit 2]
    "#]],
    );
    check(
        &session,
        "runs",
        expect![[r#"
        | no runs; `interlock run` starts one
    "#]],
    );
    session.write("input.yaml", "leaf: mint\ncups: 3\n").unwrap();
    assert_eq!(run(&session, "run tea --input input.yaml --name t1").code, Some(4));
    assert_eq!(json(&session, "show t1")["input"], serde_json::json!({ "leaf": "mint", "cups": 3 }));
    check(
        &session,
        "run tea --input input.yaml --name t1",
        expect![[r#"
        | error: there is a run called `t1` already
        | Hint: choose another name
        [exit 2]
    "#]],
    );
}

#[test]
fn a_machine_with_mistakes_is_not_run() {
    let (_folder, session) = project();
    session.write("bad/machine.yaml", &TEA.replace("initial: heating", "initial: heatin")).unwrap();
    let refused = run(&session, "run bad/");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("E0201"), "{refused}");
    assert_eq!(json(&session, "runs"), serde_json::json!([]));
}

#[test]
fn runs_are_listed_and_shown() {
    let (_folder, session) = brewed();
    assert_eq!(run(&session, "run tea --set leaf=mint --name t2").code, Some(4));
    let listed = run(&session, "runs --phase waiting --machine tea").stdout;
    let columns = |line: &str| line.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = listed.lines().map(columns).collect();
    assert_eq!(rows, ["run machine phase place", "t2 tea waiting heating", "t1 tea waiting brewed"]);
    assert!(run(&session, "runs --phase failed,aborted").stdout.is_empty());
    let rows = json(&session, "runs -n 1");
    assert_eq!((&rows[0]["run"], &rows[0]["phase"], &rows[0]["newer"]), (&"t2".into(), &"waiting".into(), &Json::Null));
    let shown = json(&session, "show t2");
    assert_eq!(shown["activities"][0]["with"], serde_json::json!({ "cups": 1 }));
    assert_eq!(shown["offers"]["by_hand"][0]["signals"][0]["event"], "boiled");
    assert_eq!(shown["counters"][0]["max"], 2);
    let text = run(&session, "show t2").stdout;
    for words in ["t2: waiting in heating", "kettle.boil for heating", "leaf = \"mint\"", "interlock send t2 boiled"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn a_run_keeps_its_machine_and_the_list_says_when_there_is_a_newer_one() {
    let (_folder, session) = brewed();
    session.write(".interlock/machines/tea/machine.yaml", &TEA.replace("version: 1", "version: 2")).unwrap();
    let listed = run(&session, "runs");
    assert!(listed.stdout.contains("tea*"), "{listed}");
    assert!(listed.stderr.contains("version 1, now 2"), "{listed}");
    assert_eq!(json(&session, "runs")[0]["newer"]["version"], 2);
    assert_eq!(run(&session, "send t1 drink").code, Some(0));
}

#[test]
fn a_trace_says_why() {
    let (_folder, session) = brewed();
    for minutes in [2, 11, 3, 4] {
        run(&session, &format!("send t1 stronger --data '{{\"minutes\": {minutes}}}'"));
    }
    check(
        &session,
        "trace t1",
        expect![[r#"
            t1 of tea: failed in cold
                1  hh:mm:ss  → heating
                             event     the run began by user ada
                2  hh:mm:ss  heating → brewed
                             event     boiled by user ada
                             reason    the water for oolong boils
                3  hh:mm:ss  brewed → brewed
                             event     stronger by user ada {"minutes":2}
                             refused   brewed → stays: `event.minutes > 10` is false (event.minutes = 2)
                             counter   brewed.stronger#1 0 → 1 of 2
                4  hh:mm:ss  brewed stays
                             event     stronger by user ada {"minutes":11}
                             reason    it would be bitter
                             guard     `event.minutes > 10` is true (event.minutes = 11)
                5  hh:mm:ss  brewed → brewed
                             event     stronger by user ada {"minutes":3}
                             refused   brewed → stays: `event.minutes > 10` is false (event.minutes = 3)
                             counter   brewed.stronger#1 1 → 2 of 2
                6  hh:mm:ss  brewed → cold
                             event     stronger by user ada {"minutes":4}
                             reason    it stood too long
                             refused   brewed → stays: `event.minutes > 10` is false (event.minutes = 4)
                             refused   brewed → brewed: its limit is used up: brewed.stronger#1 is 2
        "#]],
    );
}

#[test]
fn a_trace_for_programs_is_json_lines() {
    let (_folder, session) = brewed();
    let lines = run(&session, "trace t1 --json").stdout;
    let moves: Vec<Json> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for each in &moves {
        for key in ["seq", "at", "from_state", "event", "to_state", "reason", "evidence_refs", "iteration_index"] {
            assert!(each.get(key).is_some(), "{key}");
        }
        let at = each["at"].as_str().unwrap();
        assert!(at.len() == 24 && at.ends_with('Z') && at.as_bytes()[10] == b'T', "{at}");
    }
    let second = (&moves[1]["from_state"], &moves[1]["event"], &moves[1]["to_state"], &moves[1]["reason"]);
    assert_eq!(second, (&"heating".into(), &"boiled".into(), &"brewed".into(), &"the water for oolong boils".into()));
    assert_eq!(moves[1]["by"], serde_json::json!({ "kind": "user", "name": "ada" }));
}

#[test]
fn a_run_is_replayed_to_any_record_and_forked_from_it() {
    let (_folder, session) = brewed();
    run(&session, "send t1 stronger --data '{\"minutes\": 2}'");
    run(&session, "send t1 drink");
    check(
        &session,
        "replay t1 --at 3",
        expect![[r#"
        t1 after record 3 of 4: waiting in brewed
          hh:mm:ss  brewed → brewed  stronger

        input
          cups = 1
          leaf = "oolong"

        context
          strength = 2

        counters
          brewed.stronger#1 1 of 2
    "#]],
    );
    assert_eq!(json(&session, "replay t1 --at 2")["context"]["strength"], 0);
    assert_eq!(json(&session, "replay t1")["phase"], "succeeded");
    assert_eq!(run(&session, "replay t1 --at 5").code, Some(2));
    let fork = json(&session, "fork t1 --at 3");
    let name = fork["run"].as_str().unwrap();
    assert_eq!((&fork["from"], &fork["place"]), (&"t1".into(), &"brewed".into()));
    assert_eq!(run(&session, &format!("send {name} abort")).code, Some(3));
    assert_eq!(json(&session, &format!("show {name}"))["context"]["strength"], 2);
    assert_eq!(json(&session, "show t1")["phase"], "succeeded");
    assert_eq!(run(&session, "verify").code, Some(0));
    assert_eq!(run(&session, "fork t1 --at 9").code, Some(2));
    assert_eq!(json(&session, "fork t1 --at 3 --name t2")["run"], "t2");
    assert_eq!(run(&session, "fork t1 --at 3 --name t2").code, Some(2), "a name is given once");
    assert_eq!(run(&session, "fork t1 --at 3 --name ../t3").code, Some(2));
    check(
        &session,
        "fork t1 --at 4 --name t4",
        expect![[r#"
            t4
            | it has ended in drunk, as t1 did at that record: there is nothing to go on with. To go another way, fork it earlier:
            |     interlock trace t1  # which record is which
            |     interlock fork t1 --at N
        "#]],
    );
    assert!(run(&session, "fork t1 --at 3 --name t5").stderr.contains("interlock resume t5"));
    run(&session, "fork t1 --at 1 --name t6");
    assert_eq!(run(&session, "verify t6").stdout, "✓ t6: 1 record as it was written\n");
}

#[test]
fn a_paused_run_stands_still_until_it_is_resumed() {
    let (_folder, session) = brewed();
    check(
        &session,
        "pause t1",
        expect![[r#"
        t1  paused  record 3
    "#]],
    );
    check(
        &session,
        "send t1 drink",
        expect![[r#"
            | error: run t1 is paused; resume it first, or abort it
            [exit 2]
        "#]],
    );
    check(
        &session,
        "resume t1",
        expect![[r#"
            t1  waiting  brewed
            | t1 waits in brewed. To answer:
            |     interlock send t1 drink  # Drink it
            |     interlock send t1 stronger --data '{"minutes":1}'  # Brew it longer
            |     interlock send t1 abort  # Pour it away
            | `interlock show t1` has what it is about.
            [exit 4]
        "#]],
    );
    check(
        &session,
        "resume",
        expect![[r#"
        | no run needs anybody
    "#]],
    );
    assert_eq!(run(&session, "send t1 drink").code, Some(0));
}

const CAREFUL: &str = "\
machine: careful
version: 1
summary: Asks where policy asks.
events: { again: { from: user, summary: Try it again } }
initial: working
states:
  working:
    invoke: { activity: command.run, with: { command: \"mkdir -p infra && touch infra/made\" }, signals: [passed, failed] }
    on:
      passed: { target: asking, reason: it is done }
      failed: { target: broken }
      error: { target: asking, reason: \"${event.code}: ${event.message}\" }
  asking:
    on: { again: working }
  broken: { type: final, outcome: failure }
";

/// The scopes that a run which was just refused has named.
fn asked(said: &Transcript) -> String {
    let (_, scopes) =
        said.stderr.split_once("`interlock grant c1 ").unwrap_or_else(|| panic!("nothing is asked\n{said}"));
    scopes.split_once('`').unwrap().0.to_owned()
}

#[test]
fn a_command_waits_for_a_person_to_grant_it_and_each_use_is_told() {
    let (_folder, session) = project();
    session.write("careful/machine.yaml", CAREFUL).unwrap();
    let refused = run(&session, "run ./careful --name c1");
    assert!(refused.stderr.contains("CONFIRMATION_NEEDED"), "{refused}");
    assert!(!session.folder().join("infra").exists());
    let scopes = asked(&refused);
    let granted = run(&session, &format!("grant c1 {scopes}"));
    assert!(granted.stdout.starts_with("c1  granted fs.write:infra"), "{granted}");
    let done = run(&session, "send c1 again");
    assert!(done.stderr.contains("it is done") && session.folder().join("infra/made").exists(), "{done}");
    let trace = run(&session, "trace c1").stdout;
    for told in ["granted, once", "by the grant of record", "user ada"] {
        assert!(trace.contains(told), "{told} is not in\n{trace}");
    }
    let used_up = run(&session, "send c1 again");
    assert_eq!(asked(&used_up), scopes);
    assert_eq!(run(&session, &format!("grant c1 {scopes} --for 1h --uses 5")).code, Some(0));
    for _ in 0..2 {
        let again = run(&session, "send c1 again");
        assert!(again.stderr.contains("it is done"), "{again}");
    }
    assert_eq!(run(&session, "verify").code, Some(0));
}

#[test]
fn what_cannot_be_granted_is_said() {
    let (_folder, session) = brewed();
    let cases = [
        ("", "required arguments were not provided"),
        ("fs.wrote:x", "`fs.wrote` is not a permission"),
        ("destroy", "`destroy` needs to say what"),
        ("fs.write --for 1x", "a time is a number and a unit"),
        ("fs.write --for 0s", "a whole number from 1 on"),
        ("fs.write --uses 0", "0 is not in"),
    ];
    for (arguments, message) in cases {
        let said = run(&session, &format!("grant t1 {arguments}"));
        assert!(said.code == Some(2) && said.stderr.contains(message), "{arguments}: {said}");
    }
    let granted = json(&session, "grant t1 fs.write:docs/** --for 1h");
    assert_eq!((&granted["for_ms"], &granted["uses"]), (&Json::from(3_600_000), &Json::Null));
    assert_eq!(json(&session, "grant t1 'destroy:git clean -fd'")["uses"], 1);
    assert_eq!(run(&session, "send t1 drink").code, Some(0));
    assert_eq!(run(&session, "grant t1 fs.write").code, Some(2));
}

#[test]
fn a_changed_record_is_named() {
    let (_folder, session) = brewed();
    check(
        &session,
        "verify",
        expect![[r#"
        ✓ t1: 2 records as they were written
    "#]],
    );
    let file = session.folder().join("home/journal.sqlite");
    let sql = "UPDATE record SET payload = replace(payload, 'ada', 'eve') WHERE seq = 2";
    let changed = Command::new("sqlite3").arg(file).arg(sql).status().unwrap();
    assert!(changed.success());
    check(
        &session,
        "verify t1",
        expect![[r#"
        ✗ t1: not what was written
          record 2: its hash does not fit its content and the record before
        [exit 1]
    "#]],
    );
    let found = json(&session, "verify");
    assert_eq!((&found[0]["ok"], &found[0]["problems"][0]["seq"]), (&false.into(), &2.into()));
}

#[test]
fn a_report_is_a_page_with_the_picture_in_it() {
    let (_folder, session) = brewed();
    run(&session, "send t1 drink");
    assert_eq!(run(&session, "report t1 --out t1.html").code, Some(0));
    let page = std::fs::read_to_string(session.folder().join("t1.html")).unwrap();
    let (_, body) = page.split_once("<!DOCTYPE html>").unwrap();
    let tree = roxmltree::Document::parse(body.trim()).unwrap_or_else(|error| panic!("{error}"));
    let count = |name: &str| tree.descendants().filter(|node| node.tag_name().name() == name).count();
    assert_eq!((count("svg"), count("section")), (1, 3));
    for words in ["the water for oolong boils", "heating → brewed", "prefers-color-scheme"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("src=\"http"), "it needs nothing else");
    check(
        &session,
        "report t1 --format json --out t1.json",
        expect![[r#"
        | wrote t1.json
    "#]],
    );
    let report: Json =
        serde_json::from_str(&std::fs::read_to_string(session.folder().join("t1.json")).unwrap()).unwrap();
    assert_eq!(report["moves"].as_array().unwrap().len(), 3);
    let refused = run(&session, "report t1 --out t1.pdf");
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("`.pdf`") && refused.stderr.contains(".md, .html or .json"), "{refused}");
    assert!(!session.folder().join("t1.pdf").exists());
    assert_eq!(run(&session, "report t1 --format md --out t1.txt").code, Some(0));
    assert!(run(&session, "report t1").stdout.contains("| heating → brewed | boiled | the water for oolong boils |"));
}

#[test]
fn a_built_in_machine_becomes_the_projects_own() {
    let (_folder, session) = project();
    check(
        &session,
        "init brian",
        expect![[r#"
        | error: there is no built-in machine called `brian`
        | Hint: did you mean `brain`?
        [exit 2]
    "#]],
    );
    assert_eq!(run(&session, "init brain").stdout, ".interlock/machines/brain\n");
    check(
        &session,
        "init brain",
        expect![[r#"
        | error: .interlock/machines/brain is there already
        | Hint: --force writes over it
        [exit 2]
    "#]],
    );
    assert_eq!(run(&session, "init brain --force").code, Some(0));
    let origin = |row: &Json| row["id"] == "brain" && row["origin"] == "project";
    assert!(json(&session, "machines").as_array().unwrap().iter().any(origin));
}

/// A path on which there is little more than git.
fn bare_path(folder: &Path) -> String {
    let programs = folder.join("programs");
    std::fs::create_dir_all(&programs).unwrap();
    for name in ["git", "df"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).output().unwrap().stdout;
        std::os::unix::fs::symlink(String::from_utf8(found).unwrap().trim(), programs.join(name)).unwrap();
    }
    programs.display().to_string()
}

#[test]
fn the_rest_says_what_there_is() {
    let (_folder, session) = brewed();
    let doctor = run(&session, "doctor");
    assert_eq!(doctor.code, Some(0), "{doctor}");
    assert!(json(&session, "doctor").as_array().unwrap().iter().all(|finding| finding["ok"] == true));
    let bare = session.clone().with("PATH", bare_path(session.folder()));
    let lacking = run(&bare, "doctor");
    let missing = "missing: only needed for firmware for Cortex-M that is built here, as the sample's; `apt install gcc-arm-none-eabi`";
    assert!(lacking.code == Some(0) && lacking.stdout.contains(missing), "{lacking}");
    check(
        &session,
        "gc",
        expect![[r#"
        0 files removed, 0 bytes; 0 kept
    "#]],
    );
    check(
        &session,
        "evidence t1",
        expect![[r#"
        | t1 left no files behind
    "#]],
    );
    assert!(run(&session, "completions bash").stdout.contains("interlock__subcmd__run"));
    assert_eq!(run(&session, "man --out man").code, Some(0));
    assert!(session.folder().join("man/interlock-run.1").exists());
    assert!(json(&session, "activities").is_array());
}

#[test]
fn a_store_that_cannot_be_used_is_said_so() {
    let (_folder, session) = project();
    session.write("home", "not a folder").unwrap();
    let failed = run(&session, "runs");
    assert_eq!(failed.code, Some(1), "{failed}");
    assert!(failed.stderr.starts_with("error: "), "{failed}");
    assert_eq!(run(&session, "doctor").code, Some(1));
}
