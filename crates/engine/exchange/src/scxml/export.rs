//! Writes a chart as an SCXML document.
//!
//! Everything that SCXML can express is written in SCXML, with expressions in CEL. The rest is in our namespace. If the
//! SCXML part alone would not restore the same chart, the exact value is written beside it (`il:value`, `il:data`).

use serde::Serialize;
use serde_json::Value as Json;

use super::{
    OURS, SCXML,
    write::{Attributes, Xml},
};
use crate::{Exported, expression, heard};
use interlock_chart::{
    Chart, counted,
    expr::Expr,
    file::MachineFile,
    model::{Action, Block, Dialect, Initial, Kind, Part, State, Template, Transition},
    unresolve,
};

/// Writes a chart as SCXML.
pub(crate) fn export(chart: &Chart) -> Exported {
    let mut xml = Xml::document();
    let root = chart.state(Chart::ROOT);
    let simple_initial = root.initial.as_ref().filter(|initial| initial.actions.is_empty());
    let attributes = Attributes::default()
        .with("xmlns", SCXML)
        .with("xmlns:il", OURS)
        .with("version", "1.0")
        .with("name", &chart.id)
        .with("datamodel", "cel")
        .maybe("initial", simple_initial.map(|initial| names(chart, &initial.targets)))
        .with("il:version", chart.version.to_string())
        .maybe("il:type", (root.kind == Kind::Parallel).then_some("parallel"))
        .maybe("il:semantics", unresolve::semantics(chart).map(|_| "scxml"))
        .maybe("il:timeout", unresolve::default_timeout(chart))
        .maybe("il:summary", some(&chart.summary));
    xml.element("scxml", attributes, |xml| Writer { chart, xml }.machine());
    Exported { text: xml.finish(), warnings: warnings(chart) }
}

struct Writer<'a> {
    chart: &'a Chart,
    xml: &'a mut Xml,
}

