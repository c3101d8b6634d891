//! An order for what has none, and an end for what may have none.
//!
//! The `cel` crate keeps maps in a table whose order differs from process to process.
//! Two things in an expression go over the entries of a map: a macro such as `m.map(k, …)`, which goes over its keys, and `list + m`, which
//! the crate takes for the list with the keys behind it. Before an expression is evaluated, the first is given the keys as a
//! sorted list, and the second, which CEL does not have, is made to fail.
//!
//! The crate also goes over lists as long as it takes. The same places count the items that are gone over, so that an evaluation ends
//! after a number of steps that depends on the expression and its data alone.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use cel::{
    Context, ExecutionError, Value,
    common::ast::{CallExpr, EntryExpr, Expr, IdedEntryExpr, IdedExpr, operators},
    objects::Key,
};

/// Names that no expression can write.
const KEYS: &str = "@keys";
const ADDEND: &str = "@addend";
const SEARCHED: &str = "@searched";

/// Bytes of a text that count as one item.
const BYTES_PER_STEP: u64 = 64;

/// The steps of one evaluation that are left.
#[derive(Clone, Debug)]
pub(super) struct Steps(Arc<AtomicU64>);

impl Steps {
    pub(super) fn new(most: u64) -> Self {
        // One more than there are, so that 0 means that they were not enough.
        Steps(Arc::new(AtomicU64::new(most.saturating_add(1))))
    }

    pub(super) fn are_used_up(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Takes the steps that going over a value needs.
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

/// Puts the calls of the functions below where they are needed.
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
                // A list that is written out is no map. The crate appends to one in place if it sees it.
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

/// Makes the functions known.
pub(super) fn bind(scope: &mut Context<'_, '_>, steps: &Steps) {
    // A name that is taken already would be an error of ours; the crate has none of these.
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
