//! Comparisons: reports values that can never be equal.

use cel::common::ast::{Expr as Cel, IdedExpr};

use super::{Checker, as_string};
use crate::expr::{Binary, Type, operators::can_equal};

impl<'a> Checker<'a> {
    /// Checks an equality. One side may be a string literal that the other side can never have.
    pub(super) fn equality(
        &mut self,
        cel: &IdedExpr,
        operator: Binary,
        left: (&IdedExpr, &Type),
        right: (&IdedExpr, &Type),
    ) {
        if !can_equal(left.1, right.1) {
            return self.mismatch(cel, operator, left.1, right.1, None);
        }
        match (as_string(left.0), as_string(right.0)) {
            (None, Some(literal)) => self.possible_value(left, literal, right.0),
            (Some(literal), None) => self.possible_value(right, literal, left.0),
            _ => {
                if let (Type::Str(Some(these)), Type::Str(Some(those))) = (left.1, right.1)
                    && !these.iter().any(|value| those.contains(value))
                {
                    let message = "these strings have no value in common".to_owned();
                    self.problem("E0308", self.syntax.span(cel), message, Some(format!("{} and {}", left.1, right.1)));
                }
            }
        }
    }

    fn possible_value(&mut self, (node, kind): (&IdedExpr, &Type), literal: &str, at: &IdedExpr) {
        let Type::Str(Some(values)) = kind else { return };
        if !values.iter().any(|value| value == literal) {
            let hint = interlock_suggest::did_you_mean_or_list(literal, "it can be", values.iter().map(String::as_str));
            let message = format!("`{}` is never '{literal}'", self.syntax.written(node));
            self.problem("E0308", self.syntax.span(at), message, hint);
        }
    }

    pub(super) fn membership(&mut self, cel: &'a IdedExpr, item: &'a IdedExpr, list: &'a IdedExpr) -> Type {
        let (kind, inside) = (self.type_of(item), self.type_of(list));
        match (&inside, &list.expr) {
            (Type::List(_), Cel::List(literal)) => {
                for element in &literal.elements {
                    let found = self.type_of(element);
                    self.equality(element, Binary::In, (item, &kind), (element, &found));
                }
            }
            (Type::List(items), _) if can_equal(&kind, items) => {
                self.equality(cel, Binary::In, (item, &kind), (list, items))
            }
            (Type::Map { .. }, _) if matches!(kind, Type::Str(_) | Type::Dyn) => {}
            (Type::Dyn, _) => {}
            _ => self.mismatch(cel, Binary::In, &kind, &inside, None),
        }
        Type::Bool
    }
}
