//! Types of values, derived from a JSON Schema, from an example, or from two branches.
//!
//! Types find mistakes and do not prove correctness. If a schema is more precise than a [`Type`] can be, the type is
//! less precise.

use std::{collections::BTreeMap, fmt};

use super::Type;
use crate::Value;

impl Type {
    /// Returns the type of a map with unknown fields.
    pub fn open_map() -> Type {
        Type::Map { fields: BTreeMap::new(), open: true }
    }

    /// Returns the type of values like this example. A map has exactly its fields. An empty map or list and `null` have
    /// no information about later values.
    pub fn of_value(value: &Value) -> Type {
        match value {
            Value::Null => Type::Dyn,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Float(_) => Type::Double,
            Value::Str(_) => Type::Str(None),
            Value::List(items) => Type::List(Box::new(Type::join_all(items.iter().map(Type::of_value)))),
            Value::Map(fields) if fields.is_empty() => Type::open_map(),
            Value::Map(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.to_string(), Type::of_value(value)));
                Type::Map { fields: fields.collect(), open: false }
            }
        }
    }

    /// Returns the type of a value that has one type or the other.
    pub fn join(&self, other: &Type) -> Type {
        match (self, other) {
            (Type::Int | Type::Double, Type::Int | Type::Double) if self != other => Type::Double,
            (Type::Str(left), Type::Str(right)) => Type::Str(union(left.as_deref(), right.as_deref())),
            (Type::List(left), Type::List(right)) => Type::List(Box::new(left.join(right))),
            (Type::Map { fields: left, open: left_open }, Type::Map { fields: right, open: right_open }) => {
                Type::Map { fields: merge(left, right), open: *left_open || *right_open }
            }
            _ if self == other => self.clone(),
            _ => Type::Dyn,
        }
    }

    /// Returns the join of all types, or [`Type::Dyn`] if there are none.
    pub(super) fn join_all(types: impl IntoIterator<Item = Type>) -> Type {
        types.into_iter().reduce(|left, right| left.join(&right)).unwrap_or(Type::Dyn)
    }

    /// Returns true if a value of type `other` is allowed at a position with this type. Unknown types are accepted.
    pub fn accepts(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Dyn, _) | (_, Type::Dyn) | (Type::Double, Type::Int) => true,
            // A schema that allows `null` beside listed strings is represented by its strings alone.
            (Type::Str(Some(_)), Type::Null) => true,
            (Type::Str(Some(wanted)), Type::Str(Some(given))) => given.iter().all(|value| wanted.contains(value)),
            (Type::Str(_), Type::Str(_)) => true,
            (Type::List(wanted), Type::List(given)) => wanted.accepts(given),
            (Type::Map { fields: wanted, open }, Type::Map { fields: given, .. }) => {
                given.iter().all(|(name, given)| wanted.get(name).map_or(*open, |wanted| wanted.accepts(given)))
            }
            _ => self == other,
        }
    }

    /// Returns true if the type is certainly a number.
    pub(super) fn is_number(&self) -> bool {
        matches!(self, Type::Int | Type::Double)
    }
}

fn union(left: Option<&[String]>, right: Option<&[String]>) -> Option<Vec<String>> {
    let (left, right) = (left?, right?);
    let added = right.iter().filter(|value| !left.contains(value));
    Some(left.iter().chain(added).cloned().collect())
}

/// Merges the fields of both types. A field of only one side may be missing, which a type does not express.
fn merge(left: &BTreeMap<String, Type>, right: &BTreeMap<String, Type>) -> BTreeMap<String, Type> {
    let mut fields = left.clone();
    for (name, kind) in right {
        let joined = left.get(name).map_or_else(|| kind.clone(), |other| other.join(kind));
        fields.insert(name.clone(), joined);
    }
    fields
}

/// The maximum number of a string's values that a message lists.
const VALUES_SHOWN_MAX: usize = 6;

/// Formats the type as messages name it.
impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dyn => out.write_str("of unknown type"),
            Type::Null => out.write_str("null"),
            Type::Bool => out.write_str("bool"),
            Type::Int => out.write_str("int"),
            Type::Double => out.write_str("double"),
            Type::Str(None) => out.write_str("string"),
            Type::Str(Some(values)) => {
                let shown: Vec<String> =
                    values.iter().take(VALUES_SHOWN_MAX).map(|value| format!("'{value}'")).collect();
                let more = if values.len() > VALUES_SHOWN_MAX { ", …" } else { "" };
                write!(out, "string ({}{more})", shown.join(", "))
            }
            Type::List(items) if **items == Type::Dyn => out.write_str("list"),
            Type::List(items) => write!(out, "list of {items}"),
            Type::Map { .. } => out.write_str("map"),
        }
    }
}
