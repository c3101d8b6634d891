//! Runs the hooks of a commit in the sandbox: the workspace is writable as for `command.run`, there is no network, and the
//! repository of a linked worktree cannot be changed.

use std::{cell::RefCell, time::Duration};

use interlock_activity::{Arguments, Attempt, Outcome};
use interlock_chart::Value;
use interlock_journal::Evidence;
use interlock_process::{self as program, How, Plan, Sandbox, Tell};
use interlock_sandbox::Network;
use interlock_workspace::{Hook, HookRunner};
use serde_json::{Value as Json, json};
use tokio::runtime::Handle;

/// The time that a hook may take.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// The most bytes kept of each stream.
const OUTPUT_BYTES: u64 = 16 * 1024 * 1024;

/// The lines of its output that a refused commit shows.
const LINES_MAX: usize = 20;

/// Runs hooks, and collects their output as evidence.
pub(super) struct ConfinedHooks<'h> {
    attempt: &'h Attempt,
    sandbox: &'h Sandbox,
    evidence: RefCell<Vec<Evidence>>,
    results: RefCell<Vec<Json>>,
}

impl<'h> ConfinedHooks<'h> {
    pub(super) fn new(attempt: &'h Attempt, sandbox: &'h Sandbox) -> Self {
        ConfinedHooks { attempt, sandbox, evidence: RefCell::default(), results: RefCell::default() }
    }

    /// Returns the evidence of all hooks that ran, and their results: name, exit code, the end of the output, and what they
    /// tried that the sandbox forbids.
    pub(super) fn into_results(self) -> (Vec<Evidence>, Vec<Json>) {
        (self.evidence.into_inner(), self.results.into_inner())
    }

    fn plan(&self, hook: &Hook<'_>) -> Result<Plan, Outcome> {
        let none = Value::empty();
        let mut rules = self.sandbox.rules(&Arguments::new(&none, &[])?, self.attempt)?;
        (rules.network, rules.hosts) = (Network::Off, Vec::new());
        rules.keeps_repository = true;
        rules.write.push(hook.scratch.to_owned());
        Ok(Plan {
            words: hook.words.clone(),
            folder: hook.folder.to_owned(),
            env: hook.env.clone(),
            stdin: Vec::new(),
            timeout: Some(TIMEOUT),
            output_bytes_max: OUTPUT_BYTES,
            tell: [Tell::NowAndThen; 2],
            rules,
            launcher: self.sandbox.launcher.clone(),
        })
    }

    /// Runs a hook. The outcome as an error says why it did not succeed.
    async fn play(&self, hook: &Hook<'_>) -> Result<(), Outcome> {
        let plan = self.plan(hook)?;
        let ended = program::run(self.attempt, &plan).await?;
        let (stopped, code) = match ended.how {
            How::Exited { code, .. } => (None, code),
            _ => (program::not_ended(&ended.how, &plan, ended.duration), 1),
        };
        let said = [ended.stdout.tail.text(), ended.stderr.tail.text()].concat();
        let breaches =
            ended.confined.ended.breaches.iter().map(|breach| json!({ "rule": breach.rule, "said": breach.said }));
        let breaches: Vec<Json> = breaches.collect();
        self.results.borrow_mut().push(json!({
            "name": hook.name, "exit_code": code, "output": last_lines(&said), "breaches": breaches,
        }));
        let kept = program::keep(self.attempt, vec![ended.stdout, ended.stderr], ended.confined).await?;
        self.evidence.borrow_mut().extend(kept);
        match (stopped, code) {
            (Some(outcome), _) => Err(outcome),
            (None, 0) => Ok(()),
            (None, code) => Err(Outcome::error(interlock_activity::code::FAILED, words(&said, code))),
        }
    }
}

impl HookRunner for ConfinedHooks<'_> {
    /// Must be called on a thread for blocking work.
    fn run(&self, hook: &Hook<'_>) -> Result<(), String> {
        self.attempt.host.progress(&self.attempt.run, self.attempt.activity, &format!("hook {}", hook.name));
        Handle::current().block_on(self.play(hook)).map_err(|outcome| outcome.message())
    }
}

/// Returns the last lines of a hook's output, or its exit code if it printed nothing.
fn words(said: &str, code: i64) -> String {
    match last_lines(said) {
        lines if lines.is_empty() => format!("exit code {code}"),
        lines => lines,
    }
}

fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.trim().lines().collect();
    lines[lines.len().saturating_sub(LINES_MAX)..].join("\n")
}
