//! Reads the tokens of a reply while it passes through: JSON and server-sent events, in the shapes of Anthropic's
//! messages, of OpenAI's chat completions and responses, and of Google's Gemini API.

use serde::Serialize;
use serde_json::Value as Json;

/// The longest JSON reply, and the longest event, of which the tokens are read.
const TEXT_BYTES_MAX: usize = 16 * 1_024 * 1_024;

/// The bytes per token of a reply, where a server does not report tokens.
const BYTES_PER_TOKEN: u64 = 4;

/// The tokens of a request and its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens that were read, without those of the two fields about the cache.
    pub input: u64,
    /// Tokens that were written.
    pub output: u64,
    /// Tokens that were read from a cache, if the server counts them apart.
    pub cache_read: u64,
    /// Tokens that were written to a cache, if the server counts them apart.
    pub cache_write: u64,
}

impl Usage {
    /// Returns all tokens together.
    pub fn total(&self) -> u64 {
        [self.output, self.cache_read, self.cache_write].into_iter().fold(self.input, u64::saturating_add)
    }

    pub(crate) fn add(&mut self, other: &Usage) {
        let add = |one: &mut u64, other: u64| *one = one.saturating_add(other);
        add(&mut self.input, other.input);
        add(&mut self.output, other.output);
        add(&mut self.cache_read, other.cache_read);
        add(&mut self.cache_write, other.cache_write);
    }

    /// Returns the larger value of each field: events of a stream repeat counts that only grow.
    fn max(self, other: Usage) -> Self {
        Usage {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
        }
    }

    /// Reads the usage of a reply or of an event.
    fn of(message: &Json) -> Option<Self> {
        if let Json::Array(parts) = message {
            // Gemini's stream without server-sent events is one list.
            return parts.iter().filter_map(Usage::of).reduce(Usage::max);
        }
        let object = |places: &[&str]| {
            places.iter().find_map(|place| message.pointer(place).filter(|usage| usage.is_object())).cloned()
        };
        if let Some(usage) = object(&["/usageMetadata", "/response/usageMetadata"]) {
            return Some(Usage::of_gemini(&usage));
        }
        let usage = object(&["/usage", "/message/usage", "/response/usage"])?;
        let field = |names: &[&str]| names.iter().find_map(|name| usage.get(*name)?.as_u64()).unwrap_or(0);
        Some(Usage {
            input: field(&["input_tokens", "prompt_tokens"]),
            output: field(&["output_tokens", "completion_tokens"]),
            cache_read: field(&["cache_read_input_tokens"]),
            cache_write: field(&["cache_creation_input_tokens"]),
        })
    }

    /// Reads Gemini's `usageMetadata`. The prompt includes the cached tokens; thoughts are counted apart from the reply.
    fn of_gemini(usage: &Json) -> Self {
        let field = |name: &str| usage.get(name).and_then(Json::as_u64).unwrap_or(0);
        let input = field("promptTokenCount").saturating_add(field("toolUsePromptTokenCount"));
        let output = field("candidatesTokenCount").saturating_add(field("thoughtsTokenCount"));
        // The total is the server's own sum: kinds of tokens that are not known here count too.
        let output = output.max(field("totalTokenCount").saturating_sub(input));
        Usage { input, output, ..Usage::default() }
    }
}

/// The tokens of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// The server reports them.
    Reported(Usage),
    /// The server does not report them; they are estimated by the length of the texts.
    Estimated(Usage),
}

/// The form of a reply.
#[derive(Debug)]
enum Form {
    Json,
    Events,
    Other,
}

/// Reads a reply.
#[derive(Debug)]
pub(crate) struct Reader {
    form: Form,
    /// The JSON text, or the current line of a stream.
    text: Vec<u8>,
    is_too_long: bool,
    found: Option<Usage>,
    bytes: u64,
    events: u64,
}

impl Reader {
    /// Creates a reader for a media type.
    pub(crate) fn new(media: &str) -> Self {
        let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let form = match media.as_str() {
            "text/event-stream" => Form::Events,
            "application/json" => Form::Json,
            media if media.ends_with("+json") => Form::Json,
            _ => Form::Other,
        };
        Reader { form, text: Vec::new(), is_too_long: false, found: None, bytes: 0, events: 0 }
    }

    /// Reads the next piece.
    pub(crate) fn read(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        match self.form {
            Form::Other => {}
            Form::Json => self.keep(piece),
            Form::Events => {
                let mut lines = piece.split(|byte| *byte == b'\n').peekable();
                while let Some(part) = lines.next() {
                    self.keep(part);
                    if lines.peek().is_some() {
                        self.line();
                    }
                }
            }
        }
    }

