//! Converts CEL text to a tree: names become indices, and constructs without a node become opaque.

use std::collections::BTreeSet;

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr as Cel, IdedEntryExpr, IdedExpr, LiteralValue, SelectExpr, operators,
};

use super::{
    Binary, Expr, Node, Root, Unary, functions,
    reference::{Chain, Names, Reference, chain},
    syntax::{self, Syntax, error},
};
use crate::{Diagnostic, Span, Value};

/// Parses CEL text at `span` in its file and resolves the names of states and counters in it.
///
/// If `span` is as long as `source`, each problem has a span inside it. Otherwise (for example, if the file writes the
/// text with escapes) each problem has `span` itself.
pub fn parse(source: &str, span: Span, names: &Names) -> Result<Expr, Vec<Diagnostic>> {
    let quick = syntax::read_quickly(source, span).and_then(|syntax| lower(&syntax, names).ok());
    let node = match quick {
        // The reference parser compiles opaque expressions later, so it must be able to read them.
        Some(node) if !matches!(node, Node::Opaque(_)) => node,
        _ => lower(&syntax::read(source, span)?, names)?,
    };
    Ok(Expr { source: source.to_owned(), span, node })
}

/// Converts the parsed syntax to our tree.
pub(super) fn lower(syntax: &Syntax, names: &Names) -> Result<Node, Vec<Diagnostic>> {
    let mut lowering =
        Lowering { syntax, names, locals: Vec::new(), opaque: false, paths: BTreeSet::new(), problems: Vec::new() };
    let node = lowering.node(&syntax.root);
    if !lowering.problems.is_empty() {
        let mut problems = lowering.problems;
        problems.sort_by_key(|problem| problem.span);
        problems.dedup();
        return Err(problems);
    }
    Ok(if lowering.opaque { Node::Opaque(lowering.paths.into_iter().collect()) } else { node })
}

/// One pass over the parser's tree. It continues after a problem, to find the others, and after an opaque part, to find
/// the paths that are read. The nodes that it returns for such parts are discarded.
struct Lowering<'a> {
    syntax: &'a Syntax<'a>,
    names: &'a Names<'a>,
    /// The variables of the enclosing comprehensions.
    locals: Vec<String>,
    opaque: bool,
    paths: BTreeSet<(Root, Vec<String>)>,
    problems: Vec<Diagnostic>,
}

