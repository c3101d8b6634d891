//! The most tokens that a request can cost, read from its body, and the body with a lower limit.
//!
//! The body that is forwarded is written anew from what was read here. A server therefore cannot understand it in
//! another way, as with a field that is there twice.

use serde_json::{Map, Value as Json, json};

use crate::endpoint::Form;

/// The tokens that a reply can have if the request does not say: the most that today's models write at once.
const OUTPUT_TOKENS: u64 = 128_000;

/// The tokens of a picture.
const PICTURE_TOKENS: u64 = 5_000;

/// The tokens of a text that the server has and the request only names.
const NAMED_TOKENS: u64 = 200_000;

/// The signs per token of a text.
const SIGNS_PER_TOKEN: u64 = 4;

/// The most replies that one request asks for.
const REPLIES_MAX: u64 = 128;

/// A request as far as its cost goes.
#[derive(Debug)]
pub(crate) struct Cost {
    form: Form,
    body: Map<String, Json>,
    /// The estimated tokens of what the model reads.
    pub(crate) prompt: u64,
    /// The most tokens of each reply.
    pub(crate) reply: u64,
    /// The number of replies.
    pub(crate) replies: u64,
}

/// The names of a form's fields, in each spelling that its servers accept.
struct Names {
    /// The object that has the fields; the body itself if it is empty.
    place: &'static [&'static str],
    limits: &'static [&'static str],
    replies: &'static [&'static str],
}

impl Names {
    fn of(form: Form) -> Self {
        match form {
            Form::Messages => Names { place: &[], limits: &["max_tokens"], replies: &[] },
            Form::Chat => Names { place: &[], limits: &["max_completion_tokens", "max_tokens"], replies: &["n"] },
            Form::Responses => Names { place: &[], limits: &["max_output_tokens"], replies: &[] },
            Form::Generate => Names {
                place: &["generationConfig", "generation_config"],
                limits: &["maxOutputTokens", "max_output_tokens"],
                replies: &["candidateCount", "candidate_count"],
            },
            Form::Unknown | Form::Embeddings(_) | Form::Free(_) => Names { place: &[], limits: &[], replies: &[] },
        }
    }
}

impl Cost {
    /// Reads the body of a request. The error is the reason why its cost cannot be told.
    pub(crate) fn read(form: Form, body: &[u8]) -> Result<Self, String> {
        let body: Json = serde_json::from_slice(body).map_err(|error| format!("the body is not JSON: {error}"))?;
        let prompt = tokens(&body);
        let Json::Object(body) = body else { return Err("the body is not a JSON object".to_owned()) };
        if body.get("background").is_some_and(|value| !matches!(value, Json::Bool(false) | Json::Null)) {
            return Err("a reply in the background cannot be counted; leave out `background`".to_owned());
        }
        let names = Names::of(form);
        let place = only(&body, names.place)?.map(|name| &body[name]);
        let fields = match (names.place.is_empty(), place) {
            (true, _) => Some(&body),
            (false, None | Some(Json::Null)) => None,
            (false, Some(place)) => Some(place.as_object().ok_or("the settings of the reply are not a JSON object")?),
        };
        let (mut limit, mut replies) = (None, 1);
        if let Some(fields) = fields {
            let spelled: &[&[&str]] =
                if form == Form::Chat { &[&["max_completion_tokens"], &["max_tokens"]] } else { &[names.limits] };
            for names in spelled {
                limit = limit.max(number(fields, names)?);
            }
            replies = number(fields, names.replies)?.unwrap_or(1);
        }
        if !(1..=REPLIES_MAX).contains(&replies) {
            return Err(format!("a request can ask for 1 to {REPLIES_MAX} replies"));
        }
        let reply = match form {
            Form::Free(_) | Form::Embeddings(_) => 0,
            _ => limit.unwrap_or(OUTPUT_TOKENS),
        };
        Ok(Cost { form, body, prompt, reply, replies })
    }

    /// Returns the most tokens of all replies.
    pub(crate) fn output(&self) -> u64 {
        self.reply.saturating_mul(self.replies)
    }

    /// Returns true if the relay knows where a lower limit is written.
    pub(crate) fn can_be_lowered(&self) -> bool {
        !Names::of(self.form).limits.is_empty()
    }

    /// Returns the body with a limit of this many tokens for all replies together, if that is less than it allows.
    pub(crate) fn limited(mut self, output: u64) -> Vec<u8> {
        if output < self.output() {
            self.lower((output / self.replies).max(1));
        }
        Json::Object(self.body).to_string().into_bytes()
    }

