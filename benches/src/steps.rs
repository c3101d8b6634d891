//! Measures steps per second.

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_chart::{Value, model::Raiser, yaml};
use interlock_core::{Input, Machine, State, step};

use crate::{Result, size, xstate::Speeds};

const ROUNDS: usize = size(15, 1);
const STEPS: usize = size(300_000, 300);

/// Measures both machines and prints the results.
pub(crate) fn report(xstate: Option<&Speeds>) -> Result<()> {
    let ring = Case { name: "ring", source: include_str!("../machines/ring.yaml"), events: &["tick"], wanted: 2e6 };
    let nested = Case {
        name: "nested",
        source: include_str!("../machines/nested.yaml"),
        events: &["flip", "leave", "back"],
        wanted: 1e6,
    };
    ring.report(xstate.map(|speeds| speeds.ring))?;
    nested.report(xstate.map(|speeds| speeds.nested))
}

struct Case {
    name: &'static str,
    source: &'static str,
    events: &'static [&'static str],
    /// The target in steps per second.
    wanted: f64,
}

impl Case {
    fn report(&self, xstate: Option<f64>) -> Result<()> {
        let machine = machine(self.source)?;
        let best = (0..ROUNDS).map(|_| self.round(&machine)).min().unwrap_or_default();
        let per_second = STEPS as f64 / best.as_secs_f64();
        let nanoseconds = best.as_nanos() as f64 / STEPS as f64;
        print!("{:8} {per_second:>12.0} steps/s {nanoseconds:>8.0} ns/step (wanted {:.0})", self.name, self.wanted);
        if let Some(xstate) = xstate {
            print!("; xstate {xstate:.0} steps/s; {:.1} times (wanted 20)", per_second / xstate);
        }
        println!();
        Ok(())
    }

    fn round(&self, machine: &Machine) -> Duration {
        let (empty, by) = (Value::empty(), Raiser::User);
        let events: Vec<Arc<str>> = self.events.iter().map(|&name| name.into()).collect();
        let started = Input::Started {
            session: "bench".into(),
            input: empty.clone(),
            semantics: interlock_core::Semantics::CURRENT,
        };
        let mut state = step(machine, State::ready(machine), started).state;
        let begin = Instant::now();
        for event in events.iter().cycle().take(STEPS) {
            let input = Input::EventRaised { event: event.clone(), data: empty.clone(), by };
            let step = step(machine, state, input);
            black_box((&step.effects, &step.trace));
            state = step.state;
        }
        let took = begin.elapsed();
        black_box(&state);
        took
    }
}

fn machine(source: &str) -> Result<Machine> {
    let chart = yaml::read(source).chart.ok_or("the bench's machine is not a machine")?;
    Ok(Machine::new(Arc::new(chart)))
}
