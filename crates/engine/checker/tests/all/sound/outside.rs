//! Random inputs for a run, with data that rarely suits the machine.

use interlock_chart::{Value, model::Raiser};
use interlock_core::{ActivityEnd, Input, Machine, Semantics, State, Status};
use interlock_testkit::random::Rng;

/// Returns a random input that may come next, or `None` once the run has ended. Activities and timers come more often
/// than people, so that a run does much between two events from outside.
pub(crate) fn input(rng: &mut Rng, machine: &Machine, state: &State) -> Option<Input> {
    match state.status {
        Status::Ready => {
            let semantics = Semantics::CURRENT;
            return Some(Input::Started { session: "random".into(), input: Value::empty(), semantics });
        }
        Status::Done { .. } => return None,
        Status::Running => {}
    }
    match (rng.below(8), state.running.is_empty(), state.pending.is_empty()) {
        (0..=3, false, _) => Some(activity(rng, machine, state)),
        (4..=5, _, false) => Some(Input::TimerFired { timer: rng.pick(&state.pending).id }),
        _ => Some(event(rng, machine)),
    }
}

fn activity(rng: &mut Rng, machine: &Machine, state: &State) -> Input {
    let running = *rng.pick(&state.running);
    let signals = &machine.chart().invoke(running.invoke).signals;
    let ended = match rng.below(6) {
        0 => ActivityEnd::Error { data: data(rng) },
        1 if rng.percent(30) => ActivityEnd::Signal { name: "undeclared".into(), data: data(rng) },
        _ => {
            let signal = rng.pick(signals).event;
            ActivityEnd::Signal { name: machine.event_name(signal).into(), data: data(rng) }
        }
    };
    Input::ActivityFinished { activity: running.id, ended }
}

/// Returns a declared event, or an undeclared one below it.
fn event(rng: &mut Rng, machine: &Machine) -> Input {
    let declared: Vec<_> = machine.chart().events.iter().filter(|event| event.declared).collect();
    let name = rng.pick(&declared).name.clone();
    let name = if rng.percent(5) { format!("{name}.below") } else { name };
    let by = *rng.pick(&[Raiser::User, Raiser::Run]);
    Input::EventRaised { event: name.as_str().into(), data: data(rng), by }
}

fn data(rng: &mut Rng) -> Value {
    let n = match rng.below(12) {
        0 => Value::Int(i64::MAX),
        1 => Value::Int(-1),
        2 => "three".into(),
        3 => Value::Float(1.5),
        4 => Value::Null,
        5 => return Value::empty(),
        _ => Value::Int(i64::try_from(rng.below(6)).unwrap_or(0)),
    };
    Value::map([("n", n)])
}
