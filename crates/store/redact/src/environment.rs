//! The secrets among the variables of a process: the values that are searched for in every text.
//!
//! A variable counts only if its name says so (`words.rs`) and its value can be told from ordinary text. A word of a language
//! occurs in any text, the name of a service occurs beside it, and the parts of a path occur in every message about files.
//! Such a value is redacted beside its name, and nowhere else.

use crate::{names, value};

/// The length up to which a value that consists of letters only is taken for a word.
const WORD_BYTES_MAX: usize = 11;

/// Returns the values that must be redacted in any context.
pub fn secrets_of(variables: &[(String, String)]) -> Vec<&str> {
    let is_named = |name: &str, value: &str| names::named(name, value).is_some_and(|(_, _, kind)| kind != "signature");
    let places = variables.iter().filter(|(name, value)| is_places(value) && !is_named(name, value));
    let places = places.map(|(_, value)| value.as_str());
    let people = ["USER", "LOGNAME", "USERNAME", "HOSTNAME", "HOST", "NAME"];
    let people = variables.iter().filter(|(name, _)| people.contains(&name.as_str())).map(|(_, value)| value.as_str());
    let known: Vec<&str> = places.chain(people).collect();
    let is_told = |(name, value): &&(String, String)| {
        is_named(name, value)
            && !is_word(value)
            && !is_label(name, value)
            && !name.to_ascii_lowercase().contains(&value.to_ascii_lowercase())
            && !value::is_place(value.as_bytes())
            && !known.iter().any(|known| known.contains(value.as_str()))
    };
    variables.iter().filter(is_told).map(|(_, value)| value.as_str()).collect()
}

/// Reports if the value is a path or a list of paths. One with credentials, as a URL has them, is none.
fn is_places(value: &str) -> bool {
    value.starts_with('/') && !value.contains('@') && !value.contains("://")
}

/// Reports if a key or token is a label of words and numbers, such as `web-frontend-v2`. A password may be made of words.
fn is_label(name: &str, value: &str) -> bool {
    let is_number = |part: &str| part.bytes().skip(1).all(|byte| byte.is_ascii_digit());
    let is_part = |part: &str| is_number(part) || part.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_key = matches!(names::named(name, value), Some((_, _, "key" | "token" | "credentials")));
    is_key && value.split(['-', '_', '.', '/']).all(is_part)
}

fn is_word(value: &str) -> bool {
    let rest_is_lower = value.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    let is_shouted = value.bytes().all(|byte| byte.is_ascii_uppercase());
    let begins = value.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    begins && (rest_is_lower || is_shouted) && value.len() <= WORD_BYTES_MAX
}
