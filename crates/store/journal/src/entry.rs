//! The entries that a record can hold. Every input that a run depends on is one of these entries.

use std::sync::Arc;

use interlock_chart::{
    Value, counted,
    model::{EffectClass, Raiser},
};
use interlock_core::{ActivityEnd, ActivityId, Input, Semantics, TimerId};
use serde::{Deserialize, Serialize};

use crate::{Asked, Hash, Unanswered};

/// One thing that happened to a run: the content of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// The run was created and started.
    Created(Created),
    /// A person or another run raised an event.
    Event {
        /// The event's name, as the machine declares it.
        event: String,
        /// The data that the event carries.
        #[serde(default = "Value::empty", skip_serializing_if = "is_empty")]
        data: Value,
        /// The sender of the event.
        by: By,
        /// The id that the sender gave the event: an event with this id is recorded once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// An attempt of an activity is about to start.
    Attempt {
        /// The start of the activity that the attempt belongs to.
        activity: ActivityId,
        /// The attempt number within that start, from 1.
        number: u32,
        /// The name of the activity.
        name: String,
        /// The effect class of the activity. It decides how a crash during the attempt is handled.
        effect: EffectClass,
        /// The snapshot of the workspace before the attempt, if the activity may write.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<String>,
    },
    /// An attempt ended with a result.
    Outcome {
        /// The start of the activity that the attempt belongs to.
        activity: ActivityId,
        /// The attempt number; 0 if a person supplied the result.
        number: u32,
        /// The result: a signal or an error.
        #[serde(flatten)]
        result: Result,
        /// The files that the attempt produced.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<Evidence>,
        /// The person or run that supplied the result instead of the activity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<By>,
        /// The id that the sender of a supplied result gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// The attempt produced no result; a person must supply one. The machine does not react to this entry.
    Left(Left),
    /// A timer of the run fired.
    Timer {
        /// The timer that fired.
        timer: TimerId,
    },
    /// A person or another run paused the run.
    Paused {
        /// The person or run that paused it.
        by: By,
    },
    /// A person or another run resumed the run.
    Resumed {
        /// The person or run that resumed it.
        by: By,
    },
    /// The person or run that started the run ended it. The machine cannot refuse this.
    Aborted {
        /// The person or run that ended it.
        by: By,
        /// The reason, in words.
        why: String,
    },
    /// A person granted a permission that the policy asks for. The machine does not react to this entry.
    Granted(Granted),
    /// An attempt used a grant. The machine does not react to this entry.
    GrantUsed(GrantUsed),
    /// Information for people. The machine does not react to this entry.
    Note {
        /// The information in words.
        text: String,
        /// The information as data.
        #[serde(default = "Value::empty", skip_serializing_if = "is_empty")]
        data: Value,
    },
    /// A person had writes of the run undone. The machine does not react to this entry.
    Undone(Undone),
    /// A running attempt asks a person. The machine does not react to this entry.
    Asked(Asked),
    /// A question ended without an answer while its attempt went on. The machine does not react to this entry.
    Unanswered(Unanswered),
}

/// An undo of a run's writes. It is recorded before it is carried out; the workspace shows how far an interrupted undo
/// came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// The person or run that asked for the undo.
    pub by: By,
    /// The records of the writes.
    pub writes: Vec<u64>,
    /// The number of paths that are restored.
    pub put_back: u64,
    /// The number of paths that are left as they are, because they were changed after the write.
    #[serde(default)]
    pub left: u64,
    /// The snapshot of the workspace before the undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The reason for which an undo that was recorded earlier failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// The changes of the undo, path by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

impl Undone {
    /// Returns a sentence about the undo.
    pub fn words(&self) -> String {
        if let Some(why) = &self.failed {
            return format!("the previous undo failed: {why}");
        }
        let writes: Vec<String> = self.writes.iter().map(u64::to_string).collect();
        let writes = writes.join(", ");
        // An undo is recorded only if it changes something.
        if self.put_back == 0 && self.left == 0 {
            return format!("writes of record {writes} undone: branches and tags moved back");
        }
        let put_back = counted(self.put_back, "path", "paths");
        let left = if self.left > 0 { format!(", {} skipped", self.left) } else { String::new() };
        format!("writes of record {writes} undone: {put_back} restored{left}")
    }
}

/// An activity whose result a person must supply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// The start of the activity that has no result.
    pub activity: ActivityId,
    /// The number of the attempt that produced no result.
    pub number: u32,
    /// The reason, in words.
    pub why: String,
    /// The files that the attempt produced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// A permission that a person granted, and how long it is valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// The scope of the permission, such as `destroy:git reset --hard`.
    pub scope: String,
    /// The person who granted it.
    pub by: By,
    /// The end of its validity, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
    /// The number of times that it may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u32>,
}

