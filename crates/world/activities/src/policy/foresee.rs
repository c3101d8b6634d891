//! The answer of policy to an activity that has not started yet, for tools that inspect a machine.

use std::path::Path;

use interlock_activity::{Activity, Site};
use interlock_chart::Value;
use interlock_policy::{Decision, Freedom, Request, decide};

use super::{
    gate::{Gate, uses_git},
    project::{read, root},
    sight::Sight,
};

impl Gate {
    /// Returns the reasons why an activity with these arguments would not start in a directory without asking, each with
    /// the argument that needs the permission. The requests are those that the gate makes when the activity starts.
    /// May block.
    pub fn foresee(&self, activity: &dyn Activity, with: &Value, folder: &Path) -> Vec<(&'static str, String)> {
        // An unusable policy is reported when a program is run.
        let Ok(policy) = read(&root(folder)) else { return Vec::new() };
        let policy = policy.with_hosts(self.policies.hosts());
        // Arguments that are missing here are computed later.
        let requests = activity.requests(&Site { with, folder }).unwrap_or_default();
        let cwd = with.get("cwd").and_then(Value::as_str);
        let sight = Sight::within(folder, cwd, requests.iter().any(uses_git)).kept();
        let found = requests.iter().filter_map(|request| {
            let why = match decide(request, &sight.view(), &policy) {
                Decision::Allow => return None,
                Decision::Deny { reason, .. } => format!("policy refuses it: {reason}"),
                Decision::Confirm { reason, .. } => format!("a person is asked first: {reason}"),
            };
            Some((argument(request, with), why))
        });
        found.collect()
    }
}

/// Returns the argument that a request comes from.
fn argument(request: &Request, with: &Value) -> &'static str {
    let first = |names: [&'static str; 2]| if with.get(names[0]).is_some() { names[0] } else { names[1] };
    match request {
        Request::Connect { .. } => first(["url", "hosts"]),
        Request::Path { .. } => first(["patch", "write"]),
        Request::Unconfined { freedom: Freedom::AnyHost, .. } => "network",
        Request::Unconfined { freedom: Freedom::NoSandbox, .. } => "sandbox",
        _ => first(["program", "command"]),
    }
}
