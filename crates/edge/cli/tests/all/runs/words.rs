//! The words around a run: what its start prints, what its end prints, and what a wrong argument is answered with.

use std::os::unix::ffi::OsStrExt as _;

use expect_test::expect;

use super::scene::{check, json, project, run};

/// A machine with two regions that one event moves together, and with an output.
const REGIONS: &str = "\
machine: regions
version: 1
events: { go: { from: user, summary: Go on } }
context: { plan: [first, second] }
initial: both
states:
  both:
    type: parallel
    on: { done.state.both: end }
    states:
      left:
        initial: l1
        states: { l1: { on: { go: { target: l2, reason: left goes } } }, l2: { type: final } }
      right:
        initial: r1
        states: { r1: { shows: { plan: '${context.plan}' }, on: { go: { target: r2, reason: right goes } } }, r2: { type: final } }
  end: { type: final, outcome: success, data: { answer: 42, plan: '${context.plan}' } }
";

#[test]
fn regions_share_a_line_and_the_output_is_printed() {
    let (_folder, session) = project();
    session.write("regions.yaml", REGIONS).unwrap();
    check(
        &session,
        "run regions.yaml --name r1",
        expect![[r#"
        r1  waiting  l1, r1
        | run r1
        | hh:mm:ss  → l1, r1  start
        | plan:
        |   - first
        |   - second
        | r1 waits in l1, r1. To answer:
        |     interlock send r1 go  # Go on
        | Details: `interlock show r1`
        [exit 4]
    "#]],
    );
    check(
        &session,
        "send r1 go",
        expect![[r#"
        r1  succeeded  end
          answer = 42
          plan = ["first","second"]
        | hh:mm:ss  l1, r1 → l2, r2  go  left goes; right goes
        | hh:mm:ss  both → end  done.state.both
    "#]],
    );
    assert_eq!(json(&session, "show r1")["output"]["answer"], 42);
}

#[test]
fn a_wrong_name_of_an_input_field_is_refused() {
    let (_folder, session) = project();
    check(
        &session,
        "run tea --set lef=oolong",
        expect![[r#"
        | error: `--set lef`: the input has no field `lef`
        | Hint: did you mean `leaf`?
        [exit 2]
    "#]],
    );
    session.write("input.json", "{ \"leaf\": \"oolong\", \"lef\": 1 }").unwrap();
    check(
        &session,
        "run tea --input input.json",
        expect![[r#"
        | error: the input has no field `lef`
        | Hint: did you mean `leaf`?
        [exit 2]
    "#]],
    );
    session
        .write("dark.yaml", "machine: dark\nversion: 1\ninitial: a\nstates:\n  a: { type: final, outcome: success }\n")
        .unwrap();
    check(
        &session,
        "run dark.yaml --set foo=1",
        expect![[r#"
        | error: `--set foo`: the input has no field `foo`
        | Hint: the machine declares no `input`, so it takes none
        [exit 2]
    "#]],
    );
    assert_eq!(run(&session, "runs --json").stdout, "[]\n");
}

#[test]
fn an_unknown_hash_is_not_taken_for_a_run() {
    let (_folder, session) = project();
    check(
        &session,
        "evidence 0123456789abcdef",
        expect![[r#"
        | error: no evidence file has a hash that begins with `0123456789abcdef`, and no run has this name
        | Hint: `interlock evidence RUN` lists the files of a run with their hashes
        [exit 2]
    "#]],
    );
    check(
        &session,
        "evidence somebody",
        expect![[r#"
        | error: there is no run called `somebody`
        | Hint: there are no runs yet; start one with `interlock run`
        [exit 2]
    "#]],
    );
}

#[test]
fn the_format_has_both_names_in_both_directions() {
    let (_folder, session) = project();
    let drawn = run(&session, "draw tea --format scxml").stdout;
    assert_eq!(run(&session, "draw tea --from scxml").stdout, drawn);
    session.write("tea.txt", &drawn).unwrap();
    let read = run(&session, "import tea.txt --format scxml");
    assert_eq!((read.code, run(&session, "import tea.txt --from scxml").stdout), (Some(0), read.stdout));
}

#[test]
fn a_path_that_cannot_be_recorded_is_refused_at_once() {
    let (folder, session) = project();
    let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"odd-\xff"));
    std::fs::create_dir(&odd).unwrap();
    let refused = session.command("run tea --set leaf=oolong --repo").arg(&odd).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(2) && said.contains("is not valid UTF-8\nHint: rename the directory"),
        "{said}"
    );
    let here = session.command("run tea --set leaf=oolong").current_dir(&odd).output().unwrap();
    assert_eq!(here.status.code(), Some(2), "{}", String::from_utf8_lossy(&here.stderr));
    assert_eq!(run(&session, "runs --json").stdout, "[]\n");
}

#[test]
fn a_literal_address_that_needs_a_grant_is_announced() {
    let (_folder, session) = project();
    let asking = |with: &str| {
        format!(
            "machine: asking\nversion: 1\ninitial: a\non: {{ error: bad }}\nstates:\n  a:\n    invoke: {{ activity: {with}, signals: [succeeded, failed] }}\n    on: {{ succeeded: good, failed: bad }}\n  good: {{ type: final, outcome: success }}\n  bad: {{ type: final, outcome: failure }}\n"
        )
    };
    session.write("far.yaml", &asking("http.request, with: { url: 'https://api.example.com/v1' }")).unwrap();
    check(
        &session,
        "check far.yaml",
        expect![[r#"
        ✓ asking: proved
          3 configurations explored
          per user input: at most 1 transition, 1 activity, 0 judgements
          in a whole run: at most 1 transition, 1 activity, 0 judgements
        | note[N0721]: this activity does not start without permission; a person is asked first: connect to `api.example.com:443`: no rule allows that host
        |  --> far.yaml:7:47
        |   |
        | 7 |     invoke: { activity: http.request, with: { url: 'https://api.example.com/v1' }, signals: [succeeded, failed] }
        |   |                                               ^^^
        |   |
        |   = help: `interlock explain N0721` tells more
        |
    "#]],
    );
    let allowed = session.clone().with("INTERLOCK_HTTP_HOSTS", "api.example.com");
    assert!(!run(&allowed, "check far.yaml").stderr.contains("N0721"));
    session.write("near.yaml", &asking("http.request, with: { url: 'http://127.0.0.1:9/' }")).unwrap();
    assert!(!run(&session, "check near.yaml").stderr.contains("N0721"));
}

#[test]
fn a_change_that_was_not_measured_is_not_reported() {
    let (_folder, session) = project();
    let machine = |more: &str| {
        format!(
            "machine: writer\nversion: 1\ninitial: a\non: {{ error: bad }}\nstates:\n  a:\n    invoke: {{ activity: command.run, with: {{ command: 'date +%N > now.txt'{more} }}, signals: [passed, failed] }}\n    on: {{ passed: good, failed: bad }}\n  good: {{ type: final, outcome: success }}\n  bad: {{ type: final, outcome: failure }}\n"
        )
    };
    for (name, more, expected) in [("w1", "", None), ("w2", ", settle: true", Some(true))] {
        session.write("writer.yaml", &machine(more)).unwrap();
        run(&session, &format!("run writer.yaml --name {name}"));
        let lines = run(&session, &format!("trace {name} --json")).stdout;
        let moved: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        assert_eq!(moved["data"].get("changed").and_then(serde_json::Value::as_bool), expected, "{name}: {moved}");
    }
}
