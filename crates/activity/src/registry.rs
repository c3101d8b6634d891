//! The registry of the available activities.

use std::{collections::BTreeMap, sync::Arc};

use interlock_chart::catalogue::{Catalogue, Entry};

use crate::Activity;

/// Activities by their names.
#[derive(Clone, Default)]
pub struct Registry(BTreeMap<String, Arc<dyn Activity>>);

impl Registry {
    /// Adds an activity and returns the registry.
    #[must_use]
    pub fn with(mut self, activity: impl Activity) -> Self {
        self.0.insert(activity.name().to_owned(), Arc::new(activity));
        self
    }

    /// Returns the activity with this name, or else the one of its family.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Activity>> {
        let family = name.split('.').next().unwrap_or(name);
        self.0.get(name).or_else(|| self.0.get(&format!("{family}.*")))
    }

    /// Describes all activities as data, for the checker.
    pub fn catalogue(&self) -> Catalogue {
        let entry = |activity: &Arc<dyn Activity>| Entry {
            with: activity.schema(),
            signals: activity.signals().iter().map(|signal| (*signal).to_owned()).collect(),
            effect: activity.effect(),
        };
        self.0.iter().map(|(name, activity)| (name.clone(), entry(activity))).collect()
    }

    /// All activities, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Activity>> {
        self.0.values()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_set().entries(self.0.keys()).finish()
    }
}
