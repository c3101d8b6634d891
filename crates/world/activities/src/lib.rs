//! The general activities: commands, HTTP requests, workspace, policy, timers, child runs, log triage. One file each;
//! `docs/activities.md` lists the input and the signals of each.
//!
//! The crate knows the contract (`interlock-activity`) and no runtime. The binary composes these activities with those of
//! other crates into one registry (`crates/edge/cli/src/compose.rs`).

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod child;
mod command;
mod external;
mod http;
mod policy;
mod prd;
mod project;
mod rfc3339;
mod timer;
mod triage;
mod workspace;

use std::path::PathBuf;

use interlock_activity::Registry;
use interlock_judge::Judge;
use interlock_workspace::Workspace;

pub use child::RunStart;
pub use command::CommandRun;
pub use external::External;
pub use http::HttpRequest;
pub use interlock_process::Sandbox;
pub use policy::{
    AgentAction, BAD_POLICY, CONFIRMATION_NEEDED, Decider, Gate, POLICY_DENIED, PolicyCheck, PolicyCommit,
    WorkspaceGrant, WorkspaceGrants, policy_call, policy_plan,
};
pub use prd::JudgePrd;
pub use project::{ProjectDetect, ProjectTry};
pub use timer::TimerWait;
pub use triage::LogsTriage;
pub use workspace::{
    GitCommit, WorkspaceApply, WorkspaceChanges, WorkspaceCheckpoint, WorkspaceCommit, WorkspaceContext, WorkspaceOpen,
    WorkspaceRestore, WorkspaceSnapshot, WorkspaceUndo,
};

/// The settings that the general activities share.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Hashes the files that commands leave behind; fast only if it has a home directory.
    pub workspace: Workspace,
    /// The hosts that HTTP requests may go to, besides this machine.
    pub allowed_hosts: Vec<String>,
    /// The confinement of programs.
    pub sandbox: Sandbox,
    /// The store's directory, which holds the user's settings of judges and the cached code maps.
    pub home: Option<PathBuf>,
}

/// Adds the general activities to a registry, and the gate that decides about the attempts of all its activities. `judge` writes the documents of `judge.prd`; its own activity is not added.
#[must_use]
pub fn all(registry: Registry, settings: Settings, judge: &Judge) -> Registry {
    let gate = Gate::new(settings.allowed_hosts).with_home(settings.home.as_deref());
    let kept = settings.workspace.clone();
    workspace::all(registry.behind(gate.clone()), &settings.workspace, settings.home, &settings.sandbox)
        .with(CommandRun::new(settings.workspace, settings.sandbox.clone()))
        .with(HttpRequest::default())
        .with(TimerWait)
        .with(RunStart)
        .with(LogsTriage)
        .with(ProjectDetect::new(kept.clone(), gate.clone(), settings.sandbox.clone()))
        .with(ProjectTry::new(kept.clone(), settings.sandbox.clone()))
        .with(External::new(settings.sandbox))
        .with(JudgePrd::new(judge.clone(), kept.clone(), &gate))
        .with(PolicyCheck::new(&gate, kept))
        .with(policy_plan(&gate))
        .with(policy_call(&gate))
        .with(PolicyCommit::new(&gate))
}
