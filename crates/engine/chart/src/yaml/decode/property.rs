//! Decodes the keys of properties. Their meaning is resolved later.

use super::super::{
    draft,
    fields::{Decoder, Fields},
    node::{Kind, Node},
};

const KEYS: &[&str] =
    &["terminates", "never", "without", "since", "possible", "after", "leads_to", "at_most", "of", "because"];

impl Decoder<'_> {
    /// Decodes the machine's properties.
    pub(crate) fn properties<'n>(&mut self, fields: &Fields<'n>) -> Vec<draft::Property<'n>> {
        let Some(node) = fields.get("properties") else { return Vec::new() };
        match &node.kind {
            Kind::List(items) => items.iter().filter_map(|item| self.property(item)).collect(),
            _ => {
                self.wrong_kind(node, "a list of properties");
                Vec::new()
            }
        }
    }

    fn property<'n>(&mut self, node: &'n Node) -> Option<draft::Property<'n>> {
        let fields = self.fields(node, "a property", KEYS)?;
        let mut seen = |key| {
            fields
                .get(key)
                .map(|node| self.texts(node, "a state, an event, a transition, a tag or an activity, as text"))
        };
        Some(draft::Property {
            span: node.span,
            never: seen("never"),
            without: seen("without"),
            since: seen("since"),
            possible: seen("possible"),
            after: seen("after"),
            leads_to: seen("leads_to"),
            of: seen("of"),
            terminates: fields.get("terminates").and_then(|node| self.flag(node)),
            at_most: fields.get("at_most").and_then(|node| self.number(node, 0)),
            because: self.text(&fields, "because").unwrap_or_default(),
        })
    }
}
