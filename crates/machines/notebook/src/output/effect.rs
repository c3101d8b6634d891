//! Output as plain text, for planners and for people at a terminal: without escape sequences, and short.

use serde_json::Value as Json;

/// The longest text of one output.
const ITEM_BYTES_MAX: usize = 8 * 1_024;

/// The longest text of all outputs of a cell together: a record of a run stays small.
const ALL_BYTES_MAX: usize = 32 * 1_024;

/// The types of data that are text, best first.
const TEXTS: [&str; 4] = ["text/plain", "text/markdown", "text/latex", "application/json"];

/// Returns the texts of outputs in the form of nbformat. `pictures` are the names of the files of the pictures, in order.
pub(crate) fn effects(outputs: &[Json], pictures: &[String]) -> Vec<String> {
    let mut pictures = pictures.iter();
    let (mut texts, mut bytes, mut left) = (Vec::new(), 0, 0_usize);
    for output in outputs {
        let text = cut(&text_of(output, &mut pictures), ITEM_BYTES_MAX);
        if text.trim().is_empty() {
            continue;
        }
        bytes += text.len();
        match bytes <= ALL_BYTES_MAX {
            true => texts.push(text),
            false => left += 1,
        }
    }
    if left > 0 {
        texts.push(format!("[{left} more outputs; they are in the notebook]"));
    }
    texts
}

fn text_of<'p>(output: &Json, pictures: &mut impl Iterator<Item = &'p String>) -> String {
    match output["output_type"].as_str() {
        Some("stream") => plain(&joined(&output["text"])),
        Some("error") => {
            let lines = output["traceback"].as_array().into_iter().flatten().filter_map(Json::as_str);
            let traceback = plain(&lines.collect::<Vec<_>>().join("\n"));
            let last = format!("{}: {}", joined(&output["ename"]), plain(&joined(&output["evalue"])));
            if traceback.trim_end().ends_with(&last) { traceback } else { format!("{traceback}\n{last}") }
        }
        _ => data(&output["data"], pictures),
    }
}

fn data<'p>(data: &Json, pictures: &mut impl Iterator<Item = &'p String>) -> String {
    let Some(bundle) = data.as_object() else { return String::new() };
    let images = bundle.keys().filter(|kind| super::finish::extension(kind).is_some());
    let mut parts: Vec<_> = images.filter_map(|kind| Some(format!("[{kind}: {}]", pictures.next()?))).collect();
    match TEXTS.into_iter().find_map(|kind| bundle.get(kind)) {
        Some(text @ (Json::String(_) | Json::Array(_))) => parts.push(plain(&joined(text))),
        Some(other) => parts.push(other.to_string()),
        None => {
            let kinds: Vec<_> = bundle.keys().filter(|kind| super::finish::extension(kind).is_none()).collect();
            parts.extend(kinds.into_iter().map(|kind| format!("[{kind}]")));
        }
    }
    parts.join("\n")
}

/// Joins a text of nbformat, which is a string or a list of strings.
pub(crate) fn joined(text: &Json) -> String {
    match text {
        Json::String(text) => text.clone(),
        Json::Array(lines) => lines.iter().filter_map(Json::as_str).collect(),
        _ => String::new(),
    }
}

/// Shortens a text to its beginning and its end.
pub(crate) fn cut(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let half = bytes_max.saturating_sub(48) / 2;
    let (head, tail) = (border_before(text, half), border_after(text, text.len() - half));
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}

/// Returns the last border between two characters that is not after `at`.
fn border_before(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Returns the first border between two characters that is not before `at`.
pub(crate) fn border_after(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Returns a text as one short line.
pub(crate) fn one_line(text: &str) -> String {
    let line = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.char_indices().nth(200).map_or(line.len(), |(at, _)| at);
    line[..end].to_owned()
}

/// Removes escape sequences, and the parts of lines that a carriage return has overwritten.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in without_escapes(text).split_inclusive('\n') {
        let body = line.trim_end_matches(['\r', '\n']);
        plain.push_str(body.rsplit('\r').next().unwrap_or_default());
        plain.push_str(if line.ends_with('\n') { "\n" } else { "" });
    }
    plain
}

fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_escape(&mut letters),
            '\n' | '\t' | '\r' => plain.push(letter),
            control if control.is_control() => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Skips the rest of an escape sequence: a colour, a title, or one letter.
fn skip_escape(letters: &mut std::str::Chars<'_>) {
    match letters.next() {
        Some('[') => drop(letters.find(|letter| ('@'..='~').contains(letter))),
        Some(']') => drop(letters.find(|letter| matches!(letter, '\u{7}' | '\u{1b}'))),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn escapes_and_overwritten_lines_are_removed() {
        assert_eq!(plain("\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}x\u{8}"), "red x");
        assert_eq!(plain(" 10%\r 50%\r100%\nnext\r\n"), "100%\nnext\n");
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_end() {
        let text = format!("begin{}end", "ä".repeat(10_000));
        let cut = cut(&text, 1_000);
        assert!(cut.len() <= 1_000 && cut.starts_with("begin") && cut.ends_with("end"), "{cut}");
    }

    #[test]
    fn each_kind_of_output_has_its_text() {
        let outputs = [
            json!({ "output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"] }),
            json!({ "output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u{1b}[1mline"] }),
            json!({ "output_type": "display_data", "data": { "image/png": "", "text/plain": "<Figure>" } }),
            json!({ "output_type": "display_data", "data": { "text/html": "<b>" } }),
        ];
        let texts = effects(&outputs, &["n.files/c-1.png".to_owned()]);
        assert_eq!(texts, ["a\nb\n", "line\nE: v", "[image/png: n.files/c-1.png]\n<Figure>", "[text/html]"]);
    }

    #[test]
    fn all_texts_together_have_a_bound() {
        let output = json!({ "output_type": "stream", "name": "stdout", "text": "x".repeat(50_000) });
        let texts = effects(&vec![output; 10], &[]);
        assert!(texts.concat().len() <= ALL_BYTES_MAX + 100, "{}", texts.concat().len());
        assert_eq!(texts.last().unwrap(), "[6 more outputs; they are in the notebook]");
    }
}
