//! The coding agents that `scripts/agents.sh` installs, and settings that point them at a scripted model.

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
}

/// Returns the directory of the installed agents, or `None` if they are not installed and need not be.
pub fn installed() -> Option<PathBuf> {
    parts::installed("agents.sh")
}

impl RealAgent {
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
        }
    }
}
