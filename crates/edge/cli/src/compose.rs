//! Composes the activities of all crates into the registry that machines are run and checked with.

use std::sync::Arc;

use interlock_activities::Settings;
use interlock_activity::Registry;
use interlock_coder::{PlanNext, TurnFacts, TurnOpen, TurnWords, VerifyRun};
use interlock_judge::Judge;
use interlock_notebook::NotebookAction;
use interlock_prd::{PrdArchive, PrdCheck, PrdSeal, ProjectVerify, TasksMark, TasksNext};
use interlock_tools::ToolCall;

use crate::meaning::ByEmbeddings;

use crate::planning;

/// Returns every available activity.
pub(crate) fn activities(settings: Settings) -> Registry {
    let firmware = interlock_firmware::Settings {
        workspace: settings.workspace.clone(),
        sandbox: settings.sandbox.clone(),
        home: settings.home.clone(),
    };
    let judge = Judge::confined(settings.home.clone(), settings.sandbox.clone());
    let agent = crate::agents::activity(&settings);
    let registry = prd(interlock_firmware::all(Registry::default(), firmware), &settings);
    let notebook = NotebookAction::new(settings.sandbox.clone());
    let registry = planning::activities(registry, &settings, &judge, notebook.clone());
    let registry = coder(registry.with(notebook), &settings);
    interlock_activities::all(registry, settings, &judge).with(judge).with(agent)
}

/// Adds the activities of the machine `prd`.
fn prd(registry: Registry, settings: &Settings) -> Registry {
    let workspace = &settings.workspace;
    registry
        .with(PrdCheck::new(settings.home.clone()))
        .with(PrdSeal::new(workspace.clone()))
        .with(PrdArchive::new(workspace.clone()))
        .with(TasksNext::new(workspace.clone()))
        .with(TasksMark)
        .with(ProjectVerify::new(workspace.clone(), settings.sandbox.clone()))
}

/// Adds the activities of the machine `coder`.
fn coder(registry: Registry, settings: &Settings) -> Registry {
    let workspace = &settings.workspace;
    let tools = ToolCall::new(workspace.clone(), settings.sandbox.clone(), settings.home.clone())
        .with_meaning(Arc::new(ByEmbeddings { home: settings.home.clone() }));
    registry
        .with(PlanNext)
        .with(TurnOpen::new(workspace.clone()))
        .with(TurnFacts::new(workspace.clone()))
        .with(TurnWords)
        .with(VerifyRun::new(workspace.clone(), settings.sandbox.clone()))
        .with(tools)
}

#[cfg(test)]
mod tests {
    use interlock_activity::{
        EffectClass, Site,
        report::{RecordedActivity, RunRecord},
    };
    use interlock_chart::Value;
    use interlock_core::ActivityId;
    use interlock_journal::{AttemptResult, Entry};
    use interlock_policy::Request;
    use serde_json::{Value as Json, json};

    use super::*;

