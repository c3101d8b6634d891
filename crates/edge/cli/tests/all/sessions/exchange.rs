//! Pictures, import and export of other formats, and external conformance cases.

use expect_test::expect;

use super::scene::{check, check_in, project};

#[test]
fn a_machine_is_drawn_in_every_format() {
    let (_folder, session) = project();
    for (format, start) in [
        ("svg", "<svg"),
        ("mermaid", "stateDiagram-v2"),
        ("dot", "digraph"),
        ("scxml", "<scxml"),
        ("xstate", "{"),
        ("promela", "/* door"),
    ] {
        let drawn = session.run(&format!("draw door --format {format}")).unwrap();
        assert_eq!(drawn.code, Some(0), "{}", drawn.stderr);
        assert!(drawn.stdout.contains(start), "{format}: {}", drawn.stdout);
    }
}

#[test]
fn a_picture_goes_to_a_file_and_stdout_stays_empty() {
    let (_folder, session) = project();
    check_in(
        &session,
        "draw door -o door.svg",
        expect![[r#"
        | wrote door.svg
    "#]],
    );
    assert!(session.folder().join("door.svg").exists());
}

#[test]
fn a_picture_that_cannot_be_written_is_bad_input() {
    check(
        "draw door -o nowhere/door.svg",
        expect![[r#"
        | error: cannot write nowhere/door.svg: No such file or directory (os error 2)
        [exit 2]
    "#]],
    );
}

#[test]
fn a_machine_survives_export_and_import() {
    let (_folder, session) = project();
    for (format, file) in [("scxml", "door.scxml"), ("xstate", "door.json")] {
        session.run(&format!("draw door --format {format} -o {file}")).unwrap();
        let imported = session.run(&format!("import {file} -o {format}/")).unwrap();
        assert_eq!(imported.code, Some(0), "{}", imported.stderr);
        let hash = |machine: &str| {
            let text = session.run(&format!("describe {machine} --json")).unwrap().stdout;
            serde_json::from_str::<serde_json::Value>(&text).unwrap()["hash"].clone()
        };
        assert_eq!(hash("door"), hash(&format!("{format}/")), "{format}");
    }
}

#[test]
fn an_import_prints_a_machine_file() {
    let (_folder, session) = project();
    session.write("lamp.mmd", "stateDiagram-v2\n  [*] --> off\n  off --> on : press\n  on --> off : press\n").unwrap();
    check_in(
        &session,
        "import lamp.mmd",
        expect![[r#"
        machine: lamp
        version: 1

        events:
          press: { from: any }
        initial: 'off'

        states:
          off: { on: { press: 'on' } }
          on: { on: { press: 'off' } }
    "#]],
    );
}

#[test]
fn an_import_of_something_else_says_so() {
    let (_folder, session) = project();
    session.write("notes.txt", "nothing of the kind\n").unwrap();
    check_in(
        &session,
        "import notes.txt",
        expect![[r#"
        | error[E0506]: cannot tell which format `notes.txt` is in
        |  --> notes.txt:1:1
        |   |
        | 1 | nothing of the kind
        |   | ^
        |   |
        |   = help: name the format: scxml, xstate or mermaid
        |   = help: `interlock explain E0506` tells more
        |
        [exit 2]
    "#]],
    );
    check_in(
        &session,
        "import missing.scxml",
        expect![[r#"
        | error: cannot read missing.scxml: No such file or directory (os error 2)
        [exit 2]
    "#]],
    );
}

#[test]
fn what_a_script_engine_would_need_is_not_imported() {
    let (_folder, session) = project();
    let scxml = "<scxml xmlns='http://www.w3.org/2005/07/scxml' version='1.0'>\n<state id='a'>\n<onentry><script>x()</script></onentry>\n</state>\n</scxml>\n";
    session.write("script.scxml", scxml).unwrap();
    check_in(
        &session,
        "import script.scxml",
        expect![[r#"
        | error[E0510]: line 3: `<script>` needs a script engine
        |  --> script.scxml:3:10
        |   |
        | 3 | <onentry><script>x()</script></onentry>
        |   |          ^^^^^^^
        |   |
        |   = help: `interlock explain E0510` tells more
        |
        [exit 2]
    "#]],
    );
}

#[test]
fn cases_are_run_and_counted_on_the_last_line() {
    let (_folder, session) = project();
    let open = "<scxml xmlns='http://www.w3.org/2005/07/scxml' version='1.0'>";
    session.write("cases/good.scxml", &format!("{open}<final id='pass'/></scxml>")).unwrap();
    session.write("cases/sub/bad.scxml", &format!("{open}<state id='a'/></scxml>")).unwrap();
    session.write("cases/sub/bad.json", r#"{"initialConfiguration": ["b"], "events": []}"#).unwrap();
    session.write("cases/script.scxml", &format!("{open}<script>1</script><final id='pass'/></scxml>")).unwrap();
    check_in(
        &session,
        "conform cases",
        expect![[r#"
        unsupported  script: E0510: line 1: `<script>` needs a script engine
        failed       sub/bad: at the start: expected {b}, got {a}
        1 unsupported
        1 passed, 1 failed
        [exit 1]
    "#]],
    );
    check_in(
        &session,
        "conform cases --json",
        expect![[r#"
        {
          "passed": 1,
          "failed": 1,
          "unsupported": 1,
          "skipped": [],
          "cases": [
            {
              "name": "good",
              "result": "passed"
            },
            {
              "name": "script",
              "result": "unsupported",
              "message": "E0510: line 1: `<script>` needs a script engine"
            },
            {
              "name": "sub/bad",
              "result": "failed",
              "message": "at the start: expected {b}, got {a}"
            }
          ]
        }
        [exit 1]
    "#]],
    );
    check_in(
        &session,
        "conform cases/sub/nothing",
        expect![[r#"
        | error: cannot read cases/sub/nothing: No such file or directory (os error 2)
        [exit 2]
    "#]],
    );
    check_in(
        &session,
        "conform .interlock",
        expect![[r#"
        | error: there are no cases below .interlock
        | Hint: a case is a file NAME.scxml with its expectations in NAME.json beside it
        [exit 2]
    "#]],
    );
}

#[test]
fn the_schema_is_json() {
    let (_folder, session) = project();
    let schema = session.run("schema").unwrap();
    let json: serde_json::Value = serde_json::from_str(&schema.stdout).unwrap();
    assert_eq!(json["title"], "Interlock machine");
    assert_eq!(schema.code, Some(0));
}
