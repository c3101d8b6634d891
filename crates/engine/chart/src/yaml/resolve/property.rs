//! Resolves properties: their forms and their observations.

use super::{
    super::{code, draft, name, node::Scalar},
    Resolver,
};
use crate::{
    Diagnostic,
    model::{Chart, Descriptor, Kind, Observation, ObservedFact, Property, PropertyKind, StateId},
};
use interlock_suggest::did_you_mean;

/// The forms, for the hint about a property that has none of them.
const FORMS: &str = "a property is one of `terminates: true`, `never: A` (with `without: B`, `since: C`), `possible: A`, \
                     `after: A` with `leads_to: B`, `at_most: N` with `of: A`";

impl Resolver<'_, '_, '_> {
    pub(super) fn properties(&mut self) {
        let machine = self.machine;
        for draft in &machine.properties {
            if let Some(kind) = self.property_kind(draft) {
                let (name, because) = (self.chart.worded(&kind), draft.because.clone());
                self.chart.properties.push(Property { name, kind, because, span: draft.span });
            }
        }
    }

    fn property_kind(&mut self, draft: &draft::Property<'_>) -> Option<PropertyKind> {
        let form = self.form(draft)?;
        let mut look = |names: &Option<Vec<&Scalar>>| names.as_ref().map(|names| self.observation(names));
        Some(match form {
            Form::Terminates => PropertyKind::Terminates,
            Form::Never => PropertyKind::Never {
                what: look(&draft.never)?,
                without: look(&draft.without),
                since: look(&draft.since),
            },
            Form::Possible => PropertyKind::Possible { what: look(&draft.possible)? },
            Form::LeadsTo => PropertyKind::LeadsTo { after: look(&draft.after)?, to: look(&draft.leads_to)? },
            Form::AtMost => {
                let (of, since) = (look(&draft.of)?, look(&draft.since));
                PropertyKind::AtMost { count: draft.at_most?, of, since }
            }
        })
    }

    /// Returns the form that the keys make up, and reports a property without a form.
    fn form(&mut self, draft: &draft::Property<'_>) -> Option<Form> {
        let has = |names: &Option<Vec<&Scalar>>| names.is_some();
        let heads = [
            (draft.terminates.is_some(), Form::Terminates, "terminates"),
            (has(&draft.never), Form::Never, "never"),
            (has(&draft.possible), Form::Possible, "possible"),
            (has(&draft.after) || has(&draft.leads_to), Form::LeadsTo, "after"),
            (draft.at_most.is_some() || has(&draft.of), Form::AtMost, "at_most"),
        ];
        let found: Vec<_> = heads.into_iter().filter(|(present, ..)| *present).collect();
        let wrong = match found[..] {
            [] => Some("this property states no condition".to_owned()),
            [(_, form, head)] => incomplete(draft, form, head),
            [(.., first), (.., second), ..] => Some(format!("`{first}` and `{second}` are separate properties")),
        };
        match wrong {
            None => found.first().map(|(_, form, _)| *form),
            Some(message) => {
                self.report(Diagnostic::error(code::BAD_PROPERTY, draft.span, message).hint(FORMS));
                None
            }
        }
    }

    fn observation(&mut self, names: &[&Scalar]) -> Observation {
        Observation(names.iter().filter_map(|text| self.seen(text)).collect())
    }

    fn seen(&mut self, text: &Scalar) -> Option<ObservedFact> {
        let written = text.text.trim();
        if let Some((from, to)) = written.split_once("->") {
            return Some(ObservedFact::Moved {
                from: self.seen_state(text, from.trim())?,
                to: self.seen_state(text, to.trim())?,
            });
        }
        if let Some(tag) = written.strip_prefix('#') {
            return self.seen_tag(text, tag);
        }
        if let Some(activity) = written.strip_prefix('@') {
            return self.seen_activity(text, activity);
        }
        if let Some(event) = written.strip_prefix('.') {
            return self.seen_event(text, None, event);
        }
        if let Some(state) = self.outline.find(written) {
            return Some(ObservedFact::Entered(state));
        }
        // State names may contain dots, so the longest prefix that is a state is used.
        let dots = written.match_indices('.').map(|(at, _)| at).collect::<Vec<_>>();
        for at in dots.into_iter().rev() {
            if let Some(state) = self.outline.find(&written[..at]) {
                return self.seen_event(text, Some(state), &written[at + 1..]);
            }
        }
        let state = written.split('.').next().unwrap_or(written);
        self.seen_state(text, state).map(ObservedFact::Entered)
    }

    fn seen_state(&mut self, text: &Scalar, name: &str) -> Option<StateId> {
        let found = self.outline.find(name);
        if found.is_none() {
            let (code, message) = match name::is_state(name) {
                true => (code::UNSEEN_STATE, format!("there is no state `{name}`")),
                false => {
                    (code::BAD_OBSERVATION, format!("`{name}` is not a state, event, transition, tag or activity"))
                }
            };
            let hint = did_you_mean(name, self.outline.names.iter().skip(1).map(String::as_str)).unwrap_or_else(|| {
                "write `STATE`, `STATE.event`, `.event`, `A -> B`, `#tag` or `@activity`".to_owned()
            });
            self.report(Diagnostic::error(code, text.span, message).hint(hint));
        }
        found
    }

    fn seen_tag(&mut self, text: &Scalar, tag: &str) -> Option<ObservedFact> {
        let tags = || self.chart.states.iter().flat_map(|state| &state.tags).map(String::as_str);
        if tags().any(|known| known == tag) {
            return Some(ObservedFact::Tagged(tag.to_owned()));
        }
        let hint = did_you_mean(tag, tags()).map(|hint| hint.replace('`', "`#").replacen("`#?", "`?", 1));
        let problem = Diagnostic::error(code::UNSEEN_TAG, text.span, format!("no state has the tag `{tag}`"));
        self.report(problem.maybe_hint(hint));
        None
    }

    fn seen_activity(&mut self, text: &Scalar, activity: &str) -> Option<ObservedFact> {
        let activities = || self.chart.invokes.iter().map(|invoke| invoke.activity.as_str());
        if activities().any(|known| known == activity) {
            return Some(ObservedFact::Started(activity.to_owned()));
        }
        let hint = did_you_mean(activity, activities());
        let problem = Diagnostic::error(code::UNSEEN_ACTIVITY, text.span, format!("no state starts `{activity}`"));
        self.report(problem.maybe_hint(hint));
        None
    }

    fn seen_event(&mut self, text: &Scalar, source: Option<StateId>, event: &str) -> Option<ObservedFact> {
        if !name::is_descriptor(event) {
            let message = format!("`{event}` cannot be an event");
            self.report(Diagnostic::error(code::BAD_OBSERVATION, text.span, message));
            return None;
        }
        let is_done = |id: StateId| event == "done" && self.is_nested(id);
        if let Some(state) = source.filter(|id| !is_done(*id))
            && let Some(event) = self.signal(state, event)
        {
            return Some(ObservedFact::Signalled { state, event });
        }
        let event = self.meant(source, event);
        if is_taken(&self.chart, source, &event) {
            return Some(ObservedFact::Taken { source, event });
        }
        let place = source.map_or("no transition".to_owned(), |id| {
            format!("no transition of `{}` or of a state inside it", self.outline.names[id.index()])
        });
        let message = format!("{place} takes `{}`", event.text);
        let elsewhere = source.is_some() && is_taken(&self.chart, None, &event);
        let hint = match elsewhere {
            true => Some(format!("`.{}` means the event from any state", event.text)),
            false => did_you_mean(&event.text, self.chart.events.iter().map(|event| event.name.as_str())),
        };
        self.report(Diagnostic::error(code::UNSEEN_EVENT, text.span, message).maybe_hint(hint));
        None
    }

    /// Returns the descriptor of an observed event. `STATE.done` means that the state's children are done, as in its
    /// own `on`.
    fn meant(&self, source: Option<StateId>, event: &str) -> Descriptor {
        match source {
            Some(id) if event == "done" && self.is_nested(id) => {
                Descriptor::plain(format!("done.state.{}", self.outline.names[id.index()]))
            }
            _ => Descriptor::plain(event),
        }
    }

    fn is_nested(&self, id: StateId) -> bool {
        matches!(self.outline.states[id.index()].kind, Kind::Compound | Kind::Parallel)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Terminates,
    Never,
    Possible,
    LeadsTo,
    AtMost,
}

