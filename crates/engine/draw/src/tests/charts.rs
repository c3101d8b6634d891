//! The charts that the tests draw.

use super::build::{Build, guard};
use interlock_chart::{
    Chart,
    model::{Kind, Outcome, StateId},
};

pub(super) fn fix_until_green() -> Chart {
    let mut build = Build::new("fix-until-green");
    build.chart.summary = "Change code until its tests pass, five times at most.".to_owned();
    let (changing, testing) = (build.top("changing"), build.top("testing"));
    let fixed = build.end("fixed", Outcome::Success);
    let failed = build.end("failed", Outcome::Failure);
    let aborted = build.end("aborted", Outcome::Aborted);
    build.invoke(changing, "agent.prompt");
    build.invoke(testing, "command.run");
    build.chart.states[changing.index()].timeout_ms = Some(1_200_000);
    build.edge(Chart::ROOT, "abort", &[aborted]);
    build.edge(Chart::ROOT, "error", &[failed]);
    build.edge(changing, "turn_ended", &[testing]);
    build.edge(testing, "passed", &[fixed]);
    build.limited(testing, "failed", changing, 5);
    build.edge(testing, "failed", &[failed]);
    build.finish()
}

/// A chart with two regions, deep history, loops, and edges into and out of composites and between regions.
pub(super) fn regions() -> Chart {
    let mut build = Build::new("regions");
    let off = build.top("off");
    let on = build.state(Some(Chart::ROOT), "on", Kind::Parallel);
    let mode = build.state(Some(on), "mode", Kind::Compound);
    let (eco, full) = (build.state(Some(mode), "eco", Kind::Atomic), build.state(Some(mode), "full", Kind::Compound));
    let (warm, hot) = (build.state(Some(full), "warm", Kind::Atomic), build.state(Some(full), "hot", Kind::Atomic));
    let history = build.state(Some(mode), "history", Kind::DeepHistory);
    let fan = build.state(Some(on), "fan", Kind::Compound);
    let (slow, fast) = (build.state(Some(fan), "slow", Kind::Atomic), build.state(Some(fan), "fast", Kind::Atomic));
    let broken = build.end("broken", Outcome::Failure);
    build.initial(history, &[eco]);
    for (source, event, target) in [
        (off, "start", on),
        (off, "resume", history),
        (off, "deep", hot),
        (on, "stop", off),
        (eco, "more", full),
        (eco, "again", eco),
        (eco, "blow", fast),
        (full, "inside", hot),
        (full, "again", full),
        (hot, "out", full),
        (warm, "heat", hot),
        (warm, "crash", broken),
        (slow, "timeout", fast),
        (fast, "crash", broken),
        (fast, "less", slow),
    ] {
        build.edge(source, event, &[target]);
    }
    build.edge(off, "both", &[hot, fast]);
    build.edge(on, "tick", &[]).guard = guard("context.n < 4");
    build.finish()
}

/// A chain of states that can all fail into one state.
pub(super) fn hub(count: usize) -> (Chart, StateId) {
    let mut build = Build::new("hub");
    let steps: Vec<StateId> = (0..count).map(|step| build.top(&format!("STEP_{step}"))).collect();
    let hub = build.top("ERROR_RECOVERY");
    for pair in steps.windows(2) {
        build.edge(pair[0], "done", &[pair[1]]);
    }
    for &step in &steps {
        build.edge(step, "failed", &[hub]);
    }
    build.edge(hub, "recovered", &[steps[0]]);
    (build.finish(), hub)
}

pub(super) fn wide(count: usize) -> Chart {
    let mut build = Build::new("wide");
    let first = build.top("first");
    for index in 0..count {
        let state = build.top(&format!("S{index}"));
        build.edge(first, &format!("go_{index}"), &[state]);
    }
    build.finish()
}

pub(super) fn chain(count: usize) -> Chart {
    let mut build = Build::new("chain");
    let states: Vec<StateId> = (0..count).map(|index| build.top(&format!("S{index}"))).collect();
    for pair in states.windows(2) {
        build.edge(pair[0], "next", &[pair[1]]);
        build.edge(pair[1], "back", &[states[0]]);
    }
    build.finish()
}

pub(super) fn deep(count: usize) -> Chart {
    let mut build = Build::new("deep");
    let mut parent = Chart::ROOT;
    let mut states = Vec::new();
    for index in 0..count {
        parent = build.state(Some(parent), &format!("S{index}"), Kind::Atomic);
        states.push(parent);
    }
    for pair in states.windows(2) {
        build.edge(pair[1], "out", &[pair[0]]);
        build.edge(states[0], "in", &[pair[1]]);
    }
    build.finish()
}

/// A random chart made from a seed: nested, parallel, with edges between arbitrary states.
pub(super) fn random(seed: u64, count: usize) -> Chart {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let mut build = Build::new("random");
    let mut open = vec![Chart::ROOT];
    let mut states = Vec::new();
    for index in 0..count {
        open.truncate(1 + dice.below(open.len().min(5)));
        let parent = open.last().copied().unwrap_or(Chart::ROOT);
        let kind = match dice.below(12) {
            0 => Kind::Final,
            1 if parent != Chart::ROOT => Kind::DeepHistory,
            2 => Kind::Parallel,
            _ => Kind::Atomic,
        };
        let state = build.state(Some(parent), &format!("STATE_{index}"), kind);
        if matches!(kind, Kind::Atomic | Kind::Parallel) {
            open.push(state);
        }
        if dice.below(3) == 0 {
            build.invoke(state, "some.activity");
        }
        states.push(state);
    }
    for _ in 0..count * 2 {
        let source = if dice.below(20) == 0 { Chart::ROOT } else { states[dice.below(count)] };
        let target = states[dice.below(count)];
        let targets = if dice.below(15) == 0 { Vec::new() } else { vec![target] };
        let event = ["go", "a_rather_long_event_name", "timeout", "error.execution", ""][dice.below(5)];
        let edge = build.edge(source, event, &targets);
        edge.guard =
            (dice.below(3) == 0).then(|| guard("context.tries < 3 && event.code == 'MODEL_FAILURE'")).flatten();
    }
    build.finish()
}

struct Dice(u64);

impl Dice {
    /// Returns a number below `sides` (xorshift).
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }
}
