//! Which facts the guards of a machine ask about, and how finely each must be known.
//!
//! A *slot* is one thing that can be known: the value of a field path, or the answer to a question that is too complicated to
//! take apart. The values of a path are divided into *regions* by the constants it is compared with, anywhere, and by those of
//! every path whose value may be copied into it; within a region no guard can tell values apart.

use std::collections::{BTreeMap, BTreeSet};

use interlock_chart::{
    Chart, Value,
    expr::{Binary, Expr, Node, Root, Unary},
    model::{CounterId, StateId, Template, VarId},
};
use interlock_core::{FormulaId, Machine, Operation};

use super::{
    Purpose, events_of,
    region::{Constants, Region},
    schema,
    sure::{Certainty, Sure},
};

/// More regions than this are not told apart: the questions about such a path become facts of their own.
const REGIONS_MAX: usize = 24;

/// A field path.
pub(crate) type Path = (Root, Vec<String>);

/// One thing that can be known.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// The path, or nothing for the answer to a question.
    pub(crate) path: Option<Path>,
    pub(crate) regions: Vec<Region>,
    /// Holds for one event only, and is forgotten with it.
    pub(crate) is_local: bool,
    /// For the answer to a question: the variables it depends on.
    depends_on: BTreeSet<String>,
}

impl Slot {
    /// Nothing is known: any region is possible.
    pub(crate) fn unknown(&self) -> u32 {
        (1 << self.regions.len()) - 1
    }

    /// The region of a literal value, as a mask.
    pub(crate) fn mask_of(&self, value: &Value) -> u32 {
        self.regions.iter().position(|region| region.contains(value)).map_or(self.unknown(), |at| 1 << at)
    }
}

/// A condition, ready to be asked.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    Const(bool),
    Not(Box<Question>),
    And(Box<Question>, Box<Question>),
    Or(Box<Question>, Box<Question>),
    If(Box<Question>, Box<Question>, Box<Question>),
    /// Whether the slot's value is in one of these regions.
    Known(usize, u32),
    Active(StateId),
    Count(CounterId, Binary, i64),
    EventName(bool, String),
    /// Anything: asked twice, it may answer differently.
    Free,
}

/// What an assignment does to a slot.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Its value is in one of these regions.
    Becomes(u32),
    /// It has the value of another slot.
    Copies(usize),
    /// One or the other.
    Either(Box<Change>, Box<Change>),
}

/// All facts of a machine.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) slots: Vec<Slot>,
    by_path: BTreeMap<Path, usize>,
    by_text: BTreeMap<String, usize>,
    /// Per formula: the question it asks, if it is asked as a condition.
    pub(crate) questions: Vec<Option<Question>>,
    /// Per formula: what assigning it does to the slots.
    pub(crate) changes: Vec<Vec<(usize, Change)>>,
    /// Per formula: whether it may fail to evaluate.
    pub(crate) may_fail: Vec<bool>,
    /// Per formula: where it is a limit that the input sets, the smallest value that the input may set.
    pub(crate) least: Vec<u32>,
    /// What texts are for, where they are not literal.
    pub(crate) purposes: BTreeMap<FormulaId, Purpose>,
    /// Names under which events are sent, to be cancelled by.
    pub(crate) send_names: Vec<String>,
}

impl Table {
    pub(crate) fn of(machine: &Machine) -> Self {
        let chart = machine.chart();
        let certainty = Certainty::of(chart);
        let conditions = conditions(machine);
        let mut builder = Builder { chart, certainty: &certainty, constants: BTreeMap::new(), links: Vec::new() };
        conditions.iter().for_each(|&(_, expr)| builder.collect(&expr.node, true));
        builder.follow_assignments(machine);
        let (slots, by_path) = builder.slots();
        let mut table = Table {
            slots,
            by_path,
            by_text: BTreeMap::new(),
            questions: vec![None; machine.formulas().len()],
            changes: vec![Vec::new(); machine.formulas().len()],
            may_fail: may_fail(machine, &certainty),
            least: (0..machine.formulas().len()).map(|at| super::least(machine, FormulaId(at as u32))).collect(),
            purposes: purposes(machine),
            send_names: send_names(machine),
        };
        for (id, expr) in conditions {
            let question = table.question(&expr.node, expr, true);
            table.questions[id.index()] = Some(question);
        }
        for (var, id) in assignments(machine) {
            let template = &machine.formulas()[id.index()].template;
            table.changes[id.index()] = table.changed_by(&chart.context[var.index()].name, template);
        }
        table
    }

