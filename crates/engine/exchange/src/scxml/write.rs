//! Writes XML with indentation and escaping.

/// The indentation of each level.
const INDENT: &str = "  ";

/// An XML text under construction.
#[derive(Debug, Default)]
pub(super) struct Xml {
    out: String,
    open: Vec<String>,
}

/// The attributes of an element, in order.
#[derive(Debug, Default)]
pub(super) struct Attributes(String);

impl Attributes {
    /// Adds an attribute with an escaped value.
    pub(super) fn with(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.0.push_str(&format!(" {name}=\"{}\"", escape(value.as_ref())));
        self
    }

    /// Adds an attribute if there is a value.
    pub(super) fn maybe(self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

impl Xml {
    /// Creates a document with its XML declaration.
    pub(super) fn document() -> Self {
        Xml { out: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(), open: Vec::new() }
    }

    /// Writes an element without contents.
    pub(super) fn empty(&mut self, tag: &str, attributes: Attributes) {
        self.line(&format!("<{tag}{}/>", attributes.0));
    }

    /// Writes an element that contains text.
    pub(super) fn text(&mut self, tag: &str, attributes: Attributes, text: &str) {
        self.line(&format!("<{tag}{}>{}</{tag}>", attributes.0, escape(text)));
    }

    /// Writes an element with the contents that `inside` writes. If it writes nothing, the element is empty.
    pub(super) fn element(&mut self, tag: &str, attributes: Attributes, inside: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        self.line(&format!("<{tag}{}>", attributes.0));
        let written = self.out.len();
        self.open.push(tag.to_owned());
        inside(self);
        self.open.pop();
        if self.out.len() == written {
            self.out.truncate(start);
            self.empty(tag, attributes);
        } else {
            self.line(&format!("</{tag}>"));
        }
    }

    /// Returns the finished text.
    pub(super) fn finish(self) -> String {
        self.out
    }

    fn line(&mut self, line: &str) {
        for _ in &self.open {
            self.out.push_str(INDENT);
        }
        self.out.push_str(line);
        self.out.push('\n');
    }
}

/// Escapes text so that it reads back unchanged. Line ends and tabs are escaped too, because a parser would turn them
/// into spaces. Characters that XML cannot represent become the replacement character.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_through_attribute_and_element() {
        let text = "a < b && \"c\" > 'd'\n\t\r é ${x}";
        let mut xml = Xml::document();
        xml.element("a", Attributes::default().with("b", text), |xml| xml.text("c", Attributes::default(), text));
        let written = xml.finish();
        let document = roxmltree::Document::parse(&written).unwrap();
        let root = document.root_element();
        assert_eq!(root.attribute("b"), Some(text));
        assert_eq!(root.first_element_child().and_then(|child| child.text()), Some(text));
    }

    #[test]
    fn an_element_without_contents_is_closed_at_once() {
        let mut xml = Xml::default();
        xml.element("a", Attributes::default(), |_| {});
        assert_eq!(xml.finish(), "<a/>\n");
    }
}
