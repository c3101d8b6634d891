//! Unrolls `<foreach>` loops.
//!
//! Machines have no loops in their actions, so the iterations are written one after the other, each guarded by the
//! length of the list. The number of iterations is known if the document gives the list as a literal. A computed list
//! gets [`ROUNDS_MAX`] iterations, a longer one raises `error.execution`, and a warning states this limit. As in SCXML,
//! the list is copied first, and a value that is not a list raises `error.execution`.

use roxmltree::Node;
use serde_json::Value as Json;

use super::import::{Importer, local, tag_span};
use crate::{ecmascript, expression};
use interlock_chart::file::{ActionFile, Ordered};

/// The number of iterations for a list of unknown length.
const ROUNDS_MAX: usize = 16;
/// The maximum number of actions of one unrolled loop.
const ACTIONS_MAX: usize = 2_000;
/// The maximum number of loops. For each loop, the whole document is searched for possible values of its list.
const LOOPS_MAX: u32 = 200;

impl Importer {
    /// Adds the variables that loops declare.
    pub(super) fn survey_loops(&mut self, root: Node<'_, '_>) {
        for node in root.descendants().filter(|node| local(*node) == Some("foreach")) {
            for name in ["item", "index"].into_iter().filter_map(|attribute| node.attribute(attribute)) {
                if ecmascript::is_name(name) {
                    self.make(name);
                }
            }
        }
    }

    /// Returns the unrolled iterations of a `<foreach>`.
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

    /// Returns the length of the longest list that the document assigns to a variable, or `None` if it is unknown.
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

/// Returns one iteration, guarded by the length of the list.
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

/// Returns an action whose only effect is to fail.
pub(super) fn fails(why: &str) -> ActionFile {
    ActionFile::Log { log: format!("${{int('{why}')}}") }
}

/// Returns the length of a list. Any other value has no iterations.
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
