//! Coding agents in the command line: policy decides on their tool calls.

use std::sync::Arc;

use interlock_activities::{AgentAction, Gate, Settings};
use interlock_activity::{Attempt, Outcome};
use interlock_agent::{
    AgentPrompt, Referee, Ruling, Setup, Writing,
    driver::{CallKind, ToolCall},
};
use interlock_policy::Decision;

/// Returns the activity `agent.prompt`. Removes copies of credentials that a killed process has left.
pub(crate) fn activity(settings: &Settings) -> AgentPrompt {
    if let Some(homes) = settings.home.as_deref().and_then(|home| interlock_agent::homes(home, None)) {
        // A directory that cannot be read has no effect on other work; `gc` reports it.
        let _ = interlock_agent::remove_left_logins(&homes);
    }
    let gate = Gate::new(settings.allowed_hosts.clone());
    AgentPrompt::new(Setup {
        home: settings.home.clone(),
        cache: None,
        workspace: settings.workspace.clone(),
        sandbox: settings.sandbox.clone(),
        referee: Arc::new(ByPolicy(gate)),
        before_turn: |workspace, attempt| {
            // A turn without the list still works; its verification says that it is missing.
            let _ = interlock_verification::remember_dependencies(
                workspace,
                workspace.store(),
                &attempt.folder,
                &attempt.run,
            );
        },
    })
}

/// Decides by the policy of the run.
struct ByPolicy(Gate);

impl Referee for ByPolicy {
    fn rule(&self, attempt: &Attempt, call: &ToolCall) -> Result<Ruling, Outcome> {
        if call.kind == CallKind::Question {
            return Ok(Ruling::Deny("nobody answers in the middle of a turn: ask in your reply and stop".to_owned()));
        }
        Ok(match self.0.judge_action(attempt, &action(call))? {
            Decision::Allow => Ruling::Allow,
            Decision::Deny { reason, .. } => Ruling::Deny(reason),
            Decision::Confirm { reason, .. } => Ruling::Ask(reason),
        })
    }

    fn writing(&self, attempt: &Attempt, path: &str) -> Result<Writing, Outcome> {
        Ok(match self.0.judge_protected(attempt, path)? {
            Decision::Allow => Writing::Allowed,
            Decision::Deny { reason, .. } => Writing::Denied(reason),
            Decision::Confirm { scope, reason } => {
                Writing::Asks { scopes: scope.iter().map(ToString::to_string).collect(), reason }
            }
        })
    }

    fn weakened(&self, attempt: &Attempt, patch: &[u8]) -> Vec<String> {
        self.0.weakened_tests(attempt, patch)
    }
}

fn action(call: &ToolCall) -> AgentAction {
    match (call.kind, &call.command, &call.url) {
        (CallKind::Execute, Some(command), _) => AgentAction::Execute(command.clone()),
        (CallKind::Edit, ..) if !call.paths.is_empty() => AgentAction::Edit(call.paths.clone()),
        (CallKind::Read, ..) => AgentAction::Read(call.paths.clone()),
        (CallKind::Fetch, _, Some(url)) => AgentAction::Fetch(url.clone()),
        _ => AgentAction::Unknown(call.name.clone()),
    }
}