    #[test]
    fn the_registry_has_every_activity_with_its_effect() {
        let registry = activities(Settings::default());
        let found: Vec<_> =
            registry.iter().map(|activity| (activity.name(), activity.effect(), activity.waits())).collect();
        let expected = [
            ("agent.prompt", EffectClass::Write, false),
            ("build.clean", EffectClass::Read, false),
            ("build.prepare", EffectClass::Read, false),
            ("build.run", EffectClass::Read, false),
            ("command.run", EffectClass::Write, false),
            ("convergence.measure", EffectClass::Read, false),
            ("copy.apply", EffectClass::Read, false),
            ("copy.deliver", EffectClass::Write, false),
            ("copy.restore", EffectClass::Read, false),
            ("copy.sources", EffectClass::Read, false),
            ("delivery.examine", EffectClass::Read, false),
            ("evidence.collect", EffectClass::Read, false),
            ("external", EffectClass::External, false),
            ("generating.call", EffectClass::Read, false),
            ("git.commit", EffectClass::Write, false),
            ("http.request", EffectClass::External, false),
            ("judge.*", EffectClass::Read, false),
            ("judge.prd", EffectClass::Write, false),
            ("knowledge.record", EffectClass::Read, false),
            ("knowledge.search", EffectClass::Read, false),
            ("logs.triage", EffectClass::Read, false),
            ("notebook.action", EffectClass::Write, false),
            ("notebook.propose", EffectClass::Read, false),
            ("plan.next", EffectClass::Read, false),
            ("planning.call", EffectClass::Read, false),
            ("policy.call", EffectClass::Read, false),
            ("policy.check", EffectClass::Read, false),
            ("policy.commit", EffectClass::Read, false),
            ("policy.plan", EffectClass::Read, false),
            ("prd.archive", EffectClass::Write, false),
            ("prd.check", EffectClass::Read, false),
            ("prd.seal", EffectClass::Write, false),
            ("project.detect", EffectClass::Read, false),
            ("project.try", EffectClass::Read, false),
            ("project.verify", EffectClass::Write, false),
            ("repair.search", EffectClass::Read, false),
            ("results.normalize", EffectClass::Read, false),
            ("run.start", EffectClass::Read, true),
            ("tasks.mark", EffectClass::Read, false),
            ("tasks.next", EffectClass::Read, false),
            ("testbench.baseline", EffectClass::Read, false),
            ("testbench.fetch_artifacts", EffectClass::Read, false),
            ("testbench.fetch_logs", EffectClass::Read, false),
            ("testbench.flash", EffectClass::Read, false),
            ("testbench.health_check", EffectClass::Read, false),
            ("testbench.reset", EffectClass::Read, false),
            ("testbench.run", EffectClass::Read, false),
            ("testbench.setup", EffectClass::Read, false),
            ("timer.wait", EffectClass::Read, true),
            ("tool.call", EffectClass::Write, false),
            ("turn.facts", EffectClass::Read, false),
            ("turn.open", EffectClass::Read, false),
            ("turn.words", EffectClass::Read, false),
            ("verify.run", EffectClass::Write, false),
            ("workspace.apply", EffectClass::Write, false),
            ("workspace.changes", EffectClass::Read, false),
            ("workspace.checkpoint", EffectClass::Read, false),
            ("workspace.commit", EffectClass::Write, false),
            ("workspace.context", EffectClass::Read, false),
            ("workspace.open", EffectClass::Read, false),
            ("workspace.restore", EffectClass::Write, false),
            ("workspace.snapshot", EffectClass::Read, false),
            ("workspace.undo", EffectClass::Write, false),
        ];
        assert_eq!(found, expected);
    }

    /// A report counts what activities account for. One that runs programs, which the fields of the sandbox show, or whose
    /// turns are an agent's must not be silent about it.
    #[test]
    fn every_activity_that_runs_programs_accounts_for_them() {
        let home = tempfile::tempdir().unwrap();
        let evidence = interlock_journal::EvidenceStore::open(home.path().to_owned()).unwrap();
        let result = AttemptResult::Signal { name: "x".to_owned(), data: Value::empty() };
        let entry =
            Entry::Outcome { activity: ActivityId(1), number: 1, result, evidence: Vec::new(), by: None, id: None };
        let record = |name: &str| RunRecord {
            seq: 1,
            at_ms: 0,
            entry: entry.clone(),
            activity: Some(RecordedActivity { name: name.to_owned(), state: "s".to_owned(), with: Value::empty() }),
            moves: Vec::new(),
            is_busy: false,
            account: None,
        };
        for activity in activities(Settings::default()).iter() {
            let fields = serde_json::to_value(activity.schema()).unwrap()["properties"].clone();
            let runs_programs = !fields["sandbox"].is_null() || activity.name() == "agent.prompt";
            if runs_programs {
                assert!(activity.account(&record(activity.name()), &evidence).is_some(), "{}", activity.name());
            }
        }
    }
    /// Whoever can take a program out of the sandbox states that as a request.
    #[test]
    fn every_activity_with_a_sandbox_asks_before_it_relaxes_it() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = json!({
            "sandbox": "none", "command": "true", "program": "true",
            "plan": { "verification": { "commands": ["true"] } }, "task": { "commands": ["true"] },
            "call": { "name": "run_terminal_cmd", "args": { "command": "true" } },
        });
        let mut asking = Vec::new();
        for activity in activities(Settings::default()).iter() {
            let fields = serde_json::to_value(activity.schema()).unwrap()["properties"].clone();
            if fields["sandbox"].is_null() {
                continue;
            }
            let given = arguments.as_object().unwrap().iter().filter(|(name, _)| !fields[name.as_str()].is_null());
            let with = Value::from(Json::Object(given.map(|(name, value)| (name.clone(), value.clone())).collect()));
            let requests = activity.requests(&Site { with: &with, folder: folder.path() }).unwrap();
            let is_asked = requests.iter().any(|request| matches!(request, Request::Unconfined { .. }));
            assert!(is_asked, "{}: {requests:?}", activity.name());
            asking.push(activity.name().to_owned());
        }
        let expected = ["command.run", "external", "notebook.action", "project.verify", "tool.call", "verify.run"];
        assert_eq!(asking, expected);
    }
}
