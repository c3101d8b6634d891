//! The settings that runs use: directories, agents, judges and shared resources.

use std::path::PathBuf;

use axum::{
    Json,
    extract::{Query, State as Extracted},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    app::{App, State, blocking},
    problem::{Problem, Result},
};

/// The directory whose settings and machines a request is about.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InFolder {
    folder: Option<PathBuf>,
}

impl InFolder {
    pub(super) fn of(folder: Option<PathBuf>) -> Self {
        InFolder { folder }
    }

    /// Returns the real path of the directory, or of the first one in which runs may start.
    pub(super) fn path(self, app: &App) -> Result<PathBuf> {
        let usual = || app.folders.list().first().cloned();
        let folder = self.folder.or_else(usual).ok_or_else(no_folder)?;
        app.folders.admit(&folder)
    }
}

fn no_folder() -> Problem {
    Problem::refused("runs may start in no directory")
        .hint("name one with `interlock serve --folder DIR`, or in serve.toml in the store")
}

/// Lists the directories in which runs may start.
pub(super) async fn folders(Extracted(app): Extracted<State>) -> Json<Value> {
    Json(json!({ "folders": app.folders.list() }))
}

/// Lists the configured agents.
pub(super) async fn agents(Extracted(app): Extracted<State>, Query(folder): Query<InFolder>) -> Result<Json<Value>> {
    blocking(&app, move |app| Ok(Json(json!({ "agents": app.services.agents(&folder.path(app)?)? })))).await
}

/// Lists the configured judges.
pub(super) async fn judges(Extracted(app): Extracted<State>, Query(folder): Query<InFolder>) -> Result<Json<Value>> {
    blocking(&app, move |app| Ok(Json(json!({ "judges": app.services.judges(&folder.path(app)?)? })))).await
}

/// Lists shared resources.
pub(super) async fn resources(Extracted(app): Extracted<State>) -> Result<Json<Value>> {
    blocking(&app, |app| Ok(Json(json!({ "resources": app.services.resources()? })))).await
}
