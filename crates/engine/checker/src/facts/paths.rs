//! The precision needed for each path: the constants it is compared with, and those of every path whose value may be
//! copied into it.

use std::collections::{BTreeMap, BTreeSet};

use interlock_chart::{
    Chart,
    expr::{Binary, Node, Root, Unary},
};
use interlock_core::Machine;

use super::{
    atom::Atom,
    formulas::assignments,
    region::Constants,
    schema,
    sure::{Certainty, Sure},
    table::{Path, Slot},
};

/// The most regions that are distinguished. Beyond this, each question about the path becomes a separate fact.
const REGIONS_MAX: usize = 24;

/// Collects the constants of each path, and the paths that share them because one is copied into the other.
pub(super) struct Builder<'c> {
    pub(super) chart: &'c Chart,
    pub(super) certainty: &'c Certainty<'c>,
    pub(super) constants: BTreeMap<Path, Constants>,
    pub(super) links: Vec<(Path, Path)>,
}

impl Builder<'_> {
    pub(super) fn collect(&mut self, node: &Node, is_condition: bool) {
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

    /// Adds every path that is copied into a tested path, directly or through others.
    pub(super) fn follow_assignments(&mut self, machine: &Machine) {
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

    pub(super) fn slots(&self) -> (Vec<Slot>, BTreeMap<Path, usize>) {
        let paths: Vec<&Path> = self.constants.keys().collect();
        let mut class: Vec<usize> = (0..paths.len()).collect();
        let at = |path: &Path| paths.binary_search(&path).unwrap_or(0);
        // Classes are few and small, so spreading the smallest number until nothing changes is fast enough.
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

    /// Returns true if the path's value is known to be a bool, a number or one of the strings that its schema lists.
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

/// The paths whose values a part of a template may copy unchanged.
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
