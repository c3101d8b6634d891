//! Checks references of a machine to the world outside against a small catalogue.

use crate::show;
use std::{collections::BTreeMap, sync::Arc};

use expect_test::{Expect, expect};
use interlock_chart::{
    Catalogue, Diagnostic,
    catalogue::{Entry, MEANING},
    model::EffectClass,
};
use interlock_checker::{Bound, Child, Options, Outside, Report, Started, border, check_within};
use serde_json::{Value, json};

fn catalogue() -> Catalogue {
    let command = json!({
        "properties": {
            "command": { "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }], MEANING: "command" },
            "timeout_s": { "type": "number", "minimum": 0 },
            "env": { "type": "object", "additionalProperties": { "type": "string" } },
            "network": { "type": "string", "enum": ["off", "on"] },
            "folder": { "type": "string", MEANING: "own-folder" },
            "sandbox": { "type": "string" },
            "signals": { "type": "object" },
        },
        "required": ["command"],
        "additionalProperties": false,
    });
    let judge = json!({
        "properties": {
            "prompt": { "type": "string", MEANING: "prompt" },
            "schema": { "type": "string", MEANING: "schema-file" },
            "mode": { "type": "string", MEANING: "setting" },
        },
        "required": ["prompt"],
        "additionalProperties": true,
    });
    let run =
        json!({ "properties": { "machine": { "type": "string", MEANING: "machine" } }, "additionalProperties": false });
    let fields = |names: &[&str]| {
        let fields: serde_json::Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        json!({ "type": "object", "properties": fields, "additionalProperties": false })
    };
    let entry = |with: Value, signals: &[&str], data: Value, effect| {
        let signals = signals.iter().map(|signal| ((*signal).to_owned(), data.clone())).collect();
        Entry { with, signals, effect }
    };
    let (ran, ended) = (fields(&["exit_code", "summary"]), fields(&["run", "state", "output"]));
    [
        ("command.run".to_owned(), entry(command, &["passed", "failed"], ran, EffectClass::Write)),
        ("judge.*".to_owned(), entry(judge, &[], json!({}), EffectClass::Read)),
        ("run.start".to_owned(), entry(run, &["succeeded", "failed"], ended, EffectClass::Read)),
    ]
    .into_iter()
    .collect()
}

fn files() -> Vec<(String, Vec<u8>)> {
    let file = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
    vec![
        file("prompts/good.md", "Do {{ goal }}.{% if more is defined %} {{ more }}{% endif %}"),
        file("prompts/broken.md", "Do\n{% if goal %} it"),
        file("schemas/good.json", "{\"type\": \"object\"}"),
        file("schemas/bad.json", "{\"type\": \"objct\"}"),
        file("schemas/text.json", "type: object"),
    ]
}

fn children() -> BTreeMap<String, Child> {
    let bound = Some(Bound { transitions: 10, activities: 3, judgements: 1 });
    let output = json!({ "type": "object", "properties": { "tree": {} }, "additionalProperties": false });
    let known = Started { bound, run_bound: bound, writes: true, output, ..Started::default() };
    let refused = Started { refusals: vec!["E0603: it goes on".to_owned()], ..Started::default() };
    let missing = Child::Missing { why: "there is no machine called `gone`".to_owned(), hint: None };
    [
        ("known", Child::Known(known)),
        ("refused", Child::Known(refused)),
        ("gone", missing),
        ("me", Child::Recursive(vec!["m".to_owned(), "n".to_owned(), "m".to_owned()])),
    ]
    .map(|(name, child)| (name.to_owned(), child))
    .into()
}

fn with_outside<T>(look: impl FnOnce(&Outside<'_>) -> T) -> T {
    look(&Outside { catalogue: &catalogue(), files: &files(), children: &children() })
}

/// Lists the problems at the border of a machine file.
fn problems(source: &str) -> String {
    let chart = show::chart(source);
    let line = |one: &Diagnostic| {
        let (line, column) = one.line_col(source);
        let hint = one.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{line}:{column} {} {}{hint}\n", one.code, one.message)
    };
    with_outside(|outside| border(&chart, outside)).iter().map(line).collect()
}

/// Builds a machine with one state that starts this activity and ends with success.
fn one(invoke: &str, signals: &[&str]) -> String {
    let on: Vec<String> = signals.iter().map(|signal| format!("{signal}: b")).collect();
    format!(
        "machine: m\nversion: 1\ninput: {{ type: object }}\ninitial: a\non: {{ error: b }}\nstates:\n  a:\n    invoke: {{ {invoke}, signals: [{}] }}\n    \
         on: {{ {} }}\n  b: {{ type: final, outcome: success }}\n",
        signals.join(", "),
        on.join(", "),
    )
}

fn check(invoke: &str, signals: &[&str], expected: Expect) {
    expected.assert_eq(&problems(&one(invoke, signals)));
}

#[test]
fn an_unknown_activity_is_an_error_unless_it_is_manual() {
    check(
        "activity: comand.run",
        &["passed"],
        expect![[r#"
        8:25 E0701 there is no activity `comand.run` (did you mean `command.run`?)
    "#]],
    );
    check(
        "activity: tea.make",
        &["made"],
        expect![[r#"
        8:25 E0701 there is no activity `tea.make` (`interlock activities` lists them; with `manual: true` a person reports the result instead)
    "#]],
    );
    check("activity: tea.make, manual: true", &["made"], expect![[r#""#]]);
    check("activity: command.run, manual: true, with: { command: make }", &["passed"], expect![[r#""#]]);
}

#[test]
fn fields_are_checked_against_the_schema_of_the_activity() {
    check(
        "activity: command.run, with: { comand: make }",
        &["passed"],
        expect![[r#"
        8:25 E0703 `command.run` needs `command` (write `command: …` under `with`)
        8:46 E0702 `command.run` has no argument `comand` (did you mean `command`?)
    "#]],
    );
    check(
        "activity: command.run, with: { command: make, timeout_s: 5m }",
        &["passed"],
        expect![[r#"
        8:61 E0704 `with.timeout_s` of `command.run` must be a number, not a string
    "#]],
    );
    check(
        "activity: command.run, with: { command: make, timeout_s: -1 }",
        &["passed"],
        expect![[r#"
        8:61 E0704 `with.timeout_s` of `command.run` must be at least 0, not -1
    "#]],
    );
    check(
        "activity: command.run, with: { command: [make, 3] }",
        &["passed"],
        expect![[r#"
        8:46 E0704 `with.command` of `command.run` must be a string, not a number
    "#]],
    );
    check(
        "activity: command.run, with: { command: make, env: { A: [1] } }",
        &["passed"],
        expect![[r#"
        8:61 E0704 `with.env.A` of `command.run` must be a string, not a list
    "#]],
    );
    check(
        "activity: command.run, with: { command: make, network: all }",
        &["passed"],
        expect![[r#"
        8:61 E0704 `with.network` of `command.run` must be one of off, on, not `all`
    "#]],
    );
    check(
        "activity: command.run, with: { command: null }",
        &["passed"],
        expect![[r#"
        8:25 E0703 `command.run` needs `command` (write `command: …` under `with`)
    "#]],
    );
}

#[test]
fn expressions_fit_everything_and_null_counts_as_missing() {
    check(
        "activity: command.run, with: { command: \"${input.c}\", timeout_s: \"${input.t}\", network: null }",
        &["passed"],
        expect![[r#""#]],
    );
    check("activity: command.run, with: { command: [\"${input.c}\", x] }", &["passed"], expect![[r#""#]]);
}

#[test]
fn a_signal_that_never_comes_is_an_error() {
    check(
        "activity: command.run, with: { command: make }",
        &["pased"],
        expect![[r#"
        8:25 E0705 `command.run` never ends with `pased` (did you mean `passed`?)
    "#]],
    );
    check("activity: judge.plan, with: { prompt: prompts/good.md, goal: x }", &["anything"], expect![[r#""#]]);
}

/// A machine that reads the data of a signal in a guard.
fn reading(invoke: &str, signals: &str, guard: &str) -> String {
    format!(
        "machine: m\nversion: 1\ninput: {{ type: object }}\ninitial: a\non: {{ error: b }}\nstates:\n  a:\n    \
         invoke: {{ {invoke}, signals: {signals} }}\n    on:\n      done:\n        - {{ guard: \"{guard}\", target: b }}\n        - b\n  \
         b: {{ type: final, outcome: success }}\n"
    )
}

#[test]
fn a_field_that_no_signal_carries_is_an_error_where_it_is_read() {
    let run = |signals: &str, guard: &str| {
        problems(&reading("activity: command.run, with: { command: make }", signals, guard).replace("done:", "passed:"))
    };
    assert_eq!(run("[passed]", "event.exit_code == 0"), "");
    expect![[r#"
        11:27 E0306 `event` has no field `exitcode` (did you mean `exit_code`?)
    "#]]
    .assert_eq(&run("[passed]", "event.exitcode == 0"));
    expect![[r#"
        11:31 E0306 `event` has no field `exitcode` (did you mean `exit_code`?)
    "#]]
    .assert_eq(&run("[passed]", "has(event.exitcode)"));
    // A machine that declares the data is held to its own declaration.
    assert_eq!(run("{ passed: { properties: { exitcode: { type: integer } } } }", "event.exitcode == 0"), "");
    // Signals that a machine renames carry the same.
    let renamed = "activity: command.run, with: { command: make, signals: { zero: made } }";
    let source = reading(renamed, "[made]", "event.sumary == 'x'").replace("done:", "made:");
    expect![[r#"
        11:27 E0306 `event` has no field `sumary` (did you mean `summary`?)
    "#]]
    .assert_eq(&problems(&source));
}

#[test]
fn a_field_that_a_started_machine_never_returns_is_an_error() {
    let start = |machine: &str, guard: &str| {
        problems(
            &reading(&format!("activity: run.start, with: {{ machine: {machine} }}"), "[succeeded]", guard)
                .replace("done:", "succeeded:"),
        )
    };
    assert_eq!(start("known", "event.output.tree == 'x'"), "");
    expect![[r#"
        11:34 E0306 `event.output` has no field `three` (did you mean `tree`?)
    "#]]
    .assert_eq(&start("known", "event.output.three == 'x'"));
    assert_eq!(start("\"${input.machine}\"", "event.output.three == 'x'"), "", "only a literal name is known");
}

#[test]
fn prompts_and_schemas_must_exist_and_be_usable() {
    check(
        "activity: judge.plan, with: { prompt: prompts/god.md, goal: x }",
        &["ok"],
        expect![[r#"
        8:45 E0706 the machine has no file prompts/god.md (did you mean `prompts/good.md`?)
    "#]],
    );
    check(
        "activity: judge.plan, with: { prompt: prompts/broken.md, goal: x }",
        &["ok"],
        expect![[r#"
        8:45 E0707 the prompt prompts/broken.md, line 2 cannot be used: syntax error: unexpected end of input, expected end of block
    "#]],
    );
    check(
        "activity: judge.plan, with: { prompt: prompts/good.md, gaol: x }",
        &["ok"],
        expect![[r#"
        8:45 E0708 the prompt prompts/good.md, line 1, uses `goal`, which is not given (did you mean `gaol`?)
    "#]],
    );
    check(
        "activity: judge.plan, with: { prompt: prompts/good.md, goal: x, schema: schemas/bad.json }",
        &["ok"],
        expect![[r#"
            8:79 E0709 the file schemas/bad.json is not a JSON Schema: "objct" is not valid under any of the schemas listed in the 'anyOf' keyword
        "#]],
    );
    check(
        "activity: judge.plan, with: { prompt: prompts/good.md, goal: x, schema: schemas/text.json }",
        &["ok"],
        expect![[r#"
            8:79 E0709 the file schemas/text.json is not JSON: expected ident at line 1 column 2
        "#]],
    );
    check(
        "activity: judge.plan, with: { prompt: prompts/good.md, goal: x, schema: schemas/good.json }",
        &["ok"],
        expect![[r#""#]],
    );
}

#[test]
fn data_in_a_shell_command_is_an_error_with_a_list_as_the_fix() {
    check(
        "activity: command.run, with: { command: \"grep ${input.word} notes.txt\" }",
        &["passed"],
        expect![[r#"
        8:46 E0710 a shell parses this command, so data in it can be executed as a command (write it as a list, which no shell parses: `command: [grep, "${input.word}", notes.txt]`)
    "#]],
    );
    check(
        "activity: command.run, with: { command: \"grep '${input.word}' a | wc\" }",
        &["passed"],
        expect![[r#"
        8:46 E0710 a shell parses this command, so data in it can be executed as a command (pass the data in an environment variable, which the shell does not parse as commands: `env: { DATA: "${input.word}" }` and `"$DATA"` in `command`; or write a list of a program and its arguments)
    "#]],
    );
    check(
        "activity: command.run, with: { command: [sh, -c, \"echo ${input.word}\"] }",
        &["passed"],
        expect![[r#"
        8:46 E0710 a shell parses this command, so data in it can be executed as a command (pass the data in an environment variable, which the shell does not parse as commands: `env: { DATA: "${input.word}" }` and `"$DATA"` in `command`; or write a list of a program and its arguments)
    "#]],
    );
    check(
        "activity: command.run, with: { command: [grep, \"${input.word}\", notes.txt] }",
        &["passed"],
        expect![[r#""#]],
    );
}

#[test]
fn started_machines_must_exist_be_proved_and_not_be_recursive() {
    check("activity: run.start, with: { machine: known }", &["succeeded"], expect![[r#""#]]);
    check(
        "activity: run.start, with: { machine: gone }",
        &["succeeded"],
        expect![[r#"
        8:44 E0712 there is no machine called `gone`
    "#]],
    );
    check(
        "activity: run.start, with: { machine: refused }",
        &["succeeded"],
        expect![[r#"
        8:44 E0713 the machine `refused` is not proved: E0603: it goes on (see `interlock check refused`)
    "#]],
    );
    check(
        "activity: run.start, with: { machine: me }",
        &["succeeded"],
        expect![[r#"
        8:44 E0714 this machine starts itself: m → n → m (runs would start runs for ever; use a loop with a `limit` instead)
    "#]],
    );
    check("activity: run.start, with: { machine: \"${input.m}\" }", &["succeeded"], expect![[r#""#]]);
}

fn bounds(report: &Report) -> String {
    format!("{:?}\n{:?}", report.bound, report.run_bound)
}

#[test]
fn the_bounds_of_a_started_machine_are_added_for_every_start() {
    let twice = "
machine: m
version: 1
initial: a
on: { error: b }
states:
  a:
    invoke: { activity: run.start, with: { machine: known }, signals: [succeeded, failed] }
    on: { succeeded: b, failed: [{ target: a, limit: 1 }, { target: b }] }
  b: { type: final, outcome: success }
";
    let report = with_outside(|outside| check_within(show::chart(twice), outside, &Options::default()));
    // Two starts of ten transitions, three activities and one judgement each; between inputs one more may be running.
    expect![[r#"
        Some(Bound { transitions: 32, activities: 11, judgements: 3 })
        Some(Bound { transitions: 22, activities: 8, judgements: 2 })"#]]
    .assert_eq(&bounds(&report));
}

/// Builds two regions, each with one activity.
fn two(left: &str, right: &str) -> String {
    let region = |name: &str, invoke: &str| {
        format!(
            "      {name}:\n        initial: {name}1\n        states:\n          {name}1:\n            invoke: {{ {invoke}, signals: [passed] }}\n            \
             on: {{ passed: {name}2 }}\n          {name}2: {{ type: final }}\n"
        )
    };
    format!(
        "machine: m\nversion: 1\ninitial: both\non: {{ error: end }}\nstates:\n  both:\n    type: parallel\n    on: {{ done: end }}\n    states:\n{}{}  end: {{ type: final, outcome: success }}\n",
        region("l", left),
        region("r", right)
    )
}

fn check_two(left: &str, right: &str, expected: Expect) {
    expected.assert_eq(&problems(&two(left, right)));
}

#[test]
fn two_concurrent_writers_need_separate_directories() {
    let command = |more: &str| format!("activity: command.run, with: {{ command: make{more} }}");
    check_two(
        &command(""),
        &command(""),
        expect![[r#"
        21:33 E0711 `command.run` in `l1` and `command.run` in `r1` can write the workspace at the same time (let one follow the other, give each `command.run` its own `with: { folder: … }`, or declare `effect: read` for one that changes nothing)
    "#]],
    );
    check_two(&command(", folder: a"), &command(", folder: b"), expect![[r#""#]]);
    check_two(
        &command(", folder: a"),
        &command(", folder: a/b"),
        expect![[r#"
        21:33 E0711 `command.run` in `l1` and `command.run` in `r1` can write the workspace at the same time (let one follow the other, give each `command.run` its own `with: { folder: … }`, or declare `effect: read` for one that changes nothing)
    "#]],
    );
    check_two(
        &command(", folder: a"),
        &command(", folder: b, sandbox: none"),
        expect![[r#"
        21:33 E0711 `command.run` in `l1` and `command.run` in `r1` can write the workspace at the same time (let one follow the other, give each `command.run` its own `with: { folder: … }`, or declare `effect: read` for one that changes nothing)
    "#]],
    );
    check_two(&command(""), "activity: command.run, effect: read, with: { command: make }", expect![[r#""#]]);
}

#[test]
fn an_expression_without_data_must_end() {
    let list = "[0,1,2,3,4,5,6,7,8,9]";
    let nested = (0..8).fold("true".to_owned(), |inner, at| format!("{list}.all(x{at}, {inner})"));
    let source = one("activity: command.run, with: { command: make }", &["passed"]).replace(
        "on: { passed: b }",
        &format!("on: {{ passed: [{{ target: b, guard: \"{nested}\" }}, {{ target: b }}] }}"),
    );
    expect![[r#"
        9:41 E0715 this takes more than 2000000 steps to evaluate (a run would get `error.execution` instead of its value; loop over fewer items)
    "#]].assert_eq(&problems(&source));
}

/// Lists the problems of outcomes that no transition takes.
fn dropped(source: &str) -> String {
    let report = interlock_checker::check(show::chart(source), &Options::default());
    let line = |one: &interlock_checker::Problem| format!("{} {}\n", one.code, one.message);
    report.problems.iter().map(line).collect()
}

fn testing(more: &str, on: &str) -> String {
    format!(
        "machine: m\nversion: 1\nevents: {{ abort: {{ from: user }} }}\ninitial: a\non: {{ abort: end{more} }}\nstates:\n  a:\n    \
         invoke: {{ activity: x, signals: [passed] }}\n    {on}\n  end: {{ type: final, outcome: success }}\n"
    )
}

#[test]
fn an_unhandled_failure_is_an_error_if_only_an_abort_ends_the_wait() {
    expect![[r#"
        E0716 no transition handles the `error` of the activity in `a`; the run then waits there for ever, unless a person aborts it
    "#]].assert_eq(&dropped(&testing("", "on: { passed: end }")));
    expect![[r#""#]].assert_eq(&dropped(&testing(", error: end", "on: { passed: end }")));
    let timed = "timeout: 5s\n    on: { passed: end, timeout: end }";
    expect![[r#"
        W0718 no transition handles the `error` of the activity in `a`; the run then waits there until a timer or another event ends the wait
    "#]].assert_eq(&dropped(&testing("", timed)));
}

#[test]
fn a_signal_whose_guards_can_all_be_false_is_dropped() {
    let guarded = "on: { passed: { target: end, guard: \"event.code == 0\" } }";
    expect![[r#"
        E0717 `passed` of `x` can be dropped, because no guard for it need be true; the run then waits in `a` for ever, unless a person aborts it
    "#]].assert_eq(&dropped(&testing(", error: end", guarded)));
    let otherwise =
        "on: { passed: [{ target: end, guard: \"event.code == 0\" }, { target: end, guard: \"event.code != 0\" }] }";
    expect![[r#""#]].assert_eq(&dropped(&testing(", error: end", otherwise)));
}

#[test]
fn every_problem_of_the_border_has_a_page() {
    let pages = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/errors");
    let codes = (701..=717)
        .map(|code| format!("E0{code}"))
        .chain(["W0718", "W0719", "N0720", "N0721", "E0722", "E0606", "W0607"].map(str::to_owned));
    for code in codes {
        let page = std::fs::read_to_string(pages.join(format!("{code}.md"))).unwrap_or_default();
        assert!(page.starts_with(&format!("# {code}: ")), "{code} has no page");
    }
}

#[test]
fn the_same_machine_gives_the_same_problems() {
    let chart = show::chart(&one("activity: comand.run", &["passed"]));
    let again = || with_outside(|outside| border(&Arc::clone(&chart), outside));
    assert_eq!(again(), again());
}

#[test]
fn a_wait_that_is_longer_than_a_timeout_around_it_never_ends() {
    let machine = |seconds: &str, outer: &str, inner: &str| {
        format!(
            "
machine: small
version: 1
initial: outer
on: {{ error: late, timeout: late }}
states:
  outer:
    {outer}
    initial: waiting
    states:
      waiting:
        {inner}
        invoke: {{ activity: timer.wait, with: {{ seconds: {seconds} }}, signals: [elapsed] }}
        on: {{ elapsed: done }}
  done: {{ type: final, outcome: success }}
  late: {{ type: final, outcome: failure }}
"
        )
    };
    let found = |seconds: &str, outer: &str, inner: &str| {
        let chart = show::chart(&machine(seconds, outer, inner));
        let files = std::collections::BTreeMap::new();
        let wait = serde_json::json!({ "type": "number", "x-interlock": "wait-seconds" });
        let entry = interlock_chart::catalogue::Entry {
            with: serde_json::json!({ "type": "object", "properties": { "seconds": wait } }),
            signals: vec![("elapsed".to_owned(), serde_json::json!({ "type": "object" }))],
            effect: interlock_chart::model::EffectClass::Read,
        };
        let catalogue = [("timer.wait".to_owned(), entry)].into_iter().collect();
        let outside = interlock_checker::Outside { catalogue: &catalogue, files: &[], children: &files };
        let problems = interlock_checker::border(&chart, &outside);
        problems.iter().map(|one| format!("{} {}", one.code, one.message)).collect::<Vec<_>>().join("\n")
    };
    let tags = "tags: [x]";
    expect![[r#"E0722 this waits for 120 seconds, but the timeout of `waiting` comes after 60 seconds, so the wait never ends by itself"#]]
        .assert_eq(&found("120", tags, "timeout: 1m"));
    expect![[r#"E0722 this waits for 60 seconds, but the timeout of `outer` comes after 60 seconds, so the wait never ends by itself"#]]
        .assert_eq(&found("60", "timeout: 1m", "timeout: 5m"));
    assert_eq!(found("59.5", "timeout: 1m", tags), "");
    assert_eq!(found("\"${1 + 200}\"", "timeout: 1m", tags), "", "only a literal time is known");
    assert_eq!(found("600", tags, "timeout: 1h"), "");
}
