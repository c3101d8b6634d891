//! Parser for the file `judges.toml`.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use interlock_http::{Address, Proxy};
use interlock_model::{
    Means,
    settings::{Command, Key, Price, Provider, Timeouts},
};
use interlock_sandbox::{Kind, Network};
use serde::Deserialize;

use super::{Backend, Budget, Server, Settings, Trusted};

/// The default context window, which is that of small models.
const WINDOW_TOKENS: u64 = 8_192;

/// The default output token limit.
const REPLY_TOKENS_MAX: u32 = 2_048;

/// The maximum number of votes; more would not be worth their cost.
const VOTES_MAX: u32 = 9;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    judges: BTreeMap<String, Entry>,
    #[serde(default)]
    chains: toml::Table,
    #[serde(default)]
    votes: toml::Table,
    #[serde(default)]
    budget: BudgetForm,
    embeddings: Option<EmbeddingsForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EmbeddingsForm {
    base_url: String,
    model: String,
    key_env: Option<String>,
    key_file: Option<PathBuf>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    proxy: Option<String>,
    #[serde(default)]
    timeouts: TimeoutsForm,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetForm {
    tokens_per_run: Option<u64>,
    cost_per_run: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    provider: Provider,
    base_url: Option<String>,
    model: Option<String>,
    key_env: Option<String>,
    key_file: Option<PathBuf>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    proxy: Option<String>,
    #[serde(default)]
    timeouts: TimeoutsForm,
    stream: Option<bool>,
    retries_max: Option<u32>,
    retry_wait_max_s: Option<f64>,
    window_tokens: Option<u64>,
    reply_tokens_max: Option<u32>,
    temperature: Option<f64>,
    means: Option<Means>,
    tools: Option<bool>,
    conversation_tokens_max: Option<u64>,
    #[serde(default)]
    price: Price,
    command: Option<Vec<String>>,
    #[serde(default)]
    env: Vec<String>,
    network: Option<Network>,
    sandbox: Option<Kind>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeoutsForm {
    connect_s: Option<f64>,
    first_byte_s: Option<f64>,
    silence_s: Option<f64>,
    total_s: Option<f64>,
}

/// Parses the text of one settings file.
pub(super) fn read(text: &str, trusted: Trusted) -> Result<Settings, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let judges = file.judges.into_iter().map(|(name, entry)| {
        let backend = backend(entry, trusted).map_err(|why| format!("judges.{name}: {why}"))?;
        match [super::RULES, super::PERSON].contains(&name.as_str()) {
            true => Err(format!("judges.{name}: this judge is already defined")),
            false => Ok((name, backend)),
        }
    });
    let chains = flat(&file.chains, "").into_iter().map(|(name, value)| {
        let chain = value.try_into::<Vec<String>>().ok().filter(|chain| !chain.is_empty());
        chain.map(|chain| (name.clone(), chain)).ok_or(format!("chains.{name} must be a list of judges"))
    });
    let votes = flat(&file.votes, "").into_iter().map(|(name, value)| {
        let votes = value.as_integer().and_then(|votes| u32::try_from(votes).ok());
        let votes = votes.filter(|votes| (1..=VOTES_MAX).contains(votes));
        votes.map(|votes| (name.clone(), votes)).ok_or(format!("votes.{name} must be a number from 1 to {VOTES_MAX}"))
    });
    Ok(Settings {
        judges: judges.collect::<Result<_, _>>()?,
        chains: chains.collect::<Result<_, _>>()?,
        votes: votes.collect::<Result<_, _>>()?,
        budget: Budget { tokens: file.budget.tokens_per_run, cost: file.budget.cost_per_run },
        embeddings: file.embeddings.map(|form| embeddings(form, trusted)).transpose()?,
    })
}

/// Flattens nested tables: TOML reads `judge.review = …` as a table in a table, but it is one activity name.
fn flat(table: &toml::Table, before: &str) -> Vec<(String, toml::Value)> {
    let parts = table.iter().flat_map(|(name, value)| {
        let name = format!("{before}{name}");
        match value {
            toml::Value::Table(inner) => flat(inner, &format!("{name}.")),
            other => vec![(name, other.clone())],
        }
    });
    parts.collect()
}

fn backend(entry: Entry, trusted: Trusted) -> Result<Backend, String> {
    if trusted == Trusted::No {
        may_stand_in_project(&entry)?;
    }
    match entry.provider {
        Provider::Command => command(entry).map(Backend::Command),
        _ => server(entry).map(|server| Backend::Server(Box::new(server))),
    }
}

/// Reads the embeddings server. It is configured like the server of a judge, with the same restrictions for project
/// files.
fn embeddings(form: EmbeddingsForm, trusted: Trusted) -> Result<Server, String> {
    let entry = Entry {
        provider: Provider::OpenaiChat,
        base_url: Some(form.base_url),
        model: Some(form.model),
        key_env: form.key_env,
        key_file: form.key_file,
        headers: form.headers,
        proxy: form.proxy,
        timeouts: form.timeouts,
        stream: None,
        retries_max: None,
        retry_wait_max_s: None,
        window_tokens: None,
        reply_tokens_max: None,
        temperature: None,
        means: None,
        tools: None,
        conversation_tokens_max: None,
        price: Price::default(),
        command: None,
        env: Vec::new(),
        network: None,
        sandbox: None,
    };
    let said = |why: String| format!("embeddings: {why}");
    if trusted == Trusted::No {
        may_stand_in_project(&entry).map_err(said)?;
    }
    server(entry).map_err(said)
}

/// Checks the restrictions for project files: settings from a repository must not send keys or prompts to other hosts,
/// nor start programs.
fn may_stand_in_project(entry: &Entry) -> Result<(), String> {
    let elsewhere = "is allowed only in the judges.toml of your own store";
    let is_loopback = |url: &str| Address::parse(url).is_ok_and(|(address, _)| address.is_loopback());
    match () {
        () if entry.provider == Provider::Command => Err(format!("a command {elsewhere}")),
        () if entry.key_env.is_some() || entry.key_file.is_some() => Err(format!("a key {elsewhere}")),
        () if entry.proxy.is_some() => Err(format!("a proxy {elsewhere}")),
        () if !entry.base_url.as_deref().or(usual_url(entry.provider)).is_some_and(is_loopback) => {
            Err(format!("a server on another computer {elsewhere}"))
        }
        () => Ok(()),
    }
}

fn usual_url(provider: Provider) -> Option<&'static str> {
    match provider {
        Provider::Anthropic => Some("https://api.anthropic.com"),
        Provider::OpenaiResponses | Provider::OpenaiChat => Some("https://api.openai.com/v1"),
        Provider::Ollama => Some("http://127.0.0.1:11434"),
        Provider::Command => None,
    }
}

