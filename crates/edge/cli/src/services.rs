//! The services that the server needs from this program.

use std::{path::Path, sync::Arc};

use interlock_chart::library;
use interlock_journal::{By, Head};
use interlock_judge::settings::Settings as Judges;
use interlock_runtime::{Offer, Start};
use interlock_server::{Problem, Result, Services, WantedRun};
use interlock_testbench::Resources;
use serde_json::{Value as Json, json};

use crate::{
    commands::{agents, check, machines, report, run, undo},
    continuation::{self, Message},
    failure::Failure,
    store::Store,
    worktree,
};

/// The services of this program, on the user's store.
pub(crate) struct ServerServices(pub(crate) Arc<Store>);

impl Services for ServerServices {
    fn machines(&self, folder: &Path) -> Vec<Json> {
        machines::rows(folder).iter().map(|row| json!(row)).collect()
    }

    fn check(&self, machine: &str, folder: &Path) -> Result<Json> {
        let source = library::load(machine, folder).map_err(Failure::from)?;
        Ok(check::json(&source, folder))
    }

    fn prepare(&self, wanted: WantedRun) -> Result<Start> {
        Ok(run::prepare_for_server(wanted, &self.0)?)
    }

    fn not_started(&self, run: &str) {
        // If it cannot be removed now, `interlock gc` removes it.
        let _ = worktree::find(&self.0, run).map(|kept| kept.map(|kept| kept.remove()));
    }

    fn continuing(&self, run: &Head) -> Result<Vec<Offer>> {
        Ok(continuation::offered(&self.0, run)?)
    }

    fn continue_run(&self, run: &Head, event: &str, id: &str, by: By) -> Result<Option<Head>> {
        Ok(continuation::start(&self.0, run, Message { event, id, by })?)
    }

    fn forks(&self, from: &Head, run: &str) -> Result<()> {
        Ok(continuation::remember_begin(&self.0, from, run)?)
    }

    fn report(&self, run: &Head) -> Result<String> {
        Ok(report::page(&self.0, run.clone())?)
    }

    fn report_sections(&self, run: &Head) -> Result<Json> {
        Ok(report::sections(&self.0, run.clone())?)
    }

    fn agents(&self, folder: &Path) -> Result<Json> {
        Ok(json!(agents::rows(&agents::load(folder)?)))
    }

    fn judges(&self, folder: &Path) -> Result<Json> {
        let settings = Judges::load(Some(&self.0.home), folder).map_err(Problem::refused)?;
        let asked_by = |name: &String| {
            let chains = settings.chains.iter().filter(|(_, judges)| judges.contains(name));
            chains.map(|(activity, _)| activity.clone()).collect::<Vec<_>>()
        };
        let judges = settings.judges.keys().map(|name| json!({ "name": name, "activities": asked_by(name) }));
        Ok(judges.collect())
    }

    fn resources(&self) -> Result<Json> {
        let home = self.0.home.clone();
        let listed = tokio::runtime::Handle::current().block_on(async move { Resources::of_store(&home).list().await });
        Ok(json!(listed.map_err(|error| Problem::failed(error.to_string()))?))
    }

    fn undone(&self, run: &Head) {
        // The undo stands, even if the knowledge base cannot be changed.
        let _ = undo::remember(&self.0, run);
    }
}
