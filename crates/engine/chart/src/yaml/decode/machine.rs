//! Decodes the top level of the file.

use super::super::{
    code, draft,
    fields::{Decoder, Fields},
    name,
    node::{Entry, Kind, Node},
};
use crate::{
    Diagnostic, Span,
    model::{Dialect, Raiser},
};

const KEYS: &[&str] = &[
    "machine",
    "version",
    "summary",
    "semantics",
    "input",
    "context",
    "events",
    "initial",
    "type",
    "on",
    "always",
    "entry",
    "exit",
    "timeout",
    "states",
    "properties",
];

/// The sources that may raise an event, by word.
const RAISERS: &[(&str, Raiser)] = &[
    ("user", Raiser::User),
    ("activity", Raiser::Activity),
    ("timer", Raiser::Timer),
    ("run", Raiser::Run),
    ("machine", Raiser::Machine),
    ("any", Raiser::Any),
];

/// The rules for expressions that cannot be evaluated, by word.
const DIALECTS: &[(&str, Dialect)] = &[("scxml", Dialect::Scxml)];

/// Decodes the whole file. Returns `None` only if it is not a map.
pub(crate) fn machine<'n>(decoder: &mut Decoder<'_>, node: &'n Node) -> Option<draft::Machine<'n>> {
    let fields = decoder.fields(node, "a machine", KEYS)?;
    // A missing top-level key is reported at the first key, because it has no position.
    let top = fields.entries.first().map_or(node.span, |entry| entry.key.span);
    let (id, id_span) = id(decoder, &fields, top);
    let version = version(decoder, &fields, top);
    let dialect = fields.get("semantics").and_then(|node| decoder.word(node, "the semantics of a machine", DIALECTS));
    let mut root = decoder.state_body(id, id_span, fields, draft::State::MACHINE_TYPES);
    root.timeout = draft::Timeout::Never;
    if !matches!(fields.get("states").map(|states| &states.kind), Some(Kind::Map(_) | Kind::Broken)) {
        states_missing(decoder, &fields, top);
    } else if root.initial.is_none() && root.ty != Some(draft::Type::Parallel) && fields.get("initial").is_none() {
        let problem = Diagnostic::error(code::MISSING_KEY, top, "a machine needs `initial`");
        decoder.report(
            problem.hint("name the state in which a run begins, or write `type: parallel` if it begins in all of them"),
        );
    }
    Some(draft::Machine {
        version,
        dialect: dialect.unwrap_or_default(),
        input: fields.get("input"),
        context: context(decoder, &fields),
        events: events(decoder, &fields),
        timeout_ms: fields.get("timeout").map(|node| decoder.duration(node).unwrap_or(1)),
        properties: decoder.properties(&fields),
        root,
    })
}

fn id(decoder: &mut Decoder<'_>, fields: &Fields<'_>, top: Span) -> (String, Span) {
    let Some(node) = fields.get("machine") else {
        decoder.missing(top, "a machine file", "machine");
        return (String::new(), top);
    };
    match decoder.scalar(node, "the machine's id as text") {
        Some(id) => {
            decoder.name(id, "a machine", name::is_machine, "ids are made of letters, digits, `-` and `_`");
            (id.text.clone(), id.span)
        }
        None => (String::new(), node.span),
    }
}

fn version(decoder: &mut Decoder<'_>, fields: &Fields<'_>, top: Span) -> u32 {
    match fields.get("version") {
        Some(node) => decoder.number(node, 0).unwrap_or(0),
        None => {
            decoder.missing(top, "a machine file", "version");
            0
        }
    }
}

fn states_missing(decoder: &mut Decoder<'_>, fields: &Fields<'_>, top: Span) {
    // A `states` of the wrong kind was reported while the root was decoded.
    if fields.get("states").is_none() {
        decoder.missing(top, "a machine", "states");
    }
}

fn context<'n>(decoder: &mut Decoder<'_>, fields: &Fields<'n>) -> &'n [Entry] {
    let entries = fields.get("context").and_then(|node| decoder.map(node, "a map of variables")).unwrap_or(&[]);
    for entry in entries {
        let made_of = "variables are made of letters, digits and `_`, so that an expression can name them";
        decoder.name(&entry.key, "a variable", name::is_identifier, made_of);
    }
    entries
}

fn events<'n>(decoder: &mut Decoder<'_>, fields: &Fields<'n>) -> Vec<draft::Event<'n>> {
    let entries = fields.get("events").and_then(|node| decoder.map(node, "a map of events")).unwrap_or(&[]);
    entries.iter().map(|entry| event(decoder, entry)).collect()
}

fn event<'n>(decoder: &mut Decoder<'_>, entry: &'n Entry) -> draft::Event<'n> {
    decoder.event_name(&entry.key);
    let mut event = draft::Event {
        name: &entry.key,
        from: Raiser::Any,
        summary: String::new(),
        data: None,
        irreversible: false,
        continues: false,
    };
    if entry.value.is_null() {
        return event;
    }
    if let Some(fields) =
        decoder.fields(&entry.value, "an event", &["from", "summary", "data", "irreversible", "continues"])
    {
        let from = fields.get("from").and_then(|node| decoder.word(node, "who may raise an event", RAISERS));
        event.from = from.unwrap_or(Raiser::Any);
        event.summary = decoder.text(&fields, "summary").unwrap_or_default();
        event.data = fields.get("data");
        event.irreversible = fields.get("irreversible").and_then(|node| decoder.flag(node)).unwrap_or(false);
        event.continues = fields.get("continues").and_then(|node| decoder.flag(node)).unwrap_or(false);
    }
    event
}
