//! The settings of agents (`agents.toml`): the available agents, their limits, and the default agent.
//!
//! There are two such files. The user's file, in the store, may contain every setting. The project's file
//! (`.interlock/agents.toml`) comes with a repository that a stranger may have written or that a run has changed: it may
//! choose the default among the user's agents and lower limits, but define no agent, because an agent is a program with
//! keys.

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;

use crate::relay::{RelayForm, RelaySettings, has_placeholder};

/// The name of the settings file in the store.
pub const FILE: &str = "agents.toml";

/// The path of the settings file in a project.
pub const PROJECT_FILE: &str = ".interlock/agents.toml";

/// The maximum size of a project's file.
const BYTES_MAX: u64 = 1024 * 1024;

/// The time that a turn may take if the settings do not limit it.
const TURN_MINUTES: f64 = 60.0;

/// The longest turn: a week.
const TURN_MINUTES_MAX: f64 = 10_080.0;

/// The available agents and the default agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The agents by their name.
    pub agents: BTreeMap<String, Agent>,
    /// The agent that is used if neither the machine nor the user chooses one.
    pub default: Option<String>,
}

/// The protocol that an agent speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverKind {
    /// The Agent Client Protocol, version 1.
    Acp,
    /// Claude Code with JSON lines in both directions.
    Claude,
    /// The app server of Codex.
    Codex,
    /// Our own machine `coder`.
    Coder,
    /// The small protocol of `docs/agents.md`.
    Command,
}

impl DriverKind {
    const ALL: [DriverKind; 5] =
        [DriverKind::Acp, DriverKind::Claude, DriverKind::Codex, DriverKind::Coder, DriverKind::Command];

    /// Returns the name of the protocol in `agents.toml`.
    pub fn name(self) -> &'static str {
        match self {
            DriverKind::Acp => "acp",
            DriverKind::Claude => "claude",
            DriverKind::Codex => "codex",
            DriverKind::Coder => "coder",
            DriverKind::Command => "command",
        }
    }

    fn named(name: &str) -> Option<Self> {
        DriverKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    /// The protocol that it speaks.
    pub driver: DriverKind,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The environment variables that are passed; a value `env:NAME` is read from our own environment.
    pub env: BTreeMap<String, String>,
    /// The model, if the agent should not use its default.
    pub model: Option<String>,
    /// The hosts that it may reach, each as `host:port`.
    pub network: Vec<String>,
    /// Credential files of the user, copied into its private home for the time of a turn.
    pub login: Vec<String>,
    /// The limits of a turn and of a run.
    pub limits: Limits,
    /// True if the agent's own commits are left in the repository.
    pub may_commit: bool,
    /// The relay that holds the key of its model's server.
    pub relay: Option<RelaySettings>,
}

/// The limits of a turn and of a run. An unset field means no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The maximum duration of one turn.
    pub turn_minutes: f64,
    /// The maximum number of tokens of a run, input and output together.
    pub tokens_per_run: Option<u64>,
    /// The maximum cost of a run, as the agent reports it.
    pub cost_per_run: Option<f64>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { turn_minutes: TURN_MINUTES, tokens_per_run: None, cost_per_run: None }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    agents: BTreeMap<String, Entry>,
    #[serde(default)]
    default: DefaultForm,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultForm {
    agent: Option<String>,
    #[serde(default)]
    limits: LimitsForm,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    driver: toml::Spanned<String>,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    model: Option<String>,
    #[serde(default)]
    network: Vec<String>,
    #[serde(default)]
    login: Login,
    #[serde(default)]
    limits: LimitsForm,
    #[serde(default)]
    may_commit: bool,
    relay: Option<RelayForm>,
}

#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Login {
    #[default]
    None,
    One(String),
    Many(Vec<String>),
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsForm {
    turn_minutes: Option<f64>,
    tokens_per_run: Option<u64>,
    cost_per_run: Option<f64>,
}

impl Settings {
    /// Loads the settings from the store and the project. Missing files are ignored. The error names the file and the
    /// line.
    pub fn load(home: Option<&Path>, project: &Path) -> Result<Self, String> {
        let mut settings = Settings::default();
        if let Some(home) = home {
            let path = home.join(FILE);
            match std::fs::read_to_string(&path) {
                Ok(text) => settings = read(&text).map_err(|why| format!("{}: {why}", path.display()))?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(format!("{}: {error}", path.display())),
            }
        }
        if let Some(text) = interlock_sandbox::read_project(home, project, PROJECT_FILE, BYTES_MAX)? {
            let path = project.join(PROJECT_FILE);
            settings.narrow(&text).map_err(|why| format!("{}: {why}", path.display()))?;
        }
        if let Some(name) = settings.default.clone() {
            settings.agent(&name)?;
        }
        Ok(settings)
    }