/// One use of a grant by an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantUsed {
    /// The record of the grant.
    pub grant: u64,
    /// The start of the activity that used it.
    pub activity: ActivityId,
    /// The attempt number within that start.
    pub number: u32,
    /// The scopes that the attempt needed the grant for.
    pub scopes: Vec<String>,
}

/// The start of a run: its machine, its input and its origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Created {
    /// The id of the run's machine.
    pub machine: String,
    /// The hash of its definition.
    pub definition: String,
    /// The run's id as the machine sees it: its own name, or that of the run it was forked from.
    pub session: String,
    /// The input of the run.
    pub input: Value,
    /// The directory that the run works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Where the workspace of that directory was. Runs of earlier versions have not recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Box<WorkspacePlace>>,
    /// The person or run that started it.
    pub by: By,
    /// The run that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// True if the run continues when the state that started it is left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detached: bool,
    /// The run whose first records it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<Fork>,
    /// Present if the starter of the run accepted an unproved machine: the reasons for which `check` refused the
    /// machine, or an empty list if it did not refuse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproved: Option<Vec<String>>,
    /// The project's rules as they were when the run started. They apply to the whole run. Runs of earlier versions
    /// have not recorded them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Vec<Evidence>>,
    /// The program that created the run. Runs of earlier versions have not recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_with: Option<MadeWith>,
    /// The rules by which the run selects transitions. A run that recorded none uses the first version of the rules.
    #[serde(default = "Semantics::first", skip_serializing_if = "Semantics::is_first")]
    pub semantics: Semantics,
}

/// Where the workspace of a run was when the run began. Programs may make or replace repositories there later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspacePlace {
    /// The root directory.
    pub root: String,
    /// The git directories of its repository: the one with `HEAD` and the index, and the one with the references.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<(String, String)>,
}

/// The program that created a run, and the file from which it read the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeWith {
    /// The version of Interlock.
    pub interlock: String,
    /// The path of the machine file; `None` for a built-in machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_file: Option<String>,
}

/// The point at which a fork leaves the run that it was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// The run that it was made from.
    pub run: String,
    /// The last record that both runs share.
    pub at: u64,
}

/// The person, token or run that did something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// The kind of actor, such as a person or another run.
    #[serde(with = "raiser")]
    pub kind: Raiser,
    /// The name of the user, the token or the run.
    pub name: String,
}

impl By {
    /// Returns a `By` that names a person.
    pub fn user(name: impl Into<String>) -> Self {
        By { kind: Raiser::User, name: name.into() }
    }

    /// Returns a `By` that names another run.
    pub fn run(name: impl Into<String>) -> Self {
        By { kind: Raiser::Run, name: name.into() }
    }
}

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Result {
    /// The attempt ended with one of the activity's signals.
    Signal {
        /// The signal's name, as the activity declares it.
        name: String,
        /// The data that the signal carries.
        data: Value,
    },
    /// The attempt ended with an error.
    Error {
        /// The error as data: `{code, message, …}`.
        data: Value,
    },
}

/// A file in the evidence store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The role of the file, such as `stdout` or `report`.
    pub name: String,
    /// The SHA-256 of its content.
    pub hash: Hash,
    /// The media type of its content.
    pub media: String,
    /// The length of its content.
    pub bytes: u64,
}

fn is_empty(data: &Value) -> bool {
    *data == Value::empty()
}

mod raiser {
    use super::*;