    /// The same for runs in which nothing fails to evaluate.
    pub(crate) fn without_faults(machine: &Machine) -> Self {
        let table = Table::of(machine);
        Table { may_fail: vec![false; table.may_fail.len()], ..table }
    }

    /// Nothing is known: every condition goes either way, and nothing fails.
    pub(crate) fn without_data(machine: &Machine) -> Self {
        let formulas = machine.formulas().len();
        Table {
            slots: Vec::new(),
            by_path: BTreeMap::new(),
            by_text: BTreeMap::new(),
            questions: vec![Some(Question::Free); formulas],
            changes: vec![Vec::new(); formulas],
            may_fail: vec![false; formulas],
            least: vec![0; formulas],
            purposes: purposes(machine),
            send_names: send_names(machine),
        }
    }

    /// What an assignment to a variable does: to the slots inside it, and to answers that depend on it.
    fn changed_by(&self, var: &str, template: &Template) -> Vec<(usize, Change)> {
        let change = |(at, slot): (usize, &Slot)| match &slot.path {
            Some((Root::Context, path)) if path.first().is_some_and(|name| name == var) => {
                Some((at, self.change(slot, super::inside(template, &path[1..]))))
            }
            None if slot.depends_on.contains(var) => Some((at, Change::Becomes(slot.unknown()))),
            _ => None,
        };
        self.slots.iter().enumerate().filter_map(change).collect()
    }

    fn change(&self, slot: &Slot, piece: Option<super::Piece<'_>>) -> Change {
        match piece {
            None => Change::Becomes(slot.unknown()),
            Some(super::Piece::Value(value)) => Change::Becomes(slot.mask_of(&value)),
            Some(super::Piece::Absent) => {
                let at = slot.regions.iter().position(|region| *region == Region::Absent);
                Change::Becomes(at.map_or(slot.unknown(), |at| 1 << at))
            }
            Some(super::Piece::Node(node, rest)) => self.change_by_node(slot, node, &rest),
        }
    }

    fn change_by_node(&self, slot: &Slot, node: &Node, rest: &[String]) -> Change {
        match node {
            Node::Literal(value) if rest.is_empty() => Change::Becomes(slot.mask_of(value)),
            // The source's regions are the same: all paths that are copied into each other have the same ones.
            Node::Path(root, path) => {
                let path: Vec<String> = path.iter().chain(rest).cloned().collect();
                self.by_path.get(&(*root, path)).map_or(Change::Becomes(slot.unknown()), |&from| Change::Copies(from))
            }
            Node::If(_, then, otherwise) => Change::Either(
                Box::new(self.change_by_node(slot, then, rest)),
                Box::new(self.change_by_node(slot, otherwise, rest)),
            ),
            _ => Change::Becomes(slot.unknown()),
        }
    }

    fn question(&mut self, node: &Node, whole: &Expr, is_top: bool) -> Question {
        let mut ask = |node: &Node| Box::new(self.question(node, whole, false));
        match node {
            Node::Literal(Value::Bool(value)) => Question::Const(*value),
            Node::Unary(Unary::Not, operand) => Question::Not(ask(operand)),
            Node::Binary(Binary::And, left, right) => Question::And(ask(left), ask(right)),
            Node::Binary(Binary::Or, left, right) => Question::Or(ask(left), ask(right)),
            Node::If(cond, then, otherwise) => Question::If(ask(cond), ask(then), ask(otherwise)),
            Node::Active(state) => Question::Active(*state),
            _ => self.atom(node, whole, is_top),
        }
    }

    fn atom(&mut self, node: &Node, whole: &Expr, is_top: bool) -> Question {
        match Atom::of(node) {
            Some(Atom::Count(counter, operator, value)) => Question::Count(counter, operator, value),
            Some(Atom::EventName(is_equal, name)) => Question::EventName(is_equal, name),
            Some(Atom::Path(path, test)) => match self.by_path.get(&path) {
                Some(&slot) => {
                    let regions = self.slots[slot].regions.iter().enumerate();
                    let mask = regions.filter(|(_, region)| test.holds(region)).map(|(at, _)| 1 << at).sum();
                    Question::Known(slot, mask)
                }
                None => self.fact(node, whole, is_top),
            },
            None => self.fact(node, whole, is_top),
        }
    }

