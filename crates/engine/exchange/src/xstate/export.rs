//! Writes a chart as an XState configuration.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::{
    OURS, actions,
    write::{Object, one_or_many},
};
use crate::Exported;
use interlock_chart::{
    Chart, counted,
    file::OneOrMany,
    model::{Initial, Kind, State, StateId, Transition},
    unresolve::{self, layout},
};

/// Writes a chart as the configuration of an XState v5 machine.
pub(crate) fn export(chart: &Chart) -> Exported {
    let writer = Writer { chart, with_id: targeted_by_id(chart) };
    let text = serde_json::to_string_pretty(&writer.machine()).unwrap_or_default();
    Exported { text: text + "\n", warnings: warnings(chart) }
}

pub(super) struct Writer<'a> {
    pub(super) chart: &'a Chart,
    /// The states that are referred to by `#id`.
    with_id: BTreeSet<StateId>,
}

impl Writer<'_> {
    fn machine(&self) -> Json {
        let chart = self.chart;
        let root = chart.state(Chart::ROOT);
        let ours = Object::default()
            .with("version", chart.version)
            .with("semantics", unresolve::semantics(chart))
            .with("timeout", unresolve::default_timeout(chart))
            .with("input", unresolve::schema(&chart.input))
            .with("events", unresolve::events(chart))
            .with("properties", unresolve::properties(chart));
        let context = chart.context.iter().map(|var| (var.name.clone(), unresolve::template(&var.initial)));
        let mut machine = Object::default().with("id", &chart.id).with("description", &chart.summary);
        machine.add("context", Json::Object(context.collect()));
        self.body(root, ours, machine)
    }

    fn state(&self, state: &State) -> Json {
        let chart = self.chart;
        let id = self.with_id.contains(&state.id).then_some(&state.name);
        let invokes: Vec<_> = state.invokes.iter().map(|&id| unresolve::invoke(chart, chart.invoke(id))).collect();
        let ours = Object::default()
            .with("timeout", unresolve::timeout(chart, state))
            .with("outcome", state.outcome.map(|outcome| outcome.word()))
            .with("shows", unresolve::shows(state))
            .with("grants", unresolve::grants(state))
            .with("invoke", &invokes)
            .with("actions", self.history_actions(state));
        let mut object = Object::default().with("id", id).with("description", &state.summary);
        if state.kind.is_history() {
            object.add("history", if state.kind == Kind::DeepHistory { "deep" } else { "shallow" });
            object.add("target", state.initial.as_ref().map(|initial| self.inner_targets(state, initial)));
        }
        let plain = invokes
            .iter()
            .map(|invoke| Object::default().with("src", &invoke.activity).with("input", &invoke.with).json());
        object.add("invoke", one_or_many(plain.collect()));
        if let Some(data) = &state.data {
            object.put("output", unresolve::template(data));
        }
        self.body(state, ours, object)
    }

    /// Returns the actions of a history state's default transition, which XState does not support.
    fn history_actions(&self, state: &State) -> Vec<Json> {
        let initial = state.initial.as_ref().filter(|_| state.kind.is_history());
        initial.map(|initial| actions::written(self.chart, &initial.actions)).unwrap_or_default()
    }

    /// Writes the parts that states and the machine itself have in common.
    fn body(&self, state: &State, mut ours: Object, object: Object) -> Json {
        let mut object = object.with("type", kind(state.kind)).with("tags", &state.tags);
        if let (false, Some(initial)) = (state.kind.is_history(), &state.initial) {
            object.put("initial", self.initial(state, initial));
        }
        for (key, blocks) in [("entry", &state.entry), ("exit", &state.exit)] {
            let blocks: Vec<Vec<Json>> = blocks.iter().map(|block| actions::written(self.chart, block)).collect();
            if blocks.len() > 1 {
                ours.add(key, blocks.iter().map(Vec::len).collect::<Vec<_>>());
            }
            object.add(key, one_or_many(blocks.concat()));
        }
        self.transitions(state, &mut object);
        let children = state.children.iter().map(|&child| self.chart.state(child));
        object.add("states", Json::Object(children.map(|child| (child.name.clone(), self.state(child))).collect()));
        let ours = ours.json();
        if ours != json!({}) {
            object.put("meta", json!({ OURS: ours }));
        }
        object.json()
    }

    fn initial(&self, state: &State, initial: &Initial) -> Json {
        let targets = self.inner_targets(state, initial);
        if initial.actions.is_empty()
            && targets.is_string()
            && !targets.as_str().is_some_and(|text| text.starts_with('#'))
        {
            return targets;
        }
        Object::default().with("target", targets).with("actions", actions::written(self.chart, &initial.actions)).json()
    }

    /// Returns the targets of an initial transition, which XState resolves inside the state (or beside it for a history
    /// state).
    fn inner_targets(&self, state: &State, initial: &Initial) -> Json {
        let parent = if state.kind.is_history() { state.parent } else { Some(state.id) };
        let named = |&target: &StateId| {
            let name = &self.chart.state(target).name;
            let inside = self.chart.state(target).parent == parent && !name.contains('.');
            Json::String(if inside { name.clone() } else { format!("#{name}") })
        };
        one_or_many(initial.targets.iter().map(named).collect())
    }

    /// Returns a transition without its event. `ours` is written under its `meta`.
    pub(super) fn transition(&self, transition: &Transition, mut ours: Object) -> Json {
        let chart = self.chart;
        let file = unresolve::transition(chart, transition);
        let targets: Vec<_> = transition.targets.iter().map(|&target| self.target(transition, target)).collect();
        let guard = file.guard.map(|expr| json!({ "type": "cel", "params": { "expr": expr } }));
        let (reenter, internal) = reentry(chart, transition);
        ours.add("limit", file.limit);
        ours.add(
            "reset",
            file.reset.map(|reset| match reset {
                OneOrMany::One(one) => json!(one),
                OneOrMany::Many(many) => json!(many),
            }),
        );
        ours.add("internal", internal);
        let ours = ours.json();
        Object::default()
            .with("target", one_or_many(targets))
            .with("guard", guard)
            .with("reenter", reenter)
            .with("actions", one_or_many(actions::written(chart, &transition.actions)))
            .with("description", file.reason)
            .with("meta", (ours != json!({})).then(|| json!({ OURS: ours })))
            .json()
    }

    fn target(&self, transition: &Transition, target: StateId) -> Json {
        let name = &self.chart.state(target).name;
        Json::String(match relation(self.chart, transition.source, target) {
            Relation::Sibling => name.clone(),
            Relation::Child => format!(".{name}"),
            Relation::Elsewhere => format!("#{name}"),
        })
    }
}

