//! A model that can be asked: retries transient failures, detects the JSON mechanisms that its server supports, and
//! remembers them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use interlock_http::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Ask, Asker, Fault, Means, NOTICE, Reply, Usage, anthropic, call, chat, estimate_tokens, ollama, refusal, responses,
    retry,
    settings::{Backend, Command, Price, Provider, Server},
    wire::Wire,
};

/// The mechanism that each server and model accepted after it had refused a stronger one. It lives as long as the
/// process.
#[derive(Clone, Debug, Default)]
pub struct AcceptedMeans(Arc<Mutex<BTreeMap<Key, Means>>>);

/// The server, the model, and if tools are offered.
type Key = (String, String, bool);

/// A model, reached over a server or a program.
#[derive(Clone, Debug)]
pub struct Model {
    name: String,
    backend: Backend,
    client: Client,
    found: AcceptedMeans,
}

/// One request and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Try {
    /// The judge's name in the settings.
    pub judge: String,
    /// The provider's name in telemetry.
    pub provider: String,
    /// The model that was requested.
    pub model: String,
    /// The base URL of the server; empty for a program.
    pub server: String,
    /// The mechanism that made the model answer in JSON.
    pub means: Means,
    /// The start of the request, in milliseconds since 1970.
    pub begun_ms: i64,
    /// The duration of the request in milliseconds.
    pub took_ms: i64,
    /// The output token limit of the request.
    pub reply_tokens_max: u32,
    /// The tokens that the request used.
    pub usage: Usage,
    /// The cost of those tokens.
    pub cost: f64,
    /// The stop reason, if there was a reply.
    pub finish: Option<String>,
    /// The model that answered, if the server names it.
    pub answered_by: Option<String>,
    /// The server's id of the answer.
    pub id: Option<String>,
    /// The failure, if there was no reply.
    pub fault: Option<String>,
    /// The confinement of the program, if a program answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confined: Option<Value>,
}

/// The target of a request and its start time.
struct Whom<'a> {
    provider: &'static str,
    model: &'a str,
    server: &'a str,
    means: Means,
    begun_ms: i64,
}

/// The result of a question, with all requests that it took.
#[derive(Clone, Debug)]
pub struct Called {
    /// Every request, in order.
    pub tries: Vec<Try>,
    /// The reply to the last request.
    pub reply: Result<Reply, Fault>,
}

impl Model {
    /// Creates the model for a judge of the settings.
    pub fn new(name: &str, backend: Backend, client: &Client, found: &AcceptedMeans) -> Self {
        let proxy = if let Backend::Server(server) = &backend { server.proxy.clone() } else { None };
        Model { name: name.to_owned(), backend, client: client.clone().through(proxy), found: found.clone() }
    }

    /// Returns the judge's name in the settings.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the context window: the tokens that it can read and write together.
    pub fn window_tokens(&self) -> u64 {
        match &self.backend {
            Backend::Server(server) => server.window_tokens,
            Backend::Command(command) => command.window_tokens,
        }
    }

    /// Returns the maximum length of an answer, in tokens.
    pub fn reply_tokens_max(&self) -> u32 {
        match &self.backend {
            Backend::Server(server) => server.reply_tokens_max,
            Backend::Command(command) => u32::try_from(command.window_tokens / 4).unwrap_or(u32::MAX),
        }
    }

    /// Returns the maximum length of a conversation, in tokens, before old messages are replaced by a digest.
    pub fn conversation_tokens_max(&self) -> Option<u64> {
        if let Backend::Server(server) = &self.backend { server.conversation_tokens_max } else { None }
    }

    /// Returns the price of its tokens; zero for a program.
    pub fn price(&self) -> Price {
        if let Backend::Server(server) = &self.backend { server.price } else { Price::default() }
    }

    /// Sends the question and retries transient failures.
    pub async fn ask(&self, ask: &Ask<'_>, asker: &dyn Asker) -> Called {
        let mut tries = Vec::new();
        let reply = match &self.backend {
            Backend::Command(program) => {
                let model = program.argv.first().map_or("", String::as_str);
                let whom =
                    Whom { provider: "command", model, server: "", means: Means::Prompt, begun_ms: asker.now_ms() };
                let reply = ask_program(program, ask, asker).await;
                tries.push(self.tried(whom, ask, asker.now_ms(), &reply));
                reply
            }
            Backend::Server(server) => self.ask_server(server, ask, asker, &mut tries).await,
        };
        Called { tries, reply }
    }

