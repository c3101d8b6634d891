//! The type checker.
//!
//! It works on the `cel` parser's tree and not on ours, because the former keeps the contents of opaque expressions and
//! the positions of all nodes. An unknown type ([`Type::Dyn`]) is accepted everywhere.

mod compare;
mod expect;

use std::collections::BTreeMap;

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr as Cel, IdedExpr, LiteralValue, MapExpr, operators,
};

use super::{
    Binary, Expr, Type, functions,
    operators::{arithmetic, can_order, sign},
    parse::binary,
    reference::{Chain, chain},
    syntax::{self, Syntax, error},
};
use crate::{Diagnostic, Span};

/// The types of the variables in the scope of an expression.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The type of the run's input.
    pub input: &'a Type,
    /// The type of the run's data.
    pub context: &'a Type,
    /// The type of the data of the event that is being handled.
    pub event: &'a Type,
}

/// Returns the type of an expression's value, and the problems in the expression.
///
/// With `expect`, a value that cannot be of that type is also a problem: a guard expects [`Type::Bool`].
pub fn check(expr: &Expr, scope: &Scope, expect: Option<&Type>) -> (Type, Vec<Diagnostic>) {
    if let Some(syntax) = syntax::read_quickly(&expr.source, expr.span) {
        let (found, problems) = walk(&syntax, scope, expect);
        if problems.is_empty() {
            return (found, problems);
        }
    }
    match syntax::read(&expr.source, expr.span) {
        Ok(syntax) => walk(&syntax, scope, expect),
        // Text that does not parse was refused when the expression was created.
        Err(_) => (Type::Dyn, Vec::new()),
    }
}

fn walk(syntax: &Syntax, scope: &Scope, expect: Option<&Type>) -> (Type, Vec<Diagnostic>) {
    let mut checker = Checker { syntax, scope, locals: Vec::new(), problems: Vec::new() };
    let found = match expect {
        Some(expected) => checker.expect(&syntax.root, expected),
        None => checker.type_of(&syntax.root),
    };
    let mut problems = checker.problems;
    problems.sort_by_key(|problem| problem.span);
    problems.dedup();
    (found, problems)
}

struct Checker<'a> {
    syntax: &'a Syntax<'a>,
    scope: &'a Scope<'a>,
    /// The variables of the enclosing comprehensions, the innermost last.
    locals: Vec<(&'a str, Type)>,
    problems: Vec<Diagnostic>,
}

impl<'a> Checker<'a> {
    fn problem(&mut self, code: &'static str, span: Span, message: String, hint: Option<String>) {
        self.problems.push(error(code, span, message, hint));
    }

    fn type_of(&mut self, cel: &'a IdedExpr) -> Type {
        if let Some(chain) = chain(cel) {
            let found = self.chain(&chain);
            return if is_has(cel) { Type::Bool } else { found };
        }
        match &cel.expr {
            Cel::Literal(literal) => of_literal(literal),
            Cel::Select(select) => {
                let owner = self.type_of(&select.operand);
                let found = self.field(&owner, &select.field, cel, || self.syntax.written(&select.operand)).clone();
                if select.test { Type::Bool } else { found }
            }
            Cel::Call(call) => self.call(cel, call),
            Cel::List(list) => {
                let items: Vec<Type> = list.elements.iter().map(|element| self.type_of(element)).collect();
                Type::List(Box::new(Type::join_all(items)))
            }
            Cel::Map(map) => self.map(map),
            Cel::Comprehension(comprehension) => self.comprehension(comprehension),
            Cel::Ident(_) | Cel::Struct(_) | Cel::Unspecified => Type::Dyn,
        }
    }

    /// Returns the type of a variable and its selected fields.
    fn chain(&mut self, chain: &Chain<'a>) -> Type {
        let fields: Vec<_> = chain.fields.iter().collect();
        let local = self.locals.iter().rev().find(|(name, _)| *name == chain.root).map(|(_, kind)| kind.clone());
        if let Some(kind) = local {
            return self.fields(&kind, chain, 0);
        }
        match (chain.root, &fields[..]) {
            ("input", _) => self.fields(self.scope.input, chain, 0),
            ("context", _) => self.fields(self.scope.context, chain, 0),
            ("event", _) => self.fields(self.scope.event, chain, 0),
            ("_event", [data, ..]) if data.name == "data" => self.fields(self.scope.event, chain, 1),
            ("_event", [name, ..]) if name.name == "name" => self.fields(&Type::Str(None), chain, 1),
            ("_event", _) => Type::open_map(),
            ("_name" | "_sessionid", _) => self.fields(&Type::Str(None), chain, 0),
            ("state", [_, fact, ..]) if fact.name == "active" => Type::Bool,
            ("state" | "count", _) => Type::Int,
            _ => Type::Dyn,
        }
    }

    /// Returns the type of a chain's fields, beginning with the one at `from`, in a value of type `root`.
    fn fields(&mut self, root: &Type, chain: &Chain<'a>, from: usize) -> Type {
        let mut kind = root;
        for (index, field) in chain.fields.iter().enumerate().skip(from) {
            kind = self.field(kind, field.name, field.node, || chain.written(index));
        }
        kind.clone()
    }

