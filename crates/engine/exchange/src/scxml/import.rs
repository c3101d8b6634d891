//! Reads an SCXML document into a machine file: the root, the names, and the functions that the other parts share.
//!
//! A first pass names every state and collects the variables, because transitions and expressions may refer to later
//! elements. States are read in [`super::states`], executable content in [`super::content`], data in [`super::data`].

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node, ParsingOptions};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::{OURS, SCXML, faults};
use crate::{
    IMPORT_DEPTH_MAX, Imported, ecmascript,
    expression::{self, Refused, Scope},
    names::{self, Names},
    problem::{self, DANGLING, DUPLICATE, MALFORMED, OUT_OF_PLACE, Problems, TOO_BIG},
    wording,
};
use interlock_chart::{
    Diagnostic, Span,
    file::{ActionFile, EventFile, KindFile, MachineFile, Ordered, RaiserFile, SemanticsFile},
    unresolve::layout,
};

/// The maximum number of elements that are read.
const NODES_MAX: u32 = 500_000;

/// Reads an SCXML document. `name` is the machine's name if the document gives none. `files` has the contents of the
/// files that the document refers to.
pub(crate) fn import(text: &str, name: &str, files: &BTreeMap<String, String>) -> Result<Imported, Vec<Diagnostic>> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| vec![malformed(text, &error)])?;
    let root = document.root_element();
    if root.tag_name().name() != "scxml" {
        let message = format!("`<{}>` is not an SCXML document", root.tag_name().name());
        return Err(vec![problem::error(OUT_OF_PLACE, tag_span(root), message)]);
    }
    depth_is_bounded(&document)?;
    let native = root.attribute((OURS, "version")).is_some();
    let mut importer = Importer { native, files: files.clone(), ..Importer::default() };
    importer.survey(root);
    let file = importer.machine(root, name);
    importer.problems.finish(file, importer.names.into_renamed())
}

fn malformed(text: &str, error: &roxmltree::Error) -> Diagnostic {
    let message = match error {
        roxmltree::Error::DtdDetected => "document type definitions are not read".to_owned(),
        roxmltree::Error::NodesLimitReached => {
            return problem::error(TOO_BIG, Span::default(), format!("more than {NODES_MAX} elements"));
        }
        other => other.to_string(),
    };
    let at = byte_of(text, error.pos());
    problem::error(MALFORMED, problem::span(at..at + 1), message)
}

/// Returns the byte offset of a row and column, both counted from 1.
fn byte_of(text: &str, position: roxmltree::TextPos) -> usize {
    let row = usize::try_from(position.row).unwrap_or(1).saturating_sub(1);
    let column = usize::try_from(position.col).unwrap_or(1).saturating_sub(1);
    let Some(line) = text.split('\n').nth(row) else { return 0 };
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
}

/// Checks the nesting depth without recursion, because all later passes recurse over elements.
fn depth_is_bounded(document: &Document<'_>) -> Result<(), Vec<Diagnostic>> {
    let mut depths: Vec<usize> = Vec::new();
    for node in document.descendants() {
        let depth = node.parent().and_then(|parent| depths.get(parent.id().get_usize())).map_or(0, |depth| depth + 1);
        if depth > IMPORT_DEPTH_MAX {
            return Err(vec![problem::too_deep(tag_span(node))]);
        }
        let at = node.id().get_usize();
        depths.resize(depths.len().max(at + 1), 0);
        depths[at] = depth;
    }
    Ok(())
}

/// The state of an import in progress.
#[derive(Default)]
pub(super) struct Importer {
    /// True if the document was written by our exporter.
    pub(super) native: bool,
    /// True if the document declares ECMAScript as its data model.
    pub(super) ecmascript: bool,
    /// The contents of the files that the document refers to.
    pub(super) files: BTreeMap<String, String>,
    /// The problems found so far.
    pub(super) problems: Problems,
    /// The names that expressions can use.
    pub(super) scope: Scope,
    /// The names of states by their element.
    pub(super) state_names: BTreeMap<u32, String>,
    /// The literals that are assigned to each variable.
    pub(super) assigned: BTreeMap<String, Vec<Json>>,
    /// The number of ids created for `<send idlocation>`.
    pub(super) sends: u32,
    /// The number of loops unrolled so far.
    pub(super) loops: u32,
    /// Variables that the document uses without declaring them in its data model.
    pub(super) made: Vec<String>,
    /// The variables that scripts assign to.
    pub(super) scripted: BTreeSet<String>,
    /// The blocks that initialise a state's data with late binding, by the state's element.
    pub(super) late: BTreeMap<u32, Vec<Vec<ActionFile>>>,
    /// Fields of `_event` that are never set in this document.
    pub(super) missing: Vec<&'static str>,
    names: Names,
    handled: Ordered<EventFile>,
}

