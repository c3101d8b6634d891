//! Moves a machine by a script and prints the steps in lines that can be compared.
//!
//! | line of a script | meaning |
//! |---|---|
//! | `go`, `go {"n": 1}` | raises the event as an allowed raiser |
//! | `user go` | raises it as a user (`run`, `timer`, `machine`, `activity` likewise) |
//! | `@build passed {"n": 1}` | ends the running activity with this name with the signal |
//! | `@build error {"code": "X"}` | ends it with an error |
//! | `@a3 passed` | selects a started activity by its number, even if it is no longer running |
//! | `+timeout.a`, `+t2` | fires the timer that raises this event, or the timer with this number |
//! | `pause`, `resume` | pauses or resumes the run |
//!
//! Every step prints: the verdict if it is not "taken"; each round with its event, the transitions taken (with their
//! reason) and refused, the states exited (`-`) and entered (`+`), activities started, faults and log lines; effects
//! (`!`); and the configuration afterwards (`=`), with its data.

use std::{fmt::Write, sync::Arc};

use interlock_chart::{Chart, Value, model::Raiser, yaml};
use interlock_core::{
    ActivityEnd, ActivityId, Effect, Input, Machine, Microstep, Refusal, Semantics, State, Status, Step, TimerId,
    Verdict, step,
};

/// Maximum number of rounds of a step that are printed. Of a longer step only the first and the last rounds are
/// printed.
const ROUNDS_SHOWN_MAX: usize = 12;

