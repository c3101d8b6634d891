//! Builds a machine file from a diagram.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::{
    label::{self, Label},
    parse::{self, Arrow, Diagram, Kind},
};
use crate::{
    Imported,
    names::{self, Names},
    problem::{OUT_OF_PLACE, Problems},
};
use interlock_chart::{
    Diagnostic,
    file::{EventFile, InitialFile, KindFile, MachineFile, Ordered, RaiserFile, StateFile, TransitionBody},
    unresolve::{self, layout},
};

/// The maximum length of the cycles of unlabelled arrows that are searched for.
const CIRCLE_MAX: usize = 64;

/// Reads a Mermaid state diagram. `name` is the machine's name.
pub(crate) fn import(text: &str, name: &str) -> Result<Imported, Vec<Diagnostic>> {
    let mut problems = Problems::default();
    let diagram = parse::parse(text, &mut problems)?;
    let mut builder = Builder { problems, ..Builder::of(&diagram) };
    builder.survey();
    if builder.is_sound() {
        let file = builder.machine(name);
        return builder.problems.finish(file, builder.names.into_renamed());
    }
    builder.problems.finish(MachineFile::default(), BTreeMap::new())
}

struct Builder<'a> {
    diagram: &'a Diagram,
    problems: Problems,
    names: Names,
    /// The states' names in the machine file, by id.
    called: BTreeMap<&'a str, String>,
    /// The states of each region of each scope.
    regions: BTreeMap<(usize, usize), Vec<&'a str>>,
    /// The arrows out of each state.
    out: BTreeMap<&'a str, Vec<&'a Arrow>>,
    /// The arrows that are drawn in each region of each scope.
    drawn: BTreeMap<(usize, usize), Vec<&'a Arrow>>,
    /// The names of the final states that replace `[*]`, by the scope they end.
    ends: BTreeMap<(usize, usize), String>,
    context: Ordered<Json>,
    events: Ordered<EventFile>,
}

impl<'a> Builder<'a> {
    fn of(diagram: &'a Diagram) -> Self {
        Builder {
            diagram,
            problems: Problems::default(),
            names: Names::default(),
            called: BTreeMap::new(),
            regions: BTreeMap::new(),
            out: BTreeMap::new(),
            drawn: BTreeMap::new(),
            ends: BTreeMap::new(),
            context: Ordered::new(),
            events: Ordered::new(),
        }
    }

    /// Names every state, and groups states and arrows by their scope and region.
    fn survey(&mut self) {
        for (id, state) in &self.diagram.states {
            let name = self.names.fresh(id);
            if name != *id {
                self.problems.warn(format!("the state `{id}` is called `{name}`"));
            }
            self.names.note(&name, id);
            self.called.insert(id, name);
            let place = state.place.unwrap_or_default();
            self.regions.entry((place.scope, place.region)).or_default().push(id);
            if matches!(state.kind, Kind::Fork | Kind::Join) {
                let message = format!("`{id}` is a fork or a join; write a parallel state with `--` instead");
                self.problems.unsupported(state.span, message);
            }
        }
        for arrow in &self.diagram.arrows {
            self.drawn.entry((arrow.place.scope, arrow.place.region)).or_default().push(arrow);
            if let Some(from) = &arrow.from {
                self.out.entry(from).or_default().push(arrow);
            }
        }
    }

    /// Returns true if there is a state and no state is nested in itself.
    fn is_sound(&mut self) -> bool {
        if self.diagram.states.is_empty() {
            if !self.problems.has_errors() {
                self.problems.error(OUT_OF_PLACE, interlock_chart::Span::default(), "the diagram has no state");
            }
            return false;
        }
        for (id, state) in &self.diagram.states {
            let mut seen = BTreeSet::from([id.as_str()]);
            let mut place = state.place;
            while let Some(owner) = place.and_then(|place| self.diagram.scopes[place.scope].owner.as_deref()) {
                if !seen.insert(owner) {
                    self.problems.error(
                        OUT_OF_PLACE,
                        state.span,
                        format!("`{id}` and `{owner}` are inside each other"),
                    );
                    return false;
                }
                place = self.diagram.states.get(owner).and_then(|state| state.place);
            }
        }
        true
    }