    fn lower(&mut self, limit: u64) {
        let names = Names::of(self.form);
        let Some(usual) = names.limits.first() else { return };
        let fields = match names.place.iter().find(|name| self.body.contains_key(**name)).or(names.place.first()) {
            Some(place) => {
                let place = self.body.entry(*place).or_insert(Json::Null);
                if !place.is_object() {
                    *place = json!({});
                }
                place.as_object_mut()
            }
            None => Some(&mut self.body),
        };
        let Some(fields) = fields else { return };
        let given: Vec<&str> = names.limits.iter().copied().filter(|name| fields.contains_key(*name)).collect();
        for name in if given.is_empty() { vec![*usual] } else { given } {
            fields.insert(name.to_owned(), limit.into());
        }
        // Anthropic's server refuses a budget for thoughts that is not below the limit.
        let thoughts = self.body.get("thinking").and_then(|thinking| thinking["budget_tokens"].as_u64());
        if self.form == Form::Messages && thoughts.is_some_and(|thoughts| thoughts >= limit) {
            self.body.insert("thinking".to_owned(), json!({ "type": "disabled" }));
        }
    }
}

/// Returns the number in the field with one of these names.
fn number(fields: &Map<String, Json>, names: &[&str]) -> Result<Option<u64>, String> {
    match only(fields, names)?.map(|name| (name, &fields[name])) {
        None | Some((_, Json::Null)) => Ok(None),
        Some((name, value)) => match value.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(format!("`{name}` is not a whole number")),
        },
    }
}

/// Returns the one of these names that an object has. Servers that compare names loosely would read another spelling.
fn only<'m>(fields: &'m Map<String, Json>, names: &[&str]) -> Result<Option<&'m str>, String> {
    let loose = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    let mut alike = fields.keys().filter(|key| names.iter().any(|name| loose(name) == loose(key)));
    let found = alike.next();
    match (found, alike.next()) {
        (Some(found), None) if names.contains(&found.as_str()) => Ok(Some(found)),
        (None, _) => Ok(None),
        (Some(found), other) => Err(format!("`{}` is not the usual spelling", other.unwrap_or(found))),
    }
}

/// Returns the estimated tokens of what a model reads.
fn tokens(body: &Json) -> u64 {
    let named = ["previous_response_id", "conversation", "prompt", "cachedContent", "cached_content"];
    let is_given = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
    // OpenAI's `prompt` is an object that names a stored text; other servers have the text itself there.
    let is_named = |name: &str| is_given(name) && !(name == "prompt" && body[name].is_string());
    let named = named.iter().filter(|name| is_named(name)).count() as u64 * NAMED_TOKENS;
    signs(body).div_ceil(SIGNS_PER_TOKEN).saturating_add(named)
}

/// Returns the length of a value in signs, where a letter beyond ASCII, a picture and a named file count for their tokens.
fn signs(value: &Json) -> u64 {
    match value {
        Json::String(text) if text.starts_with("data:image/") => PICTURE_TOKENS * SIGNS_PER_TOKEN,
        Json::String(text) => {
            let (ascii, others) = text.chars().fold((0, 0), |(ascii, others), sign| match sign.is_ascii() {
                true => (ascii + 1, others),
                false => (ascii, others + 1),
            });
            ascii + others * SIGNS_PER_TOKEN + 3
        }
        Json::Array(items) => items.iter().map(signs).sum::<u64>() + 2,
        Json::Object(fields) if is_picture(fields) => PICTURE_TOKENS * SIGNS_PER_TOKEN,
        Json::Object(fields) => {
            let named = if is_named_file(fields) { NAMED_TOKENS * SIGNS_PER_TOKEN } else { 0 };
            fields.iter().map(|(name, value)| name.len() as u64 + 4 + signs(value)).sum::<u64>() + named
        }
        Json::Number(_) | Json::Bool(_) | Json::Null => 5,
    }
}

/// Returns true for a picture in the request.
fn is_picture(fields: &Map<String, Json>) -> bool {
    let kind = ["media_type", "mimeType", "mime_type"].iter().find_map(|name| fields.get(*name)?.as_str());
    kind.is_some_and(|kind| kind.starts_with("image/")) && fields.get("data").is_some_and(Json::is_string)
}

