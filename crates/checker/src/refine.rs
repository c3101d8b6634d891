//! Whether a way that was found with counters left open could really be gone.
//!
//! The way is gone again with all counters. Where a transition was taken although its limit was used up, or passed over although
//! it was not, the counter matters: it is followed exactly in the next exploration.

use interlock_chart::model::CounterId;
use interlock_core::Machine;

use crate::{explore::Graph, facts::least, judge::Breach, watch::Move};

/// A counter that must be followed to rule the way out; nothing where the counters allow it.
pub(crate) fn counter_against(machine: &Machine, graph: &Graph, breach: &Breach, exact: &[bool]) -> Option<CounterId> {
    let mut counts = vec![0; machine.chart().counters.len()];
    // A loop must be possible twice: once round may be what uses a limit up.
    let again = breach.loops_to.map_or(&[][..], |at| &breach.way[at..]);
    for (_, edge) in breach.way.iter().chain(again) {
        for one in &graph.meanings[edge.meaning as usize].moves {
            if let Some(counter) = against(machine, &mut counts, *one, exact) {
                return Some(counter);
            }
        }
    }
    None
}

fn against(machine: &Machine, counts: &mut [u32], one: Move, exact: &[bool]) -> Option<CounterId> {
    let is_open = |counter: CounterId| !exact[counter.index()];
    match one {
        Move::Taken(transition) => {
            let plan = machine.plan(transition);
            let over = plan.limits.iter().find(|(counter, max, _)| counts[counter.index()] >= *max);
            plan.limits.iter().for_each(|(counter, ..)| counts[counter.index()] += 1);
            plan.resets.iter().for_each(|counter| counts[counter.index()] = 0);
            over.map(|(counter, ..)| *counter).filter(|counter| is_open(*counter))
        }
        // A limit that the input sets may be used up at any count from the smallest on that the input may set.
        Move::Refused(transition) => {
            let limits = &machine.plan(transition).limits;
            let is_used_up = limits.iter().any(|(counter, max, input)| {
                counts[counter.index()] >= input.map_or(*max, |input| least(machine, input))
            });
            // Which of several limits was passed over is not said: each that is open may be it.
            let mut open = limits.iter().map(|(counter, ..)| *counter).filter(|counter| is_open(*counter));
            if is_used_up { None } else { open.next() }
        }
    }
}
