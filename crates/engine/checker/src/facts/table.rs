//! The facts that the guards of a machine test, and the precision needed for each.
//!
//! A *slot* is one thing that can be known: the value of a field path, or the answer to a question that is too
//! complicated to take apart. The values of a path are divided into *regions* by the constants that it is compared with
//! anywhere, and by those of every path whose value may be copied into it. No guard can distinguish values within a
//! region.

use std::collections::{BTreeMap, BTreeSet};

use interlock_chart::{
    Value,
    expr::{Binary, Expr, Node, Root, Unary},
    model::{CounterId, StateId, Template},
};
use interlock_core::{FormulaId, Machine};

use super::{
    Purpose,
    atom::Atom,
    events::Events,
    formulas::{assignments, conditions, may_fail, purposes, send_names},
    paths::Builder,
    region::Region,
    sure::Certainty,
};

/// A root with the names of the fields to follow.
pub(crate) type Path = (Root, Vec<String>);

/// One thing that can be known.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// The path; `None` for the answer to a question.
    pub(crate) path: Option<Path>,
    pub(crate) regions: Vec<Region>,
    /// True if the fact holds for one event only and is discarded with it.
    pub(crate) is_local: bool,
    /// For the answer to a question: the variables it depends on.
    pub(super) depends_on: BTreeSet<String>,
}

impl Slot {
    /// The mask of an unknown value: any region is possible.
    pub(crate) fn unknown(&self) -> u32 {
        (1 << self.regions.len()) - 1
    }

    /// The mask of a field that does not exist.
    pub(crate) fn absent(&self) -> u32 {
        let at = self.regions.iter().position(|region| *region == Region::Absent);
        at.map_or(self.unknown(), |at| 1 << at)
    }

    /// The region of a literal value, as a mask.
    pub(crate) fn mask_of(&self, value: &Value) -> u32 {
        self.regions.iter().position(|region| region.contains(value)).map_or(self.unknown(), |at| 1 << at)
    }
}

/// A condition in the form in which the checker evaluates it.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    Const(bool),
    Not(Box<Question>),
    And(Box<Question>, Box<Question>),
    Or(Box<Question>, Box<Question>),
    If(Box<Question>, Box<Question>, Box<Question>),
    /// True if the slot's value is in one of these regions.
    Known(usize, u32),
    Active(StateId),
    Count(CounterId, Binary, i64),
    EventName(bool, String),
    /// Unknown: asked twice, it may be answered differently.
    Free,
}

/// The effect of an assignment on a slot.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// The new value is in one of these regions.
    Becomes(u32),
    /// The slot gets the value of another slot.
    Copies(usize),
    /// One change or the other.
    Either(Box<Change>, Box<Change>),
}

/// All facts that a machine's formulas test.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) slots: Vec<Slot>,
    by_path: BTreeMap<Path, usize>,
    by_text: BTreeMap<String, usize>,
    /// Per formula: the question it asks, if it is used as a condition.
    pub(crate) questions: Vec<Option<Question>>,
    /// Per formula: the effect of assigning it on the slots.
    pub(crate) changes: Vec<Vec<(usize, Change)>>,
    /// Per formula: true if it may fail to evaluate.
    pub(crate) may_fail: Vec<bool>,
    /// Per formula: true if only an overflow makes it fail.
    pub(crate) may_only_overflow: Vec<bool>,
    /// Per formula: the smallest value that the input may set, if it is a limit set by the input.
    pub(crate) least: Vec<u32>,
    /// The purposes of texts that are not literal.
    pub(crate) purposes: BTreeMap<FormulaId, Purpose>,
    /// The names by which sent events can be cancelled.
    pub(crate) send_names: Vec<String>,
}

impl Table {
    pub(crate) fn of(machine: &Machine) -> Self {
        let chart = machine.chart();
        let events = Events::of(chart);
        let certainty = Certainty::of(chart, &events);
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
            may_only_overflow: Vec::new(),
            least: (0..machine.formulas().len()).map(|at| super::least(machine, FormulaId(at as u32))).collect(),
            purposes: purposes(machine),
            send_names: send_names(machine),
        };
        let likely = may_fail(machine, &certainty.lenient());
        table.may_only_overflow = table.may_fail.iter().zip(likely).map(|(may, likely)| *may && !likely).collect();
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

    /// Builds the table for runs in which no evaluation fails.
    pub(crate) fn without_faults(machine: &Machine) -> Self {
        let table = Table::of(machine);
        Table { may_fail: vec![false; table.may_fail.len()], ..table }
    }

    /// Builds the table without any knowledge: every condition goes either way, and no evaluation fails.
    pub(crate) fn without_data(machine: &Machine) -> Self {
        let formulas = machine.formulas().len();
        Table {
            slots: Vec::new(),
            by_path: BTreeMap::new(),
            by_text: BTreeMap::new(),
            questions: vec![Some(Question::Free); formulas],
            changes: vec![Vec::new(); formulas],
            may_fail: vec![false; formulas],
            may_only_overflow: vec![false; formulas],
            least: vec![0; formulas],
            purposes: purposes(machine),
            send_names: send_names(machine),
        }
    }

    /// The effect of an assignment to a variable on the slots inside it and on answers that depend on it.
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
            Some(super::Piece::Absent) => Change::Becomes(slot.absent()),
            Some(super::Piece::Node(node, rest)) => self.change_by_node(slot, node, &rest),
        }
    }

    fn change_by_node(&self, slot: &Slot, node: &Node, rest: &[String]) -> Change {
        match node {
            Node::Literal(value) if rest.is_empty() => Change::Becomes(slot.mask_of(value)),
            // The source has the same regions, because all paths that are copied into each other share them.
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

    /// The answer to a question that cannot be taken apart. It stays the same until something it reads may have
    /// changed.
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

/// The data that a question reads.
#[derive(Default)]
struct Reads {
    variables: BTreeSet<String>,
    is_local: bool,
    /// True if it reads something that is not tracked: a state's visit count, or a counter inside an opaque expression.
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
                // Other reads of an opaque expression are not listed; the caller searches its text for them.
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
