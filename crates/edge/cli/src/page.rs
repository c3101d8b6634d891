//! Formats a Markdown page for a terminal: headings are bold, code is indented, paragraphs are wrapped, links show
//! their text. It knows only the parts of Markdown that the pages under `docs/errors/` use.

use crate::output::Output;

/// The width to which paragraphs are wrapped, in characters.
const WIDTH: usize = 90;

/// Returns the page as text.
pub(crate) fn text(markdown: &str, output: &Output) -> String {
    let (mut text, mut paragraph, mut is_code) = (String::new(), String::new(), false);
    for line in markdown.lines() {
        if line.starts_with("```") {
            wrap(&mut paragraph, &mut text);
            is_code = !is_code;
        } else if is_code {
            text.push_str(format!("    {line}").trim_end());
            text.push('\n');
        } else if let Some(heading) = line.strip_prefix('#') {
            wrap(&mut paragraph, &mut text);
            text.push_str(&format!("{}\n", output.bold(heading.trim_start_matches('#').trim())));
        } else if line.is_empty() {
            wrap(&mut paragraph, &mut text);
            text.push('\n');
        } else {
            if line.starts_with(['-', '|']) {
                wrap(&mut paragraph, &mut text);
            }
            paragraph.push_str(&without_links(line));
            paragraph.push(if line.starts_with('|') { '\n' } else { ' ' });
        }
    }
    wrap(&mut paragraph, &mut text);
    text
}

/// Moves a paragraph to the text, broken into lines. Rows of a table are kept as they are; the lines of a list item
/// after the first are indented.
fn wrap(paragraph: &mut String, text: &mut String) {
    if paragraph.starts_with('|') {
        text.push_str(paragraph);
        paragraph.clear();
        return;
    }
    let indent = if paragraph.starts_with("- ") { "  " } else { "" };
    let mut width = 0;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH {
            text.push_str(&format!("\n{indent}"));
            width = indent.len();
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += length;
    }
    if width > 0 {
        text.push('\n');
    }
    paragraph.clear();
}

/// Replaces `[text](address)` by its text.
fn without_links(line: &str) -> String {
    let (mut shown, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once('[') {
        let link = after.split_once("](").and_then(|(name, after)| Some((name, after.split_once(')')?.1)));
        let Some((name, after)) = link.filter(|(name, _)| !name.contains(['[', ']'])) else {
            shown.push_str(before);
            shown.push('[');
            rest = after;
            continue;
        };
        shown.push_str(before);
        shown.push_str(name);
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_wrapped_and_its_code_is_kept() {
        let words = "word ".repeat(20);
        let page =
            format!("# E1: a title\n\n{words}\nand [a link](x.md).\n\n- one `[x]`\n- two\n\n```yaml\na:  b\n```\n");
        let expected = "E1: a title\n\nword word word word word word word word word word word word word word word word \
             word word\nword word and a link.\n\n- one `[x]`\n- two\n\n    a:  b\n";
        assert_eq!(text(&page, &Output::new(false)), expected);
    }

    #[test]
    fn text_in_brackets_without_an_address_is_kept() {
        assert_eq!(without_links("signals: [a, b] and [c](d.md)"), "signals: [a, b] and c");
        assert_eq!(without_links("[open"), "[open");
    }
}
