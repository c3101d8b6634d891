//! `testbench.*` and `results.normalize`: running the built image in its environment.
//!
//! A session is a directory in the run's area; each activity leaves its results there as files for the next one.
//! `starts.rs` plans and runs the starts, `reading.rs` turns their output into one result.

pub(crate) mod controls;
mod hold;
mod reading;
mod starts;

use std::{path::Path, sync::Arc, time::Instant};

use interlock_activity::{Attempt, EffectClass, Outcome, code};
use interlock_beneath::whole;
use interlock_journal::{Evidence, Hash};
use interlock_testbench::{Bench, Environment, FetchedFile, Operation, Profile, Reset, Session, Trouble, environment};
use serde::Deserialize;
use serde_json::json;

use crate::{
    area::Area,
    build,
    table::{Done, Settings, blocking, failed, given, keep, refs, signal},
};

pub(crate) use hold::{forget, let_go};
pub(crate) use reading::{
    baseline, compact, measure, misread, passed_targets, printed, regressions, reported, reports_a_case, sizes, telling,
};
pub(crate) use starts::{AllRan, alone, milliseconds, run_all, run_some, starts};

/// An open session with its environment.
pub(crate) struct Open {
    pub(crate) session: Session,
    pub(crate) environment: Arc<dyn Environment>,
}

impl Open {
    /// Opens a session begun earlier, for activities that only read the files it left here.
    pub(crate) fn find(settings: &Settings, attempt: &Attempt, id: &str) -> Result<Self, Outcome> {
        let session = Session::open(&Area::of(settings, attempt)?.session(id))
            .map_err(|error| failed(format!("session {id} no longer exists: {error}")))?;
        let environment = environment(&session.profile).map_err(|trouble| wrong(&trouble))?;
        Ok(Open { session, environment: environment.into() })
    }

    /// Opens a session whose resource this process still holds unchanged, for activities that continue there. Returns
    /// the reason as the inner error if the hold was lost.
    fn held(settings: &Settings, attempt: &Attempt, id: &str) -> Result<Result<Self, Trouble>, Outcome> {
        let open = Self::find(settings, attempt, id)?;
        let is_held = hold::has(&attempt.run, &open.session);
        let name = open.session.resource.as_deref().unwrap_or_default();
        let lost = || Trouble::environment(format!("the lease of {name} was lost, so the session is set up again"));
        Ok(if is_held { Ok(open) } else { Err(lost()) })
    }

    /// Opens a session and acquires its resource again, for activities that may run at any time. Also returns the run
    /// that used the resource in the meantime, if any.
    pub(crate) async fn again(
        settings: &Settings,
        attempt: &Attempt,
        id: &str,
    ) -> Result<(Self, Option<String>), Outcome> {
        let open = Self::find(settings, attempt, id)?;
        let stranger = hold::retake(settings, attempt, &open.session).await.map_err(|trouble| wrong(&trouble))?;
        Ok((open, stranger))
    }

    /// Returns the arguments of an environment operation.
    pub(crate) fn bench<'a>(&'a self, settings: &'a Settings, attempt: &'a Attempt) -> Bench<'a> {
        Bench { attempt, session: &self.session, sandbox: &settings.sandbox }
    }

    /// Refuses to repeat an operation that must not run twice: a crash interrupted the first attempt at an unknown
    /// point.
    fn once(&self, attempt: &Attempt, operation: Operation) -> Result<(), Outcome> {
        once(&*self.environment, attempt, operation)
    }
}

/// Makes the same check before there is a session.
pub(crate) fn once(environment: &dyn Environment, attempt: &Attempt, operation: Operation) -> Result<(), Outcome> {
    let is_twice = attempt.number > 1 && environment.effect(operation) == EffectClass::External;
    let said = "an earlier attempt was interrupted, and its progress is not known";
    if is_twice { Err(Outcome::error(code::UNKNOWN_OUTCOME, said)) } else { Ok(()) }
}

/// The signal that a session's files cannot be fetched because another run has used its resource since.
fn used_by(stranger: &str) -> Outcome {
    let summary = format!("{stranger} has used the environment since, so the files there may belong to that run");
    signal("artifacts_missing", json!({ "summary": summary, "evidence_refs": [] }))
}

