//! XML elements whose text begins on the line after the opening tag: `<password>`, `<entry key="password">`.

use super::{Line, Named, Then, classify, judge};
use crate::{names::Secret, value::Style};

/// The maximum number of lines after the opening tag that can hold its text.
const LINES_MAX: usize = 16;

/// Elements of HTML forms: their attribute `name` names a field, and their text is a label.
const FORM_TAGS: [&[u8]; 12] = [
    b"a",
    b"button",
    b"div",
    b"fieldset",
    b"form",
    b"input",
    b"label",
    b"meta",
    b"option",
    b"select",
    b"span",
    b"textarea",
];

/// Attributes that name the value of an element.
const NAME_ATTRIBUTES: [&[u8]; 2] = [b" key=", b" name="];

/// An element that has been opened and not closed.
#[derive(Clone, Debug)]
pub(super) struct Element {
    named: Named,
    style: Style,
    lines_left: usize,
}

/// The element that the last tag of a line opens. What stands before the tag must be another tag or nothing: `Vec<Token>` is no tag.
pub(super) fn opens(line: Line<'_>) -> Option<Element> {
    let content = line.content().trim_ascii_end().strip_suffix(b">")?;
    let opening = content.iter().rposition(|byte| *byte == b'<')?;
    let before = content[..opening].trim_ascii();
    let is_first = before.is_empty() || before == b"+" || before.ends_with(b">");
    let tag = &content[opening + 1..];
    let (named, style) = named(tag).filter(|_| is_first && !tag.ends_with(b"/"))?;
    Some(Element { named, style, lines_left: LINES_MAX })
}

/// Returns true if a tag, without its `<`, belongs to an HTML form.
pub(crate) fn is_form_tag(tag: &[u8]) -> bool {
    let name = tag.split(u8::is_ascii_whitespace).next().unwrap_or(tag);
    FORM_TAGS.iter().any(|tag| tag.eq_ignore_ascii_case(name))
}

/// The name that a tag gives to its text, and how sure it makes of it.
fn named(tag: &[u8]) -> Option<(Named, Style)> {
    let name_end = tag.iter().position(u8::is_ascii_whitespace).unwrap_or(tag.len());
    let (name, attributes) = tag.split_at(name_end);
    let local = name.rsplit(|byte| *byte == b':').next().unwrap_or(name);
    if let Some(named) = classify(local) {
        return Some((named, Style::Given));
    }
    NAME_ATTRIBUTES.iter().filter(|_| !is_form_tag(tag)).find_map(|attribute| {
        let at = attributes.windows(attribute.len()).position(|part| part.eq_ignore_ascii_case(attribute))?;
        let (quote, rest) = attributes[at + attribute.len()..].split_first()?;
        let value = &rest[..rest.iter().position(|byte| byte == quote)?];
        Some((classify(value)?, Style::Bare))
    })
}

impl Element {
    /// Judges a line of the element's text, which a tag ends.
    pub(super) fn line(&mut self, line: Line<'_>, secrets: &mut Vec<Secret>) -> Then {
        let start = line.text_start();
        let tag = line.text[start..line.end].iter().position(|byte| *byte == b'<').map(|at| start + at);
        secrets.extend(judge(line.text, start, tag.unwrap_or(line.end), self.style, self.named));
        self.lines_left -= 1;
        match tag {
            Some(_) => Then::Passed,
            None if self.lines_left == 0 => Then::Ended,
            None => Then::Stays,
        }
    }
}
