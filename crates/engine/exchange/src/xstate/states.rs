//! Reads the states and transitions of an XState configuration.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{
    OURS,
    import::{Importer, own},
    place::Step,
    transitions::descriptor,
    wildcards,
};
use crate::{names, problem::DANGLING};
use interlock_chart::{
    file::{ActionFile, InvokeFile, KindFile, Ordered, OutcomeFile, SendFile, SignalsFile, StateFile, TransitionBody},
    unresolve::{duration, layout},
};

/// The keys of a state that are read.
const STATE_KEYS: [&str; 21] = [
    "id",
    "key",
    "type",
    "initial",
    "states",
    "on",
    "onDone",
    "always",
    "after",
    "entry",
    "exit",
    "invoke",
    "tags",
    "meta",
    "description",
    "history",
    "target",
    "output",
    "context",
    "version",
    "$schema",
];
/// The keys of a transition that are read.
const TRANSITION_KEYS: [&str; 10] =
    ["target", "guard", "cond", "in", "actions", "reenter", "internal", "description", "meta", "delay"];
/// The keys that affect a machine's transitions and have no equivalent in a machine file.
const REFUSED_KEYS: [(&str, &str); 2] = [
    ("route", "`route` makes a state reachable from anywhere: give the machine a transition to it instead"),
    ("activities", "`activities` run as long as a state is active: give the state an `invoke` instead"),
];

/// A transition as it was found.
struct FoundTransition {
    /// The position among the state's transitions, if the configuration gives one.
    at: Option<u64>,
    events: Vec<String>,
    body: TransitionBody,
}

/// The actions that a state's `after` and `invoke` add to its entry and exit.
#[derive(Default)]
struct Extra {
    entry: Vec<ActionFile>,
    exit: Vec<ActionFile>,
}