/// Returns the error for a failure that is not caused by the environment.
pub(crate) fn wrong(trouble: &Trouble) -> Outcome {
    match trouble {
        Trouble::Config { .. } | Trouble::Setup(_) => Outcome::error(code::BAD_INPUT, trouble.to_string()),
        Trouble::Cancelled => Outcome::cancelled(trouble.to_string()),
        _ => Outcome::error(code::FAILED, trouble.to_string()),
    }
}

/// Returns the signal that the environment has failed, or an error if the cause is another one.
fn env_failed(name: &str, trouble: &Trouble) -> Done {
    match trouble {
        Trouble::Config { .. } | Trouble::Cancelled => Err(wrong(trouble)),
        other => Ok(signal(name, json!({ "summary": other.to_string(), "evidence_refs": [] }))),
    }
}

#[derive(Deserialize)]
struct Setup {
    test_profile: Profile,
    #[serde(default)]
    repo: String,
}

/// Acquires an environment in which the firmware runs.
pub(crate) async fn setup(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Setup = given(&attempt)?;
    let sources = build::folder_in(&settings, &attempt, &with.repo, Area::of(&settings, &attempt)?.copy()).await?;
    match begin(&settings, &attempt, with.test_profile, &sources).await {
        Ok(_) => Ok(signal("resource_allocated", json!({ "session": attempt.activity.to_string() }))),
        Err(trouble) => env_failed("env_failed", &trouble),
    }
}

/// Begins a session for the build results in a directory, which is never the user's own. The session is found again
/// by the activity that begins it, so it is the same for every attempt. Its name is unique among all runs, so that
/// the files that it leaves on a board can be attributed to it.
pub(crate) async fn begin(
    settings: &Settings,
    attempt: &Attempt,
    profile: Profile,
    sources: &Path,
) -> Result<Open, Trouble> {
    begin_as(settings, attempt, profile, sources, &attempt.activity.to_string()).await
}

/// Begins a session under an explicit handle, for an activity that needs more than one.
pub(crate) async fn begin_as(
    settings: &Settings,
    attempt: &Attempt,
    profile: Profile,
    sources: &Path,
    handle: &str,
) -> Result<Open, Trouble> {
    let environment: Arc<dyn Environment> = environment(&profile)?.into();
    let area = Area::of(settings, attempt).map_err(|_| Trouble::environment("the run's directory cannot be used"))?;
    let folder = area.session(handle);
    let old = folder.clone();
    tokio::task::spawn_blocking(move || whole::remove_all(old)).await.map_err(Trouble::environment)??;
    let mut session = Session::create(folder, &area.mark(handle), sources, profile)?;
    session.resource = hold::take(settings, attempt, &environment.resources()).await?;
    session.save()?;
    let open = Open { session, environment };
    open.environment.setup(open.bench(settings, attempt)).await?;
    Ok(open)
}

#[derive(Deserialize)]
struct Flash {
    session: String,
    artifact: String,
}

/// Deploys the image to the environment.
pub(crate) async fn flash(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Flash = given(&attempt)?;
    let mut open = match Open::held(&settings, &attempt, &with.session)? {
        Ok(open) => open,
        Err(trouble) => return env_failed("env_failed", &trouble),
    };
    open.once(&attempt, Operation::Deploy)?;
    place(&attempt, &mut open.session, &with.artifact).await?;
    let begun = Instant::now();
    match open.environment.deploy(open.bench(&settings, &attempt)).await {
        Ok(()) => Ok(signal("deployed", json!({ "programs_ms": milliseconds(begun.elapsed()) }))),
        Err(trouble) => env_failed("env_failed", &trouble),
    }
}

/// The largest file of a session that is read.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 30;

/// Copies an image from the evidence store into a session.
pub(crate) async fn place(attempt: &Attempt, session: &mut Session, artifact: &str) -> Result<(), Outcome> {
    if artifact.is_empty() {
        return Ok(());
    }
    let hash = Hash::from_hex(artifact).ok_or_else(|| failed(format!("`{artifact}` is not evidence")))?;
    let (store, path) = (attempt.evidence.clone(), session.folder.join("image"));
    session.image = Some(path.clone());
    let remembered = session.clone();
    blocking(move || {
        let content = store.get(&hash).map_err(failed)?;
        whole::write(path, content).map_err(failed)?;
        remembered.save().map_err(failed)
    })
    .await
}

