//! Compares lowered code with the `cel` crate: random expressions over random data have the same value, or both fail.
//!
//! One difference is intended and kept out of the generated numbers: the lowered code compares whole numbers with
//! fractions exactly, as the CEL specification requires, but the crate rounds whole numbers beyond 2^53.

use std::sync::Arc;

use interlock_chart::{
    Chart, Span, Value,
    expr::{Names, Node, Type, parse},
    model::{Counter, Initial, Kind, State, StateId, Template, Variable},
};
use proptest::{prelude::*, test_runner::RngSeed};

use super::{Values, cel::CelProgram, code::Code, run};
use crate::{Event, EventKey, Fault, Machine, Scope, StateSet};

const VARIABLES: [&str; 7] = ["n", "f", "s", "b", "l", "m", "z"];
const STATES: [&str; 3] = ["root", "left", "right"];

/// The data and the scope in which an expression is evaluated.
#[derive(Debug)]
struct World {
    machine: Machine,
    values: Values,
    configuration: StateSet,
    counters: Vec<u32>,
    event: Option<Event<Value>>,
}

fn state(id: u16, kind: Kind) -> State {
    let is_root = id == 0;
    State {
        id: StateId(id),
        name: STATES[usize::from(id)].to_owned(),
        summary: String::new(),
        parent: (!is_root).then_some(StateId(0)),
        kind,
        children: if is_root { vec![StateId(1), StateId(2)] } else { Vec::new() },
        initial: is_root.then(|| Initial { targets: vec![StateId(1)], actions: Vec::new() }),
        entry: Vec::new(),
        exit: Vec::new(),
        invokes: Vec::new(),
        timeout_ms: None,
        timeout_inherited: false,
        transitions: Vec::new(),
        outcome: None,
        tags: Vec::new(),
        data: None,
        shows: Vec::new(),
        grants: None,
        span: Span::default(),
    }
}

fn machine() -> Machine {
    let variable = |name: &&str| Variable {
        name: (*name).to_owned(),
        initial: Template::Literal(Value::Null),
        ty: Type::Dyn,
        span: Span::default(),
    };
    let counter = Counter { name: "tries".to_owned(), max: 9, named: true, span: Span::default() };
    Machine::new(Arc::new(Chart {
        id: STATES[0].to_owned(),
        version: 1,
        summary: String::new(),
        dialect: Default::default(),
        input: true.into(),
        context: VARIABLES.iter().map(variable).collect(),
        events: Vec::new(),
        counters: vec![counter],
        states: vec![state(0, Kind::Compound), state(1, Kind::Atomic), state(2, Kind::Atomic)],
        transitions: Vec::new(),
        invokes: Vec::new(),
        properties: Vec::new(),
        hash: String::new(),
    }))
}

impl World {
    fn new(context: Vec<Value>, input: Value, event: Option<Value>) -> Self {
        let machine = machine();
        let mut configuration = StateSet::new(STATES.len());
        configuration.insert(StateId(0));
        configuration.insert(StateId(2));
        World {
            values: Values { input, context, visits: vec![1, 4, 2], session: "run-7".into() },
            configuration,
            counters: vec![3],
            event: event.map(|data| Event { key: EventKey::Other("go.now".into()), data }),
            machine,
        }
    }

    fn scope(&self) -> Scope<'_, Value> {
        Scope {
            machine: &self.machine,
            configuration: &self.configuration,
            counters: &self.counters,
            event: self.event.as_ref(),
        }
    }

    /// Returns the result of the lowered code and the result of the crate, or `None` if the expression does not parse.
    #[allow(clippy::type_complexity)]
    fn both(&self, source: &str) -> Option<(Result<Value, Box<Fault>>, Option<Value>)> {
        let states = STATES.map(str::to_owned);
        let counters = ["tries".to_owned()];
        let expr = parse(source, Span::default(), &Names { states: &states, counters: &counters }).ok()?;
        if matches!(expr.node, Node::Opaque(_)) {
            return None;
        }
        let code = Code::lower(&Template::Expr(expr), self.machine.chart());
        let scope = self.scope();
        let env = run::Env { values: &self.values, scope: &scope };
        let lowered = run::evaluate(&code, &env).map(std::borrow::Cow::into_owned);
        let as_truth = run::truth(&code, &env);
        match &lowered {
            Ok(Value::Bool(value)) => assert_eq!(as_truth, Ok(*value), "as a guard: {source}"),
            _ => assert!(as_truth.is_err(), "as a guard: {source}"),
        }
        Some((lowered, CelProgram::new(source).evaluate(&env).ok()))
    }
}