impl Importer<'_> {
    /// Returns the state at an index of the tree. The machine itself counts as a state.
    pub(super) fn state(&mut self, at: usize) -> StateFile {
        let json = self.tree.nodes[at].json;
        if !json.is_object() {
            self.out_of_place("a state is an object");
            return StateFile::default();
        }
        self.unknown_keys(json, &STATE_KEYS);
        let mut state = StateFile { kind: self.kind(json), ..StateFile::default() };
        state.summary = json.get("description").and_then(Json::as_str).map(str::to_owned);
        state.tags = texts(json.get("tags"));
        if state.kind == Some(KindFile::History) {
            return self.history(at, json, state);
        }
        if let Some(initial) = json.get("initial").filter(|_| state.kind.is_none()) {
            state.initial = self.at("initial", |importer| importer.initial(at, initial));
        }
        state.data = json.get("output").filter(|_| state.kind == Some(KindFile::Final)).map(|value| self.output(value));
        let mut extra = Extra::default();
        let found = self.transitions(at, json, &mut state, &mut extra);
        place(found, &mut state, self.native);
        self.blocks(json, &mut state, extra);
        self.own_fields(json, &mut state);
        for &child in &self.tree.nodes[at].children {
            let (key, name) = (self.tree.key(child).to_owned(), self.tree.nodes[child].name.clone());
            self.path.extend([Step::Key("states".to_owned()), Step::Key(key)]);
            let inner = self.state(child);
            self.path.truncate(self.path.len() - 2);
            state.states.insert(name, inner);
        }
        state
    }

    fn kind(&mut self, json: &Json) -> Option<KindFile> {
        match json.get("type").and_then(Json::as_str) {
            None if is_history(json) => Some(KindFile::History),
            None | Some("atomic" | "compound") => None,
            Some("parallel") => Some(KindFile::Parallel),
            Some("final") => Some(KindFile::Final),
            Some("history") => Some(KindFile::History),
            Some(other) => {
                let message = format!("there is no type of state `{other}`");
                self.at("type", |importer| importer.out_of_place(&message));
                None
            }
        }
    }

    fn history(&mut self, at: usize, json: &Json, state: StateFile) -> StateFile {
        if json.get("on").is_some() || json.get("always").is_some() || json.get("invoke").is_some() {
            self.warn("a history state does nothing by itself: what it handles was left out");
        }
        let deep = json.get("history").and_then(Json::as_str) == Some("deep");
        let parent = self.tree.nodes[at].parent.unwrap_or(0);
        let targets = match json.get("target") {
            Some(target) => self.targets(target, |importer, target| match target.strip_prefix('#') {
                Some(id) => importer.tree.by_id(id),
                None => importer.tree.descend(parent, target),
            }),
            None => Vec::new(),
        };
        let actions = self.actions(own(json).and_then(|own| own.get("actions")));
        let made = layout::history(deep, self.names_of(&targets), actions);
        StateFile { summary: state.summary, tags: state.tags, ..made }
    }

    /// Returns the output of a final state. An event carries a map, so any other value is written as an expression.
    fn output(&self, value: &Json) -> Json {
        match value {
            Json::Object(_) => self.literal(value),
            Json::String(_) if self.native => value.clone(),
            other => Json::String(format!("${{{other}}}")),
        }
    }

    fn blocks(&mut self, json: &Json, state: &mut StateFile, extra: Extra) {
        let entry = self.at("entry", |importer| importer.actions(json.get("entry")));
        let exit = self.at("exit", |importer| importer.actions(json.get("exit")));
        let mut entry = split(entry, self.own_field(json, "entry"));
        entry.push(extra.entry);
        let mut exit = split(exit, self.own_field(json, "exit"));
        exit.push(extra.exit);
        state.entry = layout::blocks(entry);
        state.exit = layout::blocks(exit);
    }

    fn own_fields(&mut self, json: &Json, state: &mut StateFile) {
        if own(json).is_none() {
            return;
        }
        state.timeout = self.own_field(json, "timeout").or(state.timeout.take());
        state.outcome = self.own_field::<OutcomeFile>(json, "outcome");
        state.shows = self.own_field(json, "shows").unwrap_or_default();
        state.grants = self.own_field(json, "grants");
        if let Some(invokes) = self.own_field::<Vec<InvokeFile>>(json, "invoke") {
            state.invoke = layout::one_or_many(invokes);
        }
    }

    fn transitions(
        &mut self,
        at: usize,
        json: &Json,
        state: &mut StateFile,
        extra: &mut Extra,
    ) -> Vec<FoundTransition> {
        let mut found = Vec::new();
        if let Some(on) = json.get("on").and_then(Json::as_object) {
            self.at("on", |importer| importer.warn_of_overlaps(on));
        }
        for (key, value) in json.get("on").and_then(Json::as_object).into_iter().flatten() {
            let event = if key.is_empty() { Vec::new() } else { vec![self.event(key)] };
            self.path.extend([Step::Key("on".to_owned()), Step::Key(key.clone())]);
            self.list(at, value, &event, &mut found);
            self.path.truncate(self.path.len() - 2);
        }
        if let Some(value) = json.get("onDone") {
            let event = format!("done.state.{}", self.tree.nodes[at].name);
            self.at("onDone", |importer| importer.list(at, value, &[event], &mut found));
        }
        self.at("after", |importer| importer.after(at, json, state, extra, &mut found));
        if own(json).is_none_or(|own| !own.contains_key("invoke")) {
            self.at("invoke", |importer| importer.invokes(at, json, state, &mut found));
        }
        if let Some(value) = json.get("always") {
            self.at("always", |importer| importer.list(at, value, &[], &mut found));
        }
        found
    }

    /// Converts a key of `on` to a descriptor.
    fn event(&mut self, key: &str) -> String {
        let event = descriptor(key, |id| Some(self.tree.nodes[self.tree.by_id(id)?].name.clone()));
        let stem = event.strip_suffix('*').unwrap_or(&event).trim_end_matches('.');
        let legal = if stem.is_empty() { String::new() } else { names::event(stem) };
        if stem == legal {
            self.handles(&event);
            return event;
        }
        self.problems.warn(format!("the event `{key}` is called `{legal}`"));
        self.handles(&legal);
        legal
    }

    fn list(&mut self, source: usize, value: &Json, events: &[String], found: &mut Vec<FoundTransition>) {
        match value {
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(Step::Item(index));
                    self.one(source, item, events, found);
                    self.path.pop();
                }
            }
            one => self.one(source, one, events, found),
        }
    }

    fn one(&mut self, source: usize, value: &Json, events: &[String], found: &mut Vec<FoundTransition>) {
        let ours = own(value);
        let flag = |name: &str| ours.and_then(|ours| ours.get(name)) == Some(&Json::Bool(true));
        if flag("copy") || flag("timeout") {
            return;
        }
        let events = match ours.and_then(|ours| ours.get("event")).and_then(Json::as_str) {
            Some(events) => events.split_whitespace().map(str::to_owned).collect(),
            None => events.to_vec(),
        };
        let at = ours.and_then(|ours| ours.get("at")).and_then(Json::as_u64);
        if let Some(body) = self.transition(source, value) {
            found.push(FoundTransition { at, events, body });
        }
    }

    fn transition(&mut self, source: usize, value: &Json) -> Option<TransitionBody> {
        let fields = match value {
            Json::String(_) | Json::Null => value,
            Json::Object(_) => value.get("target").unwrap_or(&Json::Null),
            _ => {
                self.out_of_place("a transition is a target or an object");
                return None;
            }
        };
        self.unknown_keys(value, &TRANSITION_KEYS);
        let targets = self.targets(fields, |importer, target| importer.tree.resolve(source, target));
        let mut body = TransitionBody::default();
        self.lead(source, &targets, value, &mut body);
        let guard = self.guard(value.get("guard").or_else(|| value.get("cond")));
        body.guard = match (value.get("in").and_then(|place| self.within(source, place)), guard) {
            (Some(within), Some(guard)) => Some(format!("{within} && ({guard})")),
            (within, guard) => within.or(guard),
        };
        body.actions = layout::one_or_many(self.actions(value.get("actions")));
        body.reason = value.get("description").and_then(Json::as_str).map(|text| self.text(text));
        body.limit = self.own_field(value, "limit");
        body.reset = self.own_field(value, "reset");
        Some(body)
    }

    /// Sets the targets of a transition, and decides whether it leaves its source.
    fn lead(&mut self, source: usize, targets: &[usize], value: &Json, body: &mut TransitionBody) {
        let flag = |name: &str| value.get(name).and_then(Json::as_bool);
        // XState 4 has the inverse flag.
        let reenter = flag("reenter").unwrap_or(flag("internal") == Some(false));
        let inside = |&target: &usize| self.tree.is_inside(target, source);
        let stays = !reenter && source != 0 && !targets.is_empty();
        body.target = layout::one_or_many(self.names_of(targets));
        if stays && targets == [source] {
            return self.begin_again(source, body);
        }
        let kept = own(value).and_then(|own| own.get("internal")) == Some(&Json::Bool(true));
        body.internal = (kept || stays && targets.iter().all(inside)).then_some(true);
    }

    /// Handles a transition to its own source without `reenter`: only the states inside are entered again.
    fn begin_again(&mut self, source: usize, body: &mut TransitionBody) {
        let json = self.tree.nodes[source].json;
        body.target = None;
        if json.get("type").and_then(Json::as_str) == Some("parallel") {
            self.problems.warn(format!(
                "the transition of `{0}` to itself leaves and enters `{0}`",
                self.tree.nodes[source].name
            ));
            body.target = layout::one_or_many(self.names_of(&[source]));
            return;
        }
        let begin =
            json.get("initial").and_then(|initial| initial.as_str().or_else(|| initial.get("target")?.as_str()));
        if let Some(child) = begin.and_then(|begin| self.tree.descend(source, begin)) {
            body.target = layout::one_or_many(self.names_of(&[child]));
            body.internal = Some(true);
        }
    }

    /// Reads a guard: CEL, or the name of code that cannot be imported.
    fn guard(&mut self, value: Option<&Json>) -> Option<String> {
        let value = value.filter(|value| !value.is_null())?;
        let name = value.as_str().or_else(|| value.get("type").and_then(Json::as_str));
        let expr = value.get("params").and_then(|params| params.get("expr")).and_then(Json::as_str);
        match (name, expr) {
            (Some("cel"), Some(expr)) => Some(expr.to_owned()),
            (Some(name), _) => Some(self.named_guard(name)),
            (None, _) => {
                self.out_of_place("a guard is a name or an object with a `type`");
                None
            }
        }
    }

    /// Returns a variable for a guard that is only named. The code is unknown, so the variable is false, and the
    /// transition is disabled, until something assigns it.
    fn named_guard(&mut self, name: &str) -> String {
        let mut variable = names::variable(name);
        if self.context.get(&variable).is_some_and(|value| *value != Json::Bool(false)) {
            variable.push_str("_guard");
        }
        self.context.insert(variable.clone(), Json::Bool(false));
        let told = format!(
            "the guard `{name}` is code elsewhere; here it is `context.{variable}`, false until something assigns it"
        );
        self.problems.warn(told);
        format!("context.{variable}")
    }

    /// Returns the condition that a state is active, for `in` of XState 4.
    fn within(&mut self, source: usize, value: &Json) -> Option<String> {
        let parent = self.tree.nodes[source].parent.unwrap_or(0);
        let found = value.as_str().and_then(|path| match path.strip_prefix('#') {
            Some(id) => self.tree.by_id(id),
            None => self.tree.descend(parent, path).or_else(|| self.tree.descend(0, path)),
        });
        let Some(state) = found.filter(|state| *state != 0) else {
            self.at("in", |importer| {
                importer.refuse("`in` does not name a state; write it as the guard `In('STATE')`")
            });
            return None;
        };
        Some(format!("In('{}')", self.tree.nodes[state].name))
    }

    /// Returns the states that a target or a list of targets refers to.
    pub(super) fn targets(&mut self, value: &Json, resolve: impl Fn(&Self, &str) -> Option<usize>) -> Vec<usize> {
        let mut found = Vec::new();
        for target in texts(Some(value)) {
            match resolve(self, &target) {
                Some(0) => self.out_of_place("a transition cannot lead to the machine itself"),
                Some(state) => found.push(state),
                None => {
                    let span = self.span();
                    self.problems.error(DANGLING, span, format!("there is no state `{target}` from here"));
                }
            }
        }
        found
    }

    /// Returns the names of these states.
    pub(super) fn names_of(&self, states: &[usize]) -> Vec<String> {
        states.iter().map(|&at| self.tree.nodes[at].name.clone()).collect()
    }

    fn after(
        &mut self,
        at: usize,
        json: &Json,
        state: &mut StateFile,
        extra: &mut Extra,
        found: &mut Vec<FoundTransition>,
    ) {
        let Some(delays) = json.get("after").and_then(Json::as_object) else { return };
        let foreign = |value: &Json| own(value).is_none_or(|own| !own.contains_key("timeout"));
        let delays: Vec<_> = delays.iter().filter(|(_, value)| foreign(value)).collect();
        let alone = delays.len() == 1 && at != 0;
        for (delay, value) in delays {
            let Ok(ms) = delay.parse::<u64>() else {
                let message = format!("the delay `{delay}` is code elsewhere");
                self.at(delay, |importer| importer.refuse(&message));
                continue;
            };
            let name = &self.tree.nodes[at].name;
            let event = if alone { format!("timeout.{name}") } else { format!("after.{ms}.{name}") };
            let event = event.trim_end_matches('.').to_owned();
            if alone {
                state.timeout = Some(duration(ms));
            } else {
                let send =
                    SendFile { event: event.clone(), data: None, delay: Some(duration(ms)), id: Some(event.clone()) };
                extra.entry.push(ActionFile::Send { send });
                extra.exit.push(ActionFile::Cancel { cancel: event.clone() });
            }
            self.at(delay, |importer| importer.list(at, value, &[event], found));
        }
    }

    fn invokes(&mut self, at: usize, json: &Json, state: &mut StateFile, found: &mut Vec<FoundTransition>) {
        let invokes = match json.get("invoke") {
            None => return,
            Some(Json::Array(items)) => items.iter().collect(),
            Some(one) => vec![one],
        };
        let several = invokes.len() > 1;
        let mut made = Vec::new();
        for invoke in invokes {
            let Some(src) = invoke.get("src").and_then(Json::as_str) else {
                self.refuse("an actor without the name of its `src` is code");
                continue;
            };
            made.push(self.invoke(at, src, invoke, several, found));
        }
        state.invoke = layout::one_or_many(made);
    }

    fn invoke(
        &mut self,
        at: usize,
        src: &str,
        json: &Json,
        several: bool,
        found: &mut Vec<FoundTransition>,
    ) -> InvokeFile {
        let activity = names::event(src);
        let mut file = InvokeFile { activity: activity.clone(), ..InvokeFile::default() };
        file.with = match json.get("input") {
            Some(Json::Object(fields)) => {
                fields.iter().map(|(key, value)| (key.clone(), self.literal(value))).collect()
            }
            Some(Json::Null) | None => Ordered::new(),
            Some(other) => Ordered::from([("input".to_owned(), self.literal(other))]),
        };
        if let Some(value) = json.get("onDone") {
            let signal = format!("{activity}.done");
            file.signals = Some(SignalsFile::Names(vec![signal.clone()]));
            self.at("onDone", |importer| importer.list(at, value, &[signal], found));
        }
        if let Some(value) = json.get("onError") {
            let before = found.len();
            self.at("onError", |importer| importer.list(at, value, &["error".to_owned()], found));
            for failed in found[before..].iter_mut().filter(|_| several) {
                let whose = format!("event.activity == '{activity}'");
                let both = failed.body.guard.take().map(|guard| format!("{whose} && ({guard})"));
                failed.body.guard = Some(both.unwrap_or(whose));
            }
        }
        if json.get("onSnapshot").is_some() {
            self.problems.warn(format!("`onSnapshot` of `{src}` was left out: activities are heard of when they end"));
        }
        file
    }

    fn unknown_keys(&mut self, value: &Json, known: &[&str]) {
        for key in value.as_object().into_iter().flat_map(|fields| fields.keys()) {
            if let Some((_, why)) = REFUSED_KEYS.iter().find(|(refused, _)| refused == key) {
                self.at(key, |importer| importer.refuse(why));
            } else if !known.contains(&key.as_str()) {
                self.at(key, |importer| importer.warn(&format!("`{key}` was left out")));
            }
        }
        let foreign_meta = |meta: &Json| meta.as_object().is_none_or(|meta| meta.keys().any(|key| key != OURS));
        if value.get("meta").is_some_and(foreign_meta) {
            self.at("meta", |importer| importer.warn("`meta` was left out"));
        }
    }
}