    pub(super) fn serialize<S: serde::Serializer>(kind: &Raiser, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.serialize_str(kind.word())
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Raiser, D::Error> {
        let word = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        Raiser::from_word(&word).ok_or_else(|| serde::de::Error::custom(format!("`{word}` raises nothing")))
    }
}

/// The kinds of entries: the number in the store, the name of the variant for serde, and the word for people. A payload
/// whose form changes gets a new number; old numbers stay readable.
const KINDS: [(u8, &str, &str); 15] = [
    (1, "created", "created"),
    (2, "event", "event"),
    (3, "attempt", "attempt"),
    (4, "outcome", "outcome"),
    (5, "timer", "timer"),
    (6, "paused", "paused"),
    (7, "resumed", "resumed"),
    (8, "note", "note"),
    (9, "granted", "granted"),
    (10, "grant_used", "grant used"),
    (11, "undone", "undone"),
    (12, "left", "left to a person"),
    (13, "aborted", "aborted"),
    (14, "asked", "asked"),
    (15, "unanswered", "not answered"),
];

impl Entry {
    /// Returns the number of the entry's kind.
    pub fn kind(&self) -> u8 {
        match self {
            Entry::Created(_) => 1,
            Entry::Event { .. } => 2,
            Entry::Attempt { .. } => 3,
            Entry::Outcome { .. } => 4,
            Entry::Timer { .. } => 5,
            Entry::Paused { .. } => 6,
            Entry::Resumed { .. } => 7,
            Entry::Note { .. } => 8,
            Entry::Granted(_) => 9,
            Entry::GrantUsed(_) => 10,
            Entry::Undone(_) => 11,
            Entry::Left(_) => 12,
            Entry::Aborted { .. } => 13,
            Entry::Asked(_) => 14,
            Entry::Unanswered(_) => 15,
        }
    }

    /// Returns the word for a kind, or `unknown`.
    pub fn kind_word(kind: u8) -> &'static str {
        KINDS.iter().find(|(number, ..)| *number == kind).map_or("unknown", |(.., word)| word)
    }

    /// Returns the stored form of the entry: its fields. The kind is stored beside it.
    pub fn to_json(&self) -> String {
        // Every map key is a string, so serialization to JSON cannot fail.
        let named = serde_json::to_string(self).unwrap_or_default();
        let fields = named.split_once(':').and_then(|(_, fields)| fields.strip_suffix('}'));
        fields.unwrap_or_default().to_owned()
    }