#[derive(Deserialize)]
struct Named {
    session: String,
}

/// Checks that the target is alive.
pub(crate) async fn health_check(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Named = given(&attempt)?;
    let open = match Open::held(&settings, &attempt, &with.session)? {
        Ok(open) => open,
        Err(trouble) => return env_failed("env_failed", &trouble),
    };
    let begun = Instant::now();
    match open.environment.health_check(open.bench(&settings, &attempt)).await {
        Ok(seen) => Ok(signal("env_ready", json!({ "summary": seen, "programs_ms": milliseconds(begun.elapsed()) }))),
        Err(trouble) => env_failed("env_failed", &trouble),
    }
}

/// Runs the cases of the profile.
pub(crate) async fn run(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Named = given(&attempt)?;
    let open = match Open::held(&settings, &attempt, &with.session)? {
        Ok(open) => open,
        Err(trouble) => return env_failed("runner_crashed", &trouble),
    };
    open.once(&attempt, Operation::Run)?;
    let ran = match run_all(&settings, &attempt, &open).await {
        Ok(ran) => ran,
        Err(trouble @ (Trouble::Config { .. } | Trouble::Cancelled)) => return Err(wrong(&trouble)),
        Err(trouble) => {
            let evidence = keep_logs(&attempt, &open.session, Vec::new()).await?;
            let data = json!({ "summary": trouble.to_string(), "evidence_refs": refs(&evidence) });
            return Ok(signal("runner_crashed", data).with(evidence));
        }
    };
    let log = keep_logs(&attempt, &open.session, Vec::new()).await?;
    let hash = log.first().map(|log| log.hash.to_string()).unwrap_or_default();
    let data = json!({ "exit_code": ran.exit_code, "log": hash, "programs_ms": milliseconds(ran.programs) });
    Ok(signal("test_finished", data).with(log))
}

/// Fetches the logs from the environment.
pub(crate) async fn fetch_logs(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Named = given(&attempt)?;
    let (open, stranger) = Open::again(&settings, &attempt, &with.session).await?;
    if let Some(stranger) = stranger {
        return Ok(used_by(&stranger));
    }
    let fetched = match open.environment.fetch_logs(open.bench(&settings, &attempt)).await {
        Ok(fetched) => fetched,
        Err(trouble) => return env_failed("artifacts_missing", &trouble),
    };
    let evidence = keep_logs(&attempt, &open.session, fetched).await?;
    if evidence.is_empty() {
        let data = json!({ "summary": "there is no output and no file", "evidence_refs": [] });
        return Ok(signal("artifacts_missing", data));
    }
    Ok(signal("logs_fetched", json!({})).with(evidence))
}

/// Stores every log of a session as evidence.
pub(crate) async fn keep_logs(
    attempt: &Attempt,
    session: &Session,
    fetched: Vec<FetchedFile>,
) -> Result<Vec<Evidence>, Outcome> {
    let (attempt, session) = (attempt.clone(), session.clone());
    blocking(move || {
        let ran = session.ran().map_err(failed)?;
        let logs = ran.iter().flat_map(|(folder, ran)| {
            let name = format!("{}-{}", ran.start.id, ran.start.repetition);
            ran.logs.iter().map(move |log| (format!("log {name} {}", log.display()), folder.join(log)))
        });
        let fetched = fetched.into_iter().map(|kept| (kept.name, kept.path));
        let mut evidence = Vec::new();
        for (name, path) in logs.chain(fetched) {
            evidence.extend(kept_file(&attempt, &name, &path)?);
        }
        Ok(evidence)
    })
    .await
}

/// Stores a file as evidence after redacting secrets; returns `None` if the file is empty or missing.
fn kept_file(attempt: &Attempt, name: &str, path: &Path) -> Result<Option<Evidence>, Outcome> {
    let Ok(content) = whole::read(path, FILE_BYTES_MAX) else { return Ok(None) };
    if content.is_empty() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&content);
    let redacted = attempt.evidence.redactor().text(&text).into_owned();
    let kept = attempt.evidence.put(name, "text/plain", redacted.as_bytes());
    kept.map(Some).map_err(|error| Outcome::not_stored(format!("`{name}` could not be stored: {error}")))
}