    /// Returns the type of a field. A missing field is a problem, and its type is unknown.
    fn field<'t>(&mut self, owner: &'t Type, name: &str, node: &IdedExpr, written: impl Fn() -> String) -> &'t Type {
        match owner {
            Type::Dyn => &Type::Dyn,
            Type::Map { fields, open } => fields.get(name).unwrap_or_else(|| {
                if !open {
                    let known = fields.keys().map(String::as_str);
                    let hint = interlock_suggest::did_you_mean_or_list(name, "its fields are", known);
                    let message = format!("`{}` has no field `{name}`", written());
                    self.problem("E0306", self.syntax.name_span(node), message, hint);
                }
                &Type::Dyn
            }),
            other => {
                let message = format!("`{}` is {other} and has no field `{name}`", written());
                self.problem("E0306", self.syntax.name_span(node), message, None);
                &Type::Dyn
            }
        }
    }

    fn call(&mut self, cel: &'a IdedExpr, call: &'a CallExpr) -> Type {
        let name = &*call.func_name;
        match (&call.target, &call.args[..]) {
            (None, [operand]) if name == operators::LOGICAL_NOT => self.bool_operand("!", operand),
            (None, [operand]) if name == operators::NEGATE => self.negated(operand),
            (None, [owner, index]) if name == operators::INDEX => self.index(owner, index),
            (None, [condition, yes, no]) if name == operators::CONDITIONAL => {
                self.bool_operand("? :", condition);
                let (left, right) = (self.type_of(yes), self.type_of(no));
                if is_accumulator(no) { left } else { left.join(&right) }
            }
            (None, [left, right]) if binary(name).is_some() => {
                binary(name).map_or(Type::Dyn, |operator| self.binary(cel, operator, left, right))
            }
            _ => self.function(call),
        }
    }

    fn bool_operand(&mut self, operator: &str, operand: &'a IdedExpr) -> Type {
        let found = self.type_of(operand);
        if !matches!(found, Type::Bool | Type::Dyn) {
            let hint = condition_hint(&found);
            self.problem(
                "E0307",
                self.syntax.span(operand),
                format!("`{operator}` needs a bool, this is {found}"),
                hint,
            );
        }
        Type::Bool
    }

    fn negated(&mut self, operand: &'a IdedExpr) -> Type {
        let found = self.type_of(operand);
        if found == Type::Dyn || found.is_number() {
            return found;
        }
        self.problem("E0307", self.syntax.span(operand), format!("`-` needs a number, this is {found}"), None);
        Type::Dyn
    }

    fn index(&mut self, owner: &'a IdedExpr, index: &'a IdedExpr) -> Type {
        let (kind, key) = (self.type_of(owner), self.type_of(index));
        match (&kind, &key) {
            (Type::Dyn, _) => Type::Dyn,
            (Type::List(items), Type::Dyn | Type::Int | Type::Double) => (**items).clone(),
            (Type::Map { .. }, Type::Str(_)) if as_string(index).is_some() => {
                let name = as_string(index).unwrap_or("");
                self.field(&kind, name, index, || self.syntax.written(owner)).clone()
            }
            (Type::Map { .. }, Type::Dyn | Type::Str(_)) => Type::Dyn,
            _ => {
                let message = match kind {
                    Type::List(_) => format!("a list is indexed with an int, this is {key}"),
                    Type::Map { .. } => format!("a map is indexed with a string, this is {key}"),
                    _ => format!("`{}` is {kind} and cannot be indexed", self.syntax.written(owner)),
                };
                self.problem("E0307", self.syntax.span(index), message, None);
                Type::Dyn
            }
        }
    }

    fn binary(&mut self, cel: &'a IdedExpr, operator: Binary, left: &'a IdedExpr, right: &'a IdedExpr) -> Type {
        match operator {
            Binary::And | Binary::Or => {
                self.bool_operand(sign(operator), left);
                self.bool_operand(sign(operator), right)
            }
            Binary::Equal | Binary::NotEqual => {
                let kinds = (self.type_of(left), self.type_of(right));
                self.equality(cel, operator, (left, &kinds.0), (right, &kinds.1));
                Type::Bool
            }
            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => {
                let kinds = (self.type_of(left), self.type_of(right));
                if !can_order(&kinds.0, &kinds.1) {
                    self.mismatch(cel, operator, &kinds.0, &kinds.1, None);
                }
                Type::Bool
            }
            Binary::In => self.membership(cel, left, right),
            Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder => {
                self.arithmetic(cel, operator, left, right)
            }
        }
    }

    fn mismatch(&mut self, cel: &IdedExpr, operator: Binary, left: &Type, right: &Type, hint: Option<String>) {
        let message = match operator {
            Binary::In => format!("`in` cannot find {left} in {right}"),
            _ if operator_compares(operator) => format!("`{}` cannot compare {left} with {right}", sign(operator)),
            _ => format!("`{}` cannot be applied to {left} and {right}", sign(operator)),
        };
        self.problem("E0307", self.syntax.span(cel), message, hint);
    }

    fn arithmetic(&mut self, cel: &'a IdedExpr, operator: Binary, left: &'a IdedExpr, right: &'a IdedExpr) -> Type {
        let kinds = (self.type_of(left), self.type_of(right));
        if is_accumulator(left) {
            return kinds.1;
        }
        arithmetic(operator, &kinds.0, &kinds.1).unwrap_or_else(|| {
            let hint = arithmetic_hint(operator, &kinds.0, &kinds.1);
            self.mismatch(cel, operator, &kinds.0, &kinds.1, hint);
            Type::Dyn
        })
    }

    fn function(&mut self, call: &'a CallExpr) -> Type {
        let receiver = call.target.as_deref().map(|target| (target, self.type_of(target)));
        let arguments: Vec<_> = call.args.iter().map(|argument| (argument, self.type_of(argument))).collect();
        let Ok(function) = functions::find(&call.func_name, receiver.is_some(), arguments.len()) else {
            return Type::Dyn;
        };
        let takes = function.receiver.iter().chain(function.arguments);
        for (takes, (node, found)) in takes.zip(receiver.iter().chain(&arguments)) {
            if !takes.accepts(found) {
                let message = format!("`{}` needs {}, this is {found}", function.name, takes.words());
                self.problem("E0307", self.syntax.span(node), message, None);
            }
        }
        (function.returns)()
    }

    fn map(&mut self, map: &'a MapExpr) -> Type {
        let mut fields = BTreeMap::new();
        let mut open = map.entries.is_empty();
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
            let (key, value) = (self.type_of(&entry.key), self.type_of(&entry.value));
            if !matches!(key, Type::Str(_) | Type::Dyn) {
                let message = format!("the keys of a map are strings, this is {key}");
                self.problem("E0307", self.syntax.span(&entry.key), message, None);
            }
            match as_string(&entry.key) {
                Some(name) if fields.insert(name.to_owned(), value).is_some() => {
                    let message = format!("the key '{name}' is given twice");
                    self.problem("E0307", self.syntax.span(&entry.key), message, None);
                }
                Some(_) => {}
                None => open = true,
            }
        }
        Type::Map { fields, open }
    }

    /// Checks `all`, `exists`, `exists_one`, `map` and `filter` in the form to which the parser expands them.
    fn comprehension(&mut self, comprehension: &'a ComprehensionExpr) -> Type {
        let range = self.type_of(&comprehension.iter_range);
        let item = match &range {
            Type::List(items) => (**items).clone(),
            Type::Map { .. } => Type::Str(None),
            Type::Dyn => Type::Dyn,
            _ => {
                let message = format!("only lists and maps have elements, this is {range}");
                self.problem("E0307", self.syntax.span(&comprehension.iter_range), message, None);
                Type::Dyn
            }
        };
        let outer = self.locals.len();
        let start = self.type_of(&comprehension.accu_init);
        self.locals.extend([(&*comprehension.iter_var, item), (&*comprehension.accu_var, start)]);
        self.type_of(&comprehension.loop_cond);
        let step = self.type_of(&comprehension.loop_step);
        if let Some((_, accumulated)) = self.locals.last_mut() {
            *accumulated = step;
        }
        let result = self.type_of(&comprehension.result);
        self.locals.truncate(outer);
        result
    }
}

