//! Reads the states and transitions of an SCXML document.

use roxmltree::Node;

use super::{
    OURS, SCXML,
    import::{Importer, attribute_span, local, tag_span},
};
use crate::problem::OUT_OF_PLACE;
use interlock_chart::{
    file::{ActionFile, InvokeFile, KindFile, OutcomeFile, StateFile, TransitionBody},
    unresolve::layout,
};

/// The contents of a state's element before they are laid out.
#[derive(Default)]
struct Parts {
    on: Vec<(Vec<String>, TransitionBody)>,
    always: Vec<TransitionBody>,
    entry: Vec<Vec<ActionFile>>,
    exit: Vec<Vec<ActionFile>>,
    invokes: Vec<InvokeFile>,
}

impl Importer {
    /// Returns the state that an element describes. The root counts as a state.
    pub(super) fn state(&mut self, node: Node<'_, '_>) -> StateFile {
        if local(node) == Some("history") {
            return self.history(node);
        }
        let mut state = StateFile { kind: kind(node), ..StateFile::default() };
        state.initial = layout::initial(self.targets(node, "initial"), Vec::new());
        let mut parts = Parts { entry: self.late.remove(&node.id().get()).unwrap_or_default(), ..Parts::default() };
        for child in node.children().filter(Node::is_element) {
            self.child(child, &mut state, &mut parts);
        }
        state.on = layout::on(parts.on);
        state.always = layout::always(parts.always);
        state.entry = layout::blocks(parts.entry);
        state.exit = layout::blocks(parts.exit);
        state.invoke = layout::one_or_many(parts.invokes);
        self.own_attributes(node, &mut state);
        state
    }

    fn child(&mut self, child: Node<'_, '_>, state: &mut StateFile, parts: &mut Parts) {
        match child.tag_name().namespace() {
            None | Some(SCXML) => self.scxml_child(child, state, parts),
            Some(OURS) => self.own_child(child, state, parts),
            Some(other) => {
                let name = child.tag_name().name();
                self.problems.warn(format!("`<{name}>` of the namespace `{other}` was left out"));
            }
        }
    }

    fn scxml_child(&mut self, child: Node<'_, '_>, state: &mut StateFile, parts: &mut Parts) {
        match child.tag_name().name() {
            "state" | "parallel" | "final" | "history" => {
                if let Some(name) = self.state_names.get(&child.id().get()).cloned() {
                    let inner = self.state(child);
                    state.states.insert(name, inner);
                }
            }
            "transition" => self.transition(child, parts),
            "onentry" => parts.entry.push(self.block(child)),
            "onexit" => parts.exit.push(self.block(child)),
            "initial" => self.initial(child, state),
            "donedata" => state.data = self.payload(child),
            "datamodel" => {}
            "invoke" => self.refuse(child, tag_span(child), "starts a service, which machines do by activities"),
            // The document's script runs before anything else and is read elsewhere.
            "script" if child.parent_element().and_then(local) == Some("scxml") => {}
            _ => self.out_of_place(child),
        }
    }

    fn own_child(&mut self, child: Node<'_, '_>, state: &mut StateFile, parts: &mut Parts) {
        match child.tag_name().name() {
            "initial" => self.initial(child, state),
            "invoke" => parts.invokes.extend(self.json_text::<InvokeFile>(child)),
            "transition" => self.transition(child, parts),
            "input" | "event" | "property" | "onentry" | "onexit" => {}
            _ => self.out_of_place(child),
        }
    }

    /// Reports an element that SCXML does not allow here.
    pub(super) fn out_of_place(&mut self, node: Node<'_, '_>) {
        let parent = node.parent_element().map_or("", |parent| parent.tag_name().name());
        let message = format!("`<{}>` does not belong into `<{parent}>`", node.tag_name().name());
        self.problems.error(OUT_OF_PLACE, tag_span(node), message);
    }

    fn initial(&mut self, node: Node<'_, '_>, state: &mut StateFile) {
        let Some(transition) = node.children().find(|child| local(*child) == Some("transition")) else {
            self.problems.error(OUT_OF_PLACE, tag_span(node), "`<initial>` needs a `<transition>`");
            return;
        };
        let targets = self.targets(transition, "target");
        state.initial = layout::initial(targets, self.block(transition));
    }

