//! The planner and the generator of the machine `notebook` in the command line: policy decides about their servers.

use std::sync::Arc;

use interlock_activities::{Gate, Settings};
use interlock_activity::{Attempt, Future, Outcome, Registry};
use interlock_judge::Judge;
use interlock_notebook::NotebookAction;
use interlock_planning::{GeneratingCall, Kernels, NotebookPropose, Permit, PlanningCall, Setup, builtin::BuiltIn};

/// Adds the activities of the Planning/Generating protocol.
pub(crate) fn activities(registry: Registry, settings: &Settings, judge: &Judge, notebook: NotebookAction) -> Registry {
    let gate = Gate::new(settings.allowed_hosts.clone());
    let built_in = BuiltIn::judged(judge.clone(), settings.home.clone());
    let kernels: Arc<dyn Kernels> = Arc::new(OfNotebooks(notebook));
    let setup = Setup { kernels: Some(kernels), ..Setup::from_env(Arc::new(ByPolicy(gate)), built_in) };
    registry.with(PlanningCall::new(setup.clone())).with(GeneratingCall::new(setup)).with(NotebookPropose)
}

/// Decides by the policy of the run.
struct ByPolicy(Gate);

impl Permit for ByPolicy {
    fn connect(&self, attempt: &Attempt, host: String, port: u16) -> Future<Result<(), Outcome>> {
        let (gate, attempt) = (self.0.clone(), attempt.clone());
        Box::pin(async move { gate.connect(&attempt, host, port).await })
    }
}

/// Knows the kernels of `notebook.action`.
struct OfNotebooks(NotebookAction);

impl Kernels for OfNotebooks {
    fn is_alive(&self, run: &str) -> bool {
        self.0.has_kernel(run)
    }
}
