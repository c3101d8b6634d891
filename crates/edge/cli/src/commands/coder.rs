//! `interlock coder`: a conversation with the coding agent.

use std::io::IsTerminal as _;

use interlock_judge::settings::{self, Settings};

use super::{Outcome, compare, run::prepare};
use crate::{
    Exit,
    args::{Coder, Run},
    coder::{Conversation, Messages, lines, terminal},
    drive::{block_on, listen},
    failure::Failure,
    machine,
    output::Output,
    store::{Store, home},
};

/// Talks on a terminal, or plays one turn.
pub(crate) fn run(args: &Coder, output: &Output) -> Outcome {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let is_conversation = is_terminal && !output.is_json() && !args.once;
    if !args.compare.is_empty() {
        return compare::run(args, output);
    }
    choose_model(args.model.as_deref())?;
    match &args.resume {
        Some(name) => resume(name, is_conversation, output),
        None => start(args, is_conversation, output),
    }
}

fn start(args: &Coder, is_conversation: bool, output: &Output) -> Outcome {
    let mut messages = match is_conversation {
        true => Some(Messages::open(&Store::open()?.home)?),
        false => None,
    };
    let goal = match (&args.goal, &mut messages) {
        (Some(goal), _) => goal.clone(),
        (None, Some(messages)) => match block_on(terminal::first_message(messages, output))? {
            Some(goal) => goal,
            None => return Ok(Exit::Good),
        },
        (None, None) => {
            return Err(Failure::bad_input("there is no terminal to ask for a goal")
                .hint("give it as an argument: `interlock coder \"fix the failing test\"`"));
        }
    };
    let prepared = prepare(&order(args, &goal, !is_conversation), output)?;
    block_on(async {
        let runtime = prepared.store.runtime()?;
        listen(&runtime);
        let head = prepared.start(&runtime).await?;
        output.talk(&format!("run {}\n", head.name));
        let talk = Conversation::begin(&prepared.store, &runtime, head)?;
        follow(talk, &prepared.store, messages, output).await
    })
}

fn resume(name: &str, is_conversation: bool, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(name)?;
    if head.machine != "coder" {
        return Err(Failure::bad_input(format!("{} is a run of `{}`, not of `coder`", head.name, head.machine))
            .hint(format!("continue it with `interlock resume {}`", head.name)));
    }
    if head.phase.is_over() {
        return Err(Failure::bad_input(format!("the conversation {} has ended", head.name))
            .hint(format!("`interlock report {}` shows it; `interlock coder` begins another one", head.name)));
    }
    let messages = if is_conversation { Some(Messages::open(&store.home)?) } else { None };
    block_on(async {
        let runtime = store.runtime()?;
        listen(&runtime);
        let talk = Conversation::resume(&store, &runtime, head)?;
        follow(talk, &store, messages, output).await
    })
}

async fn follow(talk: Conversation, store: &Store, messages: Option<Messages>, output: &Output) -> Outcome {
    match messages {
        Some(messages) => terminal::converse(talk, store, messages, output).await,
        None => lines::play(talk, output).await,
    }
}

/// Returns the same order as `run coder` with these settings.
fn order(args: &Coder, goal: &str, is_once: bool) -> Run {
    let flags = [
        ("ask", args.ask),
        ("plan_only", args.plan),
        ("once", is_once),
        ("unattended", args.unattended),
        ("no_verify", args.no_verify),
        ("allow_network", args.network),
    ];
    let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| format!("{name}=true"));
    let hosts = (!args.hosts.is_empty()).then(|| format!("hosts={}", serde_json::json!(args.hosts)));
    Run {
        machine: "coder".to_owned(),
        input: None,
        set: std::iter::once(format!("goal={goal}")).chain(flags).chain(hosts).collect(),
        repo: args.repo.clone(),
        name: args.name.clone(),
        worktree: args.worktree,
        in_place: !args.worktree,
        unproved: false,
        agent: None,
    }
}

/// Chooses the model of this process.
fn choose_model(name: Option<&str>) -> Result<(), Failure> {
    let Some(name) = name else { return Ok(()) };
    model_is_known(name)?;
    settings::choose(Some(name));
    Ok(())
}

/// Checks that a model is configured.
pub(super) fn model_is_known(name: &str) -> Result<(), Failure> {
    let known = Settings::load(Some(&home()?), &machine::here()).map_err(Failure::bad_input)?;
    if !known.judges.contains_key(name) {
        let names = known.judges.keys().map(String::as_str);
        let hint = interlock_suggest::did_you_mean_or_list(name, "the models are", names);
        let hint = hint.unwrap_or_else(|| "docs/judges.md shows how to write judges.toml".to_owned());
        return Err(Failure::bad_input(format!("there is no model `{name}` in judges.toml")).hint(hint));
    }
    Ok(())
}