fn of_literal(literal: &LiteralValue) -> Type {
    match literal {
        LiteralValue::Null => Type::Null,
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::String(_) => Type::Str(None),
        LiteralValue::Bytes(_) | LiteralValue::UInt(_) => Type::Dyn,
    }
}

fn as_string(cel: &IdedExpr) -> Option<&str> {
    match &cel.expr {
        Cel::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}

fn is_has(cel: &IdedExpr) -> bool {
    matches!(&cel.expr, Cel::Select(select) if select.test)
}

/// Returns true for the accumulator of a comprehension. Its first value, an empty list, has no information about the
/// elements.
fn is_accumulator(cel: &IdedExpr) -> bool {
    matches!(&cel.expr, Cel::Ident(name) if name.starts_with('@'))
}

fn operator_compares(operator: Binary) -> bool {
    use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(operator, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
}

fn condition_hint(found: &Type) -> Option<String> {
    match found {
        Type::Int | Type::Double => Some("compare it with a number: `… > 0`".to_owned()),
        Type::Str(_) => Some("compare it with a string: `… == '…'`".to_owned()),
        Type::List(_) | Type::Map { .. } => Some("ask for its size: `size(…) > 0`".to_owned()),
        Type::Dyn | Type::Null | Type::Bool => None,
    }
}

fn arithmetic_hint(operator: Binary, left: &Type, right: &Type) -> Option<String> {
    match (left, right) {
        (Type::Int, Type::Double) | (Type::Double, Type::Int) => {
            Some("int and double do not mix: convert one side with `double(…)` or `int(…)`".to_owned())
        }
        (Type::Str(_), _) | (_, Type::Str(_)) if operator == Binary::Add => {
            Some("convert the other side with `string(…)`, or write the text with `${…}` in it".to_owned())
        }
        _ => None,
    }
}
