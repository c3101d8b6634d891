//! Reads the reason for which a server refused a request from its words: providers agree on no code.
//!
//! Three reasons matter. A conversation that does not fit into the model's window is compacted. A server or model that has
//! no tools is asked for JSON instead. A server that does not know a mechanism for JSON is asked with a weaker one. Every
//! other refusal is reported as it is.

use std::sync::LazyLock;

use regex::Regex;

use crate::Fault;

/// The input is longer than the window of the model. Known of Anthropic, OpenAI, Azure, Gemini, Ollama, llama.cpp, vLLM, Mistral,
/// Groq, xAI, Bedrock, Cohere, OpenRouter, DashScope, LM Studio and those that copy one of them.
const OVERFLOW: &str = r"(?ixs)
    context_length_exceeded | exceed_context_size | request_too_large | max_prompt_tokens_exceeded | context_window_exceeded
    | maximum\s(?:context|prompt|input)\s(?:length|size|window)
    | (?:prompt|input|request|messages?|conversation|context)\s(?:is|are|was)?\s?too\s(?:long|large)
    | too\slarge\sfor\smodel
    | exceed\w*\s[^.]{0,60}(?:context|token\slimit|tokens\sallowed|maximum\snumber\sof\stokens|input\slimit|prompt\slimit)
    | (?:context|input\slength|prompt|token\scount|input\stokens|prompt\stokens)[^.]{0,60}\sexceed
    | too\smany\s(?:input\s|prompt\s|total\s)?tokens
    | reduce\sthe\s(?:length|size)\sof\sthe\s(?:messages|prompt|input|request)
    | (?:greater|larger|longer|more)\sthan\sthe\s(?:maximum\s)?(?:context|model's\s(?:context|maximum))
    | range\sof\sinput\slength | tokens\s.{0,40}must\sbe\s<= | context\sthe\soverflows
    ";

/// The server or the model has no tools. A complaint about one tool, its schema or a call is none of these.
const NO_TOOLS: &str = r"(?ixs)
    (?:does\s?n[o']t|do\snot|cannot|can't|without)\s(?:currently\s)?(?:support\s)?(?:for\s)?(?:the\suse\sof\s)?(?:native\s)?[`'\x22]?(?:tools?|functions?|tool[-_\s]?(?:use|call\w*|choice)|function[-_\s]?call\w*)\b
    | (?:tools?|functions?|tool[-_\s]?(?:use|call\w*|choice)|function[-_\s]?call\w*)[`'\x22]?\s(?:param\w*\s|feature\s|field\s)?(?:is|are)\s(?:currently\s)?(?:not\s(?:yet\s)?(?:supported|enabled|available|allowed|permitted|implemented)|unsupported|disabled)
    | (?:unknown|unrecognized|unrecognised|unexpected|unsupported|extra|additional)\s[^.]{0,60}\b(?:tools|tool_choice|functions)\b
    | \b(?:tools|tool_choice|functions)[`'\x22]?\s?:\s(?:extra\sinputs|unknown|unexpected|not\ssupported|unsupported)
    | tool\schoice\srequires | tools?\sparam\w*\srequires | support\stool\suse
    ";

/// The server complains about the mechanism that makes it answer in JSON.
const MECHANISM: &str = r"(?ixs) format | schema | grammar | guided | structured | strict | \btools? | function | output_config
    | unsupported | unrecogni[sz]ed | unknown\s(?:field|param|arg|key|name|prop) | extra\sinputs | not\s(?:supported|permitted|implemented)";

static PATTERNS: LazyLock<[Option<Regex>; 3]> =
    LazyLock::new(|| [OVERFLOW, NO_TOOLS, MECHANISM].map(|text| Regex::new(text).ok()));

fn says(at: usize, text: &str) -> bool {
    PATTERNS[at].as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Reports if these words of a server say that the input does not fit into the model's window. `status` is that of the
/// answer; `None` for an error in the middle of one.
pub(crate) fn is_overflow(status: Option<u16>, words: &str) -> bool {
    match status {
        // A limit of tokens per minute is no limit of the window, unless one request alone is above it.
        Some(429) => words.to_lowercase().contains("request too large"),
        Some(400 | 413 | 422 | 500) | None => says(0, words),
        _ => false,
    }
}

/// Reports if the server refused the request because it has no tools for this model.
pub(crate) fn has_no_tools(fault: &Fault) -> bool {
    let may_be = |status: u16| matches!(status, 400 | 404 | 405 | 415 | 422 | 500 | 501);
    matches!(fault, Fault::Status { status, said, .. } if may_be(*status) && says(1, said))
}

/// Reports if the server refused the form of the request, so that a weaker mechanism for JSON may work.
pub(crate) fn is_form_refused(fault: &Fault) -> bool {
    matches!(fault, Fault::Status { status: 400 | 404 | 405 | 415 | 422 | 501, .. })
}

/// Reports if the refusal names the mechanism, so that it will be the same for the next request.
pub(crate) fn names_mechanism(fault: &Fault) -> bool {
    matches!(fault, Fault::Status { said, .. } if says(2, said))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, said: &str) -> Fault {
        Fault::Status { status, said: said.to_owned(), retry_after_ms: None }
    }

    #[test]
    fn every_pattern_is_valid() {
        assert!(PATTERNS.iter().all(Option::is_some));
    }

    #[test]
    fn overflow_is_recognised_by_the_words_of_each_provider() {
        for (status, words) in [
            (400, "invalid_request_error: prompt is too long: 208310 tokens > 200000 maximum"),
            (400, "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input length"),
            (
                413,
                r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            ),
            (
                400,
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130011 tokens.",
            ),
            (
                400,
                r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#,
            ),
            (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
            (400, "prompt too long; exceeded max context length by 120 tokens"),
            (400, "the input length exceeds the context length"),
            (400, "the request exceeds the available context size, try increasing it"),
            (500, r#"{"error":{"code":500,"type":"exceed_context_size_error"}}"#),
            (
                400,
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            ),
            (413, "Please reduce the length of the messages or completion."),
            (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
            (400, "Input is too long for requested model."),
            (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097"),
            (400, "Range of input length should be [1, 30720]"),
            (429, "Request too large for gpt on tokens per min (TPM): Limit 30000, Requested 50000"),
        ] {
            assert!(is_overflow(Some(status), words), "{status} {words}");
        }
    }

    #[test]
    fn other_refusals_are_no_overflow() {
        for (status, words) in [
            (400, "Your credit balance is too low to access the API"),
            (400, "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens"),
            (400, "max_tokens is too large: 50000. This model supports at most 16384 completion tokens"),
            (400, "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after"),
            (429, "Rate limit reached for gpt in organization x on tokens per min (TPM): Limit 30000, Used 29000"),
            (401, "invalid x-api-key"),
            (400, "Bad Request"),
        ] {
            assert!(!is_overflow(Some(status), words), "{status} {words}");
            assert!(!has_no_tools(&refused(status, words)), "{status} {words}");
        }
    }

    #[test]
    fn only_words_about_missing_tools_switch_them_off() {
        for (status, words) in [
            (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
            (400, "invalid_request_error: tools is not supported in this model"),
            (400, "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"),
            (404, "No endpoints found that support tool use. To learn more about provider routing, visit our page"),
            (500, "tools param requires --jinja flag"),
            (400, "Unrecognized request argument supplied: tools"),
            (422, "tools: Extra inputs are not permitted"),
            (400, "Function calling is not enabled for this model"),
            (501, "tool calling is not implemented"),
        ] {
            assert!(has_no_tools(&refused(status, words)), "{status} {words}");
        }
        for words in [
            "tools.0.custom.input_schema: JSON schema is invalid",
            "Invalid schema for function 'read_file': array schema missing items",
            "messages: roles must alternate",
            "Invalid value for 'tool_choice': expected an object",
            "Duplicate tool_call_id in messages",
        ] {
            assert!(!has_no_tools(&refused(400, words)), "{words}");
        }
    }
}
