//! Tests a path that was found with open counters against the real counters.
//!
//! The path is replayed with all counters. If a transition was taken although its limit was used up, or skipped
//! although it was not, the counter matters: the next exploration tracks it exactly.

use interlock_chart::model::CounterId;
use interlock_core::Machine;

use crate::{explore::Graph, facts::least, judge::Breach, story::Leg, watch::Move};

/// Returns a counter that must be tracked to rule the path out, or `None` if the counters allow it.
pub(crate) fn counter_against(machine: &Machine, graph: &Graph, breach: &Breach, exact: &[bool]) -> Option<CounterId> {
    let mut counts = vec![0; machine.chart().counters.len()];
    // A loop must be possible twice, because the first pass may use a limit up. A counter that the loop increases and
    // resets has the same value in every later pass.
    let round = breach.loops_to.map_or(&[][..], |at| &breach.way[at..]);
    let moves = |(_, edge): &Leg| graph.meanings[edge.meaning as usize].moves.iter().copied();
    let mut all = breach.way.iter().chain(round).flat_map(moves);
    let against = all.find_map(|one| against(machine, &mut counts, one, exact));
    against.or_else(|| used_up(machine, round.iter().flat_map(moves)).filter(|counter| !exact[counter.index()]))
}

/// Returns a counter that a loop increases and does not reset: such a loop cannot repeat for ever.
fn used_up(machine: &Machine, moves: impl Iterator<Item = Move> + Clone) -> Option<CounterId> {
    let taken = moves.filter_map(|one| match one {
        Move::Taken(transition) => Some(machine.plan(transition)),
        Move::Refused(_) => None,
    });
    let mut counted = taken.clone().flat_map(|plan| plan.limits.iter().map(|(counter, ..)| *counter));
    counted.find(|counter| !taken.clone().any(|plan| plan.resets.contains(counter)))
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
        // A limit that the input sets may be used up at any count from the smallest permitted value on.
        Move::Refused(transition) => {
            let limits = &machine.plan(transition).limits;
            let is_used_up = limits.iter().any(|(counter, max, input)| {
                counts[counter.index()] >= input.map_or(*max, |input| least(machine, input))
            });
            // The move does not record which of several limits was used up, so each open one may be the cause.
            let mut open = limits.iter().map(|(counter, ..)| *counter).filter(|counter| is_open(*counter));
            if is_used_up { None } else { open.next() }
        }
    }
}
