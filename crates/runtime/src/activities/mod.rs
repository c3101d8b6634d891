//! What can be done outside a machine, out of the box. One file each; `docs/activities.md` says what each takes and gives.

mod child;
mod command;
mod external;
mod http;
mod policy;
mod prd;
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
pub use interlock_program::Sandbox;
pub use policy::{
    BAD_POLICY, CONFIRMATION_NEEDED, Decider, Gate, Guarded, POLICY_DENIED, PolicyCheck, foresee, policy_call,
    policy_plan,
};
pub use prd::JudgePrd;
pub use timer::TimerWait;
pub use triage::LogsTriage;
pub use workspace::{
    GitCommit, WorkspaceApply, WorkspaceCheckpoint, WorkspaceCommit, WorkspaceContext, WorkspaceOpen, WorkspaceRestore,
    WorkspaceSnapshot, WorkspaceUndo,
};

/// What the activities need to be told.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Hashes what commands leave behind; quick only where it has a home.
    pub workspace: Workspace,
    /// The hosts that may be asked over HTTP, besides this machine itself.
    pub allowed_hosts: Vec<String>,
    /// How programs are confined.
    pub sandbox: Sandbox,
    /// The store's folder, where the user says which judges there are, and where maps are remembered.
    pub home: Option<PathBuf>,
}

/// All activities, with nothing allowed that need not be.
pub fn builtin() -> Registry {
    builtin_with(Settings::default())
}

/// All activities.
pub fn builtin_with(settings: Settings) -> Registry {
    let gate = Gate::new(settings.allowed_hosts).with_settings(settings.sandbox.config.clone());
    let kept = settings.workspace.clone();
    let hands = interlock_firmware::Settings {
        workspace: settings.workspace.clone(),
        sandbox: settings.sandbox.clone(),
        home: settings.home.clone(),
    };
    let registry = interlock_firmware::all(Registry::default(), hands);
    let judge = Judge::confined(settings.home.clone(), settings.sandbox.clone());
    workspace::all(registry, &settings.workspace, settings.home, &gate)
        .with(gate.guard(CommandRun::new(settings.workspace, settings.sandbox.clone())))
        .with(gate.guard(HttpRequest::default()))
        .with(TimerWait)
        .with(RunStart)
        .with(LogsTriage)
        .with(gate.guard(External::new(settings.sandbox)))
        .with(JudgePrd::new(judge.clone(), kept.clone(), &gate))
        .with(judge)
        .with(PolicyCheck::new(&gate, kept))
        .with(policy_plan(&gate))
        .with(policy_call(&gate))
}
