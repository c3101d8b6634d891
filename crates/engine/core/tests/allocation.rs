//! Guards are evaluated in every step, so evaluating one must not allocate. This test has its own binary because it
//! counts the allocations of the whole process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interlock_chart::Value;
use interlock_core::{Data, Event, EventKey, Scope, State, Step, step};
use interlock_testkit::script;

/// Evaluates a guard and counts the allocations.
fn allocations(guard: &str, expected: bool) -> u64 {
    let source = format!(
        "input: {{type: object, properties: {{limit: {{type: integer}}}}}}\ncontext: {{iteration: 1, ratio: 0.5, seen: [a, b], task: {{kind: fix, \
         tries: 2}}}}\nevents: {{go: {{from: any}}}}\ninitial: a\nstates:\n  a: {{on: {{go: [{{target: b, guard: {guard:?}, limit: {{counter: tries, max: 9}}}}, \
         b]}}}}\n  b: {{on: {{go: a}}}}\n"
    );
    let machine = script::machine(&source);
    let start = script::start(r#"{"limit": 5}"#);
    let Step { mut state, .. } = step(&machine, State::ready(&machine), start);
    let data = Value::map([("status", Value::from("PASS")), ("n", Value::Int(3))]);
    let event = Event { key: EventKey::Known(machine.event("go").unwrap()), data };
    let guard = machine.plan(machine.chart().states[1].transitions[0]).guard.unwrap();
    let scope = Scope {
        machine: &machine,
        configuration: &state.configuration,
        counters: &state.counters,
        event: Some(&event),
    };
    let mut answer = None;
    let counted = allocation_counter::measure(|| answer = state.data.holds(guard, &scope).ok());
    assert_eq!(answer, Some(expected));
    counted.count_total
}

#[test]
fn a_guard_is_evaluated_without_allocating() {
    for (guard, expected) in [
        ("context.iteration < 3 && event.status == 'PASS'", true),
        ("event.status in ['FAIL', 'ERROR'] || context.task.kind == 'none'", false),
        ("has(event.score) && event.score > 0.5", false),
        ("context.iteration * 2 + context.task.tries <= input.limit", true),
        ("state.a.visits == 1 && !In('b') && count.tries == 0", true),
        ("(event.n > 2 ? context.ratio : 1.5) < 1", true),
        ("size(context.seen) == 2 && context.seen[0] == 'a' && 'kind' in context.task", true),
        ("_event.name == 'go'", true),
    ] {
        assert_eq!(allocations(guard, expected), 0, "{guard}");
    }
}
