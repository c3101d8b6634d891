//! An order for what has none: the `cel` crate keeps maps in a table whose order differs from process to process.
//!
//! Two things in an expression go over the entries of a map: a macro such as `m.map(k, …)`, which goes over its keys, and `list + m`, which
//! the crate takes for the list with the keys behind it. Before an expression is evaluated, the first is given the keys as a
//! sorted list, and the second, which CEL does not have, is made to fail.

use cel::{
    Context, ExecutionError, Value,
    common::ast::{CallExpr, EntryExpr, Expr, IdedEntryExpr, IdedExpr, operators},
    objects::Key,
};

/// Names that no expression can write.
const KEYS: &str = "@keys";
const ADDEND: &str = "@addend";

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
            if let (operators::ADD, [_, right]) = (&*call.func_name, &mut call.args[..]) {
                wrap(right, ADDEND);
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
pub(super) fn bind(scope: &mut Context<'_, '_>) {
    // A name that is taken already would be an error of ours; the crate has neither.
    let _ = scope.add_function(KEYS, |range: Value| -> Value {
        match range {
            Value::Map(map) => {
                let mut keys: Vec<&Key> = map.map.keys().collect();
                keys.sort_unstable();
                Value::from(keys.into_iter().map(Value::from).collect::<Vec<_>>())
            }
            other => other,
        }
    });
    let _ = scope.add_function(ADDEND, |value: Value| -> Result<Value, ExecutionError> {
        match value {
            Value::Map(_) => Err(ExecutionError::function_error("+", "a map cannot be added to anything")),
            other => Ok(other),
        }
    });
}
