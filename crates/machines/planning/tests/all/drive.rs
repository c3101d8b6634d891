//! Moves the machine `notebook` with the real engine and the real calls, without a runtime and without a kernel: the
//! test says what the server replies and what an action leaves behind.

use std::{path::Path, sync::Arc};

use interlock_activity::{Activity as _, Attempt, Future, Invocation, Outcome, OutcomeKind, PastMove};
use interlock_chart::{Value, library, model::Raiser};
use interlock_core::{ActivityEnd, ActivityId, Effect, Input, Machine, Semantics, State, Step, step};
use interlock_planning::{GeneratingCall, NotebookPropose, Permit, PlanningCall, Setup, builtin::BuiltIn};
use interlock_testkit_activity::{
    EndedAttempt, Recorder, attempt,
    model_server::{ModelServer, Scripted},
};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// Allows every connection.
pub(crate) struct AllowAll;

impl Permit for AllowAll {
    fn connect(&self, _: &Attempt, _: String, _: u16) -> Future<Result<(), Outcome>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Returns the settings of calls that only a server answers.
pub(crate) fn setup() -> Setup {
    Setup { permit: Arc::new(AllowAll), built_in: BuiltIn::default(), server: None, token: None, kernels: None }
}

/// Carries out an attempt of one of the calls.
pub(crate) async fn call(name: &str, attempt: Attempt) -> EndedAttempt {
    let outcome = match name {
        "planning.call" => PlanningCall::new(setup()).start(attempt).await,
        "generating.call" => GeneratingCall::new(setup()).start(attempt).await,
        "notebook.propose" => NotebookPropose.start(attempt).await,
        other => panic!("{other} is not a call of this crate"),
    };
    EndedAttempt::new(outcome)
}

/// An activity that the machine has started.
#[derive(Clone)]
pub(crate) struct Started {
    pub(crate) id: ActivityId,
    pub(crate) name: String,
    pub(crate) state: String,
    pub(crate) with: Json,
}

/// A run of the machine.
pub(crate) struct Drive {
    machine: Machine,
    state: Option<State>,
    pub(crate) started: Option<Started>,
    pub(crate) host: Arc<Recorder>,
    home: TempDir,
    steps: i64,
    /// The rows that the last input took: source, event and target.
    pub(crate) rows: Vec<String>,
    /// The request that the last call sent.
    pub(crate) request: Json,
}

impl Drive {
    pub(crate) fn new(input: Json) -> Self {
        let source = library::load("notebook", Path::new("/")).unwrap();
        let machine = Machine::new(Arc::new(source.read().chart.unwrap()));
        let state = Some(State::ready(&machine));
        let mut drive = Drive {
            machine,
            state,
            started: None,
            host: Arc::default(),
            home: tempfile::tempdir().unwrap(),
            steps: 0,
            rows: Vec::new(),
            request: Json::Null,
        };
        drive.step(Input::Started { session: "n1".into(), input: Value::from(input), semantics: Semantics::CURRENT });
        drive
    }

    /// The value of a variable of the context.
    pub(crate) fn context(&self, name: &str) -> Json {
        let at = self.machine.chart().context.iter().position(|variable| variable.name == name).unwrap();
        Json::from(&self.state.as_ref().unwrap().data.context[at])
    }

    /// The active state.
    pub(crate) fn place(&self) -> String {
        let chart = self.machine.chart();
        let state = self.state.as_ref().unwrap();
        let states = state.configuration.iter().map(|id| chart.state(id));
        states.filter(|state| state.parent.is_some()).map(|state| state.name.clone()).collect::<Vec<_>>().join(" ")
    }

