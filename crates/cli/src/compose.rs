//! Composes the activities of all crates into the registry that machines are run and checked with.

use interlock_activities::Settings;
use interlock_activity::Registry;
use interlock_judge::Judge;

/// Returns every available activity.
pub(crate) fn activities(settings: Settings) -> Registry {
    let firmware = interlock_firmware::Settings {
        workspace: settings.workspace.clone(),
        sandbox: settings.sandbox.clone(),
        home: settings.home.clone(),
    };
    let judge = Judge::confined(settings.home.clone(), settings.sandbox.clone());
    let registry = interlock_firmware::all(Registry::default(), firmware);
    interlock_activities::all(registry, settings, &judge).with(judge)
}

#[cfg(test)]
mod tests {
    use interlock_activity::Effect;

    use super::*;

    #[test]
    fn the_registry_has_every_activity_with_its_effect() {
        let registry = activities(Settings::default());
        let found: Vec<_> =
            registry.iter().map(|activity| (activity.name(), activity.effect(), activity.waits())).collect();
        let expected = [
            ("build.clean", Effect::Read, false),
            ("build.prepare", Effect::Read, false),
            ("build.run", Effect::Read, false),
            ("command.run", Effect::Write, false),
            ("convergence.measure", Effect::Read, false),
            ("copy.apply", Effect::Read, false),
            ("copy.deliver", Effect::Write, false),
            ("copy.restore", Effect::Read, false),
            ("copy.sources", Effect::Read, false),
            ("delivery.examine", Effect::Read, false),
            ("evidence.collect", Effect::Read, false),
            ("external", Effect::External, false),
            ("git.commit", Effect::Write, false),
            ("http.request", Effect::External, false),
            ("judge.*", Effect::Read, false),
            ("judge.prd", Effect::Write, false),
            ("knowledge.record", Effect::Read, false),
            ("knowledge.search", Effect::Read, false),
            ("logs.triage", Effect::Read, false),
            ("policy.call", Effect::Read, false),
            ("policy.check", Effect::Read, false),
            ("policy.plan", Effect::Read, false),
            ("repair.search", Effect::Read, false),
            ("results.normalize", Effect::Read, false),
            ("run.start", Effect::Read, true),
            ("testbench.baseline", Effect::Read, false),
            ("testbench.fetch_artifacts", Effect::Read, false),
            ("testbench.fetch_logs", Effect::Read, false),
            ("testbench.flash", Effect::Read, false),
            ("testbench.health_check", Effect::Read, false),
            ("testbench.reset", Effect::Read, false),
            ("testbench.run", Effect::Read, false),
            ("testbench.setup", Effect::Read, false),
            ("timer.wait", Effect::Read, true),
            ("workspace.apply", Effect::Write, false),
            ("workspace.checkpoint", Effect::Read, false),
            ("workspace.commit", Effect::Write, false),
            ("workspace.context", Effect::Read, false),
            ("workspace.open", Effect::Read, false),
            ("workspace.restore", Effect::Write, false),
            ("workspace.snapshot", Effect::Read, false),
            ("workspace.undo", Effect::Write, false),
        ];
        assert_eq!(found, expected);
    }
}
