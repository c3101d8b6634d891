//! The external queue between two macrosteps.
//!
//! The engine handles an event that a machine sends itself without delay in the step that sends it, right after the
//! macrostep. Cases compare the configuration *between* the two. So here such an event takes a moment of virtual time,
//! and all such events are handled before a case sends its next event.

use interlock_chart::{
    Chart, Value,
    model::{Action, Template},
};

use crate::simulation::{NoRest, Simulation};

/// The delay of an event that is sent without delay, in milliseconds.
const MOMENT_MS: u64 = 1;

/// Delays every event that is sent without delay by one moment.
pub(crate) fn send_later(chart: &mut Chart) {
    for state in &mut chart.states {
        state.entry.iter_mut().chain(&mut state.exit).for_each(|block| delay(block));
        state.initial.iter_mut().for_each(|initial| delay(&mut initial.actions));
    }
    chart.transitions.iter_mut().for_each(|transition| delay(&mut transition.actions));
}

fn delay(block: &mut [Action]) {
    for action in block {
        match action {
            Action::Send { delay, .. } if delay.as_ref().is_none_or(is_zero) => {
                *delay = Some(Template::text(&format!("{MOMENT_MS}ms")));
            }
            Action::If { branches } => branches.iter_mut().for_each(|(_, block)| self::delay(block)),
            _ => {}
        }
    }
}

fn is_zero(delay: &Template) -> bool {
    let Template::Literal(Value::Str(text)) = delay else { return false };
    text.trim_end_matches(char::is_alphabetic).parse() == Ok(0.0)
}

/// Handles every event that was sent without delay, and those that follow from them.
pub(crate) fn settle(run: &mut Simulation<'_>) -> Result<(), NoRest> {
    while run.next_due_in_ms().is_some_and(|due_in_ms| due_in_ms <= MOMENT_MS) {
        run.advance(MOMENT_MS)?;
    }
    Ok(())
}