    fn keep(&mut self, part: &[u8]) {
        self.is_too_long |= self.text.len() + part.len() > TEXT_BYTES_MAX;
        match self.is_too_long {
            true => self.text.clear(),
            false => self.text.extend_from_slice(part),
        }
    }

    /// Reads the line that is complete now.
    fn line(&mut self) {
        self.is_too_long = false;
        if let Some(data) = self.text.strip_prefix(b"data:") {
            self.events += 1;
            let has_usage = data.windows(6).any(|part| part == b"\"usage");
            let message = has_usage.then(|| serde_json::from_slice::<Json>(data).ok()).flatten();
            if let Some(usage) = message.as_ref().and_then(Usage::of) {
                self.found = Some(self.found.unwrap_or_default().max(usage));
            }
        }
        self.text.clear();
    }

    /// Returns true if the reply arrives as events.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.form, Form::Events)
    }

    /// Returns the tokens of the reply, or of the part of it that arrived. `input` are the estimated tokens of the request.
    pub(crate) fn finish(&mut self, input: u64) -> Counted {
        match self.form {
            Form::Json if !self.is_too_long => {
                self.found = serde_json::from_slice::<Json>(&self.text).ok().as_ref().and_then(Usage::of);
            }
            Form::Events => self.line(),
            Form::Json | Form::Other => {}
        }
        // A stream sends about one event per token, and each event is far longer than its token.
        let output = if matches!(self.form, Form::Events) { self.events } else { self.bytes.div_ceil(BYTES_PER_TOKEN) };
        match self.found {
            Some(usage) if usage.total() > 0 => Counted::Reported(usage),
            _ => Counted::Estimated(Usage { input, output, ..Usage::default() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(media: &str, text: &str, piece: usize) -> Counted {
        let mut reader = Reader::new(media);
        text.as_bytes().chunks(piece).for_each(|piece| reader.read(piece));
        reader.finish(100)
    }

    #[test]
    fn tokens_are_read_in_every_shape_and_in_any_pieces() {
        let usage = |input, output, cache_read, cache_write| {
            Counted::Reported(Usage { input, output, cache_read, cache_write })
        };
        let events = "text/event-stream; charset=utf-8";
        let cases = [
            (
                "application/json",
                r#"{"content":[],"usage":{"input_tokens":7,"output_tokens":3,"cache_read_input_tokens":20,"cache_creation_input_tokens":1}}"#,
                usage(7, 3, 20, 1),
            ),
            (
                "application/json",
                r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}"#,
                usage(9, 2, 0, 0),
            ),
            (
                events,
                "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\r\n\r\nevent: message_delta\r\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":15}}\r\n\r\n",
                usage(25, 15, 0, 0),
            ),
            (
                events,
                "data: {\"choices\":[{}],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}\n\ndata: [DONE]\n\n",
                usage(5, 6, 0, 0),
            ),
            (
                events,
                "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":30,\"input_tokens_details\":{\"cached_tokens\":8},\"output_tokens\":4,\"total_tokens\":34}}}",
                usage(30, 4, 0, 0),
            ),
            (
                events,
                "data: {\"candidates\":[],\"usageMetadata\":{\"promptTokenCount\":50,\"totalTokenCount\":50}}\r\n\r\ndata: {\"candidates\":[],\"usageMetadata\":{\"promptTokenCount\":50,\"cachedContentTokenCount\":40,\"candidatesTokenCount\":6,\"thoughtsTokenCount\":9,\"totalTokenCount\":65}}\r\n\r\n",
                usage(50, 15, 0, 0),
            ),
            (
                "application/json; charset=UTF-8",
                r#"[{"usageMetadata":{"promptTokenCount":8}},{"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":2,"toolUsePromptTokenCount":1,"totalTokenCount":20}}]"#,
                usage(9, 11, 0, 0),
            ),
            (
                "application/json",
                r#"{"response":{"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4,"totalTokenCount":7}}}"#,
                usage(3, 4, 0, 0),
            ),
        ];
        for (media, text, expected) in cases {
            for piece in [1, 7, 10_000] {
                assert_eq!(read(media, text, piece), expected, "{text}");
            }
        }
    }

    #[test]
    fn reply_without_usage_is_estimated() {
        let estimated = |output| Counted::Estimated(Usage { input: 100, output, ..Usage::default() });
        assert_eq!(read("application/json", "{\"a\":1}", 3), estimated(2));
        assert_eq!(read("text/event-stream", "data: {}\n\ndata: [DONE]\n\n", 3), estimated(2));
        assert_eq!(read("text/plain", "12345678", 3), estimated(2));
    }
}
