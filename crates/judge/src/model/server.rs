//! A model that can be asked: tries again what may pass, finds out what its server can do, and remembers it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use interlock_activity::{Attempt, Host};
use interlock_http::Client;
use interlock_program::Sandbox;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Ask, Fault, Means, Reply, Usage, anthropic, call, chat, command, ollama, responses, retry, wire::Wire};
use crate::settings::{Backend, Price, Provider, Server};

/// What servers were found to take after they had refused something stronger, by URL and model: for as long as the process lives.
#[derive(Clone, Debug, Default)]
pub struct Found(Arc<Mutex<BTreeMap<(String, String), Means>>>);

/// A model that can be asked.
#[derive(Clone, Debug)]
pub struct Model {
    name: String,
    backend: Backend,
    client: Client,
    found: Found,
}

/// One request and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Try {
    /// The judge's name.
    pub judge: String,
    /// The provider, in telemetry's words.
    pub provider: String,
    /// The model that was asked for.
    pub model: String,
    /// Where.
    pub server: String,
    /// How it was made to answer in JSON.
    pub means: Means,
    /// When.
    pub begun_ms: i64,
    /// How long it took.
    pub took_ms: i64,
    /// The most tokens it might write.
    pub reply_tokens_max: u32,
    /// What was used up.
    pub usage: Usage,
    /// What that cost.
    pub cost: f64,
    /// Why the model stopped.
    pub finish: Option<String>,
    /// Which model answered.
    pub answered_by: Option<String>,
    /// The server's name for the answer.
    pub id: Option<String>,
    /// What went wrong.
    pub fault: Option<String>,
    /// What a program was confined by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confined: Option<Value>,
}

/// Who is asked, and how.
struct Whom<'a> {
    provider: &'static str,
    model: &'a str,
    server: &'a str,
    means: Means,
    begun_ms: i64,
}

/// What became of a question, and how.
#[derive(Clone, Debug)]
pub struct Called {
    /// Every request.
    pub tries: Vec<Try>,
    /// The answer of the last.
    pub reply: Result<Reply, Fault>,
}

impl Model {
    /// A judge of the settings.
    pub fn new(name: &str, backend: Backend, client: &Client, found: &Found) -> Self {
        let proxy = if let Backend::Server(server) = &backend { server.proxy.clone() } else { None };
        Model { name: name.to_owned(), backend, client: client.clone().through(proxy), found: found.clone() }
    }

    /// What it can read and write together.
    pub fn window_tokens(&self) -> u64 {
        match &self.backend {
            Backend::Server(server) => server.window_tokens,
            Backend::Command(command) => command.window_tokens,
        }
    }

    /// The longest answer it is asked for.
    pub fn reply_tokens_max(&self) -> u32 {
        match &self.backend {
            Backend::Server(server) => server.reply_tokens_max,
            Backend::Command(command) => u32::try_from(command.window_tokens / 4).unwrap_or(u32::MAX),
        }
    }

    /// What it costs.
    pub fn price(&self) -> Price {
        if let Backend::Server(server) = &self.backend { server.price } else { Price::default() }
    }

    /// Asks, and tries again what may pass. A program is run in the sandbox.
    pub async fn ask(&self, ask: &Ask<'_>, attempt: &Attempt, sandbox: &Sandbox) -> Called {
        let host = &*attempt.host;
        let mut tries = Vec::new();
        let reply = match &self.backend {
            Backend::Command(program) => {
                let model = program.argv.first().map_or("", String::as_str);
                let whom =
                    Whom { provider: "command", model, server: "", means: Means::Prompt, begun_ms: host.now_ms() };
                let reply = command::run(program, ask, attempt, sandbox).await;
                tries.push(self.tried(whom, ask, host.now_ms(), &reply));
                reply
            }
            Backend::Server(server) => self.ask_server(server, ask, host, &mut tries).await,
        };
        Called { tries, reply }
    }

    async fn ask_server(
        &self,
        server: &Server,
        ask: &Ask<'_>,
        host: &dyn Host,
        tries: &mut Vec<Try>,
    ) -> Result<Reply, Fault> {
        let wire = wire(server.provider);
        let mut means = self.possible(server, wire, ask).into_iter().peekable();
        let (mut passing, mut was_refused) = (0, false);
        loop {
            let Some(current) = means.peek().copied() else { return Err(Fault::Local("nothing can be asked".into())) };
            let begun_ms = host.now_ms();
            let whom = Whom {
                provider: wire.provider(),
                model: &server.model,
                server: &server.base_url,
                means: current,
                begun_ms,
            };
            let reply = call::call(&self.client, server, wire, ask, current, begun_ms).await;
            tries.push(self.tried(whom, ask, host.now_ms(), &reply));
            let fault = match reply {
                Ok(reply) => {
                    if was_refused {
                        self.found.remember(server, current);
                    }
                    return Ok(reply);
                }
                Err(fault) => fault,
            };
            if retry::is_form_refused(&fault) && means.len() > 1 {
                was_refused = true;
                means.next();
                continue;
            }
            let wait = retry::wait(&fault, passing, server.retry_wait_max);
            match wait.filter(|_| retry::may_pass(&fault) && passing < server.retries_max) {
                Some(wait) => host.sleep(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)).await,
                None => return Err(fault),
            }
            passing += 1;
        }
    }

    /// What can be tried, from what is known to work on.
    fn possible(&self, server: &Server, wire: &dyn Wire, ask: &Ask<'_>) -> Vec<Means> {
        if let Some(means) = server.means {
            return vec![means];
        }
        let known = self.found.known(server).unwrap_or(Means::Schema);
        // Anthropic's schema and strict tools enforce what they are given and so take no open one.
        let needs_subset = |means: Means| match means {
            Means::StrictTool => true,
            Means::Schema => server.provider == Provider::Anthropic,
            _ => false,
        };
        let all = wire.means().iter().copied();
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

/// What an answer that did not come to its end is taken to have used up: it was read, and nobody knows how much was written.
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

impl Found {
    fn known(&self, server: &Server) -> Option<Means> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(&(server.base_url.clone(), server.model.clone())).copied()
    }

    fn remember(&self, server: &Server, means: Means) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.insert((server.base_url.clone(), server.model.clone()), means);
    }
}