    fn machine(&mut self, name: &str) -> MachineFile {
        let mut file = MachineFile { machine: names::machine(name), version: 1, ..MachineFile::default() };
        if self.called.values().any(|state| *state == file.machine) {
            file.machine = self.names.fresh(&format!("{}-machine", file.machine));
        }
        let mut root = StateFile::default();
        self.fill(0, &mut root);
        file.summary.clone_from(&self.diagram.title);
        file.kind = root.kind;
        file.initial = root.initial;
        file.states = root.states;
        file.context = std::mem::take(&mut self.context);
        file.events = std::mem::take(&mut self.events);
        file
    }

    /// Adds the contents of a scope to its state.
    fn fill(&mut self, scope: usize, state: &mut StateFile) {
        let regions = self.diagram.scopes[scope].separators + 1;
        if regions == 1 {
            return self.region(scope, 0, state);
        }
        state.kind = Some(KindFile::Parallel);
        let owner = self.diagram.scopes[scope].owner.clone().unwrap_or_default();
        for region in 0..regions {
            let ids = self.regions.get(&(scope, region)).cloned().unwrap_or_default();
            let bare = !self.drawn.contains_key(&(scope, region));
            if let ([id], true) = (ids.as_slice(), bare) {
                let (name, inner) = self.state(id);
                state.states.insert(name, inner);
            } else if !ids.is_empty() {
                let name = self.names.fresh(&format!("{owner}_region_{}", region + 1));
                let mut inner = StateFile::default();
                self.region(scope, region, &mut inner);
                state.states.insert(name, inner);
            }
        }
    }

    fn region(&mut self, scope: usize, region: usize, state: &mut StateFile) {
        let ids = self.regions.get(&(scope, region)).cloned().unwrap_or_default();
        self.make_end(scope, region);
        for id in &ids {
            let (name, inner) = self.state(id);
            state.states.insert(name, inner);
        }
        if let Some(end) = self.ends.get(&(scope, region)) {
            state.states.insert(end.clone(), StateFile { kind: Some(KindFile::Final), ..StateFile::default() });
        }
        state.initial = self.initial(scope, region, ids.first().copied());
    }

    fn initial(&mut self, scope: usize, region: usize, first: Option<&str>) -> Option<InitialFile> {
        let begins = self.drawn_in(scope, region).iter().filter(|arrow| arrow.from.is_none());
        let targets: Vec<_> = begins.filter_map(|arrow| Some((arrow.to.as_deref()?, arrow.label.as_deref()))).collect();
        if targets.len() > 1 {
            self.problems.warn(format!("of several `[*] -->` the first is kept, to `{}`", targets[0].0));
        }
        if let Some((_, Some(label))) = targets.first() {
            self.problems.warn(format!("the label `{label}` of an initial arrow was left out"));
        }
        let target = targets.first().map(|(target, _)| *target).or(first)?;
        layout::initial(vec![self.called.get(target)?.clone()], Vec::new())
    }

    /// Adds a final state for arrows to `[*]` if such an arrow comes from a state that is not itself final.
    fn make_end(&mut self, scope: usize, region: usize) {
        let does_more = |arrow: &&Arrow| arrow.from.as_deref().is_some_and(|from| !self.is_final(from));
        let needs = self.drawn_in(scope, region).iter().any(|arrow| arrow.to.is_none() && does_more(arrow));
        if needs {
            let owner = self.diagram.scopes[scope].owner.as_deref();
            let name = owner.map_or("end".to_owned(), |owner| format!("{owner}_end"));
            let name = self.names.fresh(&name);
            self.ends.insert((scope, region), name);
        }
    }

    /// Returns true if a state is final: it has one arrow, to `[*]`, without a label.
    fn is_final(&self, id: &str) -> bool {
        let out = self.out.get(id).map(Vec::as_slice).unwrap_or_default();
        matches!(out, [arrow] if arrow.to.is_none() && arrow.label.is_none()) && self.scope_of(id).is_none()
    }

    fn scope_of(&self, id: &str) -> Option<usize> {
        let scope = *self.diagram.owners.get(id)?;
        let filled = self.regions.range((scope, 0)..(scope + 1, 0)).next().is_some();
        filled.then_some(scope)
    }

    fn drawn_in(&self, scope: usize, region: usize) -> &[&'a Arrow] {
        self.drawn.get(&(scope, region)).map(Vec::as_slice).unwrap_or_default()
    }

