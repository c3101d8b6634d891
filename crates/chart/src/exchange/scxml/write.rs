//! Writing XML: indentation, escaping, nothing else.

/// Levels are indented by this much.
const INDENT: &str = "  ";

/// An XML text in the making.
#[derive(Debug, Default)]
pub(super) struct Xml {
    out: String,
    open: Vec<String>,
}

/// The attributes of an element, in order.
#[derive(Debug, Default)]
pub(super) struct Attributes(String);

impl Attributes {
    /// Adds one.
    pub(super) fn with(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.0.push_str(&format!(" {name}=\"{}\"", escape(value.as_ref())));
        self
    }

    /// Adds one, if there is a value.
    pub(super) fn maybe(self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

impl Xml {
    /// A document with its declaration.
    pub(super) fn document() -> Self {
        Xml { out: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(), open: Vec::new() }
    }

    /// An element without anything in it.
    pub(super) fn empty(&mut self, tag: &str, attributes: Attributes) {
        self.line(&format!("<{tag}{}/>", attributes.0));
    }

    /// An element with text in it.
    pub(super) fn text(&mut self, tag: &str, attributes: Attributes, text: &str) {
        self.line(&format!("<{tag}{}>{}</{tag}>", attributes.0, escape(text)));
    }

    /// An element with what `inside` writes; without it, where that is nothing.
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

    /// The text.
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

/// Text that reads back as it was: line ends and tabs too, which a parser would otherwise make spaces of. Characters that
/// XML cannot hold at all become the replacement character.
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
    fn any_text_reads_back_from_attribute_and_element() {
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
    fn an_element_with_nothing_in_it_is_closed_at_once() {
        let mut xml = Xml::default();
        xml.element("a", Attributes::default(), |_| {});
        assert_eq!(xml.finish(), "<a/>\n");
    }
}
