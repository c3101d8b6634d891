//! Views of runs: lists, traces, reports, replays.

use std::process::Command;

use expect_test::expect;
use serde_json::Value as Json;

use super::scene::{TEA, brewed, check, json, run};

#[test]
fn runs_are_listed_and_shown() {
    let (_folder, session) = brewed();
    assert_eq!(run(&session, "run tea --set leaf=mint --name t2").code, Some(4));
    let listed = run(&session, "runs --phase waiting --machine tea").stdout;
    let columns = |line: &str| line.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = listed.lines().map(columns).collect();
    assert_eq!(rows, ["run machine phase place", "t2 tea waiting heating", "t1 tea waiting brewed"]);
    assert!(run(&session, "runs --phase failed,aborted").stdout.is_empty());
    assert_eq!(run(&session, "runs --phase failed").stderr, "No run matches\n");
    assert!(run(&session, "runs -n 1").stderr.contains("there may be more"));
    assert!(!run(&session, "runs").stderr.contains("there may be more"));
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
                             event     the run started by user ada
                2  hh:mm:ss  heating → brewed
                             event     boiled by user ada
                             activity  kettle.boil in heating, answered by a person
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
                             refused   brewed → brewed: its limit is reached: brewed.stronger#1 is 2
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
            | It has ended in drunk, as t1 did at that record, so it cannot continue. To take another path, fork an earlier record:
            |     interlock trace t1  # lists the records
            |     interlock fork t1 --at N
        "#]],
    );
    assert!(run(&session, "fork t1 --at 3 --name t5").stderr.contains("interlock resume t5"));
    run(&session, "fork t1 --at 1 --name t6");
    assert!(run(&session, "verify t6").stdout.starts_with("✓ t6: 1 record unchanged\n"));
}

#[test]
fn a_changed_record_is_named() {
    let (_folder, session) = brewed();
    check(
        &session,
        "verify",
        expect![[r#"
        ✓ t1: 2 records unchanged
        ✓ the store: 2 records in one chain
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
        ✗ t1: records were changed
          record 2: its hash does not match its content and the previous record
        ✓ the store: 2 records in one chain
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
fn text_of_others_does_not_steer_a_terminal() {
    let (_folder, session) = brewed();
    let session = session.with("INTERLOCK_USER", "eve\u{1b}[2J\u{202e}");
    let data = r#"{"minutes":3,"note":"\u001b]0;owned\u0007 \u202egnp.exe"}"#;
    let sent = run(&session, &format!("send t1 stronger --data '{data}'"));
    let views = ["show t1", "trace t1", "trace t1 --json", "replay t1", "report t1", "report t1 --format html", "runs"];
    let shown = views.map(|view| run(&session, view));
    for transcript in shown.iter().chain([&sent]) {
        let text = format!("{}{}", transcript.stdout, transcript.stderr);
        let odd = text.chars().find(|letter| letter.is_control() && *letter != '\n' || *letter == '\u{202e}');
        assert_eq!(odd, None, "{transcript}");
    }
    assert!(shown[1].stdout.contains("eve\\u{1b}[2J\\u{202e}"), "{}", shown[1]);
}