impl Importer {
    fn survey(&mut self, root: Node<'_, '_>) {
        let is_state = |node: &Node<'_, '_>| matches!(local(*node), Some("state" | "parallel" | "final" | "history"));
        let states: Vec<_> = root.descendants().filter(|node| is_state(node)).collect();
        for state in &states {
            if let Some(id) = state.attribute("id") {
                self.named(*state, id);
            }
        }
        for state in states.iter().filter(|state| state.attribute("id").is_none()) {
            let name = self.names.fresh(&format!("{}_1", state.tag_name().name()));
            self.state_names.insert(state.id().get(), name);
        }
        self.scope.names = self.state_names.values().cloned().collect();
        self.survey_data(root);
    }

    fn named(&mut self, state: Node<'_, '_>, id: &str) {
        if self.scope.states.contains_key(id) {
            self.problems.error(DUPLICATE, attribute_span(state, "id"), format!("two states have the id `{id}`"));
            return;
        }
        let name = self.names.fresh(id);
        if name != id {
            self.problems.warn(format!(
                "state `{id}` is called `{name}`: names have letters, digits, `_`, `-`, and dots inside"
            ));
        }
        self.names.note(&name, id);
        self.scope.states.insert(id.to_owned(), name.clone());
        self.state_names.insert(state.id().get(), name);
    }

    fn machine(&mut self, root: Node<'_, '_>, name: &str) -> MachineFile {
        let mut file = MachineFile { machine: self.machine_name(root, name), version: 1, ..MachineFile::default() };
        let (context, data_blocks) = self.context(root);
        let state = self.state(root);
        let mut entry = data_blocks;
        for script in root.children().filter(|child| local(*child) == Some("script")) {
            entry.push(self.script(script));
        }
        entry.extend(self.own_blocks(root, "onentry"));
        file.entry = layout::blocks(entry);
        file.exit = layout::blocks(self.own_blocks(root, "onexit"));
        file.context = self.settle(context, &mut file.entry);
        file.context.extend(std::mem::take(&mut self.made).into_iter().map(|name| (name, Json::Null)));
        file.states = state.states;
        file.on = state.on;
        file.always = state.always;
        file.initial = state.initial;
        file.events = std::mem::take(&mut self.handled);
        self.ours(root, &mut file);
        if file.initial.is_none() && file.kind.is_none() {
            file.initial = self.first_child(root);
        }
        if !self.native {
            faults::hear_everywhere(&mut file);
        }
        file
    }

    fn first_child(&mut self, root: Node<'_, '_>) -> Option<interlock_chart::file::InitialFile> {
        let child = root.children().find(|node| matches!(local(*node), Some("state" | "parallel" | "final")));
        match child.and_then(|child| self.state_names.get(&child.id().get())) {
            Some(name) => layout::initial(vec![name.clone()], Vec::new()),
            None => {
                self.problems.error(OUT_OF_PLACE, tag_span(root), "the document has no state");
                None
            }
        }
    }

    fn machine_name(&mut self, root: Node<'_, '_>, name: &str) -> String {
        let given = root.attribute("name").unwrap_or(name);
        let mut machine = names::machine(given);
        if self.state_names.values().any(|state| *state == machine) {
            machine = self.names.fresh(&format!("{machine}-machine"));
        }
        if machine != given && root.attribute("name").is_some() {
            self.problems.warn(format!("the machine `{given}` is called `{machine}`"));
        }
        machine
    }

