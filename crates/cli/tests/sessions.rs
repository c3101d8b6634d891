//! The command line as its users see it: stdout as it is, stderr behind a bar, the exit code where it is not 0.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::{
    io::Read as _,
    process::{Command, Stdio},
};

use expect_test::{Expect, expect};
use interlock_testkit::session::Session;
use tempfile::TempDir;

const DOOR: &str = "\
machine: door
version: 2
summary: A door that can be locked.
events:
  push: { from: user }
  turn_key: { from: user, summary: Lock or unlock }
initial: closed
states:
  closed: { tags: [idle], on: { push: open, turn_key: locked } }
  open: { tags: [idle], on: { push: closed } }
  locked: { tags: [idle], on: { turn_key: closed } }
";

/// A folder with a project that has one machine of its own.
fn project() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path().canonicalize().unwrap());
    session.write(".interlock/machines/door/machine.yaml", DOOR).unwrap();
    (folder, session)
}

fn check(arguments: &str, expected: Expect) {
    let (_folder, session) = project();
    check_in(&session, arguments, expected);
}

fn check_in(session: &Session, arguments: &str, expected: Expect) {
    expected.assert_eq(&session.run(arguments).unwrap().to_string());
}

#[test]
fn machines_are_listed_with_the_projects_own() {
    check(
        "machines",
        expect![[r#"
        brain     built-in  Watches over a coding agent's session and takes its work through review, lint, tests, commit and deployment.
        coder     built-in  A conversation with a coding agent in which every turn is planned, confirmed where it is dangerous, verified and summed up.
        door      project   A door that can be locked.
        firmware  built-in  Change firmware, build it, test it where it runs, analyse, and go round until it converges or must stop.
        notebook  built-in  Works through a workflow of stages and steps in a notebook; a planner says what is achieved, a generator writes the cells.
        prd       built-in  From a requirement to a PRD, a confirmed queue of tasks, verified commits and an archive; three automatic fixes a task, then a person.
    "#]],
    );
}

#[test]
fn machines_as_json_are_a_list() {
    let (_folder, session) = project();
    let text = session.run("machines --json").unwrap().stdout;
    let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
    let door = rows.as_array().unwrap().iter().find(|row| row["id"] == "door").unwrap();
    expect![[r#"
        {
          "id": "door",
          "version": 2,
          "summary": "A door that can be locked.",
          "origin": "project",
          "path": ".interlock/machines/door/machine.yaml"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(door).unwrap());
}

#[test]
fn a_machine_is_described() {
    check(
        "describe door",
        expect![[r#"
        door version 2
        A door that can be locked.

        states
          closed (atomic, #idle)
              push -> open
              turn_key -> locked
          open (atomic, #idle)
              push -> closed
          locked (atomic, #idle)
              turn_key -> closed

        events
          push                     from user
          turn_key                 from user  Lock or unlock
    "#]],
    );
}

#[test]
fn a_machine_is_described_for_programs() {
    let (_folder, session) = project();
    let text = session.run("--json describe door").unwrap().stdout;
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for key in ["id", "version", "hash", "initial", "states", "events", "transitions"] {
        assert!(json.get(key).is_some(), "{key}");
    }
    let state = &json["states"][0];
    let expected = ("closed", "atomic", "idle");
    assert_eq!((state["id"].as_str(), state["kind"].as_str(), state["tags"][0].as_str()), {
        let (id, kind, tag) = expected;
        (Some(id), Some(kind), Some(tag))
    });
    assert!(state["parent"].is_null());
    let transition = &json["transitions"][0];
    for key in ["source", "event", "target", "guard", "limit", "reason"] {
        assert!(transition.get(key).is_some(), "{key}");
    }
}

/// A door whose promise cannot be kept, one that cannot be read, and one that is fine.
fn promises() -> (TempDir, Session) {
    let (folder, session) = project();
    let promise = "properties:\n  - never: open\n    without: locked.turn_key\n    because: only a key opens it\n";
    session
        .write("broken/machine.yaml", &format!("{DOOR}{promise}").replace("machine: door", "machine: broken"))
        .unwrap();
    session.write("bad/machine.yaml", &DOOR.replace("initial: closed", "initial: closd")).unwrap();
    (folder, session)
}

#[test]
fn a_machine_that_keeps_its_promises_is_proved() {
    check(
        "check door",
        expect![[r#"
            ✓ door: proved
              3 configurations explored
              between two inputs of a person: at most 1 transition, 0 activities, 0 judgements
        "#]],
    );
}

#[test]
fn a_broken_promise_is_shown_with_a_shortest_way_to_break_it() {
    let (_folder, session) = promises();
    check_in(
        &session,
        "check broken/ --draw ways",
        expect![[r#"
            ✗ broken: not proved
              3 configurations explored
              between two inputs of a person: at most 1 transition, 0 activities, 0 judgements
              ✗ never open without locked.turn_key
                it matters because only a key opens it
                a shortest way to break it:
                 1. start       → closed
                 2. push (user) → open
            | wrote ways/broken-1.svg
            [exit 1]
        "#]],
    );
    assert!(session.folder().join("ways/broken-1.svg").exists());
}

#[test]
fn a_file_that_cannot_be_read_is_bad_input_to_check() {
    let (_folder, session) = promises();
    check_in(
        &session,
        "check door bad/ broken/",
        expect![[r#"
            ✓ door: proved
              3 configurations explored
              between two inputs of a person: at most 1 transition, 0 activities, 0 judgements
            ✗ bad/: it cannot be read
            ✗ broken: not proved
              3 configurations explored
              between two inputs of a person: at most 1 transition, 0 activities, 0 judgements
              ✗ never open without locked.turn_key
                it matters because only a key opens it
                a shortest way to break it:
                 1. start       → closed
                 2. push (user) → open
            | error[E0201]: there is no state `closd`
            |  --> bad/machine.yaml:7:10
            |   |
            | 7 | initial: closd
            |   |          ^^^^^
            |   |
            |   = help: did you mean `closed`?
            |   = help: see docs/errors/E0201.md
            |
            [exit 2]
        "#]],
    );
    check_in(
        &session,
        "check bad/ --json",
        expect![[r#"
        {
          "machine": "bad/",
          "ok": false,
          "explored": 0,
          "bound": null,
          "properties": [],
          "problems": [
            {
              "code": "E0201",
              "severity": "error",
              "message": "there is no state `closd`",
              "line": 7
            }
          ]
        }
        | error[E0201]: there is no state `closd`
        |  --> bad/machine.yaml:7:10
        |   |
        | 7 | initial: closd
        |   |          ^^^^^
        |   |
        |   = help: did you mean `closed`?
        |   = help: see docs/errors/E0201.md
        |
        [exit 2]
    "#]],
    );
}

#[test]
fn the_json_of_check_is_an_object_for_one_machine_and_a_list_for_several() {
    let (_folder, session) = promises();
    let json = |arguments: &str| {
        let transcript = session.run(arguments).unwrap();
        let json: serde_json::Value = serde_json::from_str(&transcript.stdout).unwrap();
        (transcript.code, json)
    };
    let (code, one) = json("check broken/ --json");
    assert_eq!((code, &one["machine"], &one["ok"]), (Some(1), &"broken".into(), &false.into()));
    assert!(one["explored"].as_u64().unwrap() > 0 && one["bound"]["transitions"].is_u64(), "{one}");
    assert_eq!(one["properties"][0]["ok"], false);
    assert!(!one["properties"][0]["counterexample"].is_null());
    let (code, several) = json("check door broken/ --json");
    assert_eq!((code, several.as_array().map(Vec::len)), (Some(1), Some(2)));
}

#[test]
fn an_unknown_machine_is_bad_input_with_a_hint() {
    check(
        "describe dor",
        expect![[r#"
        | error: there is no machine called `dor`
        | Hint: did you mean `door`?
        [exit 2]
    "#]],
    );
}

#[test]
fn a_machine_with_a_problem_is_shown_with_its_place() {
    let (_folder, session) = project();
    session.write("bad/machine.yaml", &DOOR.replace("initial: closed", "initial: closd")).unwrap();
    check_in(
        &session,
        "describe bad/",
        expect![[r#"
        | error[E0201]: there is no state `closd`
        |  --> bad/machine.yaml:7:10
        |   |
        | 7 | initial: closd
        |   |          ^^^^^
        |   |
        |   = help: did you mean `closed`?
        |   = help: see docs/errors/E0201.md
        |
        [exit 2]
    "#]],
    );
}

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
        |   = help: say it: scxml, xstate or mermaid
        |   = help: see docs/errors/E0506.md
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
        |   = help: see docs/errors/E0510.md
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
        | error: there is no case below .interlock
        | Hint: a case is a NAME.scxml, with a NAME.json beside it that says what to expect
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

#[test]
fn bad_usage_is_exit_code_2() {
    check(
        "drow door",
        expect![[r#"
        | error: unrecognized subcommand 'drow'
        |
        |   tip: a similar subcommand exists: 'draw'
        |
        | Usage: interlock [OPTIONS] <COMMAND>
        |
        | For more information, try '--help'.
        [exit 2]
    "#]],
    );
    check(
        "draw door --format png",
        expect![[r#"
        | error: invalid value 'png' for '--format <FORMAT>'
        |   [possible values: svg, mermaid, dot, scxml, xstate, promela]
        |
        | For more information, try '--help'.
        [exit 2]
    "#]],
    );
}

#[test]
fn help_shows_commands_and_examples() {
    check(
        "--help",
        expect![[r#"
            Agents as statecharts: proved before they run

            Usage: interlock [OPTIONS] <COMMAND>

            Commands:
              machines     List machines: built-in ones and the project's own
              describe     Say what a machine consists of: states, events, transitions
              check        Prove what machines promise, and how much they can do at most
              draw         Draw a machine, or write it in another format
              import       Make a machine file from another format
              conform      Run SCXML cases: each NAME.scxml with its NAME.json
              schema       Print the JSON Schema of machine files
              run          Start a run and follow it until it ends or waits
              runs         List runs
              show         Show where a run stands, what it holds and what it takes
              trace        Say what a run did, and why
              watch        Follow a run that another process moves
              report       Write down what a run did: Markdown, JSON, or a page with the machine's picture
              send         Send an event to a run, then follow it
              abort        Send the event by which a run's machine is aborted
              pause        Make a run stand still
              resume       Let a paused run go on, or take up one that was left
              grant        Say yes to something that policy asks about
              replay       Show a run as it was after one of its records
              fork         Make a new run from the first records of another
              undo         Take back what a run wrote
              verify       Check that runs are what was written
              evidence     List the files a run left behind, or print one
              gc           Remove files that no run refers to
              map          Show what matters in a repository: files, and the symbols that a goal is about
              activities   List what machines can have done
              resources    List boards and other things that one run at a time may use: who has them, and who
                           waits
              kb           Find, show and write out what runs have learned
              init         Copy a built-in machine into the project, to be changed
              doctor       Say whether everything that runs need is there
              completions  Print the completions of a shell
              man          Print the manual page
              help         Print this message or the help of the given subcommand(s)

            Options:
                  --json     Print JSON for programs instead of text for people
              -h, --help     Print help
              -V, --version  Print version

            Examples:
              interlock machines                       what there is
              interlock describe coder                 its states, events and transitions
              interlock check                          prove every machine, built-in and the project's own
              interlock check ./my-machine             prove one folder's machine
              interlock draw brain -o brain.svg        a picture
              interlock draw brain --format mermaid    the same for a Markdown file
              interlock import door.scxml -o door/     a machine from SCXML, XState JSON or Mermaid
              interlock run coder -s goal='fix it'     start a run and follow it until it ends or waits
              interlock send R USER_CONFIRM            tell a run what it waits for
              interlock trace R                        what it did, and why

            A machine M is the name of a built-in one, of one under .interlock/machines/, or a path to a folder
            or file.
            A run R is its name, or as much of its beginning as is unlike any other's. Runs are kept in
            $INTERLOCK_HOME.
            Exit codes: 0 good, 1 the thing itself failed, 2 bad usage or bad input, 3 a run was aborted, 4 a
            run waits for a person (or was left before its end), 70 a bug in Interlock.
        "#]],
    );
}

#[test]
fn colours_are_only_for_terminals() {
    let (_folder, session) = project();
    for arguments in ["machines", "describe dor", "describe door"] {
        let transcript = session.run(arguments).unwrap();
        assert!(!(transcript.stdout + &transcript.stderr).contains('\u{1b}'), "{arguments}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let (_folder, session) = project();
    let mut command: Command = session.command("schema");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn things_that_one_run_at_a_time_may_use_are_listed_with_who_has_them_and_who_waits() {
    let (_folder, session) = project();
    let home = session.folder().join("home");
    let session = session.with("INTERLOCK_HOME", home.display().to_string());
    check_in(
        &session,
        "resources",
        expect![[r#"
            | nothing that one run at a time may use was asked for yet
        "#]],
    );
    let resources = interlock_testbench::Resources::of_store(&home);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let hold = async |all: &[&str], run: &str| {
        let (_canceller, cancel) = interlock_activity::Canceller::new();
        resources.acquire(&names(all), run, cancel, |_| ()).await.unwrap()
    };
    runtime.block_on(async {
        let _held = hold(&["bench 1"], "fix-parser").await;
        drop(hold(&["bench 2"], "old").await);
        let look = async {
            while resources.list().await.unwrap().iter().all(|resource| resource.waiting.is_empty()) {
                tokio::task::yield_now().await;
            }
            let seen = session.run("resources").unwrap().to_string();
            let seen = seen.replace(&format!("{:<7}", std::process::id()), "PID    ");
            // It may take its time.
            let seen = (1..10).fold(seen, |seen, age| seen.replace(&format!("{age}s"), "0s"));
            expect![[r#"
                resource  held by     process  for  waiting
                bench 1   fix-parser  PID      0s   fix-timer (0s)
                bench 2   -           -        -
            "#]]
            .assert_eq(&seen);
            let json: serde_json::Value =
                serde_json::from_str(&session.run("resources --json").unwrap().stdout).unwrap();
            assert_eq!(json[0]["name"], "bench 1");
            assert_eq!(json[0]["holder"]["run"], "fix-parser");
            assert_eq!(json[0]["holder"]["pid"], std::process::id());
            assert_eq!(json[0]["waiting"][0]["run"], "fix-timer");
            assert!(json[1]["holder"].is_null());
        };
        tokio::select! {
            _ = hold(&["bench 1"], "fix-timer") => panic!("two have it"),
            () = look => {}
        }
    });
}

/// A project with code in it, and a store of its own.
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
        | error: cannot look at nowhere: No such file or directory (os error 2)
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
    use interlock_journal::knowledge::{Came, Knowledge, Round};
    let (_folder, session) = project();
    let home = session.folder().join("home");
    let session = session.with("INTERLOCK_HOME", home.display().to_string());
    check_in(
        &session,
        "kb search overflow",
        expect![[r#"
            | nothing like that was learned yet
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
            | Hint: `interlock kb search` finds them
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
    use interlock_journal::knowledge::{Knowledge, Round};
    let (_folder, session) = project();
    let home = session.folder().join("home");
    let session = session.with("INTERLOCK_HOME", home.display().to_string());
    let round = Round { run: "a".to_owned(), title: "the ring overflows".to_owned(), ..Round::default() };
    Knowledge::open(&home).unwrap().record(&round).unwrap();
    session.write("home/judges.toml", "[embeddings]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n").unwrap();
    let transcript = session.run("kb search ring").unwrap();
    assert!(transcript.stderr.starts_with("warning: looked for words only: "), "{}", transcript.stderr);
    assert!(transcript.stdout.contains("the ring overflows"), "{}", transcript.stdout);
}