#[derive(Deserialize)]
struct Normalize {
    session: String,
    #[serde(default)]
    baseline: String,
}

/// Converts the results into the common form and stores the measurement.
pub(crate) async fn normalize(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Normalize = given(&attempt)?;
    let open = Open::find(&settings, &attempt, &with.session)?;
    let of = attempt.clone();
    let measured = blocking(move || {
        let before = reading::baseline(&of, &with.baseline)?;
        let measured = measure(&open.session, before.as_ref())?;
        let text = serde_json::to_vec_pretty(&measured).map_err(failed)?;
        whole::write(open.session.folder.join("measured.json"), &text).map_err(failed)?;
        Ok(measured)
    });
    let measured = measured.await?;
    let evidence =
        keep(&attempt, "measured", "application/json", serde_json::to_vec_pretty(&measured).map_err(failed)?).await?;
    let name = reading::signal_of(measured.verdict);
    Ok(signal(name, json!({ "summary": reading::summary(&measured) })).with([evidence]))
}

#[derive(Deserialize)]
struct Attach {
    session: String,
    #[serde(default)]
    baseline: String,
}

/// Attaches artifacts and metrics to the result and releases the environment.
pub(crate) async fn fetch_artifacts(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Attach = given(&attempt)?;
    let (open, stranger) = Open::again(&settings, &attempt, &with.session).await?;
    if let Some(stranger) = stranger {
        return Ok(used_by(&stranger));
    }
    let fetched = match open.environment.fetch_artifacts(open.bench(&settings, &attempt)).await {
        Ok(fetched) => fetched,
        Err(trouble) => return env_failed("artifacts_missing", &trouble),
    };
    let (of, session) = (attempt.clone(), open.session.clone());
    let (measured, before) = blocking(move || {
        let text = whole::read(session.folder.join("measured.json"), FILE_BYTES_MAX).map_err(failed)?;
        let mut measured: interlock_test_results::Measured = serde_json::from_slice(&text).map_err(failed)?;
        measured.metrics.extend(reading::sizes(&session));
        Ok((measured, reading::baseline(&of, &with.baseline)?))
    })
    .await?;
    let mut evidence = Vec::new();
    for kept in fetched {
        let path = kept.path;
        let content = blocking(move || whole::read(path, FILE_BYTES_MAX).map_err(failed)).await?;
        evidence.push(keep(&attempt, &kept.name, &kept.media_type, content).await?);
    }
    let result =
        keep(&attempt, "test_result", "application/json", serde_json::to_vec_pretty(&measured).map_err(failed)?)
            .await?;
    let logs = keep_logs(&attempt, &open.session, Vec::new()).await?;
    let telling = reading::telling(&attempt, &measured, &logs);
    let compact = compact(&measured, before.as_ref(), &open.session.profile.targets, (&result, &telling));
    evidence.insert(0, result);
    // The next session can handle leftovers; a failed teardown is no reason to lose a result.
    let _ = open.environment.teardown(open.bench(&settings, &attempt)).await;
    let_go(&attempt.run);
    Ok(signal("result_normalized", json!({ "test_result": compact })).with(evidence))
}

#[derive(Deserialize)]
struct Again {
    session: String,
    how: How,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum How {
    Reset,
    Restart,
    Switch,
}

/// Makes the environment usable again.
pub(crate) async fn reset(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: Again = given(&attempt)?;
    if with.session.is_empty() {
        return Ok(signal("environment_reset", json!({ "summary": "there is nothing to reset yet" })));
    }
    let (open, _) = Open::again(&settings, &attempt, &with.session).await?;
    open.once(&attempt, Operation::Reset)?;
    let (how, others) = match with.how {
        How::Reset => (Reset::Reset, false),
        How::Restart => (Reset::Restart, false),
        How::Switch => (Reset::Restart, true),
    };
    let bench = open.bench(&settings, &attempt);
    let seen = open.environment.reset(bench, how).await.map_err(|trouble| wrong(&trouble))?;
    let seen = match (others, open.session.resource.as_deref()) {
        (true, Some(used)) => hold::switch(&attempt.run, used, seen),
        (true, None) => format!("{seen}; there is no other of its kind"),
        (false, _) => seen,
    };
    Ok(signal("environment_reset", json!({ "summary": seen })))
}
