//! Expressions that exceed the step budget of an evaluation with any data.

use std::sync::Arc;

use interlock_chart::{Chart, Diagnostic};
use interlock_core::{EVALUATION_STEPS_MAX, Machine, endless_expressions};

/// Reports expressions without data that cannot be evaluated within the budget of a run.
pub(super) fn check(chart: &Arc<Chart>, found: &mut Vec<Diagnostic>) {
    for expr in endless_expressions(&Machine::new(Arc::clone(chart))) {
        let message = format!("this takes more than {EVALUATION_STEPS_MAX} steps to evaluate");
        let hint = "a run would get `error.execution` instead of its value; loop over fewer items";
        found.push(Diagnostic::error("E0715", expr.span, message).hint(hint));
    }
}