/// Reads a machine from YAML that may omit `machine` and `version`. Panics if that fails.
pub fn machine(source: &str) -> Machine {
    let head = if source.contains("machine:") { "" } else { "machine: m\nversion: 1\n" };
    let source = format!("{head}{source}");
    let reading = yaml::read(&source);
    match reading.chart {
        Some(chart) => Machine::new(Arc::new(chart)),
        None => {
            let told = reading.diagnostics.iter().map(|one| format!("{} {} {:?}", one.code, one.message, one.hint));
            panic!("{}\n{source}", told.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// Moves a machine by a script and returns the printed steps. If the file has no `events`, the events that the script
/// raises are declared.
pub fn run(source: &str, script: &str) -> String {
    run_with(source, "{}", script)
}

/// Moves a machine by a script, for a run with this input.
pub fn run_with(source: &str, input: &str, script: &str) -> String {
    let machine = machine(&declared(source, script));
    let mut told = String::new();
    let mut state = State::ready(&machine);
    for (line, input) in std::iter::once(("start", Some(start(input)))).chain(lines(script).map(|line| (line, None))) {
        let input = input.unwrap_or_else(|| read_line(&machine, &state, line));
        let step = step(&machine, state, input);
        tell(&machine, line, &step, &mut told);
        state = step.state;
    }
    told
}

/// Returns the start of a run with this input.
pub fn start(input: &str) -> Input {
    Input::Started { session: "run-1".into(), input: json(input), semantics: Semantics::CURRENT }
}

fn lines(script: &str) -> impl Iterator<Item = &str> {
    script.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty())
}

fn declared(source: &str, script: &str) -> String {
    if source.lines().any(|line| line.starts_with("events:")) {
        return source.to_owned();
    }
    let names =
        lines(script).filter(|line| !line.starts_with(['@', '+']) && !["pause", "resume", "end!"].contains(line));
    let mut names: Vec<&str> = names.filter_map(|line| line.split(' ').next()).collect();
    names.sort_unstable();
    names.dedup();
    let events: String = names.iter().map(|name| format!("  {name}: {{from: any}}\n")).collect();
    if events.is_empty() { source.to_owned() } else { format!("events:\n{events}{source}") }
}

fn json(text: &str) -> Value {
    let json: serde_json::Value = serde_json::from_str(text).expect("data of a script is JSON");
    Value::from(json)
}

/// Returns the input that a line of a script means in this state.
pub fn read_line(machine: &Machine, state: &State, line: &str) -> Input {
    let (words, data) = line.split_at(line.find('{').unwrap_or(line.len()));
    let data = if data.is_empty() { Value::empty() } else { json(data) };
    let words: Vec<&str> = words.split_whitespace().collect();
    match words[..] {
        ["pause"] => Input::Paused,
        ["resume"] => Input::Resumed,
        ["end!"] => Input::Aborted,
        [timer] if timer.starts_with('+') => Input::TimerFired { timer: find_timer(machine, state, &timer[1..]) },
        [activity, signal] if activity.starts_with('@') => Input::ActivityFinished {
            activity: find_activity(machine, state, &activity[1..]),
            ended: if signal == "error" {
                ActivityEnd::Error { data }
            } else {
                ActivityEnd::Signal { name: signal.into(), data }
            },
        },
        [event] => Input::EventRaised { event: event.into(), data, by: raiser(machine.chart(), event) },
        [by, event] => {
            let by = Raiser::from_word(by).unwrap_or_else(|| panic!("who is `{by}`?"));
            Input::EventRaised { event: event.into(), data, by }
        }
        _ => panic!("not a line of a script: {line}"),
    }
}

fn raiser(chart: &Chart, event: &str) -> Raiser {
    chart.find_event(event).map_or(Raiser::Any, |id| chart.event(id).from)
}

fn number(text: &str, letter: char) -> Option<u64> {
    text.strip_prefix(letter)?.parse().ok()
}

fn find_timer(machine: &Machine, state: &State, name: &str) -> TimerId {
    let pending = state.pending.iter().find(|pending| pending.event.key.name(machine) == name);
    let found = pending.map(|pending| pending.id).or_else(|| number(name, 't').map(TimerId));
    found.unwrap_or_else(|| panic!("no timer `{name}`"))
}

fn find_activity(machine: &Machine, state: &State, name: &str) -> ActivityId {
    let running = state.running.iter().find(|running| machine.chart().invoke(running.invoke).activity == name);
    let found = running.map(|running| running.id).or_else(|| number(name, 'a').map(ActivityId));
    found.unwrap_or_else(|| panic!("no activity `{name}` is under way"))
}

fn tell(machine: &Machine, line: &str, step: &Step, told: &mut String) {
    let verdict = match step.verdict {
        Verdict::Taken => String::new(),
        Verdict::Refused(why) => format!(" (refused: {why})"),
        other => format!(" ({})", format!("{other:?}").to_lowercase()),
    };
    let _ = writeln!(told, "{line}{verdict}");
    let rounds = &step.trace.microsteps;
    for (at, microstep) in rounds.iter().enumerate() {
        let is_shown = rounds.len() <= ROUNDS_SHOWN_MAX || at < 2 || at + 3 > rounds.len();
        match (is_shown, at) {
            (true, _) => _ = writeln!(told, "  {}", tell_round(machine, microstep)),
            (false, 2) => _ = writeln!(told, "  ... {} rounds ...", rounds.len() - 4),
            (false, _) => {}
        }
    }
    for effect in &step.effects {
        let _ = writeln!(told, "  ! {}", tell_effect(machine.chart(), effect));
    }
    let _ = writeln!(told, "  = {}", tell_state(machine, &step.state));
}

/// Prints one round as one line.
pub fn tell_round(machine: &Machine, microstep: &Microstep) -> String {
    let chart = machine.chart();
    let name = |id: &interlock_chart::model::StateId| chart.state(*id).name.as_str();
    let mut words = vec![microstep.event.as_ref().map_or("*", |key| key.name(machine)).to_owned() + ":"];
    for refused in &microstep.refused {
        let why = match refused.why {
            Refusal::Guard => "guard".to_owned(),
            Refusal::Fault => "fault".to_owned(),
            Refusal::Preempted => "preempted".to_owned(),
            Refusal::Limit { counter, count } => format!("{}={count}", chart.counters[counter.index()].name),
        };
        words.push(format!("not {} ({why})", label(chart, refused.transition)));
    }
    for taken in &microstep.taken {
        let reason = taken.reason.as_ref().map(|reason| format!(" \"{reason}\"")).unwrap_or_default();
        words.push(format!("{}{reason}", label(chart, taken.transition)));
    }
    words.extend(microstep.exited.iter().map(|id| format!("-{}", name(id))));
    words.extend(microstep.entered.iter().map(|id| format!("+{}", name(id))));
    words.extend(microstep.started.iter().map(|id| format!("starts {}", chart.invoke(*id).activity)));
    words.extend(microstep.faults.iter().map(|fault| format!("fault \"{fault}\"")));
    words.extend(microstep.log.iter().map(|line| format!("log \"{line}\"")));
    words.join(" ")
}

/// Returns `source.event`, with a number if the source has several transitions for the event.
fn label(chart: &Chart, id: interlock_chart::model::TransitionId) -> String {
    let transition = chart.transition(id);
    let event = |id| {
        let events: Vec<&str> = chart.transition(id).events.iter().map(|event| event.text.as_str()).collect();
        if events.is_empty() { "always".to_owned() } else { events.join("|") }
    };
    let same: Vec<_> =
        chart.state(transition.source).transitions.iter().filter(|other| event(**other) == event(id)).collect();
    let number = match same.iter().position(|other| **other == id) {
        Some(at) if same.len() > 1 => format!("#{}", at + 1),
        _ => String::new(),
    };
    format!("{}.{}{number}", chart.state(transition.source).name, event(id))
}

fn tell_effect(chart: &Chart, effect: &Effect) -> String {
    match effect {
        Effect::StartActivity { id, invoke, with } => format!("start {id} {} {with}", chart.invoke(*invoke).activity),
        Effect::CancelActivity { id } => format!("cancel {id}"),
        Effect::SetTimer { id, after_ms } => format!("set {id} {after_ms}ms"),
        Effect::ClearTimer { id } => format!("clear {id}"),
        Effect::Finish { outcome, state, data } => {
            let outcome = outcome.map_or("no outcome", |outcome| outcome.word());
            let data = data.as_ref().map(|data| format!(" {data}")).unwrap_or_default();
            format!("finish {outcome} in {}{data}", chart.state(*state).name)
        }
    }
}

fn tell_state(machine: &Machine, state: &State) -> String {
    let mut told = state.places(machine).join(" ");
    for (variable, value) in machine.chart().context.iter().zip(&state.data.context) {
        let _ = write!(told, " {}={value}", variable.name);
    }
    if state.is_paused() {
        told += " paused";
    }
    if let Status::Done { .. } = state.status {
        told += " done";
    }
    told
}