    /// Reads the parts of the root that only our documents have.
    fn ours(&mut self, root: Node<'_, '_>, file: &mut MachineFile) {
        if !self.native {
            file.semantics = Some(SemanticsFile::Scxml);
            return;
        }
        file.semantics = (root.attribute((OURS, "semantics")) == Some("scxml")).then_some(SemanticsFile::Scxml);
        file.version = root.attribute((OURS, "version")).and_then(|text| text.parse().ok()).unwrap_or(1);
        file.summary = root.attribute((OURS, "summary")).map(str::to_owned);
        file.timeout = root.attribute((OURS, "timeout")).map(str::to_owned);
        if root.attribute((OURS, "type")) == Some("parallel") {
            file.kind = Some(KindFile::Parallel);
            file.initial = None;
        }
        for child in root.children().filter(|child| child.tag_name().namespace() == Some(OURS)) {
            match child.tag_name().name() {
                "input" => file.input = self.json_text(child),
                "event" => self.declared_event(child, file),
                "property" => file.properties.extend(self.json_text(child)),
                _ => {}
            }
        }
    }

    fn declared_event(&mut self, node: Node<'_, '_>, file: &mut MachineFile) {
        let Some(name) = self.needed(node, "name") else { return };
        if let Some(event) = self.json_text::<EventFile>(node) {
            file.events.insert(name.to_owned(), event);
        }
    }

    fn own_blocks(&mut self, root: Node<'_, '_>, tag: &str) -> Vec<Vec<ActionFile>> {
        let own = |node: &Node<'_, '_>| node.has_tag_name((OURS, tag));
        root.children().filter(own).map(|node| self.block(node)).collect()
    }

    /// Declares the event that a descriptor of a foreign chart handles. Any source may raise it.
    pub(super) fn handles(&mut self, descriptor: &str) {
        // In SCXML any source may send `done.state.x`, so a document that waits for an event that never comes is still
        // valid.
        let done = (descriptor.starts_with("done.state.") && !descriptor.ends_with(['.', '*'])).then_some(descriptor);
        if let Some(name) = names::to_declare(descriptor).or(done).filter(|_| !self.native) {
            let event = EventFile { from: Some(RaiserFile::Any), ..EventFile::default() };
            self.handled.entry(name.to_owned()).or_insert(event);
        }
    }

    /// Returns the states that an attribute names.
    pub(super) fn targets(&mut self, node: Node<'_, '_>, attribute: &str) -> Vec<String> {
        let mut targets = Vec::new();
        for id in node.attribute(attribute).unwrap_or_default().split_whitespace() {
            match self.scope.states.get(id) {
                Some(name) => targets.push(name.clone()),
                None => {
                    let message = format!("there is no state `{id}`");
                    self.problems.error(DANGLING, attribute_span(node, attribute), message);
                }
            }
        }
        targets
    }

    /// Returns a required attribute, and reports an error if it is missing.
    pub(super) fn needed<'a>(&mut self, node: Node<'a, '_>, attribute: &str) -> Option<&'a str> {
        let value = node.attribute(attribute);
        if value.is_none() {
            let message = format!("`<{}>` needs `{attribute}`", node.tag_name().name());
            self.problems.error(OUT_OF_PLACE, tag_span(node), message);
        }
        value
    }

    /// Returns the translated expression of an attribute. Our own documents need no translation.
    pub(super) fn expression(&mut self, node: Node<'_, '_>, attribute: &str) -> Option<String> {
        let source = node.attribute(attribute)?;
        self.translated(source, attribute_span(node, attribute), node)
    }

    /// Returns a condition. In ECMAScript a variable or a string alone is a condition, whatever its type.
    pub(super) fn condition_of(&mut self, node: Node<'_, '_>) -> Option<String> {
        if self.native {
            return self.expression(node, "cond");
        }
        let source = wording::condition(node.attribute("cond")?.trim());
        if source == "_event" {
            // Before the first event there is no event, and so its name is empty.
            return Some("_event.name != ''".to_owned());
        }
        let (negation, asked) = source.strip_prefix('!').map_or(("", &*source), |asked| ("!", asked.trim()));
        let is_variable = self.scope.variables.contains(asked) && !starts_as_bool(node, asked);
        let is_text = matches!(expression::literal(asked), Some(Json::String(_)));
        let is_location = asked.starts_with("_ioprocessors[") && asked.ends_with(".location");
        let span = attribute_span(node, "cond");
        if is_variable || is_text || is_location {
            let value = self.translated(asked, span, node)?;
            return Some(format!("{negation}{}", ecmascript::truth(&value)));
        }
        self.translated(&source, span, node)
    }

