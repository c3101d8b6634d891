//! `<send>`, and the data of events: `<param>`, `<content>` and `namelist`.

use roxmltree::Node;
use serde_json::Value as Json;

use super::{
    address::{self, Address},
    import::{Importer, attribute_span, local, tag_span},
};
use crate::expression;
use interlock_chart::{
    file::{ActionFile, Ordered, RaiseFile, SendFile},
    unresolve,
};

impl Importer {
    /// Reads a `<send>` to one of the machine's queues, immediate or delayed.
    pub(super) fn send(&mut self, node: Node<'_, '_>, actions: &mut Vec<ActionFile>) {
        if let Some(action) = self.goes_nowhere(node) {
            return actions.push(action);
        }
        let Some(address) = self.address(node) else { return };
        let Some(event) = self.sent_event(node) else { return };
        let delay = self.delay(node);
        let data = self.payload(node);
        let raise = match data.clone() {
            Some(data) => RaiseFile::Full { event: event.clone(), data },
            None => RaiseFile::Name(event.clone()),
        };
        let raise = delay.is_none().then_some(ActionFile::Raise { raise });
        if let Address::Internal = address {
            match raise {
                Some(raise) => actions.push(raise),
                None => self.refuse(node, tag_span(node), "puts a delayed event on the internal queue"),
            }
            return;
        }
        let id = self.send_id(node, actions);
        let send = ActionFile::Send { send: SendFile { event, data, delay, id } };
        actions.push(match address {
            Address::Asked { target, kind } => address::asked(target, kind, send, raise),
            Address::External | Address::Internal => send,
        });
    }

    fn sent_event(&mut self, node: Node<'_, '_>) -> Option<String> {
        if let Some(event) = self.json_attribute(node, "event") {
            return Some(event);
        }
        if node.attribute("eventexpr").is_some() {
            let expression = self.expression(node, "eventexpr")?;
            return Some(match expression::template(&expression) {
                Json::String(text) => text,
                _ => format!("${{{expression}}}"),
            });
        }
        self.needed(node, "event").map(unresolve::escaped_text)
    }

    fn delay(&mut self, node: Node<'_, '_>) -> Option<String> {
        if let Some(delay) = self.json_attribute(node, "delay") {
            return Some(delay);
        }
        if node.attribute("delayexpr").is_some() {
            let expression = self.expression(node, "delayexpr")?;
            let literal = expression::literal(&expression).filter(|_| !self.native);
            let literal = literal.and_then(|value| duration(value.as_str()?));
            return Some(literal.unwrap_or_else(|| format!("${{{expression}}}")));
        }
        let text = node.attribute("delay")?;
        if self.native {
            return Some(unresolve::escaped_text(text));
        }
        let delay = duration(text);
        if delay.is_none() {
            self.bad_attribute(node, "delay", format!("`{text}` is not a duration such as `1.5s` or `200ms`"));
        }
        delay
    }

    fn send_id(&mut self, node: Node<'_, '_>, actions: &mut Vec<ActionFile>) -> Option<String> {
        let Some(location) = node.attribute("idlocation") else { return node.attribute("id").map(str::to_owned) };
        if !self.scope.variables.contains(location) {
            self.refuse(node, attribute_span(node, "idlocation"), "stores its id in an undeclared variable");
            return None;
        }
        self.sends += 1;
        let id = format!("send.{}", self.sends);
        let value = Json::String(id.clone());
        self.assigned.entry(location.to_owned()).or_default().push(value.clone());
        actions.push(ActionFile::Assign { assign: Ordered::from([(location.to_owned(), value)]) });
        self.problems.warn(format!("`<send idlocation=\"{location}\">` has the same id each time"));
        Some(id)
    }

