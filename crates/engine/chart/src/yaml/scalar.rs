//! The meaning of an unquoted scalar, by YAML 1.2's core schema: only `null`, `true`, `false` and numbers are not text.
//! `on`, `yes` and `1:30` are text.

use super::node::Scalar;
use serde_json::Value as Json;

/// Returns the value of a scalar, or `None` for a number that JSON cannot represent (`.inf`, or a whole number beyond
/// 64 bits).
pub(crate) fn typed(scalar: &Scalar) -> Option<Json> {
    let text = scalar.text.as_str();
    if !scalar.plain {
        return Some(text.into());
    }
    match text {
        _ if is_null(text) => Some(Json::Null),
        "true" | "True" | "TRUE" => Some(true.into()),
        "false" | "False" | "FALSE" => Some(false.into()),
        _ if is_special_float(text) => None,
        _ => match number(text) {
            Some(number) => number,
            None => Some(text.into()),
        },
    }
}

/// Returns true if an unquoted scalar means null.
pub(crate) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Returns the name of a value's kind for messages.
pub(crate) fn word(json: &Json) -> &'static str {
    match json {
        Json::Null => "nothing",
        Json::Bool(_) => "a truth value",
        Json::Number(_) => "a number",
        Json::String(_) => "text",
        Json::Array(_) => "a list",
        Json::Object(_) => "a map",
    }
}

fn is_special_float(text: &str) -> bool {
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(bare, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// Parses a number. Returns `None` if the text is not a number, and `Some(None)` if JSON cannot represent the number.
fn number(text: &str) -> Option<Option<Json>> {
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit()) {
        let unsigned = text.strip_prefix('+').unwrap_or(text);
        return Some(unsigned.parse::<i64>().ok().map(Json::from));
    }
    if !is_float(bare) {
        return None;
    }
    Some(text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Json::Number))
}

fn radix(digits: &str, radix: u32) -> Option<Option<Json>> {
    let valid = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    valid.then(|| i64::from_str_radix(digits, radix).ok().map(Json::from))
}

/// Returns true for `1.5`, `.5`, `1.`, `1e3`, `1.5E-3`: digits around at most one point, then an optional exponent.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_holds = exponent.is_none_or(|exponent| {
        let bare = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !bare.is_empty() && digits(bare)
    });
    digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()) && exponent_holds
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(text: &str, expected: Option<Json>) {
        let scalar = Scalar { text: text.into(), plain: true, span: Default::default(), verbatim: None };
        assert_eq!(typed(&scalar), expected, "{text}");
    }

    #[test]
    fn only_the_core_schema_is_typed() {
        for text in ["on", "off", "yes", "no", "y", "12:30", "1_000", "0b1", "0x", "e5", ".", "-", "1e", "v1", "1.2.3"]
        {
            check(text, Some(json!(text)));
        }
        for (text, value) in [("0x1F", 31), ("0o17", 15), ("-7", -7), ("+7", 7), ("007", 7)] {
            check(text, Some(json!(value)));
        }
        for (text, value) in [("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("-1e3", -1000.0), ("1.5E-1", 0.15)] {
            check(text, Some(json!(value)));
        }
        check("True", Some(json!(true)));
        check("~", Some(Json::Null));
        check("", Some(Json::Null));
        for text in [".inf", "-.INF", ".nan", "99999999999999999999", "0xFFFFFFFFFFFFFFFFFF", "1e999"] {
            check(text, None);
        }
    }
}
