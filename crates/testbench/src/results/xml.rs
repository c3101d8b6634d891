//! XML as test frameworks write it, also where they were ended in the middle of it, or where a console stands around it.

use roxmltree::{Document, Node, ParsingOptions};

/// The most elements and texts of a document.
const NODES_MAX: u32 = 2_000_000;
/// How deeply elements may stand in each other.
const DEPTH_MAX: usize = 256;
/// The element that marks where a document was cut off.
const CUT: &str = "cut-off-here";

/// What a document is made of, and whether it was complete.
pub(super) struct Text {
    text: String,
    /// Whether its end was missing and has been put there.
    pub(super) is_cut: bool,
}

impl Text {
    /// The document that begins with one of these elements, completed where it is cut off.
    pub(super) fn new(text: &str, roots: &[&str]) -> Option<Text> {
        let start = roots.iter().filter_map(|root| find_element(text, root)).min()?;
        let text: String = text[start..].chars().map(allowed).collect();
        let (open, end) = open_elements(&text)?;
        if open.is_empty() {
            return Some(Text { text: text[..end].to_owned(), is_cut: false });
        }
        let closing: String = open.iter().rev().map(|name| format!("</{name}>")).collect();
        Some(Text { text: format!("{}<{CUT}/>{closing}", &text[..end]), is_cut: true })
    }

    /// The document.
    pub(super) fn document(&self) -> Result<Document<'_>, String> {
        let options = ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
        Document::parse_with_options(&self.text, options).map_err(|error| error.to_string())
    }
}

/// Whether an element was open where the document was cut off.
pub(super) fn is_cut(node: Node<'_, '_>) -> bool {
    node.descendants().any(|node| node.has_tag_name(CUT))
}

/// All text below a node.
pub(super) fn text_of(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

fn find_element(text: &str, name: &str) -> Option<usize> {
    let form = format!("<{name}");
    let starts = text.match_indices(&form).map(|(start, _)| start);
    let is_whole = |start: &usize| text[start + form.len()..].starts_with([' ', '>', '\t', '\r', '\n', '/']);
    starts.into_iter().find(is_whole)
}

/// Characters that XML forbids become the mark for what cannot be read.
fn allowed(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => c,
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c if c < ' ' => '\u{fffd}',
        c => c,
    }
}

/// The elements that are open at the end, and where the last whole piece ends. Nothing where they are too deep or do not fit.
fn open_elements(text: &str) -> Option<(Vec<&str>, usize)> {
    let mut open: Vec<&str> = Vec::new();
    let mut at = 0;
    let mut end = 0;
    while let Some(start) = text[at..].find('<').map(|found| at + found) {
        let rest = &text[start..];
        let Some(length) = piece(rest) else { break };
        at = start + length;
        end = at;
        let inside = &rest[1..length - 1];
        if inside.starts_with(['!', '?']) {
            continue;
        } else if let Some(name) = inside.strip_prefix('/') {
            (open.pop()? == name.trim()).then_some(())?;
        } else if !inside.ends_with('/') {
            open.push(inside.split([' ', '\t', '\r', '\n']).next().unwrap_or_default());
            (open.len() <= DEPTH_MAX).then_some(())?;
        }
        if open.is_empty() {
            break;
        }
    }
    // Text behind the last tag is kept out: it may be cut in the middle of an entity.
    Some((open, end))
}

/// The length of a tag, comment, CDATA section or instruction, if all of it is there.
fn piece(text: &str) -> Option<usize> {
    for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
        if text.starts_with(start) {
            return text.find(end).map(|found| found + end.len());
        }
    }
    let mut quote = None;
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '>') => return Some(index + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, bool)>) {
        let read = Text::new(text, &["a"]);
        let shown = read.as_ref().map(|text| (text.text.as_str(), text.is_cut));
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn a_document_is_found_and_completed() {
        check("boot\n<?xml?>\n<a><b x='>'/></a>\nshutdown <", Some(("<a><b x='>'/></a>", false)));
        check("<a><b>te<c/>xt", Some(("<a><b>te<c/><cut-off-here/></b></a>", true)));
        check("<a><b", Some(("<a><cut-off-here/></a>", true)));
        check("<a><![CDATA[ </a> ]]></a>", Some(("<a><![CDATA[ </a> ]]></a>", false)));
        check("<a></b></a>", None);
        check("<abc>", None);
        check("nothing", None);
    }

    #[test]
    fn very_deep_documents_are_refused() {
        assert!(Text::new(&"<a>".repeat(10_000), &["a"]).is_none());
    }
}
