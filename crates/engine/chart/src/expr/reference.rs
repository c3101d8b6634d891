//! The meaning of a chain of names: `context.decision.status`, `state.TESTING.visits`, `_event.data.code`.

use cel::common::ast::{Expr as Cel, IdedExpr, LiteralValue, operators};

use super::{
    Node, Root, functions,
    syntax::{Syntax, error},
};
use crate::{
    Diagnostic, Span,
    model::{CounterId, StateId},
};

/// The names that an expression may refer to, besides its variables.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The names of the states; the index is the [`StateId`].
    pub states: &'a [String],
    /// The names of the counters; the index is the [`CounterId`].
    pub counters: &'a [String],
}

/// The variables, in the order in which hints list them.
pub(super) const VARIABLES: [&str; 8] =
    ["input", "context", "event", "state", "count", "_event", "_name", "_sessionid"];

impl Names<'_> {
    /// Returns the state called `name`, which is written at `span`.
    pub(super) fn state(&self, name: &str, span: Span) -> Result<StateId, Diagnostic> {
        self.states.iter().position(|state| state == name).map(StateId::at).ok_or_else(|| {
            let hint =
                interlock_suggest::did_you_mean_or_list(name, "the states are", self.states.iter().map(String::as_str));
            error("E0304", span, format!("there is no state `{name}`"), hint)
        })
    }

    fn counter(&self, name: &str, span: Span) -> Result<CounterId, Diagnostic> {
        self.counters.iter().position(|counter| counter == name).map(CounterId::at).ok_or_else(|| {
            let known = self.counters.iter().map(String::as_str);
            let hint = interlock_suggest::did_you_mean_or_list(name, "the counters are", known);
            error("E0304", span, format!("there is no counter `{name}`"), hint)
        })
    }
}

/// A variable and the fields selected from it, in order.
pub(super) struct Chain<'a> {
    pub(super) root: &'a str,
    root_node: &'a IdedExpr,
    pub(super) fields: Vec<Field<'a>>,
}

/// A selected field: `.name` or `['name']`.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    /// The selection or the key.
    pub(super) node: &'a IdedExpr,
}

/// The thing that a chain refers to.
pub(super) enum Reference {
    /// Something that our tree has a node for.
    Node(Node),
    /// `_event` as a whole value.
    WholeEvent,
    /// A type as a value: `int`.
    TypeName,
}

/// Returns `cel` as a chain, if it is one.
pub(super) fn chain(cel: &IdedExpr) -> Option<Chain<'_>> {
    let mut fields = Vec::new();
    let mut at = cel;
    loop {
        match &at.expr {
            Cel::Ident(name) => {
                fields.reverse();
                let root = name.strip_prefix('.').unwrap_or(name);
                return Some(Chain { root, root_node: at, fields });
            }
            // Only the outermost selection can belong to `has(…)`.
            Cel::Select(select) if !select.test || std::ptr::eq(at, cel) => {
                fields.push(Field { name: &select.field, node: at });
                at = &select.operand;
            }
            _ => {
                let (operand, key) = literal_index(at)?;
                let Cel::Literal(LiteralValue::String(name)) = &key.expr else { return None };
                fields.push(Field { name: name.inner(), node: key });
                at = operand;
            }
        }
    }
}

/// Returns the operand and the key of `operand['key']`.
fn literal_index(cel: &IdedExpr) -> Option<(&IdedExpr, &IdedExpr)> {
    match &cel.expr {
        Cel::Call(call) if call.func_name == operators::INDEX => match &call.args[..] {
            [operand, key] if matches!(key.expr, Cel::Literal(LiteralValue::String(_))) => Some((operand, key)),
            _ => None,
        },
        _ => None,
    }
}

impl Chain<'_> {
    /// Returns the variable with its first `fields` fields as text.
    pub(super) fn written(&self, fields: usize) -> String {
        self.fields.iter().take(fields).fold(self.root.to_owned(), |path, field| format!("{path}.{}", field.name))
    }

    /// Resolves the chain to the thing it refers to.
    pub(super) fn resolve(&self, syntax: &Syntax, names: &Names) -> Result<Reference, Diagnostic> {
        let path = |root, from: usize| {
            let fields = self.fields.iter().skip(from).map(|field| field.name.to_owned());
            Ok(Reference::Node(Node::Path(root, fields.collect())))
        };
        match self.root {
            "input" => path(Root::Input, 0),
            "context" => path(Root::Context, 0),
            "event" => path(Root::Event, 0),
            "_name" => path(Root::Name, 0),
            "_sessionid" => path(Root::SessionId, 0),
            "_event" => match self.fields.first() {
                None => Ok(Reference::WholeEvent),
                Some(field) if field.name == "name" => path(Root::EventName, 1),
                Some(field) if field.name == "data" => path(Root::Event, 1),
                Some(field) => Err(no_field(syntax, "`_event`", field, &["name", "data"])),
            },
            "state" => self.state(syntax, names).map(Reference::Node),
            "count" => self.count(syntax, names).map(Reference::Node),
            name if functions::TYPE_NAMES.contains(&name) && self.fields.is_empty() => Ok(Reference::TypeName),
            name => Err(unknown_variable(name, syntax.span(self.root_node), names)),
        }
    }

    /// Resolves `state.NAME.visits` and `state.NAME.active`.
    fn state(&self, syntax: &Syntax, names: &Names) -> Result<Node, Diagnostic> {
        let [state, fact, rest @ ..] = &self.fields[..] else {
            let message = "`state` is not a value by itself".to_owned();
            let hint = "write `state.NAME.visits` or `state.NAME.active`".to_owned();
            return Err(error("E0304", syntax.span(self.root_node), message, Some(hint)));
        };
        let id = names.state(state.name, syntax.name_span(state.node))?;
        let node = match fact.name {
            "visits" => Node::Visits(id),
            "active" => Node::Active(id),
            _ => return Err(no_field(syntax, "a state", fact, &["visits", "active"])),
        };
        rest.first().map_or(Ok(node), |field| Err(no_field(syntax, &format!("`{}`", fact.name), field, &[])))
    }

    /// Resolves `count.NAME` to a counter.
    fn count(&self, syntax: &Syntax, names: &Names) -> Result<Node, Diagnostic> {
        let [counter, rest @ ..] = &self.fields[..] else {
            let message = "`count` is not a value by itself".to_owned();
            return Err(error("E0304", syntax.span(self.root_node), message, Some("write `count.NAME`".to_owned())));
        };
        let id = names.counter(counter.name, syntax.name_span(counter.node))?;
        rest.first().map_or(Ok(Node::Count(id)), |field| Err(no_field(syntax, "a counter", field, &[])))
    }
}

fn no_field(syntax: &Syntax, owner: &str, field: &Field, known: &[&str]) -> Diagnostic {
    let hint = interlock_suggest::did_you_mean_or_list(field.name, "its fields are", known.iter().copied());
    error("E0306", syntax.name_span(field.node), format!("{owner} has no field `{}`", field.name), hint)
}

fn unknown_variable(name: &str, span: Span, names: &Names) -> Diagnostic {
    let hint = if names.states.iter().any(|state| state == name) {
        format!("whether the state is active is written `In('{name}')`, how often it was entered `state.{name}.visits`")
    } else if names.counters.iter().any(|counter| counter == name) {
        format!("the counter's value is written `count.{name}`")
    } else {
        interlock_suggest::did_you_mean(name, VARIABLES)
            .unwrap_or_else(|| format!("a variable of the context is written `context.{name}`, a string `'{name}'`"))
    };
    error("E0303", span, format!("there is no variable `{name}`"), Some(hint))
}
