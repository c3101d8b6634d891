//! XML as test frameworks write it, also if it is truncated or surrounded by console output.

use roxmltree::{Document, Node, ParsingOptions};

use super::{
    banner,
    lines::lines,
    reading::{ParserState, form},
};

/// The largest number of nodes of a document.
const NODES_MAX: u32 = 2_000_000;
/// The greatest depth of nested elements.
const DEPTH_MAX: usize = 256;
/// The largest number of documents in one text.
const DOCUMENTS_MAX: usize = 1000;
/// The element that marks the place at which a document was truncated.
const CUT: &str = "cut-off-here";

/// The text of a document, with a flag for a missing end.
pub(super) struct Text {
    text: String,
    /// True if the end was missing and has been added.
    pub(super) is_cut: bool,
}

/// All documents of a text, and the text around them.
#[derive(Default)]
pub(super) struct Texts {
    /// The documents, in order.
    pub(super) documents: Vec<Text>,
    /// The text before, between and after the documents.
    pub(super) around: String,
    /// True if a document cannot be read: its elements do not match, are too deep, or there are too many documents.
    pub(super) is_broken: bool,
}

/// Returns all documents that begin with one of these elements; truncated ones are completed.
pub(super) fn texts(text: &str, roots: &[&str]) -> Texts {
    let clean: String = text.chars().map(allowed).collect();
    let mut all = Texts::default();
    let mut rest = clean.as_str();
    while let Some(start) = find_root(rest, roots) {
        all.around.push_str(&rest[..start]);
        all.around.push('\n');
        let found = open_elements(&rest[start..]).filter(|_| all.documents.len() < DOCUMENTS_MAX);
        let Some((open, length)) = found else {
            all.is_broken = true;
            return all;
        };
        all.documents.push(Text::new(&rest[start..start + length], &open));
        // Text after a truncated document may be a part of it.
        rest = if open.is_empty() { &rest[start + length..] } else { "" };
    }
    all.around.push_str(rest);
    all
}

impl Texts {
    /// Reads every document into a [`ParserState`], and records doubts about broken ones. `kind` names the document type
    /// in messages.
    pub(super) fn tell(&self, reading: &mut ParserState, kind: &str, read: impl Fn(&mut ParserState, Node<'_, '_>)) {
        if self.documents.is_empty() && !self.is_broken {
            reading.doubt(format!("there is no {kind} in it"));
        }
        if self.is_broken {
            reading.doubt(format!(
                "the XML cannot be read: its elements do not fit each other, are deeper than {DEPTH_MAX}, or there are more than {DOCUMENTS_MAX} documents"
            ));
        }
        for text in &self.documents {
            if text.is_cut {
                reading.doubt("the XML ends in the middle");
            }
            match text.document() {
                Ok(document) => read(reading, document.root_element()),
                Err(error) => reading.doubt(format!("the XML cannot be read: {error}")),
            }
        }
        if form!(r"<(?:testcase|failure|error|stat)[\s/>]").is_some_and(|form| form.is_match(&self.around)) {
            reading.doubt("there are results outside of the documents");
        }
        reading.fail_on(&lines(&self.around), banner::stopped());
    }
}

/// Returns the name of the first of these elements that begins a document.
pub(super) fn root<'r>(text: &str, roots: &[&'r str]) -> Option<&'r str> {
    let start = find_root(text, roots)?;
    roots.iter().copied().find(|root| is_element(&text[start..], root))
}

impl Text {
    fn new(text: &str, open: &[&str]) -> Text {
        if open.is_empty() {
            return Text { text: text.to_owned(), is_cut: false };
        }
        let closing: String = open.iter().rev().map(|name| format!("</{name}>")).collect();
        Text { text: format!("{text}<{CUT}/>{closing}"), is_cut: true }
    }

    /// Parses the text as an XML document.
    pub(super) fn document(&self) -> Result<Document<'_>, String> {
        let options = ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
        Document::parse_with_options(&self.text, options).map_err(|error| error.to_string())
    }
}

/// Reports whether an element was open at the truncation of the document.
pub(super) fn is_cut(node: Node<'_, '_>) -> bool {
    node.descendants().any(|node| node.has_tag_name(CUT))
}

/// Returns all text below a node.
pub(super) fn text_of(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

/// Returns the position of the first of these elements. Comments, CDATA sections and processing instructions are
/// skipped.
fn find_root(text: &str, roots: &[&str]) -> Option<usize> {
    let mut at = 0;
    // If one of these has no end, the search for an end is not repeated.
    let mut is_endless = false;
    while let Some(start) = text[at..].find('<').map(|found| at + found) {
        let rest = &text[start..];
        if roots.iter().any(|root| is_element(rest, root)) {
            return Some(start);
        }
        let is_mark = rest.starts_with("<!--") || rest.starts_with("<![CDATA[") || rest.starts_with("<?");
        let length = if is_mark && !is_endless { piece(rest) } else { None };
        is_endless |= is_mark && length.is_none();
        at = start + length.unwrap_or(1);
    }
    None
}

/// Returns true if a text begins with an element of this name, with or without a prefix.
fn is_element(text: &str, name: &str) -> bool {
    let end = text.find([' ', '>', '\t', '\r', '\n', '/']).unwrap_or_default();
    let tag = text.get(1..end).unwrap_or_default();
    text.starts_with('<') && tag.rsplit(':').next() == Some(name)
}

/// Replaces characters that XML forbids with the replacement character.
fn allowed(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => c,
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c if c < ' ' => '\u{fffd}',
        c => c,
    }
}

/// Returns the elements that are open at the end, and the end of the last complete piece. `None` if elements are too
/// deep or do not match.
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
    // Text after the last tag is dropped: it may end in the middle of an entity.
    Some((open, end))
}

/// Returns the length of a tag, comment, CDATA section or instruction, if it is complete.
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
        let read = texts(text, &["a"]);
        let shown: Vec<_> = read.documents.iter().map(|text| (text.text.as_str(), text.is_cut)).collect();
        assert_eq!(shown, expected.into_iter().collect::<Vec<_>>(), "{text}");
    }

    #[test]
    fn all_documents_are_found_outside_of_comments() {
        let all = texts("<a/> x <!-- <a> --> <p:a><b/></p:a> <![CDATA[<a>]]> <?a <a> ?> <a>", &["a"]);
        let shown: Vec<_> = all.documents.iter().map(|text| text.text.as_str()).collect();
        assert_eq!(shown, ["<a/>", "<p:a><b/></p:a>", "<a><cut-off-here/></a>"]);
        assert!(all.around.contains(" x "));
        assert!(texts("<a></b></a>", &["a"]).is_broken);
    }

    #[test]
    fn truncated_document_is_found_and_completed() {
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
        assert!(texts(&"<a>".repeat(10_000), &["a"]).is_broken);
    }
}