    fn history(&mut self, node: Node<'_, '_>) -> StateFile {
        let deep = match node.attribute("type") {
            Some("deep") => true,
            None | Some("shallow") => false,
            Some(other) => {
                let message = format!("a history is `shallow` or `deep`, not `{other}`");
                self.problems.error(OUT_OF_PLACE, attribute_span(node, "type"), message);
                false
            }
        };
        let default = node.children().find(|child| local(*child) == Some("transition"));
        let (targets, actions) = match default {
            Some(transition) => (self.targets(transition, "target"), self.block(transition)),
            None => (Vec::new(), Vec::new()),
        };
        let mut state = layout::history(deep, targets, actions);
        self.own_attributes(node, &mut state);
        state
    }

    fn transition(&mut self, node: Node<'_, '_>, parts: &mut Parts) {
        let mut body =
            TransitionBody { target: layout::one_or_many(self.targets(node, "target")), ..Default::default() };
        body.guard = self.condition_of(node);
        body.internal = self.is_internal(node);
        body.actions = layout::one_or_many(self.block(node));
        body.limit = self.json_attribute(node, "limit");
        body.reset = self.json_attribute(node, "reset");
        body.reason = node.attribute((OURS, "reason")).map(str::to_owned);
        // The attribute in our namespace is exact, so it has priority over SCXML's.
        match node.attribute((OURS, "event")).or_else(|| node.attribute("event")) {
            None => parts.always.push(body),
            Some(events) => {
                let descriptors: Vec<_> = events.split_whitespace().map(|event| self.descriptor(event)).collect();
                if descriptors.is_empty() {
                    let message = "`event` names no event; leave it out where none is meant";
                    self.problems.error(OUT_OF_PLACE, attribute_span(node, "event"), message);
                }
                parts.on.push((descriptors, body));
            }
        }
    }

    fn is_internal(&mut self, node: Node<'_, '_>) -> Option<bool> {
        match node.attribute("type") {
            Some("internal") => Some(true),
            None | Some("external") => None,
            Some(other) => {
                let message = format!("a transition is `internal` or `external`, not `{other}`");
                self.problems.error(OUT_OF_PLACE, attribute_span(node, "type"), message);
                None
            }
        }
    }

    /// Translates a descriptor: states get their new names, and `done` keeps its SCXML meaning instead of "this state
    /// is done".
    fn descriptor(&mut self, event: &str) -> String {
        if matches!(event, "." | ".*") {
            return "*".to_owned();
        }
        if event == "done" {
            return "done.*".to_owned();
        }
        let renamed = event.strip_prefix("done.state.").and_then(|id| self.scope.states.get(id));
        let descriptor = renamed.map_or_else(|| event.to_owned(), |name| format!("done.state.{name}"));
        self.handles(&descriptor);
        descriptor
    }

    fn own_attributes(&mut self, node: Node<'_, '_>, state: &mut StateFile) {
        if !self.native {
            return;
        }
        let text = |name: &str| node.attribute((OURS, name)).map(str::to_owned);
        state.summary = text("summary");
        state.timeout = text("timeout");
        state.tags = text("tags").map(|tags| tags.split_whitespace().map(str::to_owned).collect()).unwrap_or_default();
        state.shows = text("shows").and_then(|shows| serde_json::from_str(&shows).ok()).unwrap_or_default();
        state.grants = text("grants").and_then(|grants| serde_json::from_str(&grants).ok());
        state.outcome = match node.attribute((OURS, "outcome")) {
            Some("success") => Some(OutcomeFile::Success),
            Some("incomplete") => Some(OutcomeFile::Incomplete),
            Some("failure") => Some(OutcomeFile::Failure),
            Some("aborted") => Some(OutcomeFile::Aborted),
            _ => None,
        };
    }
}

fn kind(node: Node<'_, '_>) -> Option<KindFile> {
    match node.tag_name().name() {
        "parallel" => Some(KindFile::Parallel),
        "final" => Some(KindFile::Final),
        _ => None,
    }
}