    /// Returns an event's data, or `None` if it has none.
    pub(super) fn payload(&mut self, node: Node<'_, '_>) -> Option<Json> {
        if self.has_own(node, "data") {
            return self.json_attribute(node, "data");
        }
        let mut fields = serde_json::Map::new();
        for name in node.attribute("namelist").unwrap_or_default().split_whitespace() {
            if let Some(expression) = self.translated(name, attribute_span(node, "namelist"), node) {
                fields.insert(name.to_owned(), expression::template(&expression));
            }
        }
        for child in node.children().filter(Node::is_element) {
            match local(child) {
                Some("param") => self.param(child, &mut fields),
                Some("content") => return self.content(child),
                _ => self.out_of_place(child),
            }
        }
        (!fields.is_empty()).then_some(Json::Object(fields))
    }

    fn param(&mut self, node: Node<'_, '_>, fields: &mut serde_json::Map<String, Json>) {
        let Some(name) = self.needed(node, "name") else { return };
        let attribute = if node.attribute("location").is_some() { "location" } else { "expr" };
        if self.needed(node, attribute).is_none() {
            return;
        }
        if let Some(expression) = self.expression(node, attribute) {
            let before = fields.insert(name.to_owned(), expression::template(&expression));
            if before.is_some() {
                self.problems.warn(format!("of several `<param name=\"{name}\">` the last is kept"));
            }
        }
    }

    fn content(&mut self, node: Node<'_, '_>) -> Option<Json> {
        let value = match node.attribute("expr") {
            Some(_) => expression::template(&self.expression(node, "expr")?),
            None => self.inner_value(node)?,
        };
        // An event carries a map or the value of an expression, so any other value is written as an expression.
        Some(match value {
            Json::Object(_) => value,
            Json::String(text) if text.starts_with("${") => Json::String(text),
            other => Json::String(format!("${{{}}}", unescaped(other))),
        })
    }

    /// Returns the text inside an element as JSON, as an expression, or as plain text.
    pub(super) fn inner_value(&mut self, node: Node<'_, '_>) -> Option<Json> {
        if let Some(element) = node.children().find(Node::is_element) {
            self.refuse(element, tag_span(element), "is XML used as a value");
            return None;
        }
        Some(self.text_value(node.text().unwrap_or_default()))
    }

    /// Returns a text as JSON, as an expression, or as plain text.
    pub(super) fn text_value(&self, text: &str) -> Json {
        let text = text.trim();
        if text.is_empty() {
            return Json::Null;
        }
        if let Some(value) = expression::literal(text) {
            return unresolve::escaped(value);
        }
        if let Ok(expression) = self.scope.translate(text) {
            return expression::template(&expression);
        }
        let words: Vec<_> = text.split_whitespace().collect();
        Json::String(unresolve::escaped_text(&words.join(" ")))
    }
}

fn unescaped(value: Json) -> String {
    match value {
        Json::String(text) => Json::String(text.replace("$${", "${")).to_string(),
        other => other.to_string(),
    }
}

/// Converts a CSS duration (`.5s`, `1.25m`) to the notation of machine files.
fn duration(text: &str) -> Option<String> {
    let text = text.trim();
    let unit_at = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit_at);
    let unit_ms = match unit {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    let is_number = number.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    let ms = number.parse::<f64>().ok().filter(|_| is_number)? * unit_ms;
    if ms > 1e15 {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let ms = ms.round() as u64;
    Some(if ms.is_multiple_of(1_000) { format!("{}s", ms / 1_000) } else { format!("{ms}ms") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn css_durations_become_whole_durations() {
        let cases = [
            ("1s", Some("1s")),
            (".5s", Some("500ms")),
            ("0s", Some("0s")),
            ("1.5m", Some("90s")),
            ("10ms", Some("10ms")),
            ("2h", Some("7200s")),
            ("1", None),
            ("s", None),
            ("1e9s", None),
            ("-1s", None),
            ("9999999999999999d", None),
        ];
        for (text, expected) in cases {
            assert_eq!(duration(text).as_deref(), expected, "{text}");
        }
    }
}