    /// The answer to a question that cannot be taken apart: the same until something it reads may have changed.
    fn fact(&mut self, node: &Node, whole: &Expr, is_top: bool) -> Question {
        let mut reads = Reads::default();
        reads.node(node);
        let asks_more = |word: &&str| whole.source.contains(*word);
        if reads.is_volatile || (matches!(node, Node::Opaque(_)) && ["In(", "state", "count"].iter().any(asks_more)) {
            return Question::Free;
        }
        let text = if is_top { whole.source.clone() } else { format!("{node:?}") };
        let slots = &mut self.slots;
        let slot = *self.by_text.entry(text).or_insert_with(|| {
            slots.push(Slot {
                path: None,
                regions: vec![Region::Is(Value::Bool(false)), Region::Is(Value::Bool(true))],
                is_local: reads.is_local,
                depends_on: reads.variables,
            });
            slots.len() - 1
        });
        Question::Known(slot, 0b10)
    }
}

/// A comparison that can be answered from a region, a counter or the event's name.
enum Atom {
    Path(Path, Test),
    Count(CounterId, Binary, i64),
    EventName(bool, String),
}

/// What is asked of a path's value.
pub(super) enum Test {
    IsTrue,
    Has,
    Compare(Binary, Value),
    OneOf(Vec<Value>),
}

impl Test {
    fn holds(&self, region: &Region) -> bool {
        match self {
            Test::IsTrue => region.compare(Binary::Equal, &Value::Bool(true)),
            Test::Has => *region != Region::Absent,
            Test::Compare(operator, value) => region.compare(*operator, value),
            Test::OneOf(values) => values.iter().any(|value| region.compare(Binary::Equal, value)),
        }
    }
}

impl Atom {
    fn of(node: &Node) -> Option<Atom> {
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

/// What a question reads.
#[derive(Default)]
struct Reads {
    variables: BTreeSet<String>,
    is_local: bool,
    /// Reads something that is not followed: how often a state was visited, a counter inside an opaque expression.
    is_volatile: bool,
}

impl Reads {
    fn node(&mut self, node: &Node) {
        match node {
            Node::Literal(_) => {}
            Node::Path(root, path) | Node::Has(root, path) => self.path(*root, path),
            Node::Visits(_) | Node::Count(_) | Node::Active(_) => self.is_volatile = true,
            Node::Unary(_, operand) | Node::Size(operand) | Node::Field(operand, _) => self.node(operand),
            Node::Binary(_, left, right) | Node::Index(left, right) => [left, right].iter().for_each(|n| self.node(n)),
            Node::If(cond, then, otherwise) => [cond, then, otherwise].iter().for_each(|n| self.node(n)),
            Node::List(items) => items.iter().for_each(|item| self.node(item)),
            Node::Map(entries) => entries.iter().for_each(|(key, value)| {
                self.node(key);
                self.node(value);
            }),
            Node::Opaque(paths) => {
                // What else an opaque expression asks is not listed: its text is searched for it by the caller.
                self.is_volatile |= paths.is_empty();
                paths.iter().for_each(|(root, path)| self.path(*root, path));
            }
        }
    }

    fn path(&mut self, root: Root, path: &[String]) {
        match root {
            Root::Input | Root::Name | Root::SessionId => {}
            Root::Event | Root::EventName => self.is_local = true,
            Root::Context => match path.first() {
                Some(name) => _ = self.variables.insert(name.clone()),
                None => self.is_volatile = true,
            },
        }
    }
}

/// Collects the constants of each path, and which paths share them because one is copied into the other.
struct Builder<'c> {
    chart: &'c Chart,
    certainty: &'c Certainty<'c>,
    constants: BTreeMap<Path, Constants>,
    links: Vec<(Path, Path)>,
}

impl Builder<'_> {
    fn collect(&mut self, node: &Node, is_condition: bool) {
        match node {
            Node::Unary(Unary::Not, operand) => self.collect(operand, true),
            Node::Binary(Binary::And | Binary::Or, left, right) => {
                [left, right].iter().for_each(|n| self.collect(n, true))
            }
            Node::If(cond, then, otherwise) => [cond, then, otherwise].iter().for_each(|n| self.collect(n, true)),
            _ if is_condition => {
                if let Some(Atom::Path(path, test)) = Atom::of(node) {
                    self.constants.entry(path).or_default().add(&test);
                }
            }
            _ => {}
        }
    }

