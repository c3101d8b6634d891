//! The meaning of a chart as JSON, without source positions, layout and comments. Every notation of one machine gives
//! the same JSON.
//!
//! Two charts are the same machine if their canonical JSON is equal. A machine's hash is computed from this JSON.

use crate::{
    expr::Expr,
    model::{
        Action, Block, Chart, Dialect, Event, Initial, Max, Observation, ObservedFact, Part, PropertyKind, StateId,
        Template,
    },
};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

/// Returns true if both charts describe the same machine.
pub fn same(a: &Chart, b: &Chart) -> bool {
    a.canonical() == b.canonical()
}

impl Chart {
    /// Returns the meaning of the chart as JSON with a fixed order of keys.
    pub fn canonical(&self) -> Json {
        let mut canonical = json!({
            "machine": self.id,
            "version": self.version,
            "summary": self.summary,
            "input": self.input,
            "context": self.context.iter().map(|var| json!([var.name, template(&var.initial)])).collect::<Vec<_>>(),
            "events": self.events.iter().map(canonical_event).collect::<Vec<_>>(),
            "counters": self.counters.iter().map(|counter| json!([counter.name, counter.max, counter.named])).collect::<Vec<_>>(),
            "states": self.states.iter().map(|state| self.canonical_state(state)).collect::<Vec<_>>(),
            "transitions": self.transitions.iter().map(|transition| self.canonical_transition(transition)).collect::<Vec<_>>(),
            "invokes": self.invokes.iter().map(|invoke| self.canonical_invoke(invoke)).collect::<Vec<_>>(),
            "properties": self.properties.iter().map(|property| json!({
                "name": property.name, "because": property.because, "kind": self.canonical_property(&property.kind),
            })).collect::<Vec<_>>(),
        });
        // The key is omitted unless it is set, so that the hashes of machines without it stay the same.
        if self.dialect == Dialect::Scxml {
            canonical["semantics"] = "scxml".into();
        }
        canonical
    }