    /// Returns an agent by its name.
    pub fn agent(&self, name: &str) -> Result<&Agent, String> {
        self.agents.get(name).ok_or_else(|| {
            let names = self.agents.keys().map(String::as_str);
            let hint = interlock_suggest::did_you_mean_or_list(name, "configured are", names);
            let hint =
                hint.unwrap_or_else(|| format!("no agent is configured; docs/agents.md shows how to write {FILE}"));
            format!("there is no agent `{name}`; {hint}")
        })
    }

    /// Returns the name of the agent that is used if nobody chooses one: the default, or the only agent.
    pub fn usual(&self) -> Option<&str> {
        let only = || (self.agents.len() == 1).then(|| self.agents.keys().next()).flatten().map(String::as_str);
        self.default.as_deref().or_else(only)
    }

    /// Applies the file of a project, which may only choose and restrict.
    fn narrow(&mut self, text: &str) -> Result<(), String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        if let Some(name) = file.agents.keys().next() {
            return Err(format!(
                "agents.{name}: an agent may be defined only in the {FILE} of your own store; move it there"
            ));
        }
        self.default = file.default.agent.or(self.default.take());
        for agent in self.agents.values_mut() {
            agent.limits = least(agent.limits, file.default.limits);
        }
        Ok(())
    }
}

fn read(text: &str) -> Result<Settings, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let mut agents = BTreeMap::new();
    for (name, entry) in file.agents {
        let line = 1 + text.get(..entry.driver.span().start).unwrap_or_default().matches('\n').count();
        let agent = agent(entry, file.default.limits).map_err(|why| format!("line {line}: agents.{name}: {why}"))?;
        agents.insert(name, agent);
    }
    Ok(Settings { agents, default: file.default.agent })
}

fn agent(entry: Entry, limits: LimitsForm) -> Result<Agent, String> {
    let word = entry.driver.into_inner();
    let driver = DriverKind::named(&word).ok_or_else(|| {
        let names = DriverKind::ALL.map(DriverKind::name);
        let hint = interlock_suggest::did_you_mean_or_list(&word, "known are", names).unwrap_or_default();
        format!("there is no driver `{word}`; {hint}")
    })?;
    if entry.command.first().is_none_or(String::is_empty) && driver != DriverKind::Coder {
        return Err("`command` is missing: the program and its arguments, as a list".to_owned());
    }
    if let Some(host) = entry.network.iter().find(|host| !is_host(host)) {
        return Err(format!("`network`: `{host}` is not of the form host:port, such as `api.example.com:443`"));
    }
    if let Some(name) = entry.env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
        return Err(format!("`env`: `{name}` cannot be the name of a variable"));
    }
    let is_time = |minutes: f64| minutes > 0.0 && minutes <= TURN_MINUTES_MAX;
    if let Some(minutes) =
        [entry.limits.turn_minutes, limits.turn_minutes].into_iter().flatten().find(|one| !is_time(*one))
    {
        return Err(format!("`limits.turn_minutes` is {minutes}; use a number above 0, up to {TURN_MINUTES_MAX}"));
    }
    let relay = relay(entry.relay, driver, &entry.command, &entry.env)?;
    let usual = Limits::default();
    let usual = Limits { turn_minutes: limits.turn_minutes.unwrap_or(usual.turn_minutes), ..least(usual, limits) };
    let own = entry.limits;
    Ok(Agent {
        driver,
        command: entry.command,
        env: entry.env,
        model: entry.model,
        network: entry.network,
        login: match entry.login {
            Login::None => Vec::new(),
            Login::One(path) => vec![path],
            Login::Many(paths) => paths,
        },
        limits: Limits {
            turn_minutes: own.turn_minutes.unwrap_or(usual.turn_minutes),
            tokens_per_run: own.tokens_per_run.or(usual.tokens_per_run),
            cost_per_run: own.cost_per_run.or(usual.cost_per_run),
        },
        may_commit: entry.may_commit,
        relay,
    })
}