    /// Whatever is copied into an asked path is asked about too, and where that is copied from, and so on.
    fn follow_assignments(&mut self, machine: &Machine) {
        let assignments: Vec<_> = (assignments(machine).into_iter())
            .map(|(var, id)| (var, &machine.formulas()[id.index()].template))
            .collect();
        let mut queue: Vec<Path> = self.constants.keys().cloned().collect();
        while let Some(path) = queue.pop() {
            let (Root::Context, [name, rest @ ..]) = (path.0, &path.1[..]) else { continue };
            for &(var, template) in &assignments {
                if self.chart.context[var.index()].name != *name {
                    continue;
                }
                for source in copied(&super::inside(template, rest)) {
                    if !self.constants.contains_key(&source) {
                        self.constants.insert(source.clone(), Constants::default());
                        queue.push(source.clone());
                    }
                    self.links.push((path.clone(), source));
                }
            }
        }
    }

    fn slots(&self) -> (Vec<Slot>, BTreeMap<Path, usize>) {
        let paths: Vec<&Path> = self.constants.keys().collect();
        let mut class: Vec<usize> = (0..paths.len()).collect();
        let at = |path: &Path| paths.binary_search(&path).unwrap_or(0);
        // Classes are few and small: spreading the smallest number until nothing changes is enough.
        for _ in 0..paths.len() {
            for (a, b) in &self.links {
                let least = class[at(a)].min(class[at(b)]);
                (class[at(a)], class[at(b)]) = (least, least);
            }
        }
        let mut merged: BTreeMap<usize, Constants> = BTreeMap::new();
        for (at, path) in paths.iter().enumerate() {
            merged.entry(class[at]).or_default().merge(&self.constants[*path]);
            let is_complete = self.is_complete(path);
            merged.entry(class[at]).or_default().is_open |= !is_complete;
        }
        let (mut slots, mut by_path) = (Vec::new(), BTreeMap::new());
        for (at, path) in paths.iter().enumerate() {
            let regions = merged[&class[at]].regions();
            if regions.len() > REGIONS_MAX {
                continue;
            }
            by_path.insert((*path).clone(), slots.len());
            slots.push(Slot {
                path: Some((*path).clone()),
                regions,
                is_local: path.0 == Root::Event,
                depends_on: BTreeSet::new(),
            });
        }
        (slots, by_path)
    }

    /// Whether the path's value is known to be a bool, a number or one of the strings that its schema lists.
    fn is_complete(&self, path: &Path) -> bool {
        let events: Vec<_> = self.speaking_of(path);
        let constants = &self.constants[path];
        let listed = |schema: &interlock_chart::model::Schema| {
            let at = schema::at(schema, &path.1);
            at.and_then(schema::listed).is_some_and(|values| constants.covers(&values))
        };
        let schemas = if path.0 == Root::Input { vec![&self.chart.input] } else { events.clone() };
        match self.certainty.path(path.0, &path.1, &events) {
            Sure::Bool => constants.is_only_bool(),
            Sure::Number => constants.is_only_numbers(),
            Sure::Text => path.0 != Root::Context && !schemas.is_empty() && schemas.iter().all(|schema| listed(schema)),
            _ => false,
        }
    }

    /// The schemas of events that have the field at all.
    fn speaking_of(&self, path: &Path) -> Vec<&interlock_chart::model::Schema> {
        if path.0 != Root::Event {
            return Vec::new();
        }
        let signals = self.chart.invokes.iter().flat_map(|invoke| invoke.signals.iter().map(|signal| &signal.data));
        let events = self.chart.events.iter().map(|event| &event.data);
        signals.chain(events).filter(|schema| schema::at(schema, &path.1).is_some()).collect()
    }
}

/// The paths whose values a piece of a template may take over unchanged.
fn copied(piece: &Option<super::Piece<'_>>) -> Vec<Path> {
    fn of_node(node: &Node, rest: &[String], into: &mut Vec<Path>) {
        match node {
            Node::Path(root @ (Root::Input | Root::Context | Root::Event), path) => {
                into.push((*root, path.iter().chain(rest).cloned().collect()));
            }
            Node::If(_, then, otherwise) => {
                of_node(then, rest, into);
                of_node(otherwise, rest, into);
            }
            _ => {}
        }
    }
    let mut paths = Vec::new();
    if let Some(super::Piece::Node(node, rest)) = piece {
        of_node(node, rest, &mut paths);
    }
    paths
}

