//! The result types of operators. The rules are those of the `cel` crate's values, as far as they are known before
//! evaluation.

use super::{Binary, Type};

/// Returns the type of an arithmetic operation, or `None` if the operands do not fit.
///
/// As in CEL, int and double do not mix. If one side is unknown, the other decides the result.
pub(super) fn arithmetic(operator: Binary, left: &Type, right: &Type) -> Option<Type> {
    match (left, right) {
        (Type::Dyn, Type::Dyn) => Some(Type::Dyn),
        (Type::Dyn, known) | (known, Type::Dyn) => alone(operator, known),
        (Type::List(left), Type::List(right)) if operator == Binary::Add => {
            Some(Type::List(Box::new(left.join(right))))
        }
        (Type::Str(_), Type::Str(_)) => alone(operator, left),
        _ if left == right && left.is_number() => alone(operator, left),
        _ => None,
    }
}

/// Returns the type of an arithmetic operation on two values of one type.
fn alone(operator: Binary, operand: &Type) -> Option<Type> {
    match operand {
        Type::Int => Some(Type::Int),
        Type::Double if operator != Binary::Remainder => Some(Type::Double),
        Type::Str(_) if operator == Binary::Add => Some(Type::Str(None)),
        Type::List(_) if operator == Binary::Add => Some(Type::List(Box::new(Type::Dyn))),
        _ => None,
    }
}

/// Returns true if two values can be compared for equality. Any value may be compared with `null`.
pub(super) fn can_equal(left: &Type, right: &Type) -> bool {
    match (left, right) {
        (Type::Dyn | Type::Null, _) | (_, Type::Dyn | Type::Null) => true,
        (Type::List(left), Type::List(right)) => can_equal(left, right),
        (Type::Map { .. }, Type::Map { .. }) | (Type::Str(_), Type::Str(_)) | (Type::Bool, Type::Bool) => true,
        _ => left.is_number() && right.is_number(),
    }
}

/// Returns true if two values can be ordered.
pub(super) fn can_order(left: &Type, right: &Type) -> bool {
    let ordered = |kind: &Type| matches!(kind, Type::Dyn | Type::Bool | Type::Int | Type::Double | Type::Str(_));
    ordered(left) && ordered(right) && can_equal(left, right)
}

/// Returns the operator as it is written.
pub(super) fn sign(operator: Binary) -> &'static str {
    match operator {
        Binary::And => "&&",
        Binary::Or => "||",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::Less => "<",
        Binary::LessEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterEqual => ">=",
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::In => "in",
    }
}
