//! Short forms of variables: a value for the observation, and the four summaries of a `context_filter`.

use serde_json::{Value as Json, json};

use crate::memory::cut;

/// The most characters of a value that is sent whole.
const CHARS_MAX: usize = 200;

/// The number of items or lines of `head_only`.
const HEAD: usize = 5;

/// The most items that `last_N_only` may ask for.
const LAST_MAX: usize = 100;

/// Returns the short form of a variable that a kernel describes as `{type, shape?, text}`: a number or a short text as
/// it is, a large object as its type and shape, such as `DataFrame(1460×79)`.
pub fn short(described: &Json) -> Json {
    let Some(kind) = described.get("type").and_then(Json::as_str) else { return described.clone() };
    let text = described.get("text").and_then(Json::as_str).unwrap_or_default();
    if let Some(shape) = shape(described) {
        return json!(format!("{kind}({shape})"));
    }
    match kind {
        "int" | "float" | "bool" | "NoneType" => match text {
            "True" => json!(true),
            "False" => json!(false),
            "None" => Json::Null,
            number => serde_json::from_str(number).unwrap_or_else(|_| json!(number)),
        },
        _ if text.chars().count() > CHARS_MAX => json!(format!("{kind}: {}", cut(text, CHARS_MAX))),
        "str" => json!(text.trim_matches(['\'', '"'])),
        _ if text.is_empty() => json!(kind),
        _ => json!(text),
    }
}

/// Returns the summary of a variable by one of the strategies; `None` if the strategy is not known.
///
/// `described` is the kernel's description if the kernel has the variable, `value` its short form otherwise.
pub fn summary(strategy: &str, described: Option<&Json>, value: &Json) -> Option<String> {
    let described = described.filter(|described| described.get("type").is_some());
    Some(match strategy {
        "shape_only" => described.map_or_else(|| shape_of(value), shape_only),
        "describe_only" => described.map_or_else(|| describe(value), describe_kernel),
        "head_only" => head(&content(described, value), value),
        other => {
            let count = other.strip_prefix("last_")?.strip_suffix("_only")?;
            let count = if count == "N" { HEAD } else { count.parse().ok()? };
            last(&content(described, value), value, count.min(LAST_MAX))
        }
    })
}

fn text(described: &Json) -> &str {
    described.get("text").and_then(Json::as_str).unwrap_or_default()
}

/// Returns a shape as the protocol writes it: `1460×79`.
fn shape(described: &Json) -> Option<String> {
    match described.get("shape")? {
        Json::Array(sizes) if !sizes.is_empty() => {
            Some(sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join("×"))
        }
        Json::String(text) if !text.is_empty() => Some(text.trim_matches(['(', ')']).replace(", ", "×")),
        Json::Number(size) => Some(size.to_string()),
        _ => None,
    }
}

fn shape_only(described: &Json) -> String {
    let kind = described.get("type").and_then(Json::as_str).unwrap_or("object");
    shape(described).map_or_else(|| kind.to_owned(), |shape| format!("{kind}({shape})"))
}

fn shape_of(value: &Json) -> String {
    match value {
        Json::Array(items) => format!("list({})", items.len()),
        Json::Object(fields) => format!("dict({})", fields.len()),
        Json::String(text) => format!("str({})", text.chars().count()),
        Json::Number(_) => "number".to_owned(),
        Json::Bool(_) => "bool".to_owned(),
        Json::Null => "None".to_owned(),
    }
}

fn describe_kernel(described: &Json) -> String {
    let lines = text(described).lines().count();
    let first = text(described).lines().next().unwrap_or_default();
    match lines {
        0 => shape_only(described),
        1 => format!("{}: {}", shape_only(described), cut(first, CHARS_MAX)),
        _ => format!("{}: {lines} lines, beginning with {}", shape_only(described), cut(first, CHARS_MAX)),
    }
}