/// Every expression that is asked as a condition, and every one whose truth is assigned to a variable.
fn conditions(machine: &Machine) -> Vec<(FormulaId, &Expr)> {
    let mut ids = BTreeSet::new();
    for transition in &machine.chart().transitions {
        let plan = machine.plan(transition.id);
        ids.extend(plan.guard);
        conditions_in(&plan.operations, &mut ids);
    }
    for state in &machine.chart().states {
        machine.content(state.id).for_each(|block| conditions_in(block, &mut ids));
    }
    let expr = |id: FormulaId| match &machine.formulas()[id.index()].template {
        Template::Expr(expr) => Some((id, expr)),
        _ => None,
    };
    ids.into_iter().filter_map(expr).collect()
}

fn conditions_in(block: &[Operation], into: &mut BTreeSet<FormulaId>) {
    for operation in block {
        if let Operation::If { branches } = operation {
            into.extend(branches.iter().filter_map(|(cond, _)| *cond));
            branches.iter().for_each(|(_, block)| conditions_in(block, into));
        }
    }
}

fn every_block<'m>(machine: &'m Machine, mut visit: impl FnMut(&'m Operation)) {
    fn walk<'m>(block: &'m [Operation], visit: &mut impl FnMut(&'m Operation)) {
        for operation in block {
            visit(operation);
            if let Operation::If { branches } = operation {
                branches.iter().for_each(|(_, block)| walk(block, visit));
            }
        }
    }
    for transition in &machine.chart().transitions {
        walk(&machine.plan(transition.id).operations, &mut visit);
    }
    for state in &machine.chart().states {
        machine.content(state.id).for_each(|block| walk(block, &mut visit));
    }
}

fn assignments(machine: &Machine) -> Vec<(VarId, FormulaId)> {
    let mut found: Vec<_> =
        (machine.initial_context().iter().enumerate()).map(|(at, id)| (VarId::at(at), *id)).collect();
    every_block(machine, |operation| {
        if let Operation::Assign { var, value } = operation {
            found.push((*var, *value));
        }
    });
    found
}

fn may_fail(machine: &Machine, certainty: &Certainty<'_>) -> Vec<bool> {
    let template = |id: FormulaId| &machine.formulas()[id.index()].template;
    let mut may_fail: Vec<bool> =
        machine.formulas().iter().map(|formula| !certainty.evaluates(&formula.template, &[])).collect();
    for transition in &machine.chart().transitions {
        let events = events_of(machine.chart(), transition);
        let mut ids = Vec::new();
        let plan = machine.plan(transition.id);
        if let Some(guard) = plan.guard {
            may_fail[guard.index()] = certainty.template(template(guard), &events) != Sure::Bool;
        }
        formulas_in(&plan.operations, &mut ids);
        for id in ids {
            may_fail[id.index()] = !certainty.evaluates(template(id), &events);
        }
    }
    may_fail
}

fn formulas_in(block: &[Operation], into: &mut Vec<FormulaId>) {
    for operation in block {
        match operation {
            Operation::Assign { value: id, .. } | Operation::Cancel { id } | Operation::Log { text: id } => {
                into.push(*id)
            }
            Operation::Raise { data, .. } => into.push(*data),
            Operation::Send { event, data, delay, .. } => {
                into.extend([Some(*event), Some(*data), *delay].into_iter().flatten())
            }
            Operation::If { branches } => branches.iter().for_each(|(cond, block)| {
                into.extend(*cond);
                formulas_in(block, into);
            }),
        }
    }
}

fn purposes(machine: &Machine) -> BTreeMap<FormulaId, Purpose> {
    let mut purposes = BTreeMap::new();
    every_block(machine, |operation| match operation {
        Operation::Send { event, delay, .. } => {
            purposes.insert(*event, Purpose::Event);
            purposes.extend(delay.map(|delay| (delay, Purpose::Delay)));
        }
        Operation::Cancel { id } => _ = purposes.insert(*id, Purpose::Cancel),
        _ => {}
    });
    purposes
}

fn send_names(machine: &Machine) -> Vec<String> {
    let mut names = BTreeSet::new();
    every_block(machine, |operation| {
        if let Operation::Send { id: Some(id), .. } = operation {
            names.insert(id.to_string());
        }
    });
    names.into_iter().collect()
}
