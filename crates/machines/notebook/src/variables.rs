//! The variables of a kernel: names, types, shapes and short forms, for planners.
//!
//! A Python kernel answers with the reply to the cell itself: the question is an expression that Jupyter evaluates
//! after the cell, which leaves no trace in the history or in the variables. Other kernels are asked about single names
//! with inspect messages: names that the user gave, names that cells assign, and names that were found before. A kernel
//! that does not answer such messages has no variables here.

use serde_json::{Map, Value as Json, json};

use crate::output::{cut, plain};

/// The name of the expression in requests and replies.
const NAME: &str = "interlock";

/// The largest number of variables that are reported.
const VARIABLES_MAX: usize = 100;

/// The longest short form of a variable.
const TEXT_BYTES_MAX: usize = 200;

/// The program that describes the variables of a Python kernel. It calls no code of the user's types except `shape`,
/// `columns` and `dtypes`, and every value that it shows is cut.
const DESCRIBE: &str = include_str!("variables.py");

/// Returns the expressions that a request carries for a kernel of this language.
pub(crate) fn question(language: &str) -> Json {
    match is_python(language) {
        true => json!({ NAME: expression() }),
        false => json!({}),
    }
}

/// Returns true if the kernel's variables can be read with an expression.
pub(crate) fn is_python(language: &str) -> bool {
    language.eq_ignore_ascii_case("python")
}

fn expression() -> String {
    // A JSON string is a Python string too.
    format!("(lambda space: (exec({}, space), space['answer'](get_ipython()))[1])({{}})", json!(DESCRIBE))
}

/// Reads the answer from the reply to a cell.
pub(crate) fn answer(reply: &Json) -> Option<Json> {
    let text = reply["user_expressions"][NAME]["data"]["text/plain"].as_str()?;
    let found: Map<String, Json> = serde_json::from_str(text).ok()?;
    Some(bounded(found))
}

/// Returns a variable from the description that a kernel gives when it is inspected. Descriptions have no common form;
/// the labels that many kernels use are read.
pub(crate) fn inspected(text: &str) -> Json {
    let text = plain(text);
    let labelled = |labels: &[&str]| {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let mut found = lines.filter(|(label, _)| labels.iter().any(|one| label.trim().eq_ignore_ascii_case(one)));
        found.next().map(|(_, value)| value.trim().to_owned())
    };
    let value = labelled(&["string form", "value"]).unwrap_or_else(|| text.trim().to_owned());
    json!({ "type": labelled(&["type", "class"]).unwrap_or_default(), "text": cut(&value, TEXT_BYTES_MAX) })
}

/// Returns the names that the lines of a cell assign, in most languages: `name = …`, `name <- …`, `let name = …`.
pub(crate) fn assigned(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in code.lines() {
        let left = ["<-", ":=", "="].iter().find_map(|sign| line.split_once(sign)).map(|(left, _)| left.trim());
        // A type may follow the name, and words such as `let` may come before it.
        let left = left.and_then(|left| left.split(':').next()).map(str::trim).unwrap_or_default();
        let name = left.rsplit(char::is_whitespace).next().unwrap_or_default();
        let is_name = !name.is_empty() && name.chars().all(|one| one.is_alphanumeric() || one == '_');
        if is_name && !name.starts_with(|one: char| one.is_numeric()) && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn bounded(found: Map<String, Json>) -> Json {
    let entries = found.into_iter().take(VARIABLES_MAX).map(|(name, value)| {
        let text = cut(value["text"].as_str().unwrap_or_default(), TEXT_BYTES_MAX);
        let mut kept = json!({ "type": value["type"].as_str().unwrap_or_default(), "text": text });
        if value["shape"].is_array() {
            kept["shape"] = value["shape"].clone();
        }
        (name, kept)
    });
    Json::Object(entries.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inspected_variable_has_its_type_and_value_if_they_are_labelled() {
        let said = "\u{1b}[31mType:\u{1b}[39m        int\nString form: 42\nDocstring:   int([x]) -> integer";
        assert_eq!(inspected(said), json!({ "type": "int", "text": "42" }));
        assert_eq!(inspected(" a list of 3 "), json!({ "type": "", "text": "a list of 3" }));
    }

    #[test]
    fn assigned_names_are_found_in_many_languages() {
        let code = "x = 1\n  total <- sum(x)\nlet mut y: i32 = 2;\nif a == b {\nf(x, y=3)\n2 = z\nconst n := 4\nx = 5";
        assert_eq!(assigned(code), ["x", "total", "y", "a", "n"], "a name that does not exist is just not found");
    }

    #[test]
    fn an_answer_is_read_within_its_bounds() {
        let many: Map<String, Json> =
            (0..150).map(|n| (format!("v{n:03}"), json!({ "type": "int", "text": "1" }))).collect();
        let reply = |text: String| json!({ "user_expressions": { NAME: { "data": { "text/plain": text } } } });
        let read = answer(&reply(json!(many).to_string())).unwrap();
        assert_eq!(read.as_object().unwrap().len(), VARIABLES_MAX);
        let long = json!({ "x": { "type": "str", "text": "y".repeat(1_000), "shape": [3], "other": 1 } });
        let read = answer(&reply(long.to_string())).unwrap();
        assert!(read["x"]["text"].as_str().unwrap().len() <= TEXT_BYTES_MAX);
        assert_eq!((&read["x"]["shape"], &read["x"]["other"]), (&json!([3]), &Json::Null));
        assert_eq!(answer(&reply("nonsense".into())), None);
        assert_eq!(answer(&json!({})), None);
    }
}
