//! The map of a repository, and the knowledge base of runs.

use expect_test::expect;
use interlock_testkit_cli::session::Session;
use tempfile::TempDir;

use super::scene::{check_in, project};

/// Makes a project with code and a separate store.
fn code() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let home = root.join("home").display().to_string();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), root.join("work")).with("INTERLOCK_HOME", &home);
    session.write("src/ring.c", "int ring_push(int value)\n{\n    return value;\n}\n").unwrap();
    session.write("src/uart.c", "int uart_send(int c)\n{\n    return ring_push(c);\n}\n").unwrap();
    session.write("vendor/lib.c", "int lib(void);\n").unwrap();
    (folder, session)
}

#[test]
fn a_map_shows_what_a_goal_is_about() {
    let (_folder, session) = code();
    check_in(
        &session,
        "map",
        expect![[r#"
        2 files: 2 c; left out: 1 vendored
        src/ring.c
             1  int ring_push(int value)
        src/uart.c
             1  int uart_send(int c)
    "#]],
    );
    check_in(
        &session,
        "map src --goal uart --tokens 20",
        expect![[r#"
        2 files: 2 c
        uart.c
             1  int uart_send(int c)
    "#]],
    );
    check_in(
        &session,
        "map nowhere",
        expect![[r#"
        | error: cannot examine nowhere: No such file or directory (os error 2)
        [exit 2]
    "#]],
    );
}

#[test]
fn a_map_is_for_programs_too() {
    let (_folder, session) = code();
    let text = session.run("map --goal uart --json").unwrap().stdout;
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["entries"][0]["path"], "src/uart.c");
    assert_eq!(json["entries"][0]["symbols"][0]["signature"], "int uart_send(int c)");
    assert_eq!(json["languages"], serde_json::json!([{ "language": "c", "files": 2 }]));
    assert_eq!(json["left_out"], serde_json::json!({ "vendored": 1 }));
}

#[test]
fn what_runs_have_learned_is_found_shown_and_written_out() {
    use interlock_knowledge::{Came, Knowledge, Round};
    let (_folder, session) = project();
    let home = session.folder().join("home");
    let session = session.with("INTERLOCK_HOME", home.display().to_string());
    check_in(
        &session,
        "kb search overflow",
        expect![[r#"
            | No entry matches
        "#]],
    );
    let ring = Round {
        run: "fix-ring".to_owned(),
        iteration: 2,
        at_ms: 1_772_366_400_000,
        machine: "firmware".to_owned(),
        title: "the ring loses a byte when it wraps".to_owned(),
        symptom: "test_wraps_around fails: Expected 1 Was 2".to_owned(),
        cause: "off by one in ring_pop".to_owned(),
        patch: "--- a/ring.c\n+++ b/ring.c\n-  if (tail > size)\n+  if (tail >= size)\n".to_owned(),
        result: Some(Came::Fixed),
        product_line: "sensor".to_owned(),
        tags: vec!["uart".to_owned(), "boundary".to_owned()],
        files: vec!["ring.c".to_owned()],
        confidence: 0.85,
        evidence_refs: Vec::new(),
    };
    let timer =
        Round { run: "fix-timer".to_owned(), title: "a timer overflows".to_owned(), tags: Vec::new(), ..ring.clone() };
    let timer = Round { symptom: "ticks are lost".to_owned(), cause: String::new(), patch: String::new(), ..timer };
    let knowledge = Knowledge::open(&home).unwrap();
    knowledge.record(&ring).unwrap();
    knowledge.record(&Round { result: Some(Came::NoChange), product_line: "gateway".to_owned(), ..timer }).unwrap();
    check_in(
        &session,
        "kb search ring_pop overflow",
        expect![[r#"
            ku_20260301_002  no_change  gateway  a timer overflows
                a timer [overflows]
            ku_20260301_001  fixed  sensor  the ring loses a byte when it wraps
                off by one in [ring_pop]
        "#]],
    );
    check_in(
        &session,
        "kb search overflow ring --product-line sensor --tag uart --limit 1",
        expect![[r#"
            ku_20260301_001  fixed  sensor  the ring loses a byte when it wraps
                --- a/[ring].c +++ b/[ring].c - if (tail > size) + if (tail >= size)
        "#]],
    );
    check_in(
        &session,
        "kb show ku_20260301_001",
        expect![[r#"
            ## ku_20260301_001: the ring loses a byte when it wraps

            - result: fixed, confidence 0.85
            - from: firmware, round 2 of run fix-ring
            - at: 2026-03-01T12:00:00.000Z
            - product line: sensor
            - tags: uart, boundary
            - files: ring.c

            Symptom:

            test_wraps_around fails: Expected 1 Was 2

            Cause:

            off by one in ring_pop

            Patch:

            ```diff
            --- a/ring.c
            +++ b/ring.c
            -  if (tail > size)
            +  if (tail >= size)
            ```
        "#]],
    );
    check_in(
        &session,
        "kb show ku_none",
        expect![[r#"
            | error: there is no entry called `ku_none`
            | Hint: find entries with `interlock kb search`
            [exit 2]
        "#]],
    );
    let json = |arguments: &str| -> serde_json::Value {
        serde_json::from_str(&session.run(arguments).unwrap().stdout).unwrap()
    };
    let hits = json("kb search tail --json");
    assert_eq!((&hits[0]["entry"]["id"], &hits[0]["entry"]["result"]), (&"ku_20260301_001".into(), &"fixed".into()));
    assert!(hits[0]["score"].as_f64().unwrap() > 0.0);
    assert_eq!(json("kb show ku_20260301_002 --json")["run"], "fix-timer");
    assert_eq!(json("kb export --json").as_array().unwrap().len(), 2);
    let lines = session.run("kb export").unwrap().stdout;
    let ids: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids, ["ku_20260301_001", "ku_20260301_002"]);
    assert!(session.run("kb export --format md").unwrap().stdout.contains("\n## ku_20260301_002: a timer overflows\n"));
}

#[test]
fn what_runs_have_learned_is_found_by_words_where_the_embedding_model_does_not_answer() {
    use interlock_knowledge::{Knowledge, Round};
    let (_folder, session) = project();
    let home = session.folder().join("home");
    let session = session.with("INTERLOCK_HOME", home.display().to_string());
    let round = Round { run: "a".to_owned(), title: "the ring overflows".to_owned(), ..Round::default() };
    Knowledge::open(&home).unwrap().record(&round).unwrap();
    session.write("home/judges.toml", "[embeddings]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n").unwrap();
    let transcript = session.run("kb search ring").unwrap();
    assert!(transcript.stderr.starts_with("warning: searched by keyword only: "), "{}", transcript.stderr);
    assert!(transcript.stdout.contains("the ring overflows"), "{}", transcript.stdout);
}
