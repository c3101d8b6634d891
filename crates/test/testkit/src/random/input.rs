//! Generates random inputs for a run: mostly ones that are possible now, sometimes outdated ones.

use interlock_chart::{Value, model::Raiser};
use interlock_core::{ActivityEnd, ActivityId, Input, Machine, Semantics, State, Status, TimerId};

use super::Rng;

/// Returns a random next input.
pub fn input(rng: &mut Rng, machine: &Machine, state: &State) -> Input {
    if state.status == Status::Ready {
        return Input::Started { session: "random".into(), input: Value::empty(), semantics: Semantics::CURRENT };
    }
    match rng.below(20) {
        0..=9 => event(rng, machine),
        10..=14 => activity(rng, machine, state),
        15..=17 => timer(rng, state),
        18 => Input::Paused,
        _ => Input::Resumed,
    }
}

fn data(rng: &mut Rng) -> Value {
    match rng.below(3) {
        0 => Value::empty(),
        _ => Value::map([("n", Value::Int(i64::try_from(rng.below(6)).unwrap_or(0)))]),
    }
}

fn event(rng: &mut Rng, machine: &Machine) -> Input {
    let known = &machine.chart().events;
    let event = match rng.below(10) {
        _ if known.is_empty() => "nobody.knows".into(),
        0 => "nobody.knows".into(),
        _ => known[rng.below(known.len())].name.as_str().into(),
    };
    let by = *rng.pick(&[Raiser::User, Raiser::User, Raiser::Run, Raiser::Machine]);
    Input::EventRaised { event, data: data(rng), by }
}

fn activity(rng: &mut Rng, machine: &Machine, state: &State) -> Input {
    let Some(running) = (!state.running.is_empty()).then(|| *rng.pick(&state.running)) else {
        let stale = ActivityId(rng.next() % (state.next_id + 1));
        return Input::ActivityFinished { activity: stale, ended: ActivityEnd::Error { data: data(rng) } };
    };
    let signals = &machine.chart().invoke(running.invoke).signals;
    let ended = match rng.below(8) {
        _ if signals.is_empty() => ActivityEnd::Error { data: data(rng) },
        0 => ActivityEnd::Error { data: data(rng) },
        1 => ActivityEnd::Signal { name: "undeclared".into(), data: data(rng) },
        _ => {
            let signal = signals[rng.below(signals.len())].event;
            ActivityEnd::Signal { name: machine.event_name(signal).into(), data: data(rng) }
        }
    };
    Input::ActivityFinished { activity: running.id, ended }
}

fn timer(rng: &mut Rng, state: &State) -> Input {
    match state.pending.is_empty() {
        true => Input::TimerFired { timer: TimerId(rng.next() % (state.next_id + 1)) },
        false => Input::TimerFired { timer: rng.pick(&state.pending).id },
    }
}
