//! Conditions that known facts can answer: one comparison of a path, a counter or the event's name.

use interlock_chart::{
    Value,
    expr::{Binary, Node, Root},
    model::CounterId,
};

use super::{region::Region, table::Path};

/// A comparison that can be answered from a region, a counter or the event's name.
pub(super) enum Atom {
    Path(Path, Test),
    Count(CounterId, Binary, i64),
    EventName(bool, String),
}

/// The test on a path's value.
pub(super) enum Test {
    IsTrue,
    Has,
    Compare(Binary, Value),
    OneOf(Vec<Value>),
}

impl Test {
    pub(super) fn holds(&self, region: &Region) -> bool {
        match self {
            Test::IsTrue => region.compare(Binary::Equal, &Value::Bool(true)),
            Test::Has => *region != Region::Absent,
            Test::Compare(operator, value) => region.compare(*operator, value),
            Test::OneOf(values) => values.iter().any(|value| region.compare(Binary::Equal, value)),
        }
    }
}

impl Atom {
    pub(super) fn of(node: &Node) -> Option<Atom> {
        match node {
            Node::Path(root @ (Root::Input | Root::Context | Root::Event), path) => {
                Some(Atom::Path((*root, path.clone()), Test::IsTrue))
            }
            Node::Has(root, path) => Some(Atom::Path((*root, path.clone()), Test::Has)),
            Node::Binary(Binary::In, item, list) => match (&**item, &**list) {
                (Node::Path(root, path), Node::List(items)) => {
                    Some(Atom::Path((*root, path.clone()), Test::OneOf(literals(items)?)))
                }
                (Node::Path(root, path), Node::Literal(Value::List(items))) => {
                    Some(Atom::Path((*root, path.clone()), Test::OneOf(items.to_vec())))
                }
                _ => None,
            },
            Node::Binary(operator, left, right) => match (&**left, &**right) {
                (left, Node::Literal(value)) => Atom::compare(left, *operator, value),
                (Node::Literal(value), right) => Atom::compare(right, mirrored(*operator)?, value),
                _ => None,
            },
            _ => None,
        }
    }

    fn compare(node: &Node, operator: Binary, value: &Value) -> Option<Atom> {
        use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let is_ordered = matches!(operator, Less | LessEqual | Greater | GreaterEqual);
        match (node, value) {
            (Node::Count(counter), Value::Int(value)) => Some(Atom::Count(*counter, operator, *value)),
            (Node::Path(Root::EventName, path), Value::Str(name)) if path.is_empty() && !is_ordered => {
                Some(Atom::EventName(operator == Equal, name.to_string()))
            }
            (Node::Path(root @ (Root::Input | Root::Context | Root::Event), path), value) => {
                let is_number = matches!(value, Value::Int(_) | Value::Float(_));
                let is_plain = matches!(value, Value::Null | Value::Bool(_) | Value::Str(_)) && !is_ordered;
                let is_comparison = is_ordered || matches!(operator, Equal | NotEqual);
                (is_comparison && (is_number || is_plain))
                    .then(|| Atom::Path((*root, path.clone()), Test::Compare(operator, value.clone())))
            }
            _ => None,
        }
    }
}

fn literals(items: &[Node]) -> Option<Vec<Value>> {
    let literal = |node: &Node| match node {
        Node::Literal(value @ (Value::Null | Value::Bool(_) | Value::Str(_) | Value::Int(_) | Value::Float(_))) => {
            Some(value.clone())
        }
        _ => None,
    };
    items.iter().map(literal).collect()
}

fn mirrored(operator: Binary) -> Option<Binary> {
    Some(match operator {
        Binary::Less => Binary::Greater,
        Binary::LessEqual => Binary::GreaterEqual,
        Binary::Greater => Binary::Less,
        Binary::GreaterEqual => Binary::LessEqual,
        Binary::Equal | Binary::NotEqual => operator,
        _ => return None,
    })
}
