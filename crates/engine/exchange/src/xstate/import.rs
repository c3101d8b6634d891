//! Reads an XState configuration into a machine file: the machine itself, and the functions that its parts share.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::{
    OURS,
    place::{self, Step},
    targets::{Survey, Tree},
    wildcards,
};
use crate::{
    Imported,
    names::{self, Names},
    problem::{self, MALFORMED, OUT_OF_PLACE, Problems, TOO_BIG},
};
use interlock_chart::{
    Diagnostic, Span,
    file::{EventFile, InitialFile, MachineFile, Ordered, RaiserFile},
    unresolve::{self, layout},
};

/// Reads an XState configuration. `name` is the machine's name if the configuration gives none.
pub(crate) fn import(text: &str, name: &str) -> Result<Imported, Vec<Diagnostic>> {
    let text = text.trim_start_matches('\u{feff}');
    let json: Json = serde_json::from_str(text).map_err(|error| vec![malformed(text, &error)])?;
    if json.get("states").and_then(Json::as_object).is_none_or(Map::is_empty) {
        let message = "an XState configuration has `states`";
        return Err(vec![problem::error(OUT_OF_PLACE, problem::span(0..1), message)]);
    }
    let mut names = Names::default();
    let mut problems = Problems::default();
    let mut survey = Survey { tree: Tree::default(), names: &mut names, problems: &mut problems, text };
    survey.add("", &json, None, &mut Vec::new());
    let tree = survey.tree;
    let native = own(&json).is_some();
    let (context, events, event_names) = (Ordered::new(), Ordered::new(), wildcards::names(&json));
    let mut importer = Importer { text, tree: &tree, native, problems, path: Vec::new(), context, events, event_names };
    let machine = machine_name(&json, name, &tree, &mut names);
    let file = importer.machine(&json, machine);
    importer.problems.finish(file, names.into_renamed())
}

fn malformed(text: &str, error: &serde_json::Error) -> Diagnostic {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = (before + error.column().saturating_sub(1)).min(text.len());
    // serde_json does not expose the kind of this error.
    let code = if error.to_string().starts_with("recursion limit") { TOO_BIG } else { MALFORMED };
    problem::error(code, problem::span(at..at + 1), format!("not JSON: {error}"))
}

fn machine_name(json: &Json, name: &str, tree: &Tree<'_>, names: &mut Names) -> String {
    let given = json.get("id").and_then(Json::as_str).unwrap_or(name);
    let machine = names::machine(given);
    let taken = tree.nodes.iter().any(|node| node.name == machine);
    if taken { names.fresh(&format!("{machine}-machine")) } else { machine }
}

/// Returns the value's fields under `meta.interlock`.
pub(super) fn own(json: &Json) -> Option<&Map<String, Json>> {
    json.get("meta")?.get(OURS)?.as_object()
}

/// The state of an import in progress.
pub(super) struct Importer<'a> {
    text: &'a str,
    pub(super) tree: &'a Tree<'a>,
    /// True if the configuration was written by our exporter.
    pub(super) native: bool,
    pub(super) problems: Problems,
    /// The path of the value that is being read.
    pub(super) path: Vec<Step>,
    /// The variables, including those created for named guards.
    pub(super) context: Ordered<Json>,
    events: Ordered<EventFile>,
    /// The names of all events that the configuration handles.
    pub(super) event_names: BTreeSet<&'a str>,
}

