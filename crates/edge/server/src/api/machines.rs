//! Machines: their description, source, picture and proof.

use std::{
    collections::BTreeSet,
    path::{Path as FilePath, PathBuf},
    sync::Arc,
};

use axum::{
    Json,
    extract::{Path, Query, State as Extracted},
    http::header,
    response::{IntoResponse, Response},
};
use interlock_chart::{
    Chart, describe,
    library::{self, Source},
};
use interlock_draw::Options;
use serde::Deserialize;
use serde_json::{Value, json};

use super::setup::InFolder;
use crate::{
    app::{App, State, blocking},
    problem::{Problem, Result},
};

/// Lists machines.
pub(super) async fn list(Extracted(app): Extracted<State>, Query(folder): Query<InFolder>) -> Result<Json<Value>> {
    blocking(&app, move |app| Ok(Json(json!({ "machines": app.services.machines(&folder.path(app)?) })))).await
}

/// Describes a machine.
pub(super) async fn describe(
    Extracted(app): Extracted<State>,
    Path(machine): Path<String>,
    Query(folder): Query<InFolder>,
) -> Result<Json<Value>> {
    blocking(&app, move |app| {
        let source = source(&machine, &folder.path(app)?)?;
        let chart = chart(&source)?;
        let mut json = describe::json(&chart);
        json["summary"] = json!(chart.summary);
        json["input"] = json!(chart.input);
        json["source"] = json!(source.text);
        Ok(Json(json))
    })
    .await
}

/// The parameters of a picture of a machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InFolderAnd {
    folder: Option<PathBuf>,
    collapse: Option<String>,
}

/// The parameters of a picture of a run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Collapse {
    collapse: Option<String>,
}

fn names(list: Option<&str>) -> BTreeSet<String> {
    list.into_iter().flat_map(|names| names.split(',')).map(str::to_owned).collect()
}

/// Draws a machine.
pub(super) async fn picture(
    Extracted(app): Extracted<State>,
    Path(machine): Path<String>,
    Query(wanted): Query<InFolderAnd>,
) -> Result<Response> {
    blocking(&app, move |app| {
        let (collapsed, folder) = (names(wanted.collapse.as_deref()), InFolder::of(wanted.folder));
        Ok(svg(&chart(&source(&machine, &folder.path(app)?)?)?, collapsed))
    })
    .await
}

/// Draws the machine of a run, as it was when the run began.
pub(super) async fn picture_of_run(
    Extracted(app): Extracted<State>,
    Path(run): Path<String>,
    Query(wanted): Query<Collapse>,
) -> Result<Response> {
    blocking(&app, move |app: &Arc<App>| {
        let loaded = interlock_follow::loaded(&**app.engine(), &app.head(&run)?)?;
        Ok(svg(loaded.chart(), names(wanted.collapse.as_deref())))
    })
    .await
}

/// Proves a machine.
pub(super) async fn check(
    Extracted(app): Extracted<State>,
    Path(machine): Path<String>,
    Query(folder): Query<InFolder>,
) -> Result<Json<Value>> {
    blocking(&app, move |app| {
        let folder = folder.path(app)?;
        is_listed(&machine, &folder)?;
        Ok(Json(app.services.check(&machine, &folder)?))
    })
    .await
}

/// A name in a request is the name of a listed machine and never a path.
pub(super) fn is_listed(machine: &str, folder: &FilePath) -> Result<()> {
    match library::list(folder).iter().any(|listed| listed.name == machine) {
        true => Ok(()),
        false => Err(Problem::not_found(format!("there is no machine called `{machine}` in {}", folder.display()))),
    }
}

fn source(machine: &str, folder: &FilePath) -> Result<Source> {
    is_listed(machine, folder)?;
    library::load(machine, folder).map_err(|error| Problem::failed(error.to_string()))
}

fn chart(source: &Source) -> Result<Chart> {
    source.read().chart.ok_or_else(|| {
        Problem::refused(format!("the machine {} cannot be read", source.name))
            .hint(format!("`interlock check {}` shows the problems", source.name))
    })
}

/// Draws a chart for the page: its style is in the page's style sheet, and its parts carry their names.
fn svg(chart: &Chart, collapsed: BTreeSet<String>) -> Response {
    let text = interlock_draw::svg(chart, &Options { is_part_of_page: true, collapsed, ..Options::default() });
    ([(header::CONTENT_TYPE, "image/svg+xml")], text).into_response()
}
