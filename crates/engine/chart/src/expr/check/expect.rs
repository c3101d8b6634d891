//! Values that must have a given type.

use cel::common::ast::{EntryExpr, Expr as Cel, IdedExpr, operators};

use super::{Checker, as_string, condition_hint};
use crate::expr::Type;

impl<'a> Checker<'a> {
    /// Checks that a value may be `expected`. Each branch of a conditional and each field of a map is checked
    /// separately, so that the problem is shown at the right position.
    pub(super) fn expect(&mut self, cel: &'a IdedExpr, expected: &Type) -> Type {
        let found = self.type_of(cel);
        match (&cel.expr, expected) {
            (Cel::Call(call), _) if call.func_name == operators::CONDITIONAL => {
                for branch in call.args.iter().skip(1) {
                    self.expect(branch, expected);
                }
            }
            (Cel::Map(map), Type::Map { .. }) => {
                for entry in &map.entries {
                    let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
                    let Some(name) = as_string(&entry.key) else { continue };
                    let known = self.field(expected, name, &entry.key, || self.syntax.written(cel)).clone();
                    self.expect(&entry.value, &known);
                }
            }
            _ => self.fits(cel, &found, expected),
        }
        found
    }

    fn fits(&mut self, cel: &'a IdedExpr, found: &Type, expected: &Type) {
        let span = self.syntax.span(cel);
        match (as_string(cel), expected) {
            (Some(literal), Type::Str(Some(values))) if !values.iter().any(|value| value == literal) => {
                let hint =
                    interlock_suggest::did_you_mean_or_list(literal, "it can be", values.iter().map(String::as_str));
                self.problem("E0308", span, format!("'{literal}' is not a value that is allowed here"), hint);
            }
            _ if !expected.accepts(found) => {
                let hint =
                    if *expected == Type::Bool { condition_hint(found) } else { conversion_hint(found, expected) };
                self.problem("E0309", span, format!("this is {found}, {expected} is expected"), hint);
            }
            _ => {}
        }
    }
}

fn conversion_hint(found: &Type, expected: &Type) -> Option<String> {
    match (found, expected) {
        (Type::Double, Type::Int) => Some("convert it with `int(…)`".to_owned()),
        (Type::Bool | Type::Int | Type::Double, Type::Str(_)) => Some("convert it with `string(…)`".to_owned()),
        _ => None,
    }
}