/// Sorts transitions by their recorded positions, and in a foreign configuration wildcards behind names, and lays them
/// out.
fn place(mut found: Vec<FoundTransition>, state: &mut StateFile, is_native: bool) {
    found.sort_by_key(|found| found.at);
    if !is_native {
        let events: Vec<String> = found.iter().map(|found| found.events.concat()).collect();
        let all: BTreeSet<&str> = events.iter().map(String::as_str).collect();
        found.sort_by_cached_key(|found| wildcards::rank(&found.events.concat(), &all));
    }
    let (always, on): (Vec<_>, Vec<_>) = found.into_iter().partition(|found| found.events.is_empty());
    state.on = layout::on(on.into_iter().map(|found| (found.events, found.body)).collect());
    state.always = layout::always(always.into_iter().map(|found| found.body).collect());
}

/// Splits actions into blocks of these lengths. Without lengths, they form one block.
fn split(actions: Vec<ActionFile>, lengths: Option<Vec<usize>>) -> Vec<Vec<ActionFile>> {
    let mut actions = actions.into_iter();
    let mut blocks: Vec<Vec<_>> =
        lengths.unwrap_or_default().into_iter().map(|length| actions.by_ref().take(length).collect()).collect();
    blocks.push(actions.collect());
    blocks
}

/// Returns true if a state without a type is a history state: it has `history` and no child states.
fn is_history(json: &Json) -> bool {
    let is_said = json.get("history").is_some_and(|history| !matches!(history, Json::Null | Json::Bool(false)));
    is_said && json.get("states").and_then(Json::as_object).is_none_or(|states| states.is_empty())
}

/// Returns one string or a list of strings as a list.
fn texts(value: Option<&Json>) -> Vec<String> {
    match value {
        Some(Json::String(text)) => vec![text.clone()],
        Some(Json::Array(items)) => items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}
