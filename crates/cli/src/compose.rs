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
    use interlock_activity::EffectClass;

    use super::*;

    #[test]
    fn the_registry_has_every_activity_with_its_effect() {
        let registry = activities(Settings::default());
        let found: Vec<_> =
            registry.iter().map(|activity| (activity.name(), activity.effect(), activity.waits())).collect();
        let expected = [
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
            ("git.commit", EffectClass::Write, false),
            ("http.request", EffectClass::External, false),
            ("judge.*", EffectClass::Read, false),
            ("judge.prd", EffectClass::Write, false),
            ("knowledge.record", EffectClass::Read, false),
            ("knowledge.search", EffectClass::Read, false),
            ("logs.triage", EffectClass::Read, false),
            ("policy.call", EffectClass::Read, false),
            ("policy.check", EffectClass::Read, false),
            ("policy.plan", EffectClass::Read, false),
            ("repair.search", EffectClass::Read, false),
            ("results.normalize", EffectClass::Read, false),
            ("run.start", EffectClass::Read, true),
            ("testbench.baseline", EffectClass::Read, false),
            ("testbench.fetch_artifacts", EffectClass::Read, false),
            ("testbench.fetch_logs", EffectClass::Read, false),
            ("testbench.flash", EffectClass::Read, false),
            ("testbench.health_check", EffectClass::Read, false),
            ("testbench.reset", EffectClass::Read, false),
            ("testbench.run", EffectClass::Read, false),
            ("testbench.setup", EffectClass::Read, false),
            ("timer.wait", EffectClass::Read, true),
            ("workspace.apply", EffectClass::Write, false),
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
}