    fn state(&mut self, id: &str) -> (String, StateFile) {
        let name = self.called.get(id).cloned().unwrap_or_default();
        let mut state = StateFile { summary: self.diagram.states[id].summary.clone(), ..StateFile::default() };
        if self.is_final(id) {
            state.kind = Some(KindFile::Final);
            return (name, state);
        }
        let scope = self.scope_of(id);
        if let Some(scope) = scope {
            self.fill(scope, &mut state);
        }
        let arrows = self.out.get(id).cloned().unwrap_or_default();
        let (mut on, mut always) = (Vec::new(), Vec::new());
        for arrow in &arrows {
            let Some((events, body)) = self.transition(id, arrow, arrows.len(), &state) else { continue };
            if events.is_empty() { always.push(body) } else { on.push((events, body)) }
        }
        state.on = layout::on(on);
        state.always = layout::always(always);
        (name, state)
    }

    fn transition(
        &mut self,
        id: &str,
        arrow: &Arrow,
        arrows: usize,
        state: &StateFile,
    ) -> Option<(Vec<String>, TransitionBody)> {
        let target = match &arrow.to {
            Some(to) => self.called.get(to.as_str())?.clone(),
            None => self.ends.get(&(arrow.place.scope, arrow.place.region))?.clone(),
        };
        let mut body =
            TransitionBody { target: layout::one_or_many(vec![target.clone()]), ..TransitionBody::default() };
        let Some(text) = &arrow.label else { return Some((self.unlabelled(id, arrows, state, &target), body)) };
        let label = label::read(text);
        body.reason = label.reason.as_deref().map(unresolve::escaped_text);
        if self.diagram.states[id].kind == Kind::Choice {
            let words = text.trim_matches(['[', ']']);
            body.guard = (!words.eq_ignore_ascii_case("else")).then(|| self.variable(words));
            return Some((Vec::new(), body));
        }
        let Label { event, guard, .. } = label;
        body.guard = guard.map(|guard| self.variable(&guard));
        Some((event.into_iter().map(|event| self.handled(event)).collect(), body))
    }

    /// Returns the events that trigger an arrow without a label; see the module documentation.
    fn unlabelled(&mut self, id: &str, arrows: usize, state: &StateFile, target: &str) -> Vec<String> {
        if self.diagram.states[id].kind == Kind::Choice {
            return Vec::new();
        }
        if can_end(state) {
            return vec![format!("done.state.{}", self.called.get(id).cloned().unwrap_or_default())];
        }
        if arrows == 1 && state.states.is_empty() && !self.runs_in_circles(id) {
            return Vec::new();
        }
        let event = self.handled(names::event(&format!("to_{target}")));
        self.problems.warn(format!("an arrow from `{id}` has no label; it waits for the event `{event}`"));
        vec![event]
    }

    /// Returns true if a chain of arrows that are taken at once leads back to its first state.
    fn runs_in_circles(&self, id: &str) -> bool {
        let mut at = id;
        for _ in 0..CIRCLE_MAX {
            match self.out.get(at).map(Vec::as_slice) {
                Some([Arrow { to: Some(to), label: None, .. }]) if to == id => return true,
                Some([Arrow { to: Some(to), label: None, .. }]) => at = to,
                _ => return false,
            }
        }
        // A cycle further on is reported there, and a longer one is reported when the machine is checked.
        false
    }

    fn handled(&mut self, event: String) -> String {
        if let Some(name) = names::to_declare(&event) {
            let declared = EventFile { from: Some(RaiserFile::Any), ..EventFile::default() };
            self.events.entry(name.to_owned()).or_insert(declared);
        }
        if event == "done" { "done.*".to_owned() } else { event }
    }

    fn variable(&mut self, words: &str) -> String {
        let variable = names::variable(words);
        self.context.insert(variable.clone(), Json::Bool(false));
        self.problems
            .warn(format!("the condition `{words}` is `context.{variable}`, false until something assigns it"));
        format!("context.{variable}")
    }
}

/// Returns true if a composite can be done: one of its states is final, or each of its regions can be done.
fn can_end(state: &StateFile) -> bool {
    let ends = |inner: &StateFile| inner.kind == Some(KindFile::Final);
    match state.kind {
        Some(KindFile::Parallel) => state.states.values().all(can_end),
        _ => state.states.values().any(ends),
    }
}
