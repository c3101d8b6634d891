//! The coding agents that `scripts/agents.sh` and `scripts/more-agents.sh` install, and settings that point them at a scripted model.

use std::path::{Path, PathBuf};

use crate::parts;

/// An installed agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealAgent {
    /// goose, over the Agent Client Protocol.
    Goose,
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI, over the Agent Client Protocol.
    Gemini,
    /// Qwen Code, over the Agent Client Protocol.
    Qwen,
    /// opencode, over the Agent Client Protocol.
    Opencode,
    /// aider, through the script `examples/agents/aider.py`.
    Aider,
}

/// Returns the directory of the agents that `scripts/agents.sh` installs, or `None` if they need not be installed.
pub fn installed() -> Option<PathBuf> {
    parts::installed("agents.sh")
}

impl RealAgent {
    /// Returns the directory of the installed agent, or `None` if it is not installed and need not be.
    pub fn installed(self) -> Option<PathBuf> {
        match self {
            RealAgent::Goose | RealAgent::Claude | RealAgent::Codex => installed(),
            RealAgent::Gemini | RealAgent::Qwen | RealAgent::Opencode | RealAgent::Aider => {
                parts::installed("more-agents.sh")
            }
        }
    }

    /// Returns an `agents.toml` with this agent under a name. `programs` is the directory of the installed agents, `url`
    /// the model's, `more` further lines of the agent's section.
    pub fn settings(self, name: &str, programs: &Path, url: &str, more: &str) -> String {
        let (driver, command, env) = self.launch(programs, url);
        let network = url.trim_start_matches("http://");
        format!(
            "[agents.{name}]\ndriver = {driver:?}\ncommand = {command}\nenv = {{ {env} }}\nnetwork = [{network:?}]\n{more}\n"
        )
    }

    /// Returns an `agents.toml` with this agent under a name, which finds its model through the relay in `more`.
    pub fn relayed(self, name: &str, programs: &Path, more: &str) -> String {
        let (driver, command, _) = self.launch(programs, "{relay.url}");
        let env = match self {
            RealAgent::Goose => "GOOSE_PROVIDER = \"openai\", GOOSE_MODEL = \"scripted\"",
            RealAgent::Claude => "CLAUDE_CODE_MAX_RETRIES = \"1\"",
            RealAgent::Codex => "FAKE_KEY = \"{relay.token}\"",
            RealAgent::Gemini => "GEMINI_CLI_TRUST_WORKSPACE = \"true\"",
            RealAgent::Qwen => "OPENAI_MODEL = \"scripted\"",
            RealAgent::Opencode => &format!("OPENCODE_CONFIG_CONTENT = '{}'", opencode("{relay.url}", "{relay.token}")),
            RealAgent::Aider => &format!("AIDER = {:?}", programs.join("bin/aider").display().to_string()),
        };
        format!("[agents.{name}]\ndriver = {driver:?}\ncommand = {command}\nenv = {{ {env} }}\n{more}\n")
    }

    fn launch(self, programs: &Path, url: &str) -> (&'static str, String, String) {
        let program = |name: &str| programs.join("bin").join(name).display().to_string();
        match self {
            RealAgent::Goose => (
                "acp",
                format!("[{:?}, \"acp\", \"--with-builtin\", \"developer\"]", program("goose")),
                format!(
                    "GOOSE_PROVIDER = \"openai\", GOOSE_MODEL = \"scripted\", OPENAI_API_KEY = \"dummy\", OPENAI_HOST = {url:?}"
                ),
            ),
            RealAgent::Claude => (
                "claude",
                format!("[{:?}]", program("claude")),
                format!("ANTHROPIC_BASE_URL = {url:?}, ANTHROPIC_API_KEY = \"dummy\", CLAUDE_CODE_MAX_RETRIES = \"1\""),
            ),
            RealAgent::Codex => (
                "codex",
                format!(
                    "[{:?}, \"-c\", 'model=\"scripted\"', \"-c\", 'model_provider=\"fake\"', \"-c\", 'model_providers.fake={{name=\"fake\",base_url=\"{url}/v1\",env_key=\"FAKE_KEY\",wire_api=\"responses\",request_max_retries=0,stream_max_retries=0}}']",
                    program("codex")
                ),
                "FAKE_KEY = \"x\"".to_owned(),
            ),
            RealAgent::Gemini => (
                "acp",
                format!("[{:?}, \"--acp\", \"-m\", \"gemini-2.5-flash\"]", program("gemini")),
                format!(
                    "GEMINI_API_KEY = \"dummy\", GOOGLE_GEMINI_BASE_URL = {url:?}, GEMINI_CLI_TRUST_WORKSPACE = \"true\""
                ),
            ),
            RealAgent::Qwen => (
                "acp",
                format!("[{:?}, \"--acp\", \"--auth-type\", \"openai\"]", program("qwen")),
                format!("OPENAI_API_KEY = \"dummy\", OPENAI_BASE_URL = \"{url}/v1\", OPENAI_MODEL = \"scripted\""),
            ),
            RealAgent::Opencode => (
                "acp",
                format!("[{:?}, \"acp\"]", program("opencode")),
                format!("OPENCODE_CONFIG_CONTENT = '{}'", opencode(url, "dummy")),
            ),
            RealAgent::Aider => (
                "command",
                format!(
                    "[\"python3\", {:?}, \"--model\", \"openai/scripted\", \"--map-tokens\", \"0\", \"--edit-format\", \"whole\"]",
                    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/agents/aider.py")
                ),
                format!("AIDER = {:?}, OPENAI_API_KEY = \"dummy\", OPENAI_API_BASE = \"{url}/v1\"", program("aider")),
            ),
        }
    }
}

/// Returns the settings of opencode as JSON.
fn opencode(url: &str, key: &str) -> String {
    serde_json::json!({
        "provider": { "it": {
            "npm": "@ai-sdk/openai-compatible",
            "options": { "baseURL": format!("{url}/v1"), "apiKey": key },
            "models": { "scripted": {} },
        } },
        "model": "it/scripted", "small_model": "it/scripted", "autoupdate": false, "share": "disabled",
        "permission": { "bash": "ask", "edit": "ask", "webfetch": "ask" },
    })
    .to_string()
}
