//! Resolves transitions, their limits, and actions.

use super::{
    super::{
        code, draft,
        node::{Kind as NodeKind, Node, Scalar},
        template::{Piece, split},
    },
    Resolver,
};
use crate::{
    Diagnostic, Value,
    expr::{Expr, Node as ExprNode, Root},
    model::{Action, Block, CounterId, Limit, Max, StateId, Template, Transition, TransitionId, VarId},
};
use interlock_suggest::did_you_mean;
use serde_json::Value as Json;

impl Resolver<'_, '_, '_> {
    pub(super) fn transitions(&mut self) {
        let outline = self.outline;
        for (position, line) in outline.states.iter().enumerate() {
            for draft in &line.draft.transitions {
                let transition = self.transition(StateId::at(position), draft);
                self.chart.states[position].transitions.push(transition.id);
                self.chart.transitions.push(transition);
            }
        }
    }

    fn transition(&mut self, source: StateId, draft: &draft::Transition<'_>) -> Transition {
        let position = self.chart.transitions.len();
        let (targets, target_places) = self.states_named(&draft.targets);
        self.places.targets.push(target_places);
        self.places.descriptors.push(draft.events.iter().map(|word| word.span).collect());
        let counters = self.counters.by_transition.get(position).map(Vec::as_slice).unwrap_or_default();
        let limits = draft.limits.iter().zip(counters);
        Transition {
            id: TransitionId::at(position),
            source,
            events: draft.events.iter().map(|word| self.descriptor(&word.text)).collect(),
            targets,
            internal: draft.internal,
            guard: draft.guard.map(|guard| self.guard(guard)),
            limits: limits.map(|(limit, counter)| self.limit(limit, *counter)).collect(),
            resets: draft.resets.iter().filter_map(|name| self.counter_named(name)).collect(),
            actions: self.block(&draft.actions),
            reason: draft.reason.map(|node| self.words.template(node)),
            span: draft.span,
        }
    }

    /// Returns a guard. An unreadable guard still counts as a guard, so that no later check treats the transition as
    /// unguarded.
    fn guard(&mut self, text: &Scalar) -> Expr {
        let unread = || Expr { source: text.text.clone(), span: text.span, node: ExprNode::Opaque(Vec::new()) };
        self.words.whole(text).unwrap_or_else(unread)
    }

    fn limit(&mut self, draft: &draft::Limit<'_>, counter: CounterId) -> Limit {
        let max = match draft.max {
            draft::Max::Fixed(max) => Some(Max::Fixed(max)),
            draft::Max::Input(text) => self.input_max(text),
            draft::Max::Broken => None,
        };
        // An unreadable maximum still counts as a limit.
        Limit { counter, max: max.unwrap_or(Max::Fixed(1)) }
    }

    /// Returns a maximum that each run's input gives, bounded by the input's schema.
    fn input_max(&mut self, text: &Scalar) -> Option<Max> {
        let range = match split(&text.text).as_deref() {
            Ok([Piece::Expr(range)]) => range.clone(),
            _ => {
                let problem =
                    Diagnostic::error(code::UNBOUNDED_MAX, text.span, "a maximum is a number or one `${input.…}`");
                self.report(problem);
                return None;
            }
        };
        let expr = self.words.expr(text, range)?;
        let ExprNode::Path(Root::Input, path) = &expr.node else {
            let problem = Diagnostic::error(code::UNBOUNDED_MAX, expr.span, "a maximum can only be a field of `input`");
            self.report(problem.hint("write `${input.NAME}`; the input's schema then bounds it"));
            return None;
        };
        let Some(at_most) = upper_bound(&self.chart.input, path) else {
            let message = format!("`{}` has no upper bound", expr.source);
            let problem = Diagnostic::error(code::UNBOUNDED_MAX, expr.span, message);
            self.report(problem.hint(format!("give `{}` a `maximum` in the schema of `input`", path.join("."))));
            return None;
        };
        Some(Max::Input { expr, at_most })
    }

    fn counter_named(&mut self, name: &Scalar) -> Option<CounterId> {
        let found = self.counters.find(&name.text);
        if found.is_none() {
            let problem =
                Diagnostic::error(code::UNKNOWN_COUNTER, name.span, format!("no limit counts with `{}`", name.text));
            let hint = did_you_mean(&name.text, self.counters.given())
                .unwrap_or_else(|| "give a limit this counter: `limit: {counter: NAME, max: 3}`".to_owned());
            self.report(problem.hint(hint));
        }
        found
    }

    /// Resolves a block of actions in order.
    pub(super) fn block(&mut self, actions: &[draft::Action<'_>]) -> Block {
        actions.iter().filter_map(|action| self.action(action)).collect()
    }

    fn action(&mut self, action: &draft::Action<'_>) -> Option<Action> {
        Some(match action {
            draft::Action::Assign(var, value) => {
                let value = self.words.template(value);
                Action::Assign { var: self.variable(var)?, value }
            }
            draft::Action::Raise(event, data) => Action::Raise { event: event.text.clone(), data: self.data(*data) },
            draft::Action::Send { event, data, delay, id } => Action::Send {
                event: self.words.template(event),
                data: self.data(*data),
                delay: delay.map(|node| self.words.template(node)),
                id: id.clone(),
            },
            draft::Action::Cancel(id) => Action::Cancel { id: self.words.template(id) },
            draft::Action::Log(text) => Action::Log { text: self.words.template(text) },
            draft::Action::If(branches) => {
                let branch = |(guard, block): &(Option<&Scalar>, Vec<draft::Action<'_>>)| {
                    let block = self.block(block);
                    match guard {
                        Some(guard) => self.words.whole(guard).map(|guard| (Some(guard), block)),
                        None => Some((None, block)),
                    }
                };
                Action::If { branches: branches.iter().filter_map(branch).collect() }
            }
        })
    }

    fn data(&mut self, node: Option<&Node>) -> Template {
        match node {
            Some(node) if !matches!(node.kind, NodeKind::Broken) => self.words.template(node),
            _ => Template::Literal(Value::empty()),
        }
    }

    fn variable(&mut self, name: &Scalar) -> Option<VarId> {
        let found = self.variables.get(name.text.as_str()).copied();
        if found.is_none() {
            let message = format!("there is no context variable `{}`", name.text);
            let problem = Diagnostic::error(code::UNKNOWN_VARIABLE, name.span, message);
            let hint = did_you_mean(&name.text, self.variables.keys().copied())
                .unwrap_or_else(|| format!("declare it: `context: {{ {}: null }}`", name.text));
            self.report(problem.hint(hint));
        }
        found
    }
}

/// Returns the largest value that a schema allows at a path.
fn upper_bound(schema: &Json, path: &[String]) -> Option<u32> {
    let field = path.iter().try_fold(schema, |schema, name| schema.get("properties")?.get(name))?;
    let inclusive = field.get("maximum").and_then(Json::as_f64).map(f64::floor);
    let exclusive = field.get("exclusiveMaximum").and_then(Json::as_f64).map(|max| max.ceil() - 1.0);
    let bound = inclusive.into_iter().chain(exclusive).reduce(f64::min)?;
    let fits = (1.0..=f64::from(u32::MAX)).contains(&bound);
    fits.then_some(bound as u32)
}