impl Writer<'_> {
    fn machine(&mut self) {
        let chart = self.chart;
        if let Some(input) = unresolve::schema(&chart.input) {
            self.json("il:input", Attributes::default(), &input);
        }
        for (name, event) in unresolve::events(chart) {
            self.json("il:event", Attributes::default().with("name", name), &event);
        }
        self.context();
        let root = chart.state(Chart::ROOT);
        self.blocks("il:onentry", &root.entry);
        self.blocks("il:onexit", &root.exit);
        self.initial("il:initial", root);
        for &id in &root.transitions {
            self.transition("il:transition", chart.transition(id));
        }
        for &child in &root.children {
            self.state(chart.state(child));
        }
        for property in unresolve::properties(chart) {
            self.json("il:property", Attributes::default(), &property);
        }
    }

    fn context(&mut self) {
        let chart = self.chart;
        if chart.context.is_empty() {
            return;
        }
        self.xml.element("datamodel", Attributes::default(), |xml| {
            for variable in &chart.context {
                xml.empty("data", valued(Attributes::default().with("id", &variable.name), &variable.initial));
            }
        });
    }

    fn state(&mut self, state: &State) {
        let chart = self.chart;
        let simple_initial = state.initial.as_ref().filter(|initial| initial.actions.is_empty());
        let begins = simple_initial.filter(|_| state.kind == Kind::Compound);
        let attributes = Attributes::default()
            .with("id", &state.name)
            .maybe("initial", begins.map(|initial| names(chart, &initial.targets)))
            .maybe("type", (state.kind == Kind::DeepHistory).then_some("deep"))
            .maybe("il:outcome", state.outcome.map(|outcome| outcome.word()))
            .maybe("il:timeout", unresolve::timeout(chart, state))
            .maybe("il:tags", some(&state.tags.join(" ")))
            .maybe("il:shows", (!state.shows.is_empty()).then(|| json(&unresolve::shows(state))))
            .maybe("il:grants", unresolve::grants(state).map(|grants| json(&grants)))
            .maybe("il:summary", some(&state.summary));
        self.xml.element(tag(state.kind), attributes, |xml| Writer { chart, xml }.inside(state));
    }

    fn inside(&mut self, state: &State) {
        let chart = self.chart;
        self.initial("initial", state);
        self.blocks("onentry", &state.entry);
        self.blocks("onexit", &state.exit);
        for &id in &state.invokes {
            self.json("il:invoke", Attributes::default(), &unresolve::invoke(chart, chart.invoke(id)));
        }
        for &id in &state.transitions {
            self.transition("transition", chart.transition(id));
        }
        if let Some(data) = &state.data {
            let attributes = Attributes::default().maybe("il:data", exact_data(data));
            self.xml.element("donedata", attributes, |xml| payload(xml, data));
        }
        for &child in &state.children {
            self.state(chart.state(child));
        }
    }

    /// Writes an initial transition with actions, or a history's default transition.
    fn initial(&mut self, tag: &str, state: &State) {
        let chart = self.chart;
        let Some(initial) = &state.initial else { return };
        let default = |xml: &mut Xml, initial: &Initial| {
            let attributes = Attributes::default().with("target", names(chart, &initial.targets));
            xml.element("transition", attributes, |xml| Writer { chart, xml }.actions(&initial.actions));
        };
        if state.kind.is_history() {
            default(self.xml, initial);
        } else if !initial.actions.is_empty() {
            self.xml.element(tag, Attributes::default(), |xml| default(xml, initial));
        }
    }

    fn transition(&mut self, tag: &str, transition: &Transition) {
        let chart = self.chart;
        let file = unresolve::transition(chart, transition);
        let events: Vec<_> = transition.events.iter().map(|event| event.text.as_str()).collect();
        let (events, heard) = (events.join(" "), heard::names(chart, transition).join(" "));
        let attributes = Attributes::default()
            .maybe("event", some(&heard))
            .maybe("il:event", some(&events).filter(|_| events != heard))
            .maybe("cond", file.guard)
            .maybe("target", some(&names(chart, &transition.targets)))
            .maybe("type", transition.internal.then_some("internal"))
            .maybe("il:limit", file.limit.as_ref().map(json))
            .maybe("il:reset", file.reset.as_ref().map(json))
            .maybe("il:reason", file.reason);
        self.xml.element(tag, attributes, |xml| Writer { chart, xml }.actions(&transition.actions));
    }

    fn blocks(&mut self, tag: &str, blocks: &[Block]) {
        let chart = self.chart;
        for block in blocks {
            self.xml.element(tag, Attributes::default(), |xml| Writer { chart, xml }.actions(block));
        }
    }

    fn actions(&mut self, actions: &Block) {
        for action in actions {
            self.action(action);
        }
    }

    fn action(&mut self, action: &Action) {
        let start = Attributes::default;
        match action {
            Action::Assign { var, value } => {
                let location = &self.chart.context[var.index()].name;
                self.xml.empty("assign", valued(start().with("location", location), value));
            }
            Action::Raise { event, data } => {
                let data = (!unresolve::is_empty(data)).then(|| unresolve::template(data).to_string());
                self.xml.empty("raise", start().with("event", event).maybe("il:data", data));
            }
            Action::Send { event, data, delay, id } => self.send(event, data, delay.as_ref(), id.as_deref()),
            Action::Cancel { id } => self.xml.empty("cancel", worded(start(), "sendid", "il:value", id)),
            Action::Log { text } => self.xml.empty("log", valued(start(), text)),
            Action::If { branches } => self.conditional(branches),
        }
    }

    fn send(&mut self, event: &Template, data: &Template, delay: Option<&Template>, id: Option<&str>) {
        let mut attributes = worded(Attributes::default(), "event", "il:event", event);
        if let Some(delay) = delay {
            attributes = worded(attributes, "delay", "il:delay", delay);
        }
        let data = Some(data).filter(|data| !unresolve::is_empty(data));
        let attributes = attributes.maybe("id", id).maybe("il:data", data.and_then(exact_data));
        self.xml.element("send", attributes, |xml| {
            if let Some(data) = data {
                payload(xml, data);
            }
        });
    }

    fn conditional(&mut self, branches: &[(Option<Expr>, Block)]) {
        let chart = self.chart;
        let Some(((Some(cond), first), rest)) = branches.split_first() else { return };
        self.xml.element("if", Attributes::default().with("cond", &cond.source), |xml| {
            let mut writer = Writer { chart, xml };
            writer.actions(first);
            for (cond, block) in rest {
                match cond {
                    Some(cond) => writer.xml.empty("elseif", Attributes::default().with("cond", &cond.source)),
                    None => writer.xml.empty("else", Attributes::default()),
                }
                writer.actions(block);
            }
        });
    }

    fn json(&mut self, tag: &str, attributes: Attributes, value: &impl Serialize) {
        self.xml.text(tag, attributes, &json(value));
    }
}

/// Writes a value as CEL in `expr`. If reading that back would give another value, the exact value is added in
/// `il:value`.
fn valued(attributes: Attributes, value: &Template) -> Attributes {
    let expr = cel(value);
    let exact = unresolve::template(value);
    let enough = expression::template(&expr) == exact;
    attributes.with("expr", expr).maybe("il:value", (!enough).then(|| exact.to_string()))
}

/// Writes a text in an attribute, or an expression in the attribute with the suffix `expr`. If that does not restore
/// the text, the exact value is written to `own`.
fn worded(attributes: Attributes, name: &str, own: &str, value: &Template) -> Attributes {
    match value {
        Template::Literal(literal) => attributes.with(name, literal.to_string()),
        Template::Expr(expr) => attributes.with(&format!("{name}expr"), &expr.source),
        other => {
            let exact = Json::String(unresolve::template_text(other)).to_string();
            attributes.with(&format!("{name}expr"), cel(other)).with(own, exact)
        }
    }
}

