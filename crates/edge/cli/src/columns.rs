//! Several things of the same kind, such as failed attempts with their logs and diffs: side by side if the terminal is wide
//! enough, otherwise one below the other.

use serde_json::{Map, Value as Json};

use crate::escape;

/// The width from which on things are shown side by side.
const WIDE: usize = 120;

/// The most columns. If there are more things, the last ones are shown.
const COLUMNS_MAX: usize = 3;

/// The text between two columns.
const BETWEEN: &str = " │ ";

/// Returns the lines of a list of objects with texts of several lines. `None` if the list is of another kind.
pub(crate) fn lines(items: &[Json], width: usize) -> Option<Vec<String>> {
    let objects: Vec<&Map<String, Json>> = items.iter().map(Json::as_object).collect::<Option<_>>()?;
    if !objects.iter().any(|object| object.values().any(is_long)) {
        return None;
    }
    match width >= WIDE && objects.len() > 1 {
        true => Some(beside(&objects, width)),
        false => Some(objects.iter().flat_map(|object| below(object)).collect()),
    }
}

fn is_long(value: &Json) -> bool {
    value.as_str().is_some_and(|text| text.trim_end().contains('\n'))
}

/// Returns the names of all fields, those with long texts last.
fn names<'o>(objects: &[&'o Map<String, Json>]) -> Vec<&'o str> {
    let mut names: Vec<&str> = Vec::new();
    for name in objects.iter().flat_map(|object| object.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| objects.iter().any(|object| object.get(*name).is_some_and(is_long)));
    names
}

fn below(object: &Map<String, Json>) -> Vec<String> {
    let fields = names(&[object]).into_iter().flat_map(|name| object.get(name).map(|value| field(name, value)));
    fields.flatten().chain([String::new()]).collect()
}

/// Returns a field on one line, or its name and then the indented lines of its text.
fn field(name: &str, value: &Json) -> Vec<String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.trim_end().lines().collect::<Vec<_>>()[..] {
        [] => vec![format!("{name}:")],
        [line] => vec![escape::line(&format!("{name}: {line}"))],
        ref lines => {
            let indented = lines.iter().map(|line| escape::line(&format!("  {line}")));
            std::iter::once(format!("{name}:")).chain(indented).collect()
        }
    }
}

fn beside(objects: &[&Map<String, Json>], width: usize) -> Vec<String> {
    let left_out = objects.len().saturating_sub(COLUMNS_MAX);
    let shown = &objects[left_out..];
    let between = BETWEEN.chars().count() * (shown.len() - 1);
    let room = width.saturating_sub(between + 2) / shown.len();
    let mut lines = Vec::new();
    if left_out > 0 {
        lines.push(format!("the last {} of {}; the others with --json", shown.len(), objects.len()));
    }
    for name in names(shown) {
        let columns: Vec<Vec<String>> =
            shown.iter().map(|object| object.get(name).map_or_else(Vec::new, |value| field(name, value))).collect();
        lines.extend(rows(&columns, room));
    }
    lines
}

/// Returns the rows of columns with this width. Longer lines are cut.
fn rows(columns: &[Vec<String>], room: usize) -> Vec<String> {
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |column: &Vec<String>, at: usize| {
        let line = column.get(at).map_or("", String::as_str);
        match line.chars().nth(room) {
            Some(_) => line.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
            None => format!("{line:<room$}"),
        }
    };
    let row = |at| columns.iter().map(|column| cell(column, at)).collect::<Vec<String>>().join(BETWEEN);
    (0..height).map(|at| row(at).trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn attempts(count: usize) -> Vec<Json> {
        (1..=count).map(|fix| json!({ "fix": fix, "log": format!("line one of {fix}\n{}", "x".repeat(90)) })).collect()
    }

    #[test]
    fn wide_terminal_shows_the_last_three_side_by_side() {
        let shown = lines(&attempts(4), 120).unwrap();
        assert_eq!(shown[0], "the last 3 of 4; the others with --json");
        let cells: Vec<&str> = shown[1].split(BETWEEN).map(str::trim).collect();
        assert_eq!(cells, ["fix: 2", "fix: 3", "fix: 4"]);
        assert!(shown[3].contains("  line one of 2") && shown[3].contains("  line one of 4"), "{shown:?}");
        assert!(shown[4].contains('…') && shown.iter().all(|line| line.chars().count() <= 120), "{shown:?}");
    }

    #[test]
    fn narrow_terminal_shows_one_below_the_other() {
        let shown = lines(&attempts(2), 119).unwrap();
        assert_eq!(shown[..3], ["fix: 1", "log:", "  line one of 1"]);
        assert_eq!(shown[5], "fix: 2");
        assert!(shown.iter().any(|line| line.ends_with(&"x".repeat(90))), "nothing is cut");
    }

    #[test]
    fn other_lists_are_not_shown_like_this() {
        assert_eq!(lines(&[json!("a\nb")], 200), None);
        assert_eq!(lines(&[json!({ "a": "b" }), json!({ "a": 1 })], 200), None);
    }
}