    /// Returns an expression translated for a machine file.
    pub(super) fn translated(&mut self, source: &str, span: Span, node: Node<'_, '_>) -> Option<String> {
        if self.native {
            return Some(source.to_owned());
        }
        if self.ecmascript && wording::divides(source) {
            self.refuse(node, span, &format!("divides in `{}`, and CEL leaves the fraction out", shortened(source)));
            return None;
        }
        let is_declared = |name: &str| self.scope.variables.contains(name);
        let defined = ecmascript::defined(source, is_declared, |field| self.missing.contains(&field));
        let reworded = wording::cel(defined.as_deref().unwrap_or(source), is_declared);
        match self.scope.translate(&reworded) {
            Ok(expression) => Some(expression),
            Err(Refused::TooBig) => {
                self.problems.error(TOO_BIG, span, "the expression is too long or too deep");
                None
            }
            Err(Refused::NotCel(why)) => {
                if let Some(failing) = ecmascript::failing(source, is_declared) {
                    self.problems.warn(format!("the expression `{}` only raises error.execution", shortened(source)));
                    return Some(failing);
                }
                self.refuse(node, span, &format!("has the expression `{}`: {why}", shortened(source)));
                None
            }
        }
    }

    /// Reports an unsupported feature with element and line.
    pub(super) fn refuse(&mut self, node: Node<'_, '_>, span: Span, why: &str) {
        if self.problems.is_full() {
            return;
        }
        let line = node.document().text_pos_at(node.range().start).row;
        self.problems.unsupported(span, format!("line {line}: `<{}>` {why}", node.tag_name().name()));
    }

    /// Reads JSON from an attribute in our namespace.
    pub(super) fn json_attribute<T: DeserializeOwned>(&mut self, node: Node<'_, '_>, name: &str) -> Option<T> {
        let text = node.attribute((OURS, name))?;
        self.json(text, tag_span(node), &format!("il:{name}"))
    }

    /// Reads JSON from the text of an element in our namespace.
    pub(super) fn json_text<T: DeserializeOwned>(&mut self, node: Node<'_, '_>) -> Option<T> {
        self.json(node.text().unwrap_or_default(), tag_span(node), &format!("il:{}", node.tag_name().name()))
    }

    fn json<T: DeserializeOwned>(&mut self, text: &str, span: Span, what: &str) -> Option<T> {
        match serde_json::from_str(text) {
            Ok(value) => Some(value),
            Err(error) => {
                self.problems.error(OUT_OF_PLACE, span, format!("`{what}` is not what it should be: {error}"));
                None
            }
        }
    }
}

/// Returns the element's name if it belongs to SCXML. Documents without a namespace are treated as SCXML.
pub(super) fn local<'a>(node: Node<'a, '_>) -> Option<&'a str> {
    let ours = matches!(node.tag_name().namespace(), None | Some(SCXML));
    (node.is_element() && ours).then(|| node.tag_name().name())
}

/// Returns the span of an element's opening tag name.
pub(super) fn tag_span(node: Node<'_, '_>) -> Span {
    let range = node.range();
    problem::span(range.start..range.end.min(range.start + 1 + node.tag_name().name().len()))
}

/// Returns the span of an attribute's value.
pub(super) fn attribute_span(node: Node<'_, '_>, attribute: &str) -> Span {
    node.attribute_node(attribute).map_or(tag_span(node), |attribute| problem::span(attribute.range_value()))
}

/// Returns true if a variable's first value is `true` or `false`. Such a variable is a condition in CEL too.
fn starts_as_bool(node: Node<'_, '_>, variable: &str) -> bool {
    let mut data = node.document().descendants().filter(|node| local(*node) == Some("data"));
    let declared = data.find(|data| data.attribute("id") == Some(variable));
    matches!(declared.and_then(|data| data.attribute("expr")).map(str::trim), Some("true" | "false"))
}

fn shortened(source: &str) -> String {
    match source.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &source[..at]),
        None => source.to_owned(),
    }
}