    async fn ask_server(
        &self,
        server: &Server,
        ask: &Ask<'_>,
        asker: &dyn Asker,
        tries: &mut Vec<Try>,
    ) -> Result<Reply, Fault> {
        let wire = wire(server.provider);
        let mut means = self.possible(server, wire, ask).into_iter().peekable();
        let (mut passing, mut was_refused) = (0, false);
        loop {
            let Some(current) = means.peek().copied() else { return Err(Fault::Local("nothing can be asked".into())) };
            let begun_ms = asker.now_ms();
            let whom = Whom {
                provider: wire.provider(),
                model: &server.model,
                server: &server.base_url,
                means: current,
                begun_ms,
            };
            let reply = call::call(&self.client, server, wire, ask, current, asker).await;
            tries.push(self.tried(whom, ask, asker.now_ms(), &reply));
            let fault = match reply {
                Ok(reply) => {
                    if was_refused {
                        self.found.remember(server, ask, current);
                    }
                    return Ok(reply);
                }
                Err(fault) => fault,
            };
            if self.is_weaker_needed(current, &fault, asker) && means.len() > 1 {
                // A refusal that does not name its reason may be of this request alone.
                was_refused |= current == Means::Calls || refusal::names_mechanism(&fault);
                means.next();
                continue;
            }
            let wait = retry::wait(&fault, passing, server.retry_wait_max);
            match wait.filter(|_| retry::may_pass(&fault) && passing < server.retries_max) {
                Some(wait) => asker.sleep(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)).await,
                None => return Err(fault),
            }
            passing += 1;
        }
    }

    /// Reports if the server refused the mechanism. Tools are given up only if the server says that it has none, and people
    /// are told so.
    fn is_weaker_needed(&self, current: Means, fault: &Fault, asker: &dyn Asker) -> bool {
        if current != Means::Calls {
            return refusal::is_form_refused(fault);
        }
        let has_none = refusal::has_no_tools(fault);
        if has_none {
            asker.show(&format!("{NOTICE}{} has no tools ({fault}); it answers with JSON instead", self.name));
        }
        has_none
    }

    /// Returns the mechanisms to try, starting with the one that is known to work.
    fn possible(&self, server: &Server, wire: &dyn Wire, ask: &Ask<'_>) -> Vec<Means> {
        let uses_calls = !ask.tools.is_empty() && server.tools != Some(false);
        let calls = uses_calls.then_some(Means::Calls);
        if let Some(means) = server.means {
            return calls.into_iter().chain([means]).collect();
        }
        let strongest = if uses_calls { Means::Calls } else { Means::Schema };
        let known = self.found.known(server, ask).unwrap_or(strongest);
        // Anthropic's schema option and strict tools enforce the schema, so they do not accept an open one.
        let needs_subset = |means: Means| match means {
            Means::StrictTool => true,
            Means::Schema => server.provider == Provider::Anthropic,
            _ => false,
        };
        let all = calls.into_iter().chain(wire.means().iter().copied());
        all.filter(|means| *means >= known && (ask.subset.is_some() || !needs_subset(*means))).collect()
    }

    fn tried(&self, whom: Whom<'_>, ask: &Ask<'_>, now_ms: i64, reply: &Result<Reply, Fault>) -> Try {
        let answer = reply.as_ref().ok();
        let usage = answer.map_or_else(|| lost(ask, reply), |reply| reply.usage);
        Try {
            judge: self.name.clone(),
            provider: whom.provider.to_owned(),
            model: whom.model.to_owned(),
            server: whom.server.to_owned(),
            means: whom.means,
            begun_ms: whom.begun_ms,
            took_ms: now_ms - whom.begun_ms,
            reply_tokens_max: ask.reply_tokens_max,
            usage,
            cost: self.price().of(usage.input_tokens, usage.output_tokens),
            finish: answer.map(|reply| reply.finish.clone()),
            answered_by: answer.and_then(|reply| reply.model.clone()),
            id: answer.and_then(|reply| reply.id.clone()),
            fault: reply.as_ref().err().map(ToString::to_string),
            confined: answer.and_then(|reply| reply.confined.clone()),
        }
    }
}

/// Asks a program, which gets the whole question at once. It reports no usage, so that is estimated.
async fn ask_program(program: &Command, ask: &Ask<'_>, asker: &dyn Asker) -> Result<Reply, Fault> {
    let question = json!({ "system": ask.system(Means::Prompt), "messages": ask.texts(), "schema": ask.schema });
    let reply = asker.run(program, question.to_string()).await?;
    let output_tokens = estimate_tokens(&reply.text);
    Ok(Reply { usage: Usage { input_tokens: ask.tokens(), output_tokens, is_estimate: true }, ..reply })
}

/// Estimates the usage of an answer that did not complete: the input was read, and the output length is unknown.
fn lost(ask: &Ask<'_>, reply: &Result<Reply, Fault>) -> Usage {
    let was_read = matches!(
        reply,
        Err(Fault::Stopped(_) | Fault::BrokenOff(_) | Fault::Refusal(_) | Fault::TooLong(_) | Fault::NotUnderstood(_))
            | Err(Fault::Timeout { what: "further piece" | "whole answer", .. })
    );
    match was_read {
        true => Usage { input_tokens: ask.tokens(), output_tokens: 0, is_estimate: true },
        false => Usage::default(),
    }
}

fn wire(provider: Provider) -> &'static dyn Wire {
    match provider {
        Provider::Anthropic => &anthropic::Anthropic,
        Provider::OpenaiResponses => &responses::Responses,
        Provider::Ollama => &ollama::Ollama,
        Provider::OpenaiChat | Provider::Command => &chat::Chat,
    }
}

impl AcceptedMeans {
    fn known(&self, server: &Server, ask: &Ask<'_>) -> Option<Means> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(&key(server, ask)).copied()
    }

    fn remember(&self, server: &Server, ask: &Ask<'_>, means: Means) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.insert(key(server, ask), means);
    }
}

fn key(server: &Server, ask: &Ask<'_>) -> Key {
    (server.base_url.clone(), server.model.clone(), !ask.tools.is_empty())
}