fn command(entry: Entry) -> Result<Command, String> {
    let argv = entry.command.filter(|argv| !argv.is_empty()).ok_or("`command` must be a program and its arguments")?;
    Ok(Command {
        argv,
        env: entry.env,
        network: entry.network.unwrap_or_default(),
        sandbox: entry.sandbox,
        timeouts: timeouts(&entry.timeouts)?,
        window_tokens: entry.window_tokens.unwrap_or(WINDOW_TOKENS),
    })
}

fn server(entry: Entry) -> Result<Server, String> {
    let base_url = entry.base_url.as_deref().or(usual_url(entry.provider)).unwrap_or_default().trim_end_matches('/');
    Address::parse(base_url).map_err(|why| format!("`base_url` {why}"))?;
    let key = match (entry.key_env, entry.key_file) {
        (Some(_), Some(_)) => return Err("`key_env` and `key_file` cannot both be given".to_owned()),
        (Some(name), None) => Key::Env(name),
        (None, Some(path)) => Key::File(path),
        (None, None) => Key::None,
    };
    let proxy = entry.proxy.map(|url| Proxy::parse(&url).map_err(|why| format!("`proxy` {why}"))).transpose()?;
    let (window_tokens, reply_tokens_max) =
        (entry.window_tokens.unwrap_or(WINDOW_TOKENS), entry.reply_tokens_max.unwrap_or(REPLY_TOKENS_MAX));
    if u64::from(reply_tokens_max) >= window_tokens {
        return Err(format!(
            "`reply_tokens_max` {reply_tokens_max} leaves no room in the window of {window_tokens} tokens"
        ));
    }
    Ok(Server {
        provider: entry.provider,
        base_url: base_url.to_owned(),
        model: entry.model.ok_or("`model` is missing")?,
        key,
        headers: entry.headers,
        proxy,
        timeouts: timeouts(&entry.timeouts)?,
        stream: entry.stream.unwrap_or(true),
        retries_max: entry.retries_max.unwrap_or(3),
        retry_wait_max: duration("retry_wait_max_s", entry.retry_wait_max_s)?.unwrap_or(Duration::from_secs(60)),
        window_tokens,
        reply_tokens_max,
        temperature: entry.temperature,
        means: entry.means,
        tools: entry.tools,
        conversation_tokens_max: entry.conversation_tokens_max,
        price: entry.price,
    })
}

fn timeouts(form: &TimeoutsForm) -> Result<Timeouts, String> {
    let usual = Timeouts::default();
    Ok(Timeouts {
        connect: duration("connect_s", form.connect_s)?.unwrap_or(usual.connect),
        first_byte: duration("first_byte_s", form.first_byte_s)?.unwrap_or(usual.first_byte),
        silence: duration("silence_s", form.silence_s)?.unwrap_or(usual.silence),
        total: duration("total_s", form.total_s)?.unwrap_or(usual.total),
    })
}

fn duration(name: &str, seconds: Option<f64>) -> Result<Option<Duration>, String> {
    const SECONDS_MAX: f64 = 86_400.0;
    match seconds {
        None => Ok(None),
        Some(seconds) if (0.0..=SECONDS_MAX).contains(&seconds) => Ok(Some(Duration::from_secs_f64(seconds))),
        Some(seconds) => Err(format!("`{name}` must be between 0 and {SECONDS_MAX} seconds, not {seconds}")),
    }
}