fn describe(value: &Json) -> String {
    let numbers: Vec<f64> = value.as_array().into_iter().flatten().filter_map(Json::as_f64).collect();
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = numbers.iter().sum::<f64>() / numbers.len().max(1) as f64;
    match numbers.is_empty() {
        false => format!("{}: min {low}, max {high}, mean {mean}", shape_of(value)),
        true => match value {
            Json::Object(fields) => {
                let names: Vec<&str> = fields.keys().take(HEAD).map(String::as_str).collect();
                format!("{}: {}", shape_of(value), names.join(", "))
            }
            _ => format!("{}: {}", shape_of(value), cut(&value.to_string(), CHARS_MAX)),
        },
    }
}

/// Returns the text that `head_only` and `last_N_only` take lines from.
fn content(described: Option<&Json>, value: &Json) -> String {
    let own = || value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    described.map_or_else(own, |described| text(described).to_owned())
}

fn head(content: &str, value: &Json) -> String {
    match value.as_array() {
        Some(items) => json!(items[..items.len().min(HEAD)]).to_string(),
        None => cut(&content.lines().take(HEAD).collect::<Vec<_>>().join("\n"), CHARS_MAX * HEAD),
    }
}

fn last(content: &str, value: &Json, count: usize) -> String {
    match value.as_array() {
        Some(items) => json!(items[items.len().saturating_sub(count)..]).to_string(),
        None => {
            let lines: Vec<&str> = content.lines().collect();
            cut(&lines[lines.len().saturating_sub(count)..].join("\n"), CHARS_MAX * HEAD)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_variables_have_a_short_form() {
        let cases = [
            (json!({ "type": "DataFrame", "shape": [1460, 79], "text": "…" }), json!("DataFrame(1460×79)")),
            (json!({ "type": "int", "text": "3" }), json!(3)),
            (json!({ "type": "bool", "text": "True" }), json!(true)),
            (json!({ "type": "float", "text": "nan" }), json!("nan")),
            (json!({ "type": "str", "text": "'abc'" }), json!("abc")),
            (json!({ "type": "dict", "text": "{'a': 1}" }), json!("{'a': 1}")),
            (json!({ "type": "module", "text": "" }), json!("module")),
            (json!(5), json!(5)),
        ];
        for (described, expected) in cases {
            assert_eq!(short(&described), expected, "{described}");
        }
        let long = short(&json!({ "type": "list", "text": "x".repeat(9_000) }));
        assert!(long.as_str().unwrap().starts_with("list: xxx") && long.as_str().unwrap().len() < 300);
    }

    #[test]
    fn the_four_strategies_summarise_values_and_kernel_variables() {
        let frame = json!({ "type": "DataFrame", "shape": [3, 2], "text": "   a b\n0  1 2\n1  3 4\n2  5 6" });
        let list = json!([1, 2, 3, 4, 5, 6, 7]);
        let cases = [
            ("shape_only", Some(&frame), json!(""), "DataFrame(3×2)"),
            ("describe_only", Some(&frame), json!(""), "DataFrame(3×2): 4 lines, beginning with    a b"),
            ("head_only", Some(&frame), json!(""), "   a b\n0  1 2\n1  3 4\n2  5 6"),
            ("last_1_only", Some(&frame), json!(""), "2  5 6"),
            ("shape_only", None, list.clone(), "list(7)"),
            ("describe_only", None, list.clone(), "list(7): min 1, max 7, mean 4"),
            ("head_only", None, list.clone(), "[1,2,3,4,5]"),
            ("last_2_only", None, list.clone(), "[6,7]"),
            ("last_N_only", None, list, "[3,4,5,6,7]"),
        ];
        for (strategy, described, value, expected) in cases {
            assert_eq!(summary(strategy, described, &value).as_deref(), Some(expected), "{strategy}");
        }
        assert_eq!(summary("all_of_it", None, &json!(1)), None);
        assert_eq!(summary("last_x_only", None, &json!(1)), None);
    }
}