/// Returns the problem of a form with missing or superfluous keys.
fn incomplete(draft: &draft::Property<'_>, form: Form, head: &str) -> Option<String> {
    let both = |first: bool, second: bool, names: &str| (first != second).then(|| format!("{names} belong together"));
    let lacking = match form {
        Form::Terminates if draft.terminates == Some(false) => Some("`terminates` can only be `true`".to_owned()),
        Form::LeadsTo => both(draft.after.is_some(), draft.leads_to.is_some(), "`after` and `leads_to`"),
        Form::AtMost => both(draft.at_most.is_some(), draft.of.is_some(), "`at_most` and `of`"),
        Form::Never if draft.since.is_some() && draft.without.is_none() => {
            Some("`since` resets `without`, so it needs `without`".to_owned())
        }
        _ => None,
    };
    let misplaced = |present: bool, key: &str, allowed: &[Form]| {
        (present && !allowed.contains(&form)).then(|| format!("`{key}` does not go with `{head}`"))
    };
    lacking
        .or_else(|| misplaced(draft.without.is_some(), "without", &[Form::Never]))
        .or_else(|| misplaced(draft.since.is_some(), "since", &[Form::Never, Form::AtMost]))
}

/// Returns true if a transition at or below `source` can be taken on an event that `event` matches.
fn is_taken(chart: &Chart, source: Option<StateId>, event: &Descriptor) -> bool {
    let inside = |id: StateId| source.is_none_or(|source| id == source || chart.is_descendant(id, source));
    let meets = |other: &Descriptor| {
        let name = chart.plain_name(other);
        other.matches(event.prefix()) || event.matches(name) || event.prefix().is_empty()
    };
    chart.transitions.iter().any(|transition| inside(transition.source) && transition.events.iter().any(meets))
}
