//! The state that all requests share.

use std::{path::PathBuf, sync::Arc};

use interlock_activity::Registry;
use interlock_follow::{Follower, Source};
use interlock_journal::{Engine, Head};
use interlock_runtime::{Runtime, Workspace};
use tokio::sync::Semaphore;

use crate::{
    Access, Folders, Listen, Services,
    access::Rate,
    history::Histories,
    hub::Hub,
    problem::{Problem, Result},
    spent::AllSpent,
    totals::AllTotals,
};

/// A handle to the shared state.
pub(crate) type State = Arc<App>;

/// The state that all requests share.
pub(crate) struct App {
    pub(crate) runtime: Runtime,
    pub(crate) registry: &'static Registry,
    pub(crate) services: Arc<dyn Services>,
    pub(crate) access: Arc<Access>,
    pub(crate) folders: Folders,
    pub(crate) listen: Listen,
    pub(crate) live_folder: PathBuf,
    pub(crate) hub: Hub,
    pub(crate) histories: Histories,
    pub(crate) totals: AllTotals,
    pub(crate) spent: AllSpent,
    /// The snapshots of the files that runs work on.
    pub(crate) workspace: Workspace,
    /// Limits the number of reports that are made at the same time.
    pub(crate) reports: Semaphore,
    /// The rate of requests of a token or a session.
    pub(crate) requests: Rate,
    /// The rate of failed logins and unknown tokens.
    pub(crate) failures: Rate,
    /// The room for the bodies of requests, in bytes.
    pub(crate) bodies: Arc<Semaphore>,
}

impl App {
    pub(crate) fn engine(&self) -> &Arc<dyn Engine> {
        self.runtime.engine()
    }

    /// Returns a run by its full name.
    pub(crate) fn head(&self, run: &str) -> Result<Head> {
        let missing = || Problem::not_found(format!("there is no run called `{run}`"));
        self.runtime.find(run)?.ok_or_else(missing)
    }

    /// Reads a run as it is now.
    pub(crate) fn follow(&self, run: &str) -> Result<Follower> {
        Ok(Follower::from_now(self, self.head(run)?)?)
    }
}

impl Source for App {
    fn engine(&self) -> Arc<dyn Engine> {
        Arc::clone(self.runtime.engine())
    }

    fn registry(&self) -> &'static Registry {
        self.registry
    }
}

/// Runs a function that may block, such as reading a long run.
pub(crate) async fn blocking<T: Send + 'static>(
    app: &State,
    work: impl FnOnce(&State) -> Result<T> + Send + 'static,
) -> Result<T> {
    let app = Arc::clone(app);
    let ended = tokio::task::spawn_blocking(move || work(&app)).await;
    ended.unwrap_or_else(|_| Err(Problem::failed("the server could not answer; this is a bug in Interlock")))
}
