//! The part that both calls share: which server answers, the tries and their pauses, the evidence.

use std::sync::Arc;

use interlock_activity::{Attempt, Future, Outcome, code};
use interlock_journal::Evidence;
use serde_json::Value as Json;

use crate::{
    Situation,
    builtin::BuiltIn,
    client::{Endpoint, SERVER_VARIABLE, Server, TOKEN_VARIABLE},
    observation::{Fsm, HISTORY_MAX},
    reply::Arriving,
};

/// The code of the error that a reply contradicts the state of the client twice.
pub const OUT_OF_SYNC: &str = "OUT_OF_SYNC";

/// Decides if an attempt may connect to a host.
pub trait Permit: Send + Sync + 'static {
    /// Returns the outcome of the attempt if it may not.
    fn connect(&self, attempt: &Attempt, host: String, port: u16) -> Future<Result<(), Outcome>>;
}

/// Knows the kernels that live in this process.
pub trait Kernels: Send + Sync + 'static {
    /// Returns true if the kernel of a run lives, so that it has the variables that its cells have made.
    fn is_alive(&self, run: &str) -> bool;
}

/// The settings of both calls.
#[derive(Clone)]
pub struct Setup {
    /// Decides about servers.
    pub permit: Arc<dyn Permit>,
    /// Answers if no server is named.
    pub built_in: BuiltIn,
    /// The server if the machine's input names none.
    pub server: Option<String>,
    /// The token that servers get.
    pub token: Option<String>,
    /// Tells if the variables of a kernel still exist; `None` if nobody knows, then they are sent as recorded.
    pub kernels: Option<Arc<dyn Kernels>>,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Setup").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Setup {
    /// Creates the settings, with the server and the token that the environment names.
    pub fn from_env(permit: Arc<dyn Permit>, built_in: BuiltIn) -> Self {
        let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let (server, token) = (named(SERVER_VARIABLE), named(TOKEN_VARIABLE));
        Setup { permit, built_in, server, token, kernels: None }
    }

    /// Reads the situation of an attempt. The variables of a kernel that is gone are left out, except from the feedback of
    /// a behavior: it reports what the behavior's cells have made, also if a crash came between them and the report.
    pub(crate) fn situation(&self, attempt: &Attempt) -> Result<Situation, Outcome> {
        let mut situation = Situation::of(attempt)?;
        let is_gone = self.kernels.as_ref().is_some_and(|kernels| !kernels.is_alive(&attempt.run));
        if is_gone && !situation.feedback {
            situation.kernel_variables.clear();
        }
        Ok(situation)
    }

    /// Returns the server of a situation; `None` for the built-in one. Policy must allow the connection.
    pub(crate) async fn server(&self, attempt: &Attempt, situation: &Situation) -> Result<Option<Server>, Outcome> {
        let given = Some(situation.server.as_str()).filter(|url| !url.is_empty());
        let Some(url) = given.or(self.server.as_deref()) else { return Ok(None) };
        let wrong = |why: String| Outcome::error(code::BAD_INPUT, format!("the server `{url}` {why}"));
        let server = Server::new(url, self.token.clone()).map_err(wrong)?;
        let address = &server.address;
        self.permit.connect(attempt, address.host.clone(), address.port).await?;
        Ok(Some(server))
    }
}

/// Reads the machine's state and its transitions from the journal.
pub(crate) async fn fsm(attempt: &Attempt) -> Result<Fsm, Outcome> {
    let asked = attempt.clone();
    let moves = tokio::task::spawn_blocking(move || asked.host.moves(&asked.run, HISTORY_MAX * 4));
    let wrong = |why: String| Outcome::error(code::FAILED, format!("the journal could not be read: {why}"));
    let moves = moves.await.map_err(|error| wrong(error.to_string()))?.map_err(wrong)?;
    Ok(Fsm { state: attempt.invocation.state.clone(), moves, now_ms: attempt.begun_ms })
}

/// Sends a request until there is an answer that `read` accepts, at most once more than there are pauses. Returns the
/// reasons of the failures if there is none, one for each try.
pub(crate) async fn tries<T>(
    attempt: &Attempt,
    situation: &Situation,
    server: &Server,
    endpoint: Endpoint,
    request: &Json,
    read: impl Fn(Vec<u8>) -> Result<T, String>,
) -> Result<T, Vec<String>> {
    let progress = |text: &str| attempt.host.progress(&attempt.run, attempt.activity, text);
    let mut pauses = situation.pauses_ms().iter();
    let mut failures = Vec::new();
    loop {
        let (mut arriving, mut count) = (Arriving::default(), 0);
        let piece = |bytes: &[u8]| {
            if endpoint == Endpoint::Generating {
                for action in arriving.push(bytes) {
                    count += 1;
                    progress(&format!("action {count}: {action}"));
                }
            }
        };
        let answer = server.post(endpoint, request, situation.timeout(), piece).await;
        let why = match answer.and_then(&read) {
            Ok(answer) => return Ok(answer),
            Err(why) => why,
        };
        let why = attempt.evidence.redactor().text(&why).into_owned();
        failures.push(why.clone());
        let Some(pause_ms) = pauses.next() else { return Err(failures) };
        progress(&format!("/{} failed: {why}; trying again in {pause_ms} ms", endpoint.path()));
        attempt.host.sleep(*pause_ms).await;
    }
}

/// Describes the failures of all tries in one line: equal ones once.
pub(crate) fn described(failures: &[String]) -> String {
    let mut different: Vec<&str> = failures.iter().map(String::as_str).collect();
    different.dedup();
    let tries = interlock_chart::counted(failures.len() as u64, "try", "tries");
    let line = different.join("; then ").split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{line} ({tries})")
}

/// Stores JSON documents as evidence, redacted.
pub(crate) async fn keep(attempt: &Attempt, documents: Vec<(&'static str, Json)>) -> Result<Vec<Evidence>, Outcome> {
    let store = attempt.evidence.clone();
    let kept = tokio::task::spawn_blocking(move || {
        let put = |(name, mut document): (&str, Json)| {
            store.redactor().json(&mut document);
            store.put(name, "application/json", document.to_string().as_bytes())
        };
        documents.into_iter().map(put).collect::<Result<Vec<_>, _>>()
    });
    let wrong = |why: String| Outcome::not_stored(format!("the request could not be stored: {why}"));
    kept.await.map_err(|error| wrong(error.to_string()))?.map_err(|error| wrong(error.to_string()))
}

/// Ends the work when the attempt is cancelled.
pub(crate) async fn unless_cancelled(
    attempt: Attempt,
    work: impl std::future::Future<Output = Result<Outcome, Outcome>>,
) -> Outcome {
    let mut cancel = attempt.cancel.clone();
    tokio::select! {
        outcome = work => outcome.unwrap_or_else(|error| error),
        () = cancel.cancelled() => Outcome::cancelled("it was stopped"),
    }
}