impl Importer<'_> {
    fn machine(&mut self, json: &Json, machine: String) -> MachineFile {
        self.context = self.variables(json);
        let root = self.state(0);
        let mut file = MachineFile { machine, version: 1, ..MachineFile::default() };
        file.summary = root.summary;
        file.initial = root.initial;
        file.kind = root.kind;
        file.on = root.on;
        file.always = root.always;
        file.entry = root.entry;
        file.exit = root.exit;
        file.states = root.states;
        file.context = std::mem::take(&mut self.context);
        file.events = std::mem::take(&mut self.events);
        self.ours(json, &mut file);
        if file.initial.is_none() && file.kind.is_none() {
            self.out_of_place("a machine needs `initial`");
        }
        file
    }

    fn variables(&mut self, json: &Json) -> Ordered<Json> {
        let Some(context) = json.get("context") else { return Ordered::new() };
        let Some(fields) = context.as_object() else {
            self.at("context", |importer| importer.out_of_place("`context` must be an object"));
            return Ordered::new();
        };
        let mut variables = Ordered::new();
        for (key, value) in fields {
            let name = names::variable(key);
            if name != *key {
                self.problems.warn(format!("the variable `{key}` is called `{name}`"));
            }
            variables.insert(name, self.literal(value));
        }
        variables
    }

    /// Returns a value as a literal. A value of our own configurations may contain templates, so it is not escaped.
    pub(super) fn literal(&self, value: &Json) -> Json {
        if self.native { value.clone() } else { unresolve::escaped(value.clone()) }
    }

    /// Returns a text as a literal. A text of our own configurations may be a template, so it is not escaped.
    pub(super) fn text(&self, text: &str) -> String {
        if self.native { text.to_owned() } else { unresolve::escaped_text(text) }
    }

    fn ours(&mut self, json: &Json, file: &mut MachineFile) {
        if own(json).is_none() {
            return;
        }
        file.version = self.own_field(json, "version").unwrap_or(1);
        file.semantics = self.own_field(json, "semantics");
        file.timeout = self.own_field(json, "timeout");
        file.input = self.own_field(json, "input");
        file.events = self.own_field(json, "events").unwrap_or_default();
        file.properties = self.own_field(json, "properties").unwrap_or_default();
    }

    /// Reads a field under `meta.interlock`.
    pub(super) fn own_field<T: DeserializeOwned>(&mut self, json: &Json, name: &str) -> Option<T> {
        let value = own(json)?.get(name)?;
        match serde_json::from_value(value.clone()) {
            Ok(value) => Some(value),
            Err(error) => {
                self.out_of_place(&format!("`meta.{OURS}.{name}` is not what it should be: {error}"));
                None
            }
        }
    }

    /// Declares the event that a descriptor of a foreign chart handles. Any source may raise it.
    pub(super) fn handles(&mut self, descriptor: &str) {
        if let Some(name) = names::to_declare(descriptor).filter(|_| !self.native) {
            let event = EventFile { from: Some(RaiserFile::Any), ..EventFile::default() };
            self.events.entry(name.to_owned()).or_insert(event);
        }
    }

    /// Runs `inside` with the path extended by a key.
    pub(super) fn at<T>(&mut self, key: &str, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(Step::Key(key.to_owned()));
        let result = inside(self);
        self.path.pop();
        result
    }

    /// Returns the span of the value that is being read.
    pub(super) fn span(&self) -> Span {
        if self.problems.is_full() { Span::default() } else { place::find(self.text, &self.path) }
    }

    /// Reports an error about the value that is being read.
    pub(super) fn out_of_place(&mut self, message: &str) {
        let span = self.span();
        self.problems.error(OUT_OF_PLACE, span, message);
    }

    /// Reports that the value being read is unsupported.
    pub(super) fn refuse(&mut self, message: &str) {
        let span = self.span();
        let line = self.line(span);
        self.problems.unsupported(span, format!("line {line}: {message}"));
    }

    /// Adds a warning about the value that is being read.
    pub(super) fn warn(&mut self, message: &str) {
        let line = self.line(self.span());
        self.problems.warn(format!("line {line}: {message}"));
    }

    fn line(&self, span: Span) -> usize {
        self.text.get(..span.start as usize).map_or(1, |before| before.matches('\n').count() + 1)
    }

    /// Reads a state's initial transition: a target inside it, several targets, or an object with actions.
    pub(super) fn initial(&mut self, at: usize, value: &Json) -> Option<InitialFile> {
        let targets = if value.is_object() { value.get("target")? } else { value };
        let targets = self.targets(targets, |importer, target| match target.strip_prefix('#') {
            Some(id) => importer.tree.by_id(id),
            None => importer.tree.descend(at, target.strip_prefix('.').unwrap_or(target)),
        });
        let actions = self.actions(value.get("actions"));
        layout::initial(self.names_of(&targets), actions)
    }
}