/// Returns true for a file that the server fetches or has.
fn is_named_file(fields: &Map<String, Json>) -> bool {
    let is_file =
        matches!(fields.get("type").and_then(Json::as_str), Some("file" | "input_file" | "url" | "container_upload"));
    let named = ["file_id", "file_url", "url"].iter().any(|name| fields.get(*name).is_some_and(Json::is_string));
    let gemini = ["fileUri", "file_uri"].iter().any(|name| fields.get(*name).is_some_and(Json::is_string));
    is_file && (named || fields.get("file").is_some_and(|file| file.get("file_id").is_some())) || gemini
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: Form, body: &str) -> Result<(u64, u64), String> {
        Cost::read(form, body.as_bytes()).map(|cost| (cost.reply, cost.replies))
    }

    fn limited(form: Form, body: &str, output: u64) -> String {
        String::from_utf8(Cost::read(form, body.as_bytes()).unwrap().limited(output)).unwrap()
    }

    #[test]
    fn the_limit_of_a_reply_is_read_in_every_form() {
        assert_eq!(read(Form::Messages, r#"{"max_tokens":300}"#), Ok((300, 1)));
        assert_eq!(read(Form::Messages, r#"{"max_output_tokens":1}"#), Ok((OUTPUT_TOKENS, 1)));
        assert_eq!(read(Form::Chat, r#"{"max_tokens":5,"max_completion_tokens":9,"n":4}"#), Ok((9, 4)));
        assert_eq!(read(Form::Chat, r#"{"max_tokens":null}"#), Ok((OUTPUT_TOKENS, 1)));
        assert_eq!(read(Form::Responses, r#"{"max_output_tokens":7,"background":false}"#), Ok((7, 1)));
        let gemini = r#"{"generation_config":{"maxOutputTokens":8,"candidateCount":3}}"#;
        assert_eq!(read(Form::Generate, gemini), Ok((8, 3)));
        assert_eq!(read(Form::Unknown, r#"{"max_tokens":1}"#), Ok((OUTPUT_TOKENS, 1)));
        // The last of two fields counts, and is the only one that is forwarded.
        assert_eq!(limited(Form::Messages, r#"{"max_tokens":1,"max_tokens":900}"#, 1_000), r#"{"max_tokens":900}"#);
    }

    #[test]
    fn a_request_whose_cost_cannot_be_told_is_refused() {
        for (form, body) in [
            (Form::Messages, "[]"),
            (Form::Messages, "\u{1f}\u{8b}"),
            (Form::Messages, r#"{"max_tokens":"9"}"#),
            (Form::Messages, r#"{"max_tokens":-1}"#),
            (Form::Messages, r#"{"max_tokens":1,"MAX_TOKENS":99999}"#),
            (Form::Chat, r#"{"n":0}"#),
            (Form::Chat, r#"{"n":1000000}"#),
            (Form::Responses, r#"{"background":true}"#),
            (Form::Generate, r#"{"generationConfig":{},"generation_config":{}}"#),
            (Form::Generate, r#"{"generationConfig":[]}"#),
            (Form::Generate, r#"{"generationConfig":{"maxOutputTokens":1,"max_output_tokens":900}}"#),
        ] {
            assert!(read(form, body).is_err(), "{body}");
        }
    }

    #[test]
    fn a_lower_limit_is_written_where_the_server_reads_it() {
        let body = r#"{"max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":2000}}"#;
        assert_eq!(limited(Form::Messages, body, 500), r#"{"max_tokens":500,"thinking":{"type":"disabled"}}"#);
        assert_eq!(limited(Form::Messages, body, 4_000), body);
        assert_eq!(limited(Form::Chat, r#"{"max_tokens":90,"n":3}"#, 60), r#"{"max_tokens":20,"n":3}"#);
        assert_eq!(limited(Form::Chat, "{}", 60), r#"{"max_completion_tokens":60}"#);
        assert_eq!(limited(Form::Generate, "{}", 60), r#"{"generationConfig":{"maxOutputTokens":60}}"#);
        assert_eq!(
            limited(Form::Generate, r#"{"generation_config":null}"#, 60),
            r#"{"generation_config":{"maxOutputTokens":60}}"#
        );
    }

    #[test]
    fn a_prompt_is_estimated_by_its_texts_pictures_and_names() {
        let prompt = |body: &Json| Cost::read(Form::Messages, body.to_string().as_bytes()).unwrap().prompt;
        let text = prompt(&json!({ "messages": [{ "role": "user", "content": "word ".repeat(800) }] }));
        assert!((1_000..1_050).contains(&text), "{text}");
        let wide = prompt(&json!({ "messages": [{ "role": "user", "content": "字".repeat(800) }] }));
        assert!((800..850).contains(&wide), "{wide}");
        let picture = json!({ "source": { "type": "base64", "media_type": "image/png", "data": "A".repeat(900_000) } });
        assert!((5_000..5_100).contains(&prompt(&picture)), "{}", prompt(&picture));
        for named in [
            json!({ "previous_response_id": "r" }),
            json!({ "content": [{ "type": "document", "source": { "type": "url", "url": "https://a.b/c" } }] }),
            json!({ "contents": [{ "fileData": { "fileUri": "u" } }] }),
        ] {
            assert!(prompt(&named) > NAMED_TOKENS, "{named}");
        }
    }
}