/// Writes an event's data for tools that know only SCXML.
fn payload(xml: &mut Xml, data: &Template) {
    let param = |xml: &mut Xml, name: &str, expr: String| {
        xml.empty("param", Attributes::default().with("name", name).with("expr", expr));
    };
    match data {
        Template::Map(fields) => fields.iter().for_each(|(name, value)| param(xml, name, cel(value))),
        Template::Literal(interlock_chart::Value::Map(fields)) => {
            fields.iter().for_each(|(name, value)| param(xml, name, Json::from(value).to_string()));
        }
        other => xml.empty("content", Attributes::default().with("expr", cel(other))),
    }
}

/// Returns an event's exact data, or `None` if it is an expression that `<content>` restores.
fn exact_data(data: &Template) -> Option<String> {
    let exact = unresolve::template(data);
    let enough = matches!(data, Template::Expr(expr) if expression::template(&expr.source) == exact);
    (!enough).then(|| exact.to_string())
}

/// Returns a template as one CEL expression.
fn cel(template: &Template) -> String {
    let joined = |parts: Vec<String>, between: &str| parts.join(between);
    match template {
        Template::Literal(value) => Json::from(value).to_string(),
        Template::Expr(expr) => expr.source.clone(),
        Template::Text(parts) => joined(parts.iter().map(cel_part).collect(), " + "),
        Template::List(items) => format!("[{}]", joined(items.iter().map(cel).collect(), ", ")),
        Template::Map(fields) => {
            let field = |(name, value): &(String, Template)| format!("{}: {}", json(name), cel(value));
            format!("{{{}}}", joined(fields.iter().map(field).collect(), ", "))
        }
    }
}

fn cel_part(part: &Part) -> String {
    match part {
        Part::Text(text) => json(text),
        Part::Expr(expr) => format!("string({})", expr.source),
    }
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn names(chart: &Chart, states: &[interlock_chart::model::StateId]) -> String {
    unresolve::names(chart, states).join(" ")
}

fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn tag(kind: Kind) -> &'static str {
    match kind {
        Kind::Atomic | Kind::Compound => "state",
        Kind::Parallel => "parallel",
        Kind::Final => "final",
        Kind::ShallowHistory | Kind::DeepHistory => "history",
    }
}

/// Returns warnings about the parts that a tool without our namespace will not see.
fn warnings(chart: &Chart) -> Vec<String> {
    let MachineFile { timeout, .. } = unresolve::machine_file(chart);
    let root = chart.state(Chart::ROOT);
    let limits = chart.transitions.iter().filter(|transition| !transition.limits.is_empty()).count();
    let timeouts = chart.states.iter().filter(|state| state.timeout_ms.is_some()).count();
    let mut warnings = Vec::new();
    let mut warn = |there: bool, text: String| warnings.extend(there.then_some(text));
    warn(
        limits > 0,
        counted(
            limits,
            "transition has a limit (`il:limit`); elsewhere it can be taken for ever",
            "transitions have a limit (`il:limit`); elsewhere they can be taken for ever",
        ),
    );
    warn(
        !chart.invokes.is_empty(),
        counted(
            chart.invokes.len(),
            "activity (`il:invoke`) is not started elsewhere",
            "activities (`il:invoke`) are not started elsewhere",
        ),
    );
    warn(
        !root.transitions.is_empty(),
        counted(
            root.transitions.len(),
            "transition from any state (`il:transition`) is not taken elsewhere",
            "transitions from any state (`il:transition`) are not taken elsewhere",
        ),
    );
    warn(
        timeouts > 0 || timeout.is_some(),
        format!(
            "{} (`il:timeout`), which only we know",
            counted(timeouts, "state has a timeout", "states have a timeout")
        ),
    );
    warn(
        root.kind == Kind::Parallel,
        "the top-level states are regions (`il:type`), which SCXML has no word for".into(),
    );
    warn(
        !root.entry.is_empty() || !root.exit.is_empty(),
        "what the machine does when it starts and ends (`il:onentry`, `il:onexit`) is not done elsewhere".into(),
    );
    warn(has_expressions(chart), "expressions are CEL; most tools expect ECMAScript".into());
    warn(
        chart.dialect == Dialect::Native && has_expressions(chart),
        "elsewhere a guard that cannot be evaluated is false; here it stops the step".into(),
    );
    warnings
}

fn has_expressions(chart: &Chart) -> bool {
    !chart.context.is_empty() || chart.transitions.iter().any(|transition| transition.guard.is_some())
}