    /// Returns the machine's hash, computed from its meaning and from the other files in its directory (by path, then
    /// content).
    pub fn content_hash(&self, files: &[(String, Vec<u8>)]) -> String {
        let mut digest = Sha256::new();
        digest.update(self.canonical().to_string());
        let mut files: Vec<_> = files.iter().collect();
        files.sort();
        for (path, content) in files {
            // The lengths prevent two different directories from producing the same byte sequence.
            digest.update(format!("\n{}:{path}:{}\n", path.len(), content.len()));
            digest.update(content);
        }
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn canonical_state(&self, state: &crate::model::State) -> Json {
        let mut canonical = json!({
            "name": state.name,
            "summary": state.summary,
            "parent": state.parent.map(|parent| self.name(parent)),
            "kind": state.kind.word(),
            "initial": state.initial.as_ref().map(|initial| self.canonical_initial(initial)),
            "entry": state.entry.iter().map(|actions| self.canonical_block(actions)).collect::<Vec<_>>(),
            "exit": state.exit.iter().map(|actions| self.canonical_block(actions)).collect::<Vec<_>>(),
            "timeout_ms": state.timeout_ms,
            "timeout_inherited": state.timeout_inherited,
            "outcome": state.outcome.map(|outcome| outcome.word()),
            "tags": state.tags,
            "data": state.data.as_ref().map(template),
        });
        // Keys of later versions are left out if they are empty, so that the hashes of older machines stay as they were.
        if !state.shows.is_empty() {
            canonical["shows"] = state.shows.iter().map(|(label, data)| json!([label, template(data)])).collect();
        }
        if let Some(request) = &state.grants {
            canonical["grants"] = json!({ "scopes": template(&request.scopes), "event": request.event });
        }
        canonical
    }

    fn canonical_initial(&self, initial: &Initial) -> Json {
        json!({ "targets": self.names(&initial.targets), "actions": self.canonical_block(&initial.actions) })
    }

    fn canonical_transition(&self, transition: &crate::model::Transition) -> Json {
        json!({
            "source": self.name(transition.source),
            "events": transition.events.iter().map(|event| event.text.as_str()).collect::<Vec<_>>(),
            "targets": self.names(&transition.targets),
            "internal": transition.internal,
            "guard": transition.guard.as_ref().map(expr),
            "limits": transition.limits.iter().map(|limit| {
                let max = match &limit.max {
                    Max::Fixed(max) => json!(max),
                    Max::Input { expr: source, at_most } => json!({ "expr": expr(source), "at_most": at_most }),
                };
                json!([self.counters.get(limit.counter.index()).map(|counter| &counter.name), max])
            }).collect::<Vec<_>>(),
            "resets": transition.resets.iter()
                .map(|counter| self.counters.get(counter.index()).map(|counter| &counter.name)).collect::<Vec<_>>(),
            "actions": self.canonical_block(&transition.actions),
            "reason": transition.reason.as_ref().map(template),
        })
    }

    fn canonical_invoke(&self, invoke: &crate::model::Invoke) -> Json {
        let mut canonical = json!({
            "state": self.name(invoke.state),
            "activity": invoke.activity,
            "with": template(&invoke.with),
            "signals": invoke.signals.iter().map(|signal| json!([self.event(signal.event).name, signal.data])).collect::<Vec<_>>(),
            "effect": invoke.effect.map(|effect| effect.word()),
        });
        // The key is omitted unless it is set, so that the hashes of machines without it stay the same.
        if invoke.manual {
            canonical["manual"] = true.into();
        }
        canonical
    }

    fn canonical_block(&self, block: &Block) -> Json {
        block.iter().map(|action| self.canonical_action(action)).collect()
    }

    fn canonical_action(&self, action: &Action) -> Json {
        match action {
            Action::Assign { var, value } => {
                json!({ "assign": self.context.get(var.index()).map(|var| &var.name), "value": template(value) })
            }
            Action::Raise { event, data } => json!({ "raise": event, "data": template(data) }),
            Action::Send { event, data, delay, id } => json!({
                "send": template(event), "data": template(data), "delay": delay.as_ref().map(template), "id": id,
            }),
            Action::Cancel { id } => json!({ "cancel": template(id) }),
            Action::Log { text } => json!({ "log": template(text) }),
            Action::If { branches } => {
                let branch = |(guard, block): &(Option<Expr>, Block)| {
                    json!([guard.as_ref().map(expr), self.canonical_block(block)])
                };
                json!({ "if": branches.iter().map(branch).collect::<Vec<_>>() })
            }
        }
    }

    fn canonical_property(&self, kind: &PropertyKind) -> Json {
        let see = |what: &Observation| self.canonical_observation(what);
        let see_any = |what: &Option<Observation>| what.as_ref().map(see);
        match kind {
            PropertyKind::Terminates => json!("terminates"),
            PropertyKind::Never { what, without, since } => {
                json!({ "never": see(what), "without": see_any(without), "since": see_any(since) })
            }
            PropertyKind::Possible { what } => json!({ "possible": see(what) }),
            PropertyKind::LeadsTo { after, to } => json!({ "after": see(after), "leads_to": see(to) }),
            PropertyKind::AtMost { count, of, since } => {
                json!({ "at_most": count, "of": see(of), "since": see_any(since) })
            }
        }
    }

    fn canonical_observation(&self, observation: &Observation) -> Json {
        observation.0.iter().map(|seen| self.observed(seen)).collect()
    }

    /// Returns an observation as a machine file writes it.
    pub fn observed(&self, seen: &ObservedFact) -> String {
        match seen {
            ObservedFact::Entered(state) => self.name(*state).to_owned(),
            ObservedFact::Taken { source, event } => {
                let source = source.map_or("", |source| self.name(source));
                let done = event.text.strip_prefix("done.state.").is_some_and(|name| name == source);
                format!("{source}.{}", if done { "done" } else { &event.text })
            }
            ObservedFact::Signalled { state, event } => format!("{}.{}", self.name(*state), self.event(*event).name),
            ObservedFact::Moved { from, to } => format!("{} -> {}", self.name(*from), self.name(*to)),
            ObservedFact::Tagged(tag) => format!("#{tag}"),
            ObservedFact::Started(activity) => format!("@{activity}"),
        }
    }

    /// Returns a property as one line: `never fixed without testing.passed since changing`.
    pub fn worded(&self, kind: &PropertyKind) -> String {
        let see = |what: &Observation| what.0.iter().map(|seen| self.observed(seen)).collect::<Vec<_>>().join(" or ");
        let tail = |word: &str, what: &Option<Observation>| {
            what.as_ref().map(|what| format!(" {word} {}", see(what))).unwrap_or_default()
        };
        match kind {
            PropertyKind::Terminates => "terminates".to_owned(),
            PropertyKind::Never { what, without, since } => {
                format!("never {}{}{}", see(what), tail("without", without), tail("since", since))
            }
            PropertyKind::Possible { what } => format!("possible {}", see(what)),
            PropertyKind::LeadsTo { after, to } => format!("after {} leads to {}", see(after), see(to)),
            PropertyKind::AtMost { count, of, since } => {
                format!("at most {count} of {}{}", see(of), tail("since", since))
            }
        }
    }

    fn name(&self, id: StateId) -> &str {
        &self.state(id).name
    }

    fn names(&self, ids: &[StateId]) -> Vec<&str> {
        ids.iter().map(|id| self.name(*id)).collect()
    }
}

fn canonical_event(event: &Event) -> Json {
    let mut canonical = json!({
        "name": event.name, "from": event.from.word(), "summary": event.summary,
        "data": event.data, "declared": event.declared,
    });
    if event.irreversible {
        canonical["irreversible"] = true.into();
    }
    if event.continues {
        canonical["continues"] = true.into();
    }
    canonical
}

fn expr(expr: &Expr) -> &str {
    &expr.source
}

/// Returns a template as JSON. An expression is an object with a single key that no machine file can use at that
/// position, so it is distinct from any literal.
fn template(template: &Template) -> Json {
    let expression = |source: &Expr| json!({ "${}": source.source });
    match template {
        Template::Literal(value) => json!({ "=": Json::from(value) }),
        Template::Expr(source) => expression(source),
        Template::Text(parts) => {
            let part = |part: &Part| match part {
                Part::Text(text) => json!(text),
                Part::Expr(source) => expression(source),
            };
            json!({ "text": parts.iter().map(part).collect::<Vec<_>>() })
        }
        Template::List(items) => json!({ "list": items.iter().map(self::template).collect::<Vec<_>>() }),
        Template::Map(fields) => {
            let fields: Map<_, _> = fields.iter().map(|(name, value)| (name.clone(), self::template(value))).collect();
            json!({ "map": fields })
        }
    }
}