    fn step(&mut self, input: Input) {
        let before = self.state.take().unwrap();
        let Step { state, effects, trace, .. } = step(&self.machine, before, input);
        self.state = Some(state);
        self.steps += 1;
        let chart = self.machine.chart();
        let taken = trace.transitions().map(|id| chart.transition(id));
        let name = |id| chart.state(id).name.clone();
        self.rows.clear();
        for transition in taken {
            let (Some(event), Some(target)) = (transition.events.first(), transition.targets.first()) else { continue };
            let (from_state, event, to_state) = (name(transition.source), event.text.to_string(), name(*target));
            self.rows.push(format!("{from_state} {event} {to_state}"));
            self.host.moves.lock().unwrap().push(PastMove { from_state, event, to_state, at_ms: self.steps * 1_000 });
        }
        for effect in effects {
            match effect {
                Effect::StartActivity { id, invoke, with } => {
                    let invoke = chart.invoke(invoke);
                    let (name, state) = (invoke.activity.clone(), name(invoke.state));
                    self.started = Some(Started { id, name, state, with: Json::from(&with) });
                }
                Effect::CancelActivity { id } if self.started.as_ref().is_some_and(|it| it.id == id) => {
                    self.started = None;
                }
                _ => {}
            }
        }
    }

    /// Raises an event of a user.
    pub(crate) fn user(&mut self, event: &str) {
        self.step(Input::EventRaised { event: event.into(), data: Value::empty(), by: Raiser::User });
    }

    /// Ends the activity in progress.
    pub(crate) fn end(&mut self, ended: ActivityEnd) {
        let started = self.started.take().unwrap_or_else(|| panic!("nothing runs in {}", self.place()));
        self.step(Input::ActivityFinished { activity: started.id, ended });
    }

    /// Ends the activity in progress with an error.
    pub(crate) fn fail(&mut self, code: &str) {
        let state = self.started.as_ref().map(|it| it.state.clone()).unwrap_or_default();
        let data = json!({ "code": code, "message": "it failed", "state": state, "scope": [], "reason": "r", "activity": "a" });
        self.end(ActivityEnd::Error { data: Value::from(data) });
    }

    /// Ends the action in progress.
    pub(crate) fn act(&mut self, effect: &str, more: bool) {
        // The activity goes on with the number that its records have.
        let number = self.context("document")["actions"].as_u64().unwrap_or_default() + 1;
        let data = json!({
            "summary": "executed c1: 1 output", "more": more, "effects": [effect], "outputs": [], "last_cell": "c1",
            "variables": { "df": { "type": "DataFrame", "shape": [3, 2], "text": "a b" }, "n": { "type": "int", "text": "3" } },
            "notebook": { "title": "Why", "path": "n.ipynb", "actions": number,
                "cells": [{ "id": "c1", "cell_type": "code", "source": "df", "outputs": effect, "written": number }] },
        });
        self.end(ActivityEnd::Signal { name: "executed".into(), data: Value::from(data) });
    }

    /// Lets the call in progress ask a server that gives this reply, and moves the machine by its outcome.
    pub(crate) async fn reply(&mut self, reply: Json) {
        let server = ModelServer::saying(vec![Scripted::new(200, "application/json", reply.to_string())]);
        let ended = self.call(Some(&server.url)).await;
        self.request = server.asked().last().map(|asked| asked.body.clone()).unwrap_or_default();
        self.take(ended);
    }

    /// Carries out the call in progress without a server.
    pub(crate) async fn go(&mut self) {
        let ended = self.call(None).await;
        self.take(ended);
    }

    async fn call(&self, server: Option<&str>) -> EndedAttempt {
        let Started { name, state, mut with, .. } = self.started.clone().unwrap();
        if let Some(url) = server {
            with["server"] = json!(url);
        }
        let (mut attempt, _canceller) = attempt(self.home.path(), self.home.path(), self.host.clone());
        attempt.with = Value::from(with);
        attempt.invocation = Arc::new(Invocation { name: name.clone(), state, ..(*attempt.invocation).clone() });
        call(&name, attempt).await
    }

    fn take(&mut self, ended: EndedAttempt) {
        match ended.outcome.kind {
            OutcomeKind::Signal { name, data } => self.end(ActivityEnd::Signal { name: name.into(), data }),
            OutcomeKind::Error { data } => self.end(ActivityEnd::Error { data }),
            OutcomeKind::NeedsPerson { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}
