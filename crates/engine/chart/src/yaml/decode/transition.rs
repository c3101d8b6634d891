//! Decodes transitions and their limits.

use super::super::{
    code,
    draft::{self, Word},
    fields::{Decoder, Fields},
    name,
    node::{Entry, Kind, Node, Scalar},
};
use crate::{Diagnostic, Span};

const KEYS: &[&str] = &["target", "guard", "limit", "reset", "assign", "raise", "actions", "reason", "internal"];
const LIST_KEYS: &[&str] =
    &["event", "target", "guard", "limit", "reset", "assign", "raise", "actions", "reason", "internal"];

impl Decoder<'_> {
    /// Decodes the transitions of `on`, then those of `always`, regardless of the order of the two keys. The two groups
    /// never compete, so a file that is written back keeps its meaning. `done` is the event that the word `done` means
    /// here.
    pub(crate) fn transitions<'n>(&mut self, fields: &Fields<'n>, done: Option<&str>) -> Vec<draft::Transition<'n>> {
        let mut found = Vec::new();
        match fields.get("on").map(|node| (node, &node.kind)) {
            None | Some((_, Kind::Broken)) => {}
            Some((_, Kind::Map(entries))) => entries.iter().for_each(|entry| self.on_entry(entry, done, &mut found)),
            Some((_, Kind::List(items))) => {
                found.extend(items.iter().filter_map(|item| self.listed_transition(item, done)));
            }
            Some((node, _)) => self.wrong_kind(node, "a map of events to transitions, or a list of transitions"),
        }
        if let Some(node) = fields.get("always") {
            let items = self.one_or_many(node);
            found.extend(items.into_iter().filter_map(|item| self.transition(item, Vec::new(), node.span)));
        }
        found
    }

    fn on_entry<'n>(&mut self, entry: &'n Entry, done: Option<&str>, found: &mut Vec<draft::Transition<'n>>) {
        let events = self.descriptors(&entry.key, done);
        for item in self.one_or_many(&entry.value) {
            found.extend(self.transition(item, events.clone(), entry.key.span));
        }
        if matches!(&entry.value.kind, Kind::List(items) if items.is_empty()) {
            self.wrong_kind(&entry.value, "a transition");
        }
    }

    fn listed_transition<'n>(&mut self, item: &'n Node, done: Option<&str>) -> Option<draft::Transition<'n>> {
        let fields = self.fields(item, "a transition", LIST_KEYS)?;
        let Some(event) = fields.get("event") else {
            self.missing(item.span, "a transition in the list form of `on`", "event");
            return None;
        };
        let events = self.scalar(event, "events as text").map(|text| self.descriptors(text, done))?;
        Some(self.body(&fields, events, event.span))
    }

    /// Decodes event descriptors separated by spaces.
    fn descriptors(&mut self, key: &Scalar, done: Option<&str>) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        for text in key.text.split_whitespace() {
            let start = text.as_ptr() as usize - key.text.as_ptr() as usize;
            let span = key.part(start, start + text.len());
            if !name::is_descriptor(text) {
                let problem = Diagnostic::error(code::BAD_NAME, span, format!("`{text}` is not a valid event name"));
                self.report(
                    problem.hint(
                        "events are tokens joined by dots; `a.*` takes `a` and all below it, `*` takes everything",
                    ),
                );
                continue;
            }
            let text = done.filter(|_| text == "done").unwrap_or(text).to_owned();
            if !words.iter().any(|word| word.text == text) {
                words.push(Word { text, span });
            }
        }
        if key.text.trim().is_empty() {
            self.report(Diagnostic::error(code::BAD_NAME, key.span, "an event needs a name"));
        }
        words
    }

    fn transition<'n>(&mut self, node: &'n Node, events: Vec<Word>, place: Span) -> Option<draft::Transition<'n>> {
        if let Kind::Scalar(_) = node.kind {
            let target = self.scalar(node, "a transition: the name of its target as text, or a map")?;
            let empty = Fields { entries: &[], span: node.span };
            return Some(draft::Transition { targets: vec![target], ..self.body(&empty, events, node.span) });
        }
        let fields = self.fields(node, "a transition", KEYS)?;
        let place = if fields.entries.is_empty() { place } else { node.span };
        Some(self.body(&fields, events, place))
    }

    fn body<'n>(&mut self, fields: &Fields<'n>, events: Vec<Word>, span: Span) -> draft::Transition<'n> {
        let texts =
            |decoder: &mut Self, key, what| fields.get(key).map(|node| decoder.texts(node, what)).unwrap_or_default();
        draft::Transition {
            span,
            events,
            targets: texts(self, "target", "a state's name as text"),
            guard: fields.get("guard").and_then(|node| self.expression(node)),
            limits: self.limits(fields),
            resets: texts(self, "reset", "a counter's name as text"),
            actions: self.transition_actions(fields),
            reason: fields.get("reason").filter(|node| self.scalar(node, "text").is_some()),
            internal: fields.get("internal").and_then(|node| self.flag(node)).unwrap_or(false),
        }
    }

    /// Returns the text of an expression. `true` and `5` are expressions too, so any scalar is accepted.
    pub(crate) fn expression<'n>(&mut self, node: &'n Node) -> Option<&'n Scalar> {
        match &node.kind {
            Kind::Scalar(text) if !node.is_null() => Some(text),
            _ => {
                self.wrong_kind(node, "an expression as text");
                None
            }
        }
    }

    fn limits<'n>(&mut self, fields: &Fields<'n>) -> Vec<draft::Limit<'n>> {
        let Some(node) = fields.get("limit") else { return Vec::new() };
        self.one_or_many(node).into_iter().filter_map(|item| self.limit(item)).collect()
    }

    fn limit<'n>(&mut self, node: &'n Node) -> Option<draft::Limit<'n>> {
        if !matches!(node.kind, Kind::Map(_)) {
            return Some(draft::Limit { span: node.span, counter: None, max: self.max(node) });
        }
        let fields = self.fields(node, "a limit", &["counter", "max"])?;
        let counter = fields.get("counter").and_then(|node| self.scalar(node, "a counter's name as text"));
        let made_of = "counters are made of letters, digits and `_`, so that `count.NAME` can name them";
        let counter = counter.filter(|counter| self.name(counter, "a counter", name::is_identifier, made_of));
        let max = match fields.get("max") {
            Some(max) => self.max(max),
            None => {
                self.missing(node.span, "a limit", "max");
                draft::Max::Broken
            }
        };
        Some(draft::Limit { span: node.span, counter, max })
    }

    fn max<'n>(&mut self, node: &'n Node) -> draft::Max<'n> {
        match &node.kind {
            Kind::Scalar(text) if text.text.trim_start().starts_with("${") => draft::Max::Input(text),
            _ => self.number(node, 1).map_or(draft::Max::Broken, draft::Max::Fixed),
        }
    }
}
