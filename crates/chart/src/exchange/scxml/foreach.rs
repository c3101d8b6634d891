//! `<foreach>`, written out.
//!
//! Machines have no loops in their actions, so the rounds stand one after the other, each done where the list is long enough.
//! How many are written is known where the document gives the list as a literal; a list that is computed gets
//! [`ROUNDS_MAX`], and a longer one raises `error.execution`, which a warning says. As in SCXML, the list is copied first, and
//! what is no list raises `error.execution`.

use roxmltree::Node;
use serde_json::Value as Json;

use super::import::{Importer, local, tag_span};
use crate::{
    exchange::{ecmascript, expression},
    file::{ActionFile, Ordered},
};

/// How many rounds are written for a list whose length is not known.
const ROUNDS_MAX: usize = 16;
/// More actions than this are not written for one loop.
const ACTIONS_MAX: usize = 2_000;
/// More loops than this are not written: for each the whole document is searched for what its list may be.
const LOOPS_MAX: u32 = 200;

impl Importer {
    /// The variables that loops bring with them.
    pub(super) fn survey_loops(&mut self, root: Node<'_, '_>) {
        for node in root.descendants().filter(|node| local(*node) == Some("foreach")) {
            for name in ["item", "index"].into_iter().filter_map(|attribute| node.attribute(attribute)) {
                if ecmascript::is_name(name) {
                    self.make(name);
                }
            }
        }
    }

    /// The rounds of a `<foreach>`.
    pub(super) fn foreach(&mut self, node: Node<'_, '_>) -> Vec<ActionFile> {
        let (Some(array), Some(item)) = (self.needed(node, "array"), self.needed(node, "item")) else {
            return Vec::new();
        };
        let index = node.attribute("index");
        if let Some(illegal) = [Some(item), index].into_iter().flatten().find(|name| !ecmascript::is_name(name)) {
            self.problems
                .warn(format!("`{illegal}` is no variable: the loop over `{array}` only raises error.execution"));
            return vec![fails("the loop names no variable")];
        }
        let Some(list) = self.expression(node, "array") else { return Vec::new() };
        let body = self.block(node);
        let (rounds, is_sure) = match self.longest(node, array.trim()) {
            Some(rounds) => (rounds, true),
            None => (ROUNDS_MAX, false),
        };
        if rounds.saturating_mul(size(&body) + 2) > ACTIONS_MAX || self.loops >= LOOPS_MAX {
            self.refuse(node, tag_span(node), "is a loop that is too long to be written out");
            return Vec::new();
        }
        self.loops += 1;
        let copy = format!("foreach_{}", self.loops);
        self.make(&copy);
        if !is_sure {
            self.problems.warn(format!("the loop over `{array}` goes round {ROUNDS_MAX} times at most"));
        }
        let round = |at: usize| round(&copy, at, (item, index), body.clone());
        let mut actions = vec![assign(&copy, format!("${{{list}}}"))];
        actions.push(when(format!("type(dyn(context.{copy})) != list"), vec![fails("the loop has no list")]));
        actions.extend((0..rounds).map(round));
        if !is_sure {
            let too_long = format!("size(context.{copy}) > {ROUNDS_MAX}");
            actions.push(when(too_long, vec![fails("the list is too long for the loop")]));
        }
        actions
    }

    /// The length of the longest list that the document gives a variable; nothing where that cannot be told.
    fn longest(&self, node: Node<'_, '_>, array: &str) -> Option<usize> {
        if let Some(literal) = expression::literal(array) {
            return Some(length(&literal));
        }
        if self.loops >= LOOPS_MAX || self.scripted.contains(array) {
            return None;
        }
        let root = node.document().root_element();
        let mut longest = 0;
        for element in root.descendants() {
            let is_given = match local(element) {
                Some("data") => element.attribute("id") == Some(array),
                Some("assign") => element.attribute("location").map(str::trim) == Some(array),
                Some("foreach") if element.attribute("item") == Some(array) => return None,
                Some("send") if element.attribute("idlocation") == Some(array) => return None,
                _ => false,
            };
            if is_given && element.attribute("src").is_some() {
                return None;
            }
            if is_given {
                let text = element.attribute("expr").or(element.text()).unwrap_or_default();
                longest = longest.max(length(&expression::literal(text)?));
            }
        }
        Some(longest)
    }
}

/// One round, done where the list is long enough.
fn round(copy: &str, at: usize, (item, index): (&str, Option<&str>), body: Vec<ActionFile>) -> ActionFile {
    let mut then = vec![assign(item, format!("${{context.{copy}[{at}]}}"))];
    then.extend(index.map(|index| ActionFile::Assign { assign: Ordered::from([(index.to_owned(), Json::from(at))]) }));
    then.extend(body);
    when(format!("size(context.{copy}) > {at}"), then)
}

fn assign(name: &str, value: String) -> ActionFile {
    ActionFile::Assign { assign: Ordered::from([(name.to_owned(), Json::String(value))]) }
}

fn when(cond: String, then: Vec<ActionFile>) -> ActionFile {
    ActionFile::If { cond, then, otherwise: Vec::new() }
}

/// An action that does nothing but fail.
pub(super) fn fails(why: &str) -> ActionFile {
    ActionFile::Log { log: format!("${{int('{why}')}}") }
}

/// What is no list goes round not even once.
fn length(value: &Json) -> usize {
    value.as_array().map_or(0, Vec::len)
}

fn size(block: &[ActionFile]) -> usize {
    let of = |action: &ActionFile| match action {
        ActionFile::If { then, otherwise, .. } => 1 + size(then) + size(otherwise),
        _ => 1,
    };
    block.iter().map(of).sum()
}
