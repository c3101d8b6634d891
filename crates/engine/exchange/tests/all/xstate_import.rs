//! Imports of XState configurations that our exporter did not write.

use expect_test::{Expect, expect};
use interlock_chart::yaml;
use interlock_exchange::{Format, import, is_unsupported};

/// Checks the machine file, and the warnings or errors after it. The imported machine must also be readable.
fn check(text: &str, expect: Expect) {
    let shown = match import(text, Some(Format::Xstate), "config.json") {
        Ok(imported) => {
            let written = yaml::write(&imported.file);
            let reading = yaml::read(&written);
            assert!(reading.is_usable(), "{:#?}\n{written}", reading.diagnostics);
            let warnings: String = imported.warnings.iter().map(|warning| format!("# {warning}\n")).collect();
            format!("{written}{warnings}")
        }
        Err(problems) => {
            let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
            problems.iter().map(|p| format!("{} at line {}: {}\n", p.code, line(p.span.start), p.message)).collect()
        }
    };
    expect.assert_eq(&shown);
}

#[test]
fn targets_are_found_by_sibling_child_path_and_id() {
    check(
        r##"{
  "id": "door", "initial": "open", "description": "A door.",
  "states": {
    "open": { "on": { "CLOSE": "shut", "SLAM": { "target": "#door.shut.locked" }, "BACK": "#home" } },
    "shut": {
      "initial": "ajar",
      "on": { "LOCK": ".locked", "AGAIN": { "target": ".ajar", "reenter": true }, "SELF": { "target": "shut" } },
      "states": {
        "ajar": { "id": "home", "on": { "PUSH": "locked", "STAY": { "target": "ajar" } } },
        "locked": { "type": "final", "output": { "by": "key" } },
        "h": { "type": "history", "history": "deep", "target": "ajar" }
      },
      "onDone": "shut.h"
    }
  }
}"##,
        expect![[r#"
            machine: door
            version: 1
            summary: A door.

            events:
              CLOSE: { from: any }
              SLAM: { from: any }
              BACK: { from: any }
              LOCK: { from: any }
              AGAIN: { from: any }
              SELF: { from: any }
              PUSH: { from: any }
              STAY: { from: any }
            initial: open

            states:
              open: { on: { CLOSE: shut, SLAM: locked, BACK: ajar } }
              shut:
                initial: ajar
                on:
                  LOCK: { target: locked, internal: true }
                  AGAIN: ajar
                  SELF: { target: ajar, internal: true }
                  done.state.shut: { target: h, internal: true }
                states:
                  ajar: { on: { PUSH: locked, STAY: {} } }
                  locked: { type: final, data: { by: key } }
                  h: { type: history, history: deep, target: ajar }
        "#]],
    );
}

#[test]
fn code_that_is_only_named_is_reported_and_made_harmless() {
    check(
        r#"{
  "id": "loader", "initial": "idle", "context": { "tries": 0, "text": "costs ${5}" },
  "states": {
    "idle": {
      "entry": ["greet", { "type": "notify", "params": { "who": "me" } }],
      "on": { "GO": [{ "target": "loading", "guard": "isReady" }, { "target": "idle", "guard": { "type": "tries" }, "actions": "count" }] }
    },
    "loading": {
      "invoke": [
        { "src": "fetchUser", "id": "user", "input": { "id": 7 }, "onDone": "ready", "onError": { "target": "idle", "description": "no luck" } },
        { "src": "log it", "onError": "idle" }
      ],
      "meta": { "author": "me" }
    },
    "ready": { "type": "final" }
  }
}"#,
        expect![[r#"
            machine: loader
            version: 1

            context: { tries: 0, text: 'costs $${5}', isReady: false, tries_guard: false }

            events:
              GO: { from: any }
            initial: idle

            states:
              idle:
                entry: [{ log: greet }, { log: notify }]
                on:
                  GO:
                    - { target: loading, guard: context.isReady }
                    - { guard: context.tries_guard, actions: { log: count } }
              loading:
                invoke: [{ activity: fetchUser, with: { id: 7 }, signals: [fetchUser.done] }, { activity: log_it }]
                on:
                  fetchUser.done: ready
                  error:
                    - { target: idle, guard: event.activity == 'fetchUser', reason: no luck }
                    - { target: idle, guard: event.activity == 'log_it' }
              ready: { type: final }
            # the guard `isReady` is code elsewhere; here it is `context.isReady`, false until something assigns it
            # the guard `tries` is code elsewhere; here it is `context.tries_guard`, false until something assigns it
            # the action `count` is code elsewhere; here it only writes its name into the trace
            # the action `greet` is code elsewhere; here it only writes its name into the trace
            # the action `notify` is code elsewhere; here it only writes its name into the trace
            # line 13: `meta` was left out
        "#]],
    );
}

#[test]
fn delays_become_a_timeout_or_timers() {
    check(
        r#"{
  "initial": "green",
  "states": {
    "green": { "after": { "1000": "yellow" } },
    "yellow": { "after": { "500": { "target": "red" }, "2000": "green" }, "always": { "target": "red", "guard": { "type": "cel", "params": { "expr": "state.green.visits > 3" } } } },
    "red": { "type": "final" }
  }
}"#,
        expect![[r#"
            machine: config
            version: 1
            initial: green

            states:
              green: { timeout: 1s, on: { timeout.green: yellow } }
              yellow:
                entry:
                  - { send: { event: after.500.yellow, delay: 500ms, id: after.500.yellow } }
                  - { send: { event: after.2000.yellow, delay: 2s, id: after.2000.yellow } }
                exit: [{ cancel: after.500.yellow }, { cancel: after.2000.yellow }]
                on: { after.500.yellow: red, after.2000.yellow: green }
                always: { target: red, guard: state.green.visits > 3 }
              red: { type: final }
        "#]],
    );
}

#[test]
fn equal_keys_in_different_parents_get_different_names() {
    check(
        r#"{
  "initial": "left", "type": "parallel",
  "states": {
    "left": { "initial": "on", "states": { "on": { "on": { "TOGGLE": "off" } }, "off": { "on": { "TOGGLE": "on" } } } },
    "right": { "initial": "on", "states": { "on": { "on": { "TOGGLE": "off" } }, "off": { "on": { "TOGGLE": "on", "very odd": "on" } } } }
  }
}"#,
        expect![[r#"
            machine: config
            version: 1

            events:
              TOGGLE: { from: any }
              very_odd: { from: any }
            type: parallel

            states:
              left:
                initial: 'on'
                states:
                  on: { on: { TOGGLE: 'off' } }
                  off: { on: { TOGGLE: 'on' } }
              right:
                initial: right_on
                states:
                  right_on: { on: { TOGGLE: right_off } }
                  right_off: { on: { TOGGLE: right_on, very_odd: right_on } }
            # the state `on` in `right` is called `right_on`
            # the state `off` in `right` is called `right_off`
            # the event `very odd` is called `very_odd`
        "#]],
    );
}

#[test]
fn broken_configurations_are_errors_with_a_position() {
    let cases = [
        "{ \"initial\": \"a\",\n \"states\": { \"a\": {} ",
        "{}",
        "[]",
        "{ \"initial\": \"a\", \"states\": {\n \"a\": { \"on\": { \"X\": \"nowhere\" } } } }",
        "{ \"initial\": \"a\", \"states\": {\n \"a\": { \"type\": \"odd\" } } }",
        "{ \"initial\": \"a\", \"states\": {\n \"a\": 5 } }",
        "{ \"initial\": \"a\", \"states\": { \"a\": { \"id\": \"x\" },\n \"b\": { \"id\": \"x\" } } }",
        "{ \"initial\": \"a\", \"states\": { \"a\": {\n \"after\": {\n \"LATER\": \"a\" } } } }",
        "{ \"states\": { \"a\": {} } }",
    ];
    let mut shown = String::new();
    for text in cases {
        let problems = import(text, Some(Format::Xstate), "x").unwrap_err();
        let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
        let told = problems.iter().map(|p| format!("{} at line {}: {}\n", p.code, line(p.span.start), p.message));
        shown.extend(told);
    }
    expect![[r#"
        E0501 at line 2: not JSON: EOF while parsing an object at line 2 column 21
        E0503 at line 1: an XState configuration has `states`
        E0503 at line 1: an XState configuration has `states`
        E0504 at line 2: there is no state `nowhere` from here
        E0503 at line 2: there is no type of state `odd`
        E0503 at line 2: a state is an object
        E0505 at line 2: two states have the id `x`
        E0510 at line 3: line 3: the delay `LATER` is code elsewhere
        E0503 at line 1: a machine needs `initial`
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_named_delay_is_unsupported_and_depth_is_bounded() {
    let named = r#"{ "initial": "a", "states": { "a": { "after": { "LATER": "a" } } } }"#;
    assert!(is_unsupported(&import(named, None, "x.json").unwrap_err()));
    for levels in [50, 60, 10_000] {
        let deep = format!("{}{}", "{\"states\":{\"a\":".repeat(levels), "{}".to_owned() + &"}}".repeat(levels));
        let outcome = import(&deep, Some(Format::Xstate), "x");
        assert!(levels < 64 || outcome.unwrap_err()[0].code == "E0502", "{levels}");
    }
}

#[test]
fn history_needs_no_type_and_in_is_a_guard() {
    check(
        r##"{
  "id": "player", "initial": "off",
  "states": {
    "off": { "on": { "POWER": { "target": "on.last", "in": "off" } } },
    "on": {
      "initial": "playing",
      "on": { "POWER": "off", "SKIP": { "target": ".playing", "internal": false, "in": "#player.on.paused", "cond": "isLong" } },
      "states": {
        "playing": { "on": { "PAUSE": "paused" } },
        "paused": {},
        "last": { "history": true },
        "deepest": { "history": "deep", "target": "paused" }
      }
    }
  }
}"##,
        expect![[r#"
            machine: player
            version: 1

            context: { isLong: false }

            events:
              POWER: { from: any }
              SKIP: { from: any }
              PAUSE: { from: any }
            initial: 'off'

            states:
              off: { on: { POWER: { target: last, guard: In('off') } } }
              on:
                initial: playing
                on: { POWER: 'off', SKIP: { target: playing, guard: In('paused') && (context.isLong) } }
                states:
                  playing: { on: { PAUSE: paused } }
                  paused: {}
                  last: { type: history }
                  deepest: { type: history, history: deep, target: paused }
            # the guard `isLong` is code elsewhere; here it is `context.isLong`, false until something assigns it
        "#]],
    );
}

#[test]
fn exact_names_come_before_wildcards() {
    check(
        r#"{
  "id": "router", "initial": "a",
  "states": {
    "a": {
      "on": {
        "*": "d",
        "mouse.*": "c",
        "mouse.button.*": "b",
        "mouse.move": { "target": "b", "guard": "isNear" },
        "key": "c",
        "key.enter": "d"
      }
    },
    "b": { "on": { "key": "c" } }, "c": {}, "d": {}
  }
}"#,
        expect![[r#"
            machine: router
            version: 1

            context: { isNear: false }

            events:
              mouse: { from: any }
              mouse.button: { from: any }
              mouse.move: { from: any }
              key: { from: any }
              key.enter: { from: any }
            initial: a

            states:
              a:
                on:
                  mouse.move: { target: b, guard: context.isNear }
                  key.enter: d
                  key: c
                  mouse.button.*: b
                  mouse.*: c
                  '*': d
              b: { on: { key: c } }
              c: {}
              d: {}
            # line 9: where no guard of `mouse.move` holds, `*` is asked too; XState would not ask it
            # the guard `isNear` is code elsewhere; here it is `context.isNear`, false until something assigns it
            # line 14: `key` takes `key.enter` too; XState takes the exact name only
        "#]],
    );
}

#[test]
fn keys_that_affect_transitions_are_never_ignored_silently() {
    check(
        r#"{
  "initial": "a",
  "states": {
    "a": { "route": {}, "on": { "GO": { "target": "b", "in": "nowhere" } } },
    "b": { "activities": ["beep"] }
  }
}"#,
        expect![[r#"
            E0510 at line 4: line 4: `route` makes a state reachable from anywhere: give the machine a transition to it instead
            E0510 at line 4: line 4: `in` does not name a state; write it as the guard `In('STATE')`
            E0510 at line 5: line 5: `activities` run as long as a state is active: give the state an `invoke` instead
        "#]],
    );
    check(
        r#"{
  "initial": "a",
  "states": {
    "a": {
      "delimiter": "/",
      "meta": { "x": 1 }
    }
  }
}"#,
        expect![[r#"
            machine: config
            version: 1
            initial: a

            states:
              a: {}
            # line 5: `delimiter` was left out
            # line 6: `meta` was left out
        "#]],
    );
}
