//! The templates: each examines one node and proposes changes. The caller ranks them.

mod boundaries;
mod calls;
mod checks;
mod conditions;
mod constants;
mod ingredients;
mod insertions;
mod operators;
mod statements;
mod terms;
mod types;
mod unary;
mod variables;

pub(crate) use ingredients::Ingredients;

use crate::edit::Edit;
use crate::hints::Hints;
use crate::source::Source;
use crate::symbols::Symbols;
use crate::template::Template;

/// A proposal of a template: a change, and its weight among the template's proposals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proposal {
    pub(crate) template: Template,
    pub(crate) weight: f64,
    pub(crate) edits: Vec<Edit>,
}

/// A place that a template examines.
pub(crate) struct At<'a> {
    pub(crate) source: &'a Source,
    pub(crate) symbols: &'a Symbols,
    pub(crate) hints: &'a Hints,
    pub(crate) ingredients: &'a Ingredients,
    pub(crate) node: usize,
}

type Rule = fn(&At<'_>, &mut Vec<Proposal>);

/// Every template, grouped by file.
pub(crate) const RULES: &[Rule] = &[
    operators::binary,
    operators::regroup,
    operators::assignment,
    boundaries::off_by_one,
    terms::named_term,
    terms::as_elsewhere,
    terms::rounding,
    unary::unary,
    constants::number,
    constants::named,
    variables::variable,
    variables::field,
    variables::same_type,
    calls::arguments,
    calls::function,
    calls::format,
    conditions::negate,
    conditions::drop_operand,
    conditions::join,
    statements::ends,
    statements::returned,
    statements::swap,
    statements::delete,
    insertions::from_elsewhere,
    insertions::remembered,
    checks::null_check,
    checks::range_check,
    checks::overflow_check,
    checks::rearrange,
    types::width,
    types::volatile,
    types::initialise,
    types::cast,
];

impl<'a> At<'a> {
    pub(crate) fn kind(&self) -> &'a str {
        self.source.kind(self.node)
    }

    pub(crate) fn text(&self) -> &'a str {
        self.source.text(self.node)
    }

    pub(crate) fn child(&self, field: &str) -> Option<usize> {
        self.source.child(self.node, field)
    }

    pub(crate) fn start(&self) -> usize {
        self.source.node(self.node).start
    }

    /// Returns the operator of an expression: its node and its text.
    pub(crate) fn operator(&self) -> Option<(usize, &'a str)> {
        self.child("operator").map(|node| (node, self.source.text(node)))
    }

    /// Returns an edit that replaces a node's text.
    pub(crate) fn replace(&self, node: usize, text: impl Into<String>) -> Edit {
        let node = self.source.node(node);
        Edit { start: node.start, end: node.end, text: text.into() }
    }

    /// Proposes another text for a node.
    pub(crate) fn instead(
        &self,
        into: &mut Vec<Proposal>,
        template: Template,
        weight: f64,
        node: usize,
        text: impl Into<String>,
    ) {
        let edit = self.replace(node, text);
        into.push(Proposal { template, weight, edits: vec![edit] });
    }

    /// Returns true if the node is a value that is read: not a name that is declared, called, or assigned to.
    pub(crate) fn is_read(&self) -> bool {
        let parent = self.source.parent(self.node);
        let field = &*self.source.node(self.node).field;
        match self.source.kind(parent) {
            "call_expression" => field != "function",
            "assignment_expression" => field == "right",
            "init_declarator" => field == "value",
            "field_expression" | "pointer_expression" | "update_expression" | "function_declarator" => false,
            "declaration" | "parameter_declaration" | "pointer_declarator" | "array_declarator" | "enumerator" => false,
            "preproc_def"
            | "preproc_function_def"
            | "preproc_params"
            | "preproc_ifdef"
            | "preproc_call"
            | "macro_type_specifier" => false,
            _ => true,
        }
    }

    /// Returns the factor by which another name fits better with the rest of its statement. Text that was copied and
    /// only partly adapted has `rx` beside `TX_ROOM`.
    pub(crate) fn consistency(&self, other: &str) -> f64 {
        let parts = |name: &str| name.to_ascii_lowercase().split('_').map(str::to_owned).collect::<Vec<String>>();
        let (own, new) = (parts(self.text()), parts(other));
        let differing: Vec<&String> =
            new.iter().zip(&own).filter(|(new, own)| new != own).map(|(new, _)| new).collect();
        let [changed] = differing[..] else { return 1.0 };
        if own.len() != new.len() || own.len() < 2 {
            return 1.0;
        }
        let is_statement = |up: &usize| self.source.kind(*up).ends_with("_statement");
        let Some(statement) = self.source.ancestors(self.node).find(is_statement) else { return 1.0 };
        let mut names =
            self.source.inside(statement).take(60).filter(|node| {
                *node != self.node && matches!(self.source.kind(*node), "identifier" | "field_identifier")
            });
        if names.any(|node| parts(self.source.text(node)).contains(changed)) { 2.5 } else { 1.0 }
    }

    /// Returns true if the other operand of the expression has this text: `x < x` is pointless.
    pub(crate) fn is_beside(&self, text: &str) -> bool {
        let parent = self.source.parent(self.node);
        let operands =
            matches!(self.source.kind(parent), "binary_expression" | "assignment_expression" | "init_declarator");
        operands && self.source.named(parent).any(|one| one != self.node && self.source.text(one) == text)
    }

    /// Returns true if the node is inside a function.
    pub(crate) fn in_function(&self) -> bool {
        self.source.function(self.node).is_some()
    }
}

/// Returns true if an expression needs no parentheses as an operand.
pub(crate) fn is_simple(kind: &str) -> bool {
    matches!(
        kind,
        "identifier"
            | "field_expression"
            | "call_expression"
            | "subscript_expression"
            | "number_literal"
            | "parenthesized_expression"
            | "char_literal"
    )
}

/// Returns the precedence of an operator; a larger number binds tighter.
pub(crate) fn binding(operator: &str) -> u32 {
    match operator {
        "*" | "/" | "%" => 10,
        "+" | "-" => 9,
        "<<" | ">>" => 8,
        "<" | "<=" | ">" | ">=" => 7,
        "==" | "!=" => 6,
        "&" => 5,
        "^" => 4,
        "|" => 3,
        "&&" => 2,
        "||" => 1,
        _ => 0,
    }
}