fn relay(
    form: Option<RelayForm>,
    driver: DriverKind,
    command: &[String],
    env: &BTreeMap<String, String>,
) -> Result<Option<RelaySettings>, String> {
    match form {
        Some(_) if driver == DriverKind::Coder => {
            Err("`relay`: the driver `coder` has no program; its key is in judges.toml".to_owned())
        }
        Some(form) => RelaySettings::read(form, env, driver == DriverKind::Claude).map(Some),
        None => match command.iter().chain(env.values()).find(|text| has_placeholder(text)) {
            Some(text) => Err(format!("`{text}` names the relay; add a table `relay` with `to` and `key`")),
            None => Ok(None),
        },
    }
}

fn is_host(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(name, port)| !name.is_empty() && port.parse::<u16>().is_ok())
}

/// Returns the stricter limit of both.
fn least(limits: Limits, form: LimitsForm) -> Limits {
    let cost = match (limits.cost_per_run, form.cost_per_run) {
        (Some(one), Some(two)) => Some(one.min(two)),
        (one, two) => one.or(two),
    };
    Limits {
        turn_minutes: form.turn_minutes.map_or(limits.turn_minutes, |minutes| minutes.min(limits.turn_minutes)),
        tokens_per_run: [limits.tokens_per_run, form.tokens_per_run].into_iter().flatten().min(),
        cost_per_run: cost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "[agents.claude]\ndriver = \"claude\"\ncommand = [\"claude\"]\nnetwork = [\"api.anthropic.com:443\"]\n\
        limits = { tokens_per_run = 1000, cost_per_run = 2.0 }\n[agents.goose]\ndriver = \"acp\"\ncommand = [\"goose\", \"acp\"]\n\
        login = \"~/.config/goose/key\"\n[default]\nagent = \"claude\"\n";

    #[test]
    fn file_is_read_and_the_default_is_known() {
        let settings = read(OWN).unwrap();
        let claude = settings.agent("claude").unwrap();
        assert_eq!((claude.driver, claude.limits.tokens_per_run), (DriverKind::Claude, Some(1_000)));
        assert_eq!(settings.agent("goose").unwrap().login, ["~/.config/goose/key"]);
        assert_eq!(settings.usual(), Some("claude"));
        assert_eq!(settings.agent("cloude").unwrap_err(), "there is no agent `cloude`; did you mean `claude`?");
    }

    #[test]
    fn errors_name_the_line_and_the_next_action() {
        let cases = [
            (
                "[agents.a]\ndriver = \"acpp\"\ncommand = [\"a\"]",
                "line 2: agents.a: there is no driver `acpp`; did you mean `acp`?",
            ),
            ("[agents.a]\ndriver = \"acp\"", "`command` is missing"),
            (
                "[agents.a]\ndriver = \"acp\"\ncommand = [\"a\"]\nnetwork = [\"example.com\"]",
                "not of the form host:port",
            ),
            (
                "[agents.a]\ndriver = \"acp\"\ncommand = [\"a\"]\nlimits = { turn_minutes = 0 }",
                "`limits.turn_minutes` is 0; use a number above 0",
            ),
            ("[agents.a]\ndriver = \"acp\"\ncomand = [\"a\"]", "unknown field `comand`"),
            (
                "[agents.a]\ndriver = \"acp\"\ncommand = [\"a\"]\nrelay = { to = \"http://api.example.com\", key = \"env:K\" }",
                "`relay.to` must begin with https://",
            ),
            (
                "[agents.a]\ndriver = \"acp\"\ncommand = [\"a\"]\nrelay = { to = \"https://a.b\", key = \"sk-123\" }",
                "must say where the key is",
            ),
            (
                "[agents.a]\ndriver = \"acp\"\ncommand = [\"a\"]\nenv = { A = \"env:K\" }\nrelay = { to = \"https://a.b\", key = \"env:K\" }",
                "`env.A` gives the agent the key",
            ),
            (
                "[agents.a]\ndriver = \"acp\"\ncommand = [\"a\", \"{relay.url}\"]",
                "names the relay; add a table `relay`",
            ),
        ];
        for (text, expected) in cases {
            let why = read(text).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn project_chooses_and_restricts_but_defines_nothing() {
        let mut settings = read(OWN).unwrap();
        settings
            .narrow("[default]\nagent = \"goose\"\nlimits = { tokens_per_run = 5000, cost_per_run = 1.0 }\n")
            .unwrap();
        assert_eq!(settings.usual(), Some("goose"));
        let limits = settings.agents["claude"].limits;
        assert_eq!((limits.tokens_per_run, limits.cost_per_run), (Some(1_000), Some(1.0)));
        assert!(
            settings.narrow("[agents.x]\ndriver = \"command\"\ncommand = [\"sh\"]").unwrap_err().contains("own store")
        );
    }
}
