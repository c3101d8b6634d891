//! The stream of notices: one for each record, in the order of writing. A reader that reconnects continues after the
//! last number that it has seen, so it misses nothing and sees nothing twice.

use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Extension,
    extract::{Query, State as Extracted},
    http::{HeaderMap, HeaderName, HeaderValue},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::{
    broadcast::{Receiver, error::RecvError},
    watch,
};

use crate::{
    access::Proof,
    app::{State, blocking},
    hub::{Notice, Progress},
    problem::{Problem, Result},
};

/// The time after which a browser connects again, in milliseconds. The browser's own default is seconds.
const RETRY: Duration = Duration::from_millis(500);

/// The interval of the signs of life. A page that hears none for three intervals calls its connection stale.
const ALIVE_EVERY: Duration = Duration::from_secs(5);

/// Tells nginx, and proxies that follow it, to pass each event on at once instead of filling a buffer first.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// The interval at which the token or session of a reader is looked up again.
const CHECK_EVERY: Duration = Duration::from_secs(5);

/// The parameters of a stream.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    run: Option<String>,
    since: Option<u64>,
}

/// A reader of notices.
struct Reader {
    app: State,
    /// The token or session of the reader. The stream ends when it is removed or expires.
    proof: Proof,
    checked: Instant,
    run: Option<String>,
    since: u64,
    waiting: VecDeque<Arc<Notice>>,
    last: watch::Receiver<u64>,
    progress: Receiver<Arc<Progress>>,
    is_new: bool,
}

/// Streams notices.
pub(super) async fn stream(
    Extracted(app): Extracted<State>,
    Extension(proof): Extension<Proof>,
    headers: HeaderMap,
    Query(wanted): Query<Wanted>,
) -> Result<Response> {
    let resumed = headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default().parse::<u64>());
    let resumed = resumed.transpose().map_err(|_| Problem::bad_input("`Last-Event-ID` is not a number"))?;
    let last = app.hub.watch();
    let now = *last.borrow();
    let since = resumed.or(wanted.since).unwrap_or(now).min(now);
    let progress = app.hub.progress();
    let (run, waiting, checked) = (wanted.run, VecDeque::new(), Instant::now());
    let reader = Reader { app, proof, checked, run, since, waiting, last, progress, is_new: true };
    let events = stream::unfold(reader, |mut reader| async move {
        let event = reader.next().await?;
        Some((Ok::<_, Infallible>(event), reader))
    });
    // A script cannot see comments, so the sign of life is an event.
    let alive = KeepAlive::new().interval(ALIVE_EVERY).event(Event::default().event("alive").data("{}"));
    Ok(([UNBUFFERED], Sse::new(events).keep_alive(alive)).into_response())
}

impl Reader {
    /// Waits for the next event. `None` ends the stream; the browser connects again.
    async fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.is_new) {
            // The first event tells the reader its place, so that it can fetch the present state without a gap.
            let hello = Event::default().event("hello").retry(RETRY).id(self.since.to_string());
            let every = ALIVE_EVERY.as_millis();
            return Some(hello.data(format!("{{\"number\":{},\"alive_ms\":{every}}}", self.since)));
        }
        loop {
            if self.checked.elapsed() >= CHECK_EVERY {
                self.checked = Instant::now();
                self.app.access.owner(self.proof).ok()??;
            }
            if let Some(notice) = self.waiting.pop_front() {
                self.since = notice.number;
                if self.run.as_ref().is_some_and(|run| *run != notice.run) {
                    continue;
                }
                let event = Event::default().event("record").id(notice.number.to_string());
                return event.json_data(&*notice).ok();
            }
            self.last.mark_unchanged();
            let since = self.since;
            self.waiting.extend(blocking(&self.app, move |app| app.hub.since(since)).await.ok()?);
            if !self.waiting.is_empty() {
                continue;
            }
            tokio::select! {
                changed = self.last.changed() => changed.ok()?,
                () = tokio::time::sleep(CHECK_EVERY) => {}
                progress = self.progress.recv() => {
                    if let Some(event) = self.hear(progress) {
                        return Some(event);
                    }
                }
            }
        }
    }

    fn hear(&self, progress: Result<Arc<Progress>, RecvError>) -> Option<Event> {
        let progress = progress.ok()?;
        let is_wanted = self.run.as_ref().is_none_or(|run| *run == progress.run);
        if !is_wanted {
            return None;
        }
        Event::default().event("progress").json_data(&*progress).ok()
    }
}
