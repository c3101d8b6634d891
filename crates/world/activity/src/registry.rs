//! The registry of the available activities.

use std::{collections::BTreeMap, sync::Arc};

use interlock_chart::catalogue::{Catalogue, Entry};
use interlock_journal::EvidenceStore;

use crate::{
    Activity, Attempt, Ending, Gatekeeper, Outcome, Site, code,
    report::{Account, RunRecord},
};

/// Activities by their names, and the gatekeeper of their attempts.
#[derive(Clone, Default)]
pub struct Registry {
    activities: BTreeMap<String, Arc<dyn Activity>>,
    gatekeeper: Option<Arc<dyn Gatekeeper>>,
}

impl Registry {
    /// Adds an activity and returns the registry.
    #[must_use]
    pub fn with(mut self, activity: impl Activity) -> Self {
        self.activities.insert(activity.name().to_owned(), Arc::new(activity));
        self
    }

    /// Lets this gatekeeper decide about the attempts of all activities.
    #[must_use]
    pub fn behind(self, gatekeeper: impl Gatekeeper) -> Self {
        Registry { gatekeeper: Some(Arc::new(gatekeeper)), ..self }
    }

    /// Returns the activity with this name, or else the one of its family.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Activity>> {
        let family = name.split('.').next().unwrap_or(name);
        self.activities.get(name).or_else(|| self.activities.get(&format!("{family}.*")))
    }

    /// Starts an attempt of an activity after the gatekeeper has allowed its requests. Without a gatekeeper, an attempt
    /// that makes requests is refused.
    pub fn start(&self, activity: &Arc<dyn Activity>, attempt: Attempt) -> Ending {
        let (activity, gatekeeper) = (Arc::clone(activity), self.gatekeeper.clone());
        Box::pin(async move {
            let requests = match activity.requests(&Site::of(&attempt)) {
                Ok(requests) => requests,
                Err(outcome) => return outcome,
            };
            if !requests.is_empty() {
                let admitted = match gatekeeper {
                    Some(gatekeeper) => gatekeeper.admit(&attempt, requests).await,
                    None => Err(Outcome::error(code::POLICY_DENIED, "there is no policy that could allow it")),
                };
                if let Err(outcome) = admitted {
                    return outcome;
                }
            }
            activity.start(attempt).await
        })
    }

    /// What the ended attempt of a record did, or `None` if its activity runs nothing and works itself. An attempt that
    /// was not admitted has executed nothing.
    pub fn account(&self, record: &RunRecord, evidence: &EvidenceStore) -> Option<Account> {
        let activity = self.get(&record.activity.as_ref()?.name)?;
        let account = activity.account(record, evidence)?;
        Some(if record.was_admitted() { account } else { Account::default() })
    }

    /// Describes all activities as data, for the checker.
    pub fn catalogue(&self) -> Catalogue {
        let entry = |activity: &Arc<dyn Activity>| Entry {
            with: activity.schema(),
            signals: activity.signals().iter().map(|signal| (signal.name.to_owned(), signal.data())).collect(),
            effect: activity.effect(),
        };
        self.activities.iter().map(|(name, activity)| (name.clone(), entry(activity))).collect()
    }

    /// All activities, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Activity>> {
        self.activities.values()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_set().entries(self.activities.keys()).finish()
    }
}
