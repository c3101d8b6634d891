//! Tells other programs what happens to runs: `notify.toml` names an address or a program for runs that wait for a person,
//! end or miss a deadline.
//!
//! One task follows the change feed. What is to be sent goes into the outbox first, together with the place in the feed, so
//! that a message is sent at least once, whatever happens to the server. A message has an id by which its receiver can
//! recognise a repetition.

mod deliver;
mod outbox;
mod settings;

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use interlock_follow::{Follower, Standing};
use interlock_journal::{Head, Phase, RunKey, moment};
use interlock_runtime::{Clock as _, SystemClock};
use serde_json::{Value, json};

use crate::{app::State, problem::Result};

use outbox::{Message, Outbox};
pub(crate) use settings::Settings;
use settings::{Occasion, Rule};

/// The interval at which the outbox is looked at if nothing happens.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The number of changes that are read at a time.
const CHUNK: usize = 500;

/// The task that sends messages.
pub(crate) struct Notifier {
    settings: Arc<Settings>,
    outbox: Arc<Outbox>,
    /// The phase of each run that was looked at last, so that a message is sent when it changes.
    phases: BTreeMap<RunKey, (Phase, String)>,
}

impl Notifier {
    /// Reads the settings and opens the outbox; `None` if there is nothing to notify.
    pub(crate) fn of_store(home: &Path) -> Result<Option<Self>> {
        let settings = Settings::read(home)?;
        if settings.rules.is_empty() {
            return Ok(None);
        }
        let outbox = Arc::new(Outbox::open(home)?);
        Ok(Some(Notifier { settings: Arc::new(settings), outbox, phases: BTreeMap::new() }))
    }

    /// Follows the store and sends messages, forever.
    pub(crate) async fn work(mut self, app: State) {
        let mut changed = app.hub.watch();
        loop {
            // An error of the store is tried again after the pause.
            let is_all = self.look(&app).unwrap_or(true);
            deliver::due(&self.settings, &self.outbox).await;
            if is_all {
                let _ = tokio::time::timeout(LOOK_EVERY, changed.changed()).await;
            }
        }
    }

    /// Puts messages about new records into the outbox. Returns true if all records were read.
    fn look(&mut self, app: &State) -> Result<bool> {
        let since = match self.outbox.place()? {
            Some(since) => since,
            // A new outbox begins with the present: nobody wants messages about old runs.
            None => app.engine().last_change()?,
        };
        let changes = app.engine().changes(since, CHUNK)?;
        let mut messages = Vec::new();
        let runs: std::collections::BTreeSet<RunKey> = changes.iter().map(|change| change.run).collect();
        for run in runs {
            messages.extend(self.about(app, app.engine().head(run)?)?);
        }
        let last = changes.last().map_or(since, |change| change.number);
        self.outbox.put(last, &messages)?;
        self.overdue(app)?;
        Ok(changes.len() < CHUNK)
    }

    /// Returns the messages about a run that has new records.
    fn about(&mut self, app: &State, head: Head) -> Result<Vec<Message>> {
        let now = (head.phase, head.place.clone());
        if self.phases.insert(head.key, now.clone()) == Some(now) {
            return Ok(Vec::new());
        }
        let occasion = match head.phase {
            Phase::Waiting => Occasion::Waiting,
            Phase::Succeeded | Phase::Incomplete | Phase::Failed | Phase::Aborted => {
                self.phases.remove(&head.key);
                Occasion::Ended
            }
            Phase::Active | Phase::Paused => return Ok(Vec::new()),
        };
        let rules: Vec<&Rule> = self.settings.fitting(occasion, &head.machine).collect();
        if rules.is_empty() {
            return Ok(Vec::new());
        }
        let mut content = content(occasion, &head);
        if occasion == Occasion::Waiting {
            let follower = Follower::from_now(&**app, head.clone())?;
            // A run that only waits for a timer needs no person.
            if follower.standing() != Standing::Person {
                return Ok(Vec::new());
            }
            let offers = follower.offers();
            content["questions"] = json!(offers.questions);
            content["events"] =
                offers.events.iter().map(|offer| json!({ "event": offer.event, "summary": offer.summary })).collect();
        }
        let id = format!("{}-{}-{}", head.name, head.seq, occasion.word());
        Ok(rules.into_iter().map(|rule| Message::new(&id, rule.receiver(), &content)).collect())
    }

    /// Puts messages about runs into the outbox whose deadline has passed without a record.
    fn overdue(&self, app: &State) -> Result<()> {
        let now_ms = SystemClock.now_ms();
        let mut messages = Vec::new();
        for run in app.engine().work(now_ms)?.due {
            let head = app.engine().head(run)?;
            let Some(due_ms) = head.due_ms.filter(|due_ms| now_ms - due_ms > self.settings.overdue_after_ms) else {
                continue;
            };
            let mut content = content(Occasion::Overdue, &head);
            content["due"] = json!(moment::rfc3339(due_ms));
            let id = format!("{}-{due_ms}-overdue", head.name);
            let fitting = self.settings.fitting(Occasion::Overdue, &head.machine);
            messages.extend(fitting.map(|rule| Message::new(&id, rule.receiver(), &content)));
        }
        self.outbox.add(&messages)
    }
}

fn content(occasion: Occasion, head: &Head) -> Value {
    json!({
        "occasion": occasion.word(),
        "run": head.name,
        "machine": head.machine,
        "phase": head.phase,
        "place": head.place,
        "seq": head.seq,
        "updated": moment::rfc3339(head.updated_ms),
    })
}
