//! The states of a configuration, their new names, and the resolution of targets.
//!
//! XState's keys are unique only among siblings, and its targets are paths or ids. In a machine file each state has one
//! unique name.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::place::Step;
use crate::{
    IMPORT_DEPTH_MAX,
    names::{self, Names},
    problem::{DUPLICATE, OUT_OF_PLACE, Problems, too_deep},
};

/// Every state of a configuration; the first is the machine itself.
#[derive(Default)]
pub(super) struct Tree<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    ids: BTreeMap<String, usize>,
    /// The children by parent and key.
    keys: BTreeMap<(usize, &'a str), usize>,
}

/// One state of the configuration.
pub(super) struct Node<'a> {
    pub(super) json: &'a Json,
    /// The state's name in the machine file.
    pub(super) name: String,
    pub(super) parent: Option<usize>,
    pub(super) children: Vec<usize>,
    key: &'a str,
}

/// Walks a configuration and names every state.
pub(super) struct Survey<'a, 'p> {
    pub(super) tree: Tree<'a>,
    pub(super) names: &'p mut Names,
    pub(super) problems: &'p mut Problems,
    pub(super) text: &'a str,
}

impl<'a> Survey<'a, '_> {
    /// Adds a state and the states inside it.
    pub(super) fn add(&mut self, key: &'a str, json: &'a Json, parent: Option<usize>, path: &mut Vec<Step>) {
        if path.len() > 2 * IMPORT_DEPTH_MAX {
            return self.problems.push(too_deep(super::place::find(self.text, path)));
        }
        let at = self.tree.nodes.len();
        let name = match parent {
            Some(parent) => self.name(key, parent),
            None => String::new(),
        };
        self.tree.nodes.push(Node { json, name, parent, children: Vec::new(), key });
        if let Some(parent) = parent {
            self.tree.nodes[parent].children.push(at);
            self.tree.keys.insert((parent, key), at);
        }
        self.note_id(json, at, path);
        let Some(states) = json.get("states") else { return };
        let Some(states) = states.as_object() else {
            let span = super::place::find(self.text, path);
            return self.problems.error(OUT_OF_PLACE, span, "`states` must be an object");
        };
        for (key, child) in states {
            path.extend([Step::Key("states".to_owned()), Step::Key(key.clone())]);
            self.add(key, child, Some(at), path);
            path.truncate(path.len() - 2);
        }
    }

    /// Returns the key, or the parent's name and the key if the key is already in use.
    fn name(&mut self, key: &str, parent: usize) -> String {
        if self.names.is_free(key) {
            return self.names.fresh(key);
        }
        let outer = self.tree.nodes[parent].name.clone();
        let taken = !self.names.is_free(&names::state(key));
        let wanted = if taken && !outer.is_empty() { format!("{outer}_{key}") } else { key.to_owned() };
        let name = self.names.fresh(&wanted);
        self.problems.warn(format!("the state `{key}` in `{outer}` is called `{name}`"));
        self.names.note(&name, key);
        name
    }

    fn note_id(&mut self, json: &Json, at: usize, path: &[Step]) {
        let Some(id) = json.get("id").and_then(Json::as_str) else { return };
        if self.tree.ids.insert(id.to_owned(), at).is_some() {
            let span = super::place::find(self.text, path);
            self.problems.error(DUPLICATE, span, format!("two states have the id `{id}`"));
        }
    }
}

impl<'a> Tree<'a> {
    /// Returns a state's key among its siblings.
    pub(super) fn key(&self, at: usize) -> &'a str {
        self.nodes[at].key
    }

    /// Returns the state that the target of a state's transition refers to.
    pub(super) fn resolve(&self, source: usize, target: &str) -> Option<usize> {
        if let Some(id) = target.strip_prefix('#') {
            return self.by_id(id);
        }
        if let Some(path) = target.strip_prefix('.') {
            return self.descend(source, path);
        }
        self.descend(self.nodes[source].parent.unwrap_or(0), target)
    }

    /// Returns the state with an id: an explicit id, or the machine's id followed by the path.
    pub(super) fn by_id(&self, id: &str) -> Option<usize> {
        if let Some(&at) = self.ids.get(id) {
            return Some(at);
        }
        let mut dots = id.rmatch_indices('.');
        dots.find_map(|(dot, _)| self.descend(*self.ids.get(&id[..dot])?, &id[dot + 1..]))
    }

    /// Returns the state that a path of keys leads to. Keys may contain dots, so the longest matching key is tried
    /// first.
    pub(super) fn descend(&self, from: usize, path: &str) -> Option<usize> {
        let child = |key: &str| self.keys.get(&(from, key)).copied();
        if let Some(found) = child(path) {
            return Some(found);
        }
        let mut dots = path.rmatch_indices('.');
        dots.find_map(|(dot, _)| self.descend(child(&path[..dot])?, &path[dot + 1..]))
    }

    /// Returns true if a state is inside another.
    pub(super) fn is_inside(&self, inner: usize, outer: usize) -> bool {
        std::iter::successors(self.nodes[inner].parent, |&at| self.nodes[at].parent).any(|at| at == outer)
    }
}