/// Compares two results; NaN equals itself here.
fn same(left: &Option<Value>, right: &Option<Value>) -> bool {
    format!("{left:?}") == format!("{right:?}")
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        prop::sample::select(vec![0, 1, 2, 3, -1, 7, i64::MAX, i64::MIN]).prop_map(Value::Int),
        prop::sample::select(vec![0.0, 1.0, -1.0, 2.5, 1e300, f64::NAN, f64::INFINITY]).prop_map(Value::Float),
        prop::sample::select(vec!["", "a", "b", "PASS", "naïve 🦀"]).prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| Value::List(items.into())),
            prop::collection::btree_map(prop::sample::select(vec!["a", "b", "n", "s"]), inner, 0..4)
                .prop_map(Value::map),
        ]
    })
}

/// Generates values that mostly have the kinds that the variables' names suggest, and sometimes any kind.
fn context() -> impl Strategy<Value = Vec<Value>> {
    let int = prop::sample::select(vec![0i64, 1, 2, 3, -5, i64::MAX]).prop_map(Value::Int);
    let float = prop::sample::select(vec![0.5, 1.0, 2.0, -3.25]).prop_map(Value::Float);
    let text = prop::sample::select(vec!["a", "b", "n", "PASS", "é"]).prop_map(Value::from);
    let list = prop::collection::vec(value(), 0..3).prop_map(|items| Value::List(items.into()));
    let map =
        prop::collection::btree_map(prop::sample::select(vec!["a", "b", "n", "s"]), value(), 0..4).prop_map(Value::map);
    let tidy = (int, float, text, any::<bool>().prop_map(Value::Bool), list, map)
        .prop_map(|(n, f, s, b, l, m)| vec![n, f, s, b, l, m, Value::Null]);
    prop_oneof![3 => tidy, 1 => prop::collection::vec(value(), VARIABLES.len())]
}

fn world() -> impl Strategy<Value = World> {
    (context(), value(), prop::option::of(value()))
        .prop_map(|(context, input, event)| World::new(context, input, event))
}

