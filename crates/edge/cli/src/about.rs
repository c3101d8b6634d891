//! The text that explains a waiting run: the question of its state, the data that a person confirms, and the deadline.

use interlock_runtime::{Offers, OpenQuestion, ShownData};
use serde_json::Value as Json;

use crate::{columns, escape, follow::Follower, overdue, width};

/// The most lines of one piece of data that a form shows.
pub(crate) const LINES_MAX: usize = 60;

/// The text above a form: the data that the state shows, and the deadline.
pub(crate) fn above_form(follower: &Follower, offers: &Offers) -> String {
    shown(follower, offers) + &overdue::sentence(&follower.live, follower.now_ms())
}

/// The question of a state and the data that it shows: at most [`LINES_MAX`] lines of each piece of data, then the command
/// that shows all of it.
pub(crate) fn shown(follower: &Follower, offers: &Offers) -> String {
    let rest = |more: usize| format!("  … {more} more lines; all of it: `interlock show {}`", follower.head.name);
    text(offers, LINES_MAX, rest)
}

/// The text of a question that a running attempt asks, with the data to decide by.
pub(crate) fn of_question(run: &str, question: &OpenQuestion) -> String {
    let rest = |more: usize| format!("  … {more} more lines; all of it: `interlock show {run} --json`");
    let fields = question.shows.as_object().into_iter().flatten();
    let shown = fields.map(|(label, data)| ShownData { label: label.clone(), data: data.clone() }).collect();
    let words = format!("{run} asks in {}: {}\n", question.state, escape::line(&question.text));
    words + &text(&Offers { shown, ..Offers::default() }, LINES_MAX, rest)
}

/// Returns the same text with all lines of the data, without the deadline.
pub(crate) fn in_full(offers: &Offers) -> String {
    text(offers, usize::MAX, |_| String::new())
}

fn text(offers: &Offers, lines_max: usize, rest: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for question in &offers.questions {
        text.push_str(&format!("{}: {}\n", question.state, escape::line(&question.text)));
    }
    for ShownData { label, data } in &offers.shown {
        let lines = lines(data);
        let label = escape::line(label);
        if let [line] = &lines[..] {
            text.push_str(&format!("{label}: {line}\n"));
            continue;
        }
        text.push_str(&format!("{label}:\n"));
        lines.iter().take(lines_max).for_each(|line| text.push_str(&format!("  {line}\n")));
        let more = lines.len().saturating_sub(lines_max);
        if more > 0 {
            text.push_str(&format!("{}\n", rest(more)));
        }
    }
    text
}

/// Data as lines: text as it is, lists of scalars with a dash before each item, things with long texts beside each other,
/// everything else as indented JSON.
fn lines(data: &Json) -> Vec<String> {
    if let Some(lines) = data.as_array().and_then(|items| columns::lines(items, width::columns())) {
        return lines;
    }
    let is_scalar = |item: &Json| !item.is_array() && !item.is_object();
    let word = |item: &Json| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
    let text = match data {
        Json::Array(items) if items.len() == 1 && items.iter().all(is_scalar) => items.iter().map(word).collect(),
        Json::Array(items) if items.iter().all(is_scalar) => {
            items.iter().map(|item| format!("- {}", word(item))).collect::<Vec<_>>().join("\n")
        }
        Json::Array(_) | Json::Object(_) => serde_json::to_string_pretty(data).unwrap_or_default(),
        scalar => word(scalar),
    };
    text.lines().map(escape::line).collect()
}

#[cfg(test)]
mod tests {
    use interlock_runtime::Question;
    use serde_json::json;

    use super::*;

    #[test]
    fn long_data_is_cut_with_a_way_to_all_of_it() {
        let shown = |label: &str, data: Json| ShownData { label: label.to_owned(), data };
        let offers = Offers {
            questions: vec![Question { state: "review".into(), text: "Apply it?".into() }],
            shown: vec![
                shown("patch", json!("--- a\n+++ b\n-x\n+\x1b[2Jy\n")),
                shown("risk", json!(0.5)),
                shown("scopes", json!(["fs.write:a", "fs.write:b"])),
            ],
            ..Offers::default()
        };
        let cut = text(&offers, 2, |more| format!("  … {more} more"));
        let expected = "review: Apply it?\npatch:\n  --- a\n  +++ b\n  … 2 more\nrisk: 0.5\nscopes:\n  - fs.write:a\n  - fs.write:b\n";
        assert_eq!(cut, expected);
        assert!(in_full(&offers).contains("  + [2Jy\n"), "all lines, and none steers the terminal");
    }
}