impl Lowering<'_> {
    fn node(&mut self, cel: &IdedExpr) -> Node {
        match &cel.expr {
            Cel::Literal(literal) => self.literal(literal),
            Cel::Select(select) if select.test => self.has(cel, select),
            Cel::Ident(_) | Cel::Select(_) => self.reference(cel),
            Cel::Call(call) => self.call(cel, call),
            Cel::List(list) => Node::List(list.elements.iter().map(|element| self.node(element)).collect()),
            Cel::Map(map) => Node::Map(map.entries.iter().filter_map(|entry| self.entry(entry)).collect()),
            Cel::Comprehension(comprehension) => self.comprehension(comprehension),
            Cel::Struct(literal) => {
                let message = format!("there is no type `{}` to make a value of", literal.type_name);
                let hint = Some("a map is written `{'field': value}`".to_owned());
                self.problem("E0303", self.syntax.span(cel), message, hint)
            }
            Cel::Unspecified => self.unnamed(),
        }
    }

    /// Marks the whole expression as opaque.
    fn unnamed(&mut self) -> Node {
        self.opaque = true;
        Node::Literal(Value::Null)
    }

    fn problem(&mut self, code: &'static str, span: Span, message: String, hint: Option<String>) -> Node {
        self.problems.push(error(code, span, message, hint));
        Node::Literal(Value::Null)
    }

    fn literal(&mut self, literal: &LiteralValue) -> Node {
        match literal {
            LiteralValue::Null => Node::Literal(Value::Null),
            LiteralValue::Boolean(value) => Node::Literal(Value::Bool(*value.inner())),
            LiteralValue::Int(value) => Node::Literal(Value::Int(*value.inner())),
            LiteralValue::Double(value) => Node::Literal(Value::Float(*value.inner())),
            LiteralValue::String(value) => Node::Literal(Value::from(value.inner())),
            LiteralValue::Bytes(_) | LiteralValue::UInt(_) => self.unnamed(),
        }
    }

    fn entry(&mut self, entry: &IdedEntryExpr) -> Option<(Node, Node)> {
        match &entry.expr {
            EntryExpr::MapEntry(entry) => Some((self.node(&entry.key), self.node(&entry.value))),
            EntryExpr::StructField(_) => None,
        }
    }

    fn reference(&mut self, cel: &IdedExpr) -> Node {
        match chain(cel) {
            Some(chain) => self.chain(&chain),
            None => match &cel.expr {
                Cel::Select(select) => Node::Field(Box::new(self.node(&select.operand)), select.field.clone()),
                _ => self.unnamed(),
            },
        }
    }

    fn chain(&mut self, chain: &Chain) -> Node {
        if self.locals.iter().any(|local| local == chain.root) {
            return self.unnamed();
        }
        match chain.resolve(self.syntax, self.names) {
            Ok(Reference::Node(node)) => {
                if let Node::Path(root, path) = &node {
                    self.paths.insert((*root, path.clone()));
                }
                node
            }
            Ok(Reference::WholeEvent) => {
                self.paths.extend([(Root::EventName, Vec::new()), (Root::Event, Vec::new())]);
                self.unnamed()
            }
            Ok(Reference::TypeName) => self.unnamed(),
            Err(problem) => {
                self.problems.push(problem);
                self.unnamed()
            }
        }
    }

    /// Converts `has(x.field)`, a test for a field.
    fn has(&mut self, cel: &IdedExpr, select: &SelectExpr) -> Node {
        match self.operand_chain(cel).map(|chain| chain.resolve(self.syntax, self.names)) {
            Some(Ok(Reference::Node(Node::Path(root @ (Root::Input | Root::Context | Root::Event), path)))) => {
                self.paths.insert((root, path.clone()));
                // An event always has data and a name: `has(_event.data)` is true.
                if path.is_empty() { Node::Literal(Value::Bool(true)) } else { Node::Has(root, path) }
            }
            Some(Ok(Reference::Node(Node::Path(Root::EventName, path)))) if path.is_empty() => {
                Node::Literal(Value::Bool(true))
            }
            _ => {
                self.node(&select.operand);
                self.unnamed()
            }
        }
    }

    fn operand_chain<'b>(&self, cel: &'b IdedExpr) -> Option<Chain<'b>> {
        chain(cel).filter(|chain| !self.locals.iter().any(|local| local == chain.root))
    }

    fn call(&mut self, cel: &IdedExpr, call: &CallExpr) -> Node {
        if call.target.is_none()
            && let Some(node) = self.operator(cel, call)
        {
            return node;
        }
        match (&*call.func_name, &call.target, &call.args[..]) {
            ("In", None, [state]) => self.is_active(state),
            ("size", None, [operand]) => Node::Size(Box::new(self.node(operand))),
            ("size", Some(operand), []) => Node::Size(Box::new(self.node(operand))),
            _ => self.function(cel, call),
        }
    }

    fn operator(&mut self, cel: &IdedExpr, call: &CallExpr) -> Option<Node> {
        let name = &*call.func_name;
        match &call.args[..] {
            [operand] => {
                let operator = unary(name)?;
                Some(Node::Unary(operator, Box::new(self.node(operand))))
            }
            [_, _] if name == operators::INDEX && chain(cel).is_some() => Some(self.reference(cel)),
            [left, right] if name == operators::INDEX => {
                Some(Node::Index(Box::new(self.node(left)), Box::new(self.node(right))))
            }
            [left, right] => {
                let operator = binary(name)?;
                Some(Node::Binary(operator, Box::new(self.node(left)), Box::new(self.node(right))))
            }
            [condition, yes, no] if name == operators::CONDITIONAL => {
                let [condition, yes, no] = [condition, yes, no].map(|part| Box::new(self.node(part)));
                Some(Node::If(condition, yes, no))
            }
            _ => None,
        }
    }

    /// Converts `In('STATE')`, a test for an active state.
    fn is_active(&mut self, state: &IdedExpr) -> Node {
        let span = self.syntax.span(state);
        match &state.expr {
            Cel::Literal(LiteralValue::String(name)) => match self.names.state(name.inner(), span) {
                Ok(id) => Node::Active(id),
                Err(problem) => {
                    self.problems.push(problem);
                    self.unnamed()
                }
            },
            _ => {
                let message = "`In` takes the name of a state, in quotes".to_owned();
                self.problem("E0304", span, message, Some("write `In('STATE')`".to_owned()))
            }
        }
    }

    fn function(&mut self, cel: &IdedExpr, call: &CallExpr) -> Node {
        let is_macro_part = call.func_name.starts_with('@');
        let found = functions::find(&call.func_name, call.target.is_some(), call.args.len());
        let target = call.target.as_deref();
        match found {
            Err(unknown) if !is_macro_part => {
                self.problem("E0305", self.syntax.function_span(cel), unknown.message, unknown.hint);
                // The word before the dot may be intended as a namespace, as in `math.abs(1)`.
                target.filter(|target| !matches!(target.expr, Cel::Ident(_))).map(|target| self.node(target));
            }
            _ => _ = target.map(|target| self.node(target)),
        }
        for argument in &call.args {
            self.node(argument);
        }
        self.unnamed()
    }

    fn comprehension(&mut self, comprehension: &ComprehensionExpr) -> Node {
        self.node(&comprehension.iter_range);
        self.node(&comprehension.accu_init);
        let outer = self.locals.len();
        self.locals.extend([comprehension.iter_var.clone(), comprehension.accu_var.clone()]);
        self.locals.extend(comprehension.iter_var2.clone());
        self.node(&comprehension.loop_cond);
        self.node(&comprehension.loop_step);
        self.node(&comprehension.result);
        self.locals.truncate(outer);
        self.unnamed()
    }
}

fn unary(name: &str) -> Option<Unary> {
    match name {
        operators::LOGICAL_NOT => Some(Unary::Not),
        operators::NEGATE => Some(Unary::Negate),
        _ => None,
    }
}

/// Returns the operator that the crate calls `name`.
pub(super) fn binary(name: &str) -> Option<Binary> {
    Some(match name {
        operators::LOGICAL_AND => Binary::And,
        operators::LOGICAL_OR => Binary::Or,
        operators::EQUALS => Binary::Equal,
        operators::NOT_EQUALS => Binary::NotEqual,
        operators::LESS => Binary::Less,
        operators::LESS_EQUALS => Binary::LessEqual,
        operators::GREATER => Binary::Greater,
        operators::GREATER_EQUALS => Binary::GreaterEqual,
        operators::ADD => Binary::Add,
        operators::SUBSTRACT => Binary::Subtract,
        operators::MULTIPLY => Binary::Multiply,
        operators::DIVIDE => Binary::Divide,
        operators::MODULO => Binary::Remainder,
        operators::IN => Binary::In,
        _ => return None,
    })
}
