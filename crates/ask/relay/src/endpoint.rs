//! The requests that a relay forwards: method and path, letter by letter. Everything else is refused.
//!
//! Work that a server does later (batches, background answers) and stored files are missing on purpose: their tokens are
//! in no reply that passes here.

use hyper::Method;

/// Methods and paths of models. `*` stands for one name. `HEAD` is allowed with `GET`.
const KNOWN: [&str; 17] = [
    "POST /v1/messages",
    "POST /v1/messages/count_tokens",
    "POST /v1/chat/completions",
    "POST /v1/responses",
    "POST /v1/embeddings",
    "GET /v1/models",
    "GET /v1/models/*",
    "POST /v1/models/*:generateContent",
    "POST /v1/models/*:streamGenerateContent",
    "POST /v1/models/*:countTokens",
    "GET /v1beta/models",
    "GET /v1beta/models/*",
    "POST /v1beta/models/*:generateContent",
    "POST /v1beta/models/*:streamGenerateContent",
    "POST /v1beta/models/*:countTokens",
    "POST /v1beta/models/*:embedContent",
    "POST /v1beta/models/*:batchEmbedContents",
];

/// The form of a request by the end of its path, also for paths that the settings list.
const FORMS: [(&str, Form); 10] = [
    ("/messages/count_tokens", Form::Free(Dialect::Anthropic)),
    (":countTokens", Form::Free(Dialect::Google)),
    ("/messages", Form::Messages),
    ("/chat/completions", Form::Chat),
    ("/responses", Form::Responses),
    ("/embeddings", Form::Embeddings(Dialect::OpenAi)),
    (":generateContent", Form::Generate),
    (":streamGenerateContent", Form::Generate),
    (":embedContent", Form::Embeddings(Dialect::Google)),
    (":batchEmbedContents", Form::Embeddings(Dialect::Google)),
];

/// Ends of paths that start work whose tokens no reply of theirs contains.
const LATER: [&str; 4] = ["/batches", "/files", ":batchGenerateContent", ":asyncBatchEmbedContent"];

/// Parameters of a query that do not change what a reply says about its tokens.
const PARAMETERS: [&str; 3] = ["beta", "alt", "api-version"];

/// The form of a request, which decides on its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// It costs no tokens.
    Free(Dialect),
    /// Anthropic's messages.
    Messages,
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Text goes in, numbers come out.
    Embeddings(Dialect),
    /// Google's `generateContent`.
    Generate,
    /// A path of the settings whose body is not known.
    Unknown,
}

/// The form of error replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Anthropic's API.
    Anthropic,
    /// OpenAI's API.
    OpenAi,
    /// Google's Gemini API.
    Google,
    /// An answer that clients of all of them read.
    Any,
}

impl Form {
    /// Returns the form of a request.
    pub(crate) fn of(method: &Method, path: &str) -> Self {
        if method != Method::POST {
            return Form::Free(Dialect::Any);
        }
        FORMS.iter().find(|(end, _)| path.ends_with(end)).map_or(Form::Unknown, |(_, form)| *form)
    }

    /// Returns the API that the client speaks.
    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Form::Free(dialect) | Form::Embeddings(dialect) => dialect,
            Form::Messages => Dialect::Anthropic,
            Form::Chat | Form::Responses => Dialect::OpenAi,
            Form::Generate => Dialect::Google,
            Form::Unknown => Dialect::Any,
        }
    }

    /// Returns true if the reply costs tokens.
    pub(crate) fn is_metered(self) -> bool {
        !matches!(self, Form::Free(_))
    }
}

/// A path that is forwarded, with its method; without one, `GET`, `HEAD` and `POST` are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    method: Option<Method>,
    path: String,
}

impl Endpoint {
    /// Returns the endpoints that are forwarded without a setting.
    pub(crate) fn known() -> Vec<Self> {
        KNOWN.iter().filter_map(|text| Endpoint::parse(text).ok()).collect()
    }

    /// Reads `/path` or `METHOD /path`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (method, path) = match text.split_once(' ') {
            Some(("GET", path)) => (Some(Method::GET), path),
            Some(("POST", path)) => (Some(Method::POST), path),
            Some(_) => return Err(format!("cannot have the path `{text}`; only GET and POST can stand before a path")),
            None => (None, text),
        };
        if LATER.iter().any(|end| path.ends_with(end)) {
            return Err(format!("cannot have the path `{path}`; the tokens of such work are in no reply"));
        }
        let is_good = path.starts_with('/') && path.len() > 1 && is_plain(path) && path.matches('*').count() < 2;
        match is_good {
            true => Ok(Endpoint { method, path: path.trim_end_matches('/').to_owned() }),
            false => Err(format!("cannot have the path `{path}`; use a path such as `/v1/messages`")),
        }
    }

    /// Returns true if the endpoint takes a path.
    pub(crate) fn has(&self, path: &str) -> bool {
        match self.path.split_once('*') {
            None => path == self.path,
            Some((before, after)) => path
                .strip_prefix(before)
                .and_then(|rest| rest.strip_suffix(after))
                .is_some_and(|name| is_name(name) && (after.is_empty() || !name.contains(':'))),
        }
    }

    /// Returns true if the endpoint takes a method.
    pub(crate) fn takes(&self, method: &Method) -> bool {
        let get = [Method::GET, Method::HEAD];
        match &self.method {
            Some(own) if *own == Method::GET => get.contains(method),
            Some(own) => own == method,
            None => get.contains(method) || *method == Method::POST,
        }
    }
}

/// Returns the first parameter of a query that is not forwarded: a filter could hide the tokens of a reply.
pub(crate) fn foreign_parameter(query: &str) -> Option<&str> {
    let names = query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name));
    names.into_iter().find(|name| !name.is_empty() && !PARAMETERS.contains(name))
}

/// Returns true for the name of a model.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|sign| sign.is_ascii_alphanumeric() || b"._-:@".contains(&sign))
}

/// Returns true if a path means the same to every server: no empty segments, no dots, no escapes.
pub(crate) fn is_plain(path: &str) -> bool {
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    let mut is_good = !path.contains(['%', '\\', ';']);
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        is_good &= (!segment.is_empty() || is_last) && segment != "." && segment != "..";
    }
    is_good
}
