//! The variables of a kernel: names, types, shapes and short forms, for planners.
//!
//! A Python kernel answers with the reply to the cell itself: the question is an expression that Jupyter evaluates
//! after the cell, which leaves no trace in the history or in the variables. Other kernels are asked about the names
//! that the planner knows, if they support inspection.

use serde_json::{Map, Value as Json, json};

use crate::output::{cut, plain};

/// The name of the expression in requests and replies.
const NAME: &str = "interlock";

/// The largest number of variables that are reported.
const VARIABLES_MAX: usize = 50;

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

/// Returns a variable from the description that a kernel gives when it is inspected.
pub(crate) fn inspected(text: &str) -> Json {
    json!({ "type": "", "text": cut(plain(text).trim(), TEXT_BYTES_MAX) })
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
    fn an_answer_is_read_within_its_bounds() {
        let many: Map<String, Json> =
            (0..80).map(|n| (format!("v{n:02}"), json!({ "type": "int", "text": "1" }))).collect();
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