/// Returns XState's `reenter` flag and our `internal` flag. For a target inside the source, XState stays in the source
/// unless `reenter` is set, and SCXML leaves it unless `internal` is set. If neither rule applies, `internal` has no
/// effect and is only preserved.
fn reentry(chart: &Chart, transition: &Transition) -> (Option<bool>, Option<bool>) {
    let source = transition.source;
    let kept = transition.internal.then_some(true);
    let inside = |&target: &StateId| chart.is_descendant(target, source);
    if source == Chart::ROOT || transition.targets.is_empty() {
        return (None, kept);
    }
    if transition.targets.iter().all(inside) {
        return ((!transition.internal).then_some(true), None);
    }
    let into_itself = transition.targets.iter().all(|target| *target == source || inside(target));
    (into_itself.then_some(true), kept)
}

enum Relation {
    Sibling,
    Child,
    Elsewhere,
}

/// Returns the notation of a target. Dots separate the steps of a path, so a name with a dot is always written as an
/// id.
fn relation(chart: &Chart, source: StateId, target: StateId) -> Relation {
    let to = chart.state(target);
    match to.parent {
        _ if to.name.contains('.') => Relation::Elsewhere,
        Some(parent) if parent == source => Relation::Child,
        parent if parent.is_some() && parent == chart.state(source).parent => Relation::Sibling,
        _ => Relation::Elsewhere,
    }
}

fn targeted_by_id(chart: &Chart) -> BTreeSet<StateId> {
    let far = chart.transitions.iter().flat_map(|transition| {
        let far = |target: &&StateId| matches!(relation(chart, transition.source, **target), Relation::Elsewhere);
        transition.targets.iter().filter(far).copied()
    });
    let begun = chart.states.iter().flat_map(|state| {
        let parent = if state.kind.is_history() { state.parent } else { Some(state.id) };
        let deeper =
            move |target: &&StateId| chart.state(**target).parent != parent || chart.state(**target).name.contains('.');
        state.initial.iter().flat_map(|initial| &initial.targets).filter(deeper).copied()
    });
    let ended = chart.transitions.iter().flat_map(|transition| &transition.events);
    let ended = ended.filter_map(|event| chart.find_state(event.text.strip_prefix("done.state.")?));
    far.chain(begun).chain(ended).collect()
}

fn kind(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Atomic | Kind::Compound => None,
        Kind::Parallel => Some("parallel"),
        Kind::Final => Some("final"),
        Kind::ShallowHistory | Kind::DeepHistory => Some("history"),
    }
}

/// Returns warnings about the parts that an XState project without our extensions does not see.
fn warnings(chart: &Chart) -> Vec<String> {
    let limits = chart.transitions.iter().filter(|transition| !transition.limits.is_empty()).count();
    let ordered = chart.states.iter().any(|state| layout::needs_a_list(&unresolve::transitions(chart, state).0));
    let dotted = chart.states.iter().filter(|state| state.name.contains('.')).count();
    let mut warnings = Vec::new();
    let mut warn = |there: bool, text: String| warnings.extend(there.then_some(text));
    warn(
        limits > 0,
        counted(
            limits,
            "transition has a limit (`meta.interlock.limit`); elsewhere it can be taken for ever",
            "transitions have a limit (`meta.interlock.limit`); elsewhere they can be taken for ever",
        ),
    );
    warn(
        !chart.invokes.is_empty(),
        format!(
            "{} in signals (`meta.interlock.invoke`), which actors of XState do not raise",
            counted(chart.invokes.len(), "activity ends", "activities end")
        ),
    );
    warn(
        chart.transitions.iter().any(|transition| transition.guard.is_some()),
        "guards are CEL: an XState project has to implement the guard `cel`".into(),
    );
    warn(
        has_actions(chart),
        "actions are data: an XState project has to implement `assign`, `raise`, `send`, `cancel`, `log` and `if` by these names".into(),
    );
    warn(ordered, "XState tries the longest event descriptor first, not the first in the file".into());
    warn(
        dotted > 0,
        format!(
            "{}, which XState takes for a path",
            counted(dotted, "state has a dot in its name", "states have a dot in their name")
        ),
    );
    warnings
}

fn has_actions(chart: &Chart) -> bool {
    let in_states = chart.states.iter().any(|state| !state.entry.is_empty() || !state.exit.is_empty());
    in_states || chart.transitions.iter().any(|transition| !transition.actions.is_empty())
}