    /// Reads the stored form of an entry.
    pub fn from_json(kind: u8, json: &str) -> std::result::Result<Self, String> {
        let known = KINDS.iter().find(|(number, ..)| *number == kind);
        let (_, variant, _) = known.ok_or_else(|| format!("its kind {kind} is not known to this version"))?;
        serde_json::from_str(&format!(r#"{{"{variant}":{json}}}"#)).map_err(|error| error.to_string())
    }

    /// Returns the machine's input for this entry; `None` if the machine does not react to it.
    pub fn input(&self) -> Option<Input> {
        Some(match self {
            Entry::Created(created) => Input::Started {
                session: created.session.as_str().into(),
                input: created.input.clone(),
                semantics: created.semantics,
            },
            Entry::Event { event, data, by, .. } => {
                Input::EventRaised { event: event.as_str().into(), data: data.clone(), by: by.kind }
            }
            Entry::Outcome { activity, result, .. } => {
                Input::ActivityFinished { activity: *activity, ended: result.ended() }
            }
            Entry::Timer { timer } => Input::TimerFired { timer: *timer },
            Entry::Paused { .. } => Input::Paused,
            Entry::Resumed { .. } => Input::Resumed,
            Entry::Aborted { .. } => Input::Aborted,
            Entry::Attempt { .. }
            | Entry::Note { .. }
            | Entry::Granted(_)
            | Entry::GrantUsed(_)
            | Entry::Undone(_)
            | Entry::Left(_)
            | Entry::Asked(_)
            | Entry::Unanswered(_) => return None,
        })
    }

    /// Returns the id that the sender gave the entry.
    pub fn sent_id(&self) -> Option<&str> {
        match self {
            Entry::Event { id, .. } | Entry::Outcome { id, .. } => id.as_deref(),
            _ => None,
        }
    }

    /// Returns the files that the entry refers to.
    pub fn evidence(&self) -> &[Evidence] {
        match self {
            Entry::Outcome { evidence, .. }
            | Entry::Undone(Undone { evidence, .. })
            | Entry::Left(Left { evidence, .. })
            | Entry::Created(Created { project: Some(evidence), .. }) => evidence,
            _ => &[],
        }
    }
}

impl Result {
    /// Converts the result to the core's form.
    pub fn ended(&self) -> ActivityEnd {
        match self {
            Result::Signal { name, data } => ActivityEnd::Signal { name: Arc::from(name.as_str()), data: data.clone() },
            Result::Error { data } => ActivityEnd::Error { data: data.clone() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_read_as_it_was_written() {
        let data = Value::map([("x", Value::Int(1))]);
        let by = By::user("ada");
        let evidence = Evidence { name: "stdout".into(), hash: Hash::of(b"x"), media: "text/plain".into(), bytes: 1 };
        let entries = [
            Entry::Created(Created {
                machine: "m".into(),
                definition: "h".into(),
                session: "m-1".into(),
                input: data.clone(),
                folder: None,
                place: Some(Box::new(WorkspacePlace {
                    root: "/w".into(),
                    git: Some(("/w/.git".into(), "/w/.git".into())),
                })),
                by: by.clone(),
                parent: None,
                detached: true,
                fork: Some(Fork { run: "m-0".into(), at: 3 }),
                unproved: Some(vec!["E0603: this loop has no limit".into()]),
                project: Some(vec![evidence.clone()]),
                made_with: Some(MadeWith { interlock: "1.2.3".into(), machine_file: Some("/m/machine.yaml".into()) }),
                semantics: Semantics::CURRENT,
            }),
            Entry::Event { event: "go".into(), data: Value::empty(), by: by.clone(), id: None },
            Entry::Event { event: "go".into(), data: Value::empty(), by: by.clone(), id: Some("i-1".into()) },
            Entry::Attempt {
                activity: ActivityId(1),
                number: 2,
                name: "command.run".into(),
                effect: EffectClass::Write,
                snapshot: None,
            },
            Entry::Outcome {
                activity: ActivityId(1),
                number: 2,
                result: Result::Signal { name: "passed".into(), data: data.clone() },
                evidence: vec![evidence.clone()],
                by: Some(by.clone()),
                id: Some("i-2".into()),
            },
            Entry::Outcome {
                activity: ActivityId(1),
                number: 2,
                result: Result::Error { data: data.clone() },
                evidence: vec![],
                by: None,
                id: None,
            },
            Entry::Timer { timer: TimerId(4) },
            Entry::Paused { by: by.clone() },
            Entry::Resumed { by: by.clone() },
            Entry::Aborted { by: by.clone(), why: "its state was left".into() },
            Entry::Granted(Granted { scope: "proc.exec:x".into(), by: by.clone(), until_ms: Some(5), uses: None }),
            Entry::GrantUsed(GrantUsed {
                grant: 7,
                activity: ActivityId(1),
                number: 1,
                scopes: vec!["proc.exec:x".into()],
            }),
            Entry::Asked(Asked {
                activity: ActivityId(3),
                number: 1,
                id: "q1".into(),
                event: "PERMIT".into(),
                text: "May it?".into(),
                shows: data.clone(),
                until_ms: 9,
            }),
            Entry::Unanswered(Unanswered {
                activity: ActivityId(3),
                number: 1,
                id: "q1".into(),
                why: "nobody answered in time".into(),
            }),
            Entry::Note { text: "t".into(), data },
            Entry::Left(Left {
                activity: ActivityId(2),
                number: 1,
                why: "near: 4 answers were refused".into(),
                evidence: vec![evidence.clone()],
            }),
            Entry::Undone(Undone {
                by,
                writes: vec![3, 5],
                put_back: 2,
                left: 1,
                snapshot: Some("refs/interlock/m-1/7".into()),
                failed: None,
                evidence: vec![evidence],
            }),
        ];
        for entry in entries {
            assert_eq!(Entry::from_json(entry.kind(), &entry.to_json()), Ok(entry));
        }
        let old = r#"{"machine":"m","definition":"h","session":"m-1","input":{},"by":{"kind":"user","name":"ada"}}"#;
        let entry = Entry::from_json(1, old).unwrap();
        assert!(matches!(&entry, Entry::Created(created) if created.semantics == Semantics::Broadcast));
        assert_eq!(entry.to_json(), old, "an old record keeps its bytes");
        assert!(Entry::from_json(99, "{}").is_err());
        assert!(Entry::from_json(1, "{").is_err());
    }
}
