//! Plans and runs the starts: each as often as the profile demands, several at a time.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::Attempt;
use interlock_testbench::{Bench, Profile, Ran, Start, Stop, Trouble};
use tokio::task::JoinSet;

use super::{Open, reading};
use crate::table::Settings;

/// The largest number of concurrent starts, even if a profile asks for more.
const CONCURRENCY_MAX: usize = 32;

/// The result of all starts together.
pub(crate) struct AllRan {
    /// The first exit code that is not 0, or 0.
    pub(crate) exit_code: i64,
    /// The time that the environment spent on the starts.
    pub(crate) programs: Duration,
}

/// Returns the starts of a profile, each once.
pub(crate) fn starts(profile: &Profile) -> Vec<Start> {
    let timeout = |seconds: Option<u64>| time_of(profile, seconds.unwrap_or(profile.timeout_sec));
    let has_tag = |tags: &[String]| profile.tags.is_empty() || tags.iter().any(|tag| profile.tags.contains(tag));
    let suites = profile.suites.iter().filter(|suite| has_tag(&suite.tags)).map(|suite| Start {
        id: suite.id.clone(),
        repetition: 1,
        args: suite.args.clone(),
        command: suite.command.clone(),
        environment_vars: suite.environment_vars.clone(),
        timeout: timeout(suite.timeout_sec),
        coverage: false,
        limit: profile.limit,
    });
    let mut starts: Vec<Start> = suites.collect();
    if profile.each_alone {
        starts.extend(profile.cases.iter().map(|case| alone(profile, case)));
    }
    if starts.is_empty() {
        let (id, args) = ("all".to_owned(), Vec::new());
        let limit = profile.limit;
        starts.push(Start { id, repetition: 1, args, timeout: timeout(None), limit, ..Start::default() });
    }
    starts
}

/// Returns the start that runs a single case alone.
pub(crate) fn alone(profile: &Profile, case: &str) -> Start {
    let template = profile.config.get("case_arg").and_then(serde_json::Value::as_str).unwrap_or("{case}");
    Start {
        id: case.to_owned(),
        repetition: 1,
        args: vec![template.replace("{case}", case)],
        command: String::new(),
        environment_vars: BTreeMap::new(),
        timeout: time_of(profile, profile.timeout_sec),
        coverage: false,
        limit: profile.limit,
    }
}

/// Returns the time of a start: that of its limit, if the firmware never ends by itself.
fn time_of(profile: &Profile, seconds: u64) -> Duration {
    let limit = profile.limit.and_then(|limit| limit.seconds).and_then(|limit| Duration::try_from_secs_f64(limit).ok());
    limit.unwrap_or_else(|| Duration::from_secs(seconds))
}

/// Runs all starts of the profile, and repeats those that did not go well, so that flaky cases show.
pub(crate) async fn run_all(settings: &Arc<Settings>, attempt: &Attempt, open: &Open) -> Result<AllRan, Trouble> {
    let profile = &open.session.profile;
    let coverage = profile.coverage;
    let again = |start: &Start, repetition| Start { repetition, coverage, ..start.clone() };
    let starts = starts(profile);
    let repetitions = profile.repetitions.max(1);
    let planned = starts.iter().flat_map(|start| (1..=repetitions).map(move |number| again(start, number)));
    let begun = Instant::now();
    let mut ran = run_some(settings, attempt, open, planned.collect()).await?;
    if profile.confirm && repetitions == 1 {
        let bad = ran.iter().filter(|ran| !reading::went_well(&open.session, ran));
        // If two runs differ, a third one gives a majority.
        let more: Vec<Start> = bad.flat_map(|ran| [again(&ran.start, 2), again(&ran.start, 3)]).collect();
        ran.extend(run_some(settings, attempt, open, more).await?);
    }
    if let Some(Stop::Lost { why }) = ran.iter().map(|ran| &ran.stop).find(|stop| matches!(stop, Stop::Lost { .. })) {
        return Err(Trouble::Runner(why.clone()));
    }
    let codes = ran.iter().map(|ran| ran.stop.code());
    Ok(AllRan { exit_code: codes.into_iter().find(|code| *code != 0).unwrap_or(0), programs: begun.elapsed() })
}

/// Converts a duration to the milliseconds that records carry.
pub(crate) fn milliseconds(taken: Duration) -> u64 {
    u64::try_from(taken.as_millis()).unwrap_or(u64::MAX)
}

/// Runs the given starts, several at a time. The results are in no particular order.
pub(crate) async fn run_some(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    open: &Open,
    starts: Vec<Start>,
) -> Result<Vec<Ran>, Trouble> {
    run_in(settings, attempt, open, starts, "runs").await
}

/// Runs the given starts in another directory of the session.
pub(super) async fn run_in(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    open: &Open,
    starts: Vec<Start>,
    within: &'static str,
) -> Result<Vec<Ran>, Trouble> {
    let at_once = usize::try_from(open.session.profile.concurrency).unwrap_or(1).clamp(1, CONCURRENCY_MAX);
    let (session, mut waiting) = (Arc::new(open.session.clone()), starts.into_iter());
    let (mut under_way, mut all) = (JoinSet::new(), Vec::new());
    loop {
        while under_way.len() < at_once {
            let Some(start) = waiting.next() else { break };
            let (settings, attempt) = (Arc::clone(settings), attempt.clone());
            let (session, environment) = (Arc::clone(&session), Arc::clone(&open.environment));
            under_way.spawn(async move {
                let folder = session.folder_of(within, &start)?;
                let bench = Bench { attempt: &attempt, session: &session, sandbox: &settings.sandbox };
                let mut ran = environment.run(bench, &start, &folder).await?;
                // An environment that knows no silence reports only that the time is up.
                if ran.stop == Stop::TimedOut && start.limit.is_some_and(|limit| limit.seconds.is_some()) {
                    ran.stop = Stop::Limited;
                }
                session.keep(&folder, &ran)?;
                Ok::<Ran, Trouble>(ran)
            });
        }
        let Some(ended) = under_way.join_next().await else { return Ok(all) };
        all.push(ended.map_err(|error| Trouble::Runner(format!("a start failed unexpectedly: {error}")))??);
    }
}