fn leaf() -> impl Strategy<Value = String> {
    let literals = [
        "0",
        "1",
        "2",
        "3",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        "0.5",
        "1.0",
        "2.0",
        "'a'",
        "'PASS'",
        "'n'",
        "'é🦀'",
        "true",
        "false",
        "null",
        "[]",
        "{}",
        "[1, 'a', 1.0]",
        "{'a': 1, 'n': 2}",
    ];
    let paths = [
        "context.n",
        "context.f",
        "context.s",
        "context.b",
        "context.l",
        "context.m",
        "context.z",
        "context.m.a",
        "context.m.n",
        "context.m.a.b",
        "context.m['b']",
        "context.l[0]",
        "context.l[1].a",
        "context",
        "context.gone",
        "input",
        "input.a",
        "input.a.n",
        "event",
        "event.a",
        "event.b.s",
        "_event.name",
        "_event.data.a",
        "_name",
        "_sessionid",
        "state.left.visits",
        "state.right.active",
        "In('left')",
        "count.tries",
        "has(context.m.a)",
        "has(context.m.a.b)",
        "has(input.n)",
        "has(event.a.s)",
        "has(context.s.a)",
        "has(context.l.a)",
        "has(context.n)",
        "has(context.gone)",
    ];
    prop_oneof![
        2 => prop::sample::select(literals.to_vec()).prop_map(str::to_owned),
        3 => prop::sample::select(paths.to_vec()).prop_map(str::to_owned),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    let operators =
        ["&&", "||", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "in", "&&", "||", "==", "<", "+"];
    leaf().prop_recursive(4, 24, 3, move |inner| {
        let binary = (inner.clone(), prop::sample::select(operators.to_vec()), inner.clone());
        prop_oneof![
            6 => binary.prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            1 => inner.clone().prop_map(|operand| format!("!({operand})")),
            1 => inner.clone().prop_map(|operand| format!("-({operand})")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(c, a, b)| format!("({c} ? {a} : {b})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(operand, at)| format!("({operand})[{at}]")),
            1 => (inner.clone(), prop::sample::select(vec!["a", "n"])).prop_map(|(of, name)| format!("({of}).{name}")),
            1 => inner.clone().prop_map(|operand| format!("size({operand})")),
            1 => inner.clone().prop_map(|operand| format!("({operand}).size()")),
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
            1 => (inner.clone(), inner.clone()).prop_map(|(key, value)| format!("{{{key}: {value}, 'b': 1}}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn lowered_code_and_the_crate_agree(world in world(), source in expression()) {
        if let Some((lowered, crates)) = world.both(&source) {
            let lowered = lowered.ok();
            prop_assert!(
                same(&lowered, &crates),
                "{source}\n  lowered: {lowered:?}\n  crate:   {crates:?}\n  context: {:?}\n  input: {:?}\n  event: {:?}",
                world.values.context, world.values.input, world.event,
            );
        }
    }
}

/// The crate's maps have no defined order: with twenty keys, two random orders are practically never the same.
#[test]
fn maps_are_iterated_in_key_order() {
    let keys: Vec<String> = (10..30).map(|n| format!("k{n}")).collect();
    let map = Value::map(keys.iter().map(|key| (key.as_str(), Value::Int(1))));
    let world = World::new(vec![Value::Null; VARIABLES.len()], map, None);
    let scope = world.scope();
    let env = run::Env { values: &world.values, scope: &scope };
    let expected = Value::List(keys.iter().map(|key| key.as_str().into()).collect());
    for source in ["input.map(k, k)", "input.filter(k, input[k] == 1)", "[1].map(x, input.map(k, k))[0]"] {
        assert_eq!(CelProgram::new(source).evaluate(&env), Ok(expected.clone()), "{source}");
    }
    assert!(CelProgram::new("[] + input").evaluate(&env).is_err());
}

/// A table of cases that are easy to get wrong. It also fails if the generator only produces expressions that do not
/// parse.
#[test]
fn easily_mistaken_cases_are_right() {
    let list = Value::List([Value::Int(1), Value::Float(2.0)].into());
    let map = Value::map([("a", Value::Int(1)), ("deep", Value::map([("b", Value::Null)]))]);
    let context = vec![3.into(), Value::Float(3.0), "é🦀".into(), true.into(), list, map, Value::Null];
    let world = World::new(context, Value::empty(), None);
    for (source, expected) in [
        ("context.n == context.f", Some("true")),
        ("context.n < 3.5 && context.f <= 3", Some("true")),
        ("1 == '1' || null == false", Some("false")),
        ("size(context.s)", Some("2")),
        ("2 in context.l && !(3 in context.l)", Some("true")),
        ("'a' in context.m && !('z' in context.m)", Some("true")),
        ("1 in context.m", Some("false")),
        ("null in context.m", None),
        ("has(context.m.a) && !has(context.m.z)", Some("true")),
        ("has(context.m.deep.b)", Some("true")),
        ("has(context.m.z.b)", None),
        ("has(context.n.b)", None),
        ("context.z.b == 1", None),
        ("context.m.z == 1 && false", Some("false")),
        ("false && context.m.z == 1", Some("false")),
        ("context.m.z == 1 || true", Some("true")),
        ("context.m.z == 1 || false", None),
        ("context.n && true", None),
        ("true ? 1 : context.m.z", Some("1")),
        ("context.n ? 1 : 2", None),
        ("context.l[0] + 1", Some("2")),
        ("context.l[1.0]", Some("2.0")),
        ("context.l[0.5]", None),
        ("context.l[2]", None),
        ("context.l[-1]", None),
        ("context.n + 1.0", None),
        ("9223372036854775807 + 1", None),
        ("-(-9223372036854775807 - 1)", None),
        ("(-9223372036854775807 - 1) / -1", None),
        ("7 / 2 * 2 + 7 % -4", Some("9")),
        ("1 / 0", None),
        ("1 % 0", None),
        ("2.0 % 2.0", None),
        ("'a' + 'b' < 'b'", Some("true")),
        ("false < true", Some("true")),
        ("1 < 'a'", None),
        ("[1, 2.0] == [1.0, 2]", Some("true")),
        ("{'a': 1} == {'a': 1.0}", Some("true")),
        ("0.0 / 0.0 == 0.0 / 0.0", Some("false")),
        ("0.0 / 0.0 < 1.0", None),
        ("{1: 'a'}[1]", Some("a")),
        ("{'a': 1, 'a': 2}", None),
        ("state.left.visits + count.tries", Some("7")),
        ("In('right') && !state.left.active", Some("true")),
        ("event == {} && _event.name == ''", Some("true")),
    ] {
        let (lowered, crates) = world.both(source).unwrap_or_else(|| panic!("does not parse: {source}"));
        assert!(same(&lowered.as_ref().ok().cloned(), &crates), "{source}: {lowered:?}, crate: {crates:?}");
        assert_eq!(lowered.ok().map(|value| value.to_string()).as_deref(), expected, "{source}");
    }
}
