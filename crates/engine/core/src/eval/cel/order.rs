//! Gives map iteration a fixed order and evaluation a bound.
//!
//! The `cel` crate keeps maps in a table whose order differs from process to process. Two kinds of expression iterate
//! over the entries of a map: a macro such as `m.map(k, …)`, which iterates over the keys, and `list + m`, which the
//! crate evaluates as the list followed by the keys. Before evaluation, the first kind is rewritten to iterate over a
//! sorted list of the keys. The second kind, which CEL does not define, is rewritten to fail.
//!
//! The crate also iterates over lists without a bound. The same rewritten calls count the iterated items, so that an
//! evaluation ends after a number of steps that depends only on the expression and its data.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use cel::{
    Context, ExecutionError, Value,
    common::ast::{CallExpr, EntryExpr, Expr, IdedEntryExpr, IdedExpr, operators},
    objects::Key,
};

/// Function names that no expression can contain.
const KEYS: &str = "@keys";
const ADDEND: &str = "@addend";
const SEARCHED: &str = "@searched";

/// Bytes of a text that count as one step.
const BYTES_PER_STEP: u64 = 64;

/// The remaining steps of one evaluation.
#[derive(Clone, Debug)]
pub(super) struct Steps(Arc<AtomicU64>);

impl Steps {
    pub(super) fn new(most: u64) -> Self {
        // One more than the budget, so that 0 means that the budget was exceeded.
        Steps(Arc::new(AtomicU64::new(most.saturating_add(1))))
    }

    pub(super) fn are_used_up(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Subtracts the steps that iterating over a value needs.
    fn take(&self, value: &Value) -> Result<(), ExecutionError> {
        let items = match value {
            Value::List(items) => items.len() as u64,
            Value::Map(map) => map.map.len() as u64,
            Value::String(text) => text.len() as u64 / BYTES_PER_STEP,
            _ => 0,
        };
        let left = self.0.load(Ordering::Relaxed).saturating_sub(items + 1);
        self.0.store(left, Ordering::Relaxed);
        match left {
            0 => Err(ExecutionError::function_error("steps", "too many")),
            _ => Ok(()),
        }
    }
}

/// Wraps the operands that are iterated over in calls of the functions below.
pub(super) fn keep(node: &mut IdedExpr) {
    match &mut node.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
        Expr::Select(select) => keep(&mut select.operand),
        Expr::List(list) => list.elements.iter_mut().for_each(keep),
        Expr::Map(map) => map.entries.iter_mut().for_each(keep_entry),
        Expr::Struct(literal) => literal.entries.iter_mut().for_each(keep_entry),
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| keep(target));
            call.args.iter_mut().for_each(keep);
            match (&*call.func_name, &mut call.args[..]) {
                // A list literal is never a map. The crate appends a literal in place if it is not wrapped.
                (operators::ADD, [_, right]) if matches!(right.expr, Expr::List(_)) => {}
                (operators::ADD, [left, right]) => {
                    wrap(left, SEARCHED);
                    wrap(right, ADDEND);
                }
                (operators::IN, [_, right]) => wrap(right, SEARCHED),
                _ => {}
            }
        }
        Expr::Comprehension(fold) => {
            let parts = [&mut fold.iter_range, &mut fold.accu_init, &mut fold.loop_cond, &mut fold.loop_step];
            parts.into_iter().for_each(keep);
            keep(&mut fold.result);
            wrap(&mut fold.iter_range, KEYS);
        }
    }
}

fn keep_entry(entry: &mut IdedEntryExpr) {
    match &mut entry.expr {
        EntryExpr::MapEntry(entry) => {
            keep(&mut entry.key);
            keep(&mut entry.value);
        }
        EntryExpr::StructField(field) => keep(&mut field.value),
    }
}

fn wrap(node: &mut IdedExpr, function: &str) {
    let inner = std::mem::take(node);
    let id = inner.id;
    let call = CallExpr { func_name: function.to_owned(), target: None, args: vec![inner] };
    *node = IdedExpr { id, expr: Expr::Call(call) };
}

/// Binds the functions to the scope.
pub(super) fn bind(scope: &mut Context<'_, '_>, steps: &Steps) {
    // `add_function` fails only if the name is taken; the crate defines none of these names.
    let left = steps.clone();
    let _ = scope.add_function(KEYS, move |range: Value| -> Result<Value, ExecutionError> {
        left.take(&range)?;
        Ok(match range {
            Value::Map(map) => {
                let mut keys: Vec<&Key> = map.map.keys().collect();
                keys.sort_unstable();
                Value::from(keys.into_iter().map(Value::from).collect::<Vec<_>>())
            }
            other => other,
        })
    });
    let left = steps.clone();
    let _ = scope.add_function(SEARCHED, move |value: Value| left.take(&value).map(|()| value));
    let left = steps.clone();
    let _ = scope.add_function(ADDEND, move |value: Value| -> Result<Value, ExecutionError> {
        left.take(&value)?;
        match value {
            Value::Map(_) => Err(ExecutionError::function_error("+", "a map cannot be added to anything")),
            other => Ok(other),
        }
    });
}
