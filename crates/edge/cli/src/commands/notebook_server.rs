//! `interlock notebook-server`: serves the Planning/Generating protocol on the loopback interface.

use std::{net::Ipv4Addr, sync::Arc};

use interlock_activity::Invocation;
use interlock_chart::library;
use interlock_journal::Definition;
use interlock_judge::{Judge, bare_attempt};
use interlock_planning::{
    builtin::BuiltIn,
    client::TOKEN_VARIABLE,
    serve::{Service, serve},
};
use serde_json::json;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use super::Outcome;
use crate::{
    Exit,
    args::NotebookServer,
    drive::block_on,
    failure::Failure,
    machine,
    output::Output,
    store::{home, sandbox},
};

/// The machine whose prompts and schemas the judges are asked with.
const MACHINE: &str = "notebook";

/// The name under which the budget of the judges is counted.
const RUN: &str = "notebook-server";

/// The number of random bytes of a token.
const TOKEN_BYTES: usize = 24;

/// Serves until it is interrupted.
pub(crate) fn run(args: &NotebookServer, output: &Output) -> Outcome {
    let folder = args.repo.clone().unwrap_or_else(machine::here);
    let folder = folder.canonicalize().map_err(|error| Failure::file("use", &folder, &error))?;
    let home = home()?;
    let failed = |why: String| Failure::failed(format!("the server could not be started: {why}"));
    let scratch = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let mut attempt = bare_attempt(scratch.path(), &folder).map_err(failed)?;
    let source = library::load(MACHINE, &folder)?;
    let chart = source.read().chart.ok_or_else(Failure::told)?;
    let definition = Arc::new(Definition::new(&source, &chart));
    attempt.run = RUN.into();
    attempt.invocation = Arc::new(Invocation { definition, ..(*attempt.invocation).clone() });
    let token = match std::env::var(TOKEN_VARIABLE) {
        Ok(token) if !token.trim().is_empty() => token.trim().to_owned(),
        _ => new_token().map_err(failed)?,
    };
    let built_in = BuiltIn::judged(Judge::confined(Some(home.clone()), sandbox()), Some(home));
    let service = Service { built_in, attempt, token: Some(token.clone()), folder: Some(folder) };
    block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await;
        let listener = listener.map_err(|error| failed(format!("port {}: {error}", args.port)))?;
        let address = listener.local_addr().map_err(|error| failed(error.to_string()))?;
        tell(output, &format!("http://{address}"), &token)?;
        let listen = |kind| signal(kind).map_err(|error| failed(format!("cannot listen for signals: {error}")));
        let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
        tokio::select! {
            ended = serve(listener, Arc::new(service)) => {
                let why = ended.err().map(|error| error.to_string()).unwrap_or_default();
                Err(Failure::failed(format!("the server has ended: {why}")))
            }
            _ = interrupt.recv() => Ok(Exit::Good),
            _ = terminate.recv() => Ok(Exit::Good),
        }
    })
}

/// Prints the address and the token, for the client's settings.
fn tell(output: &Output, url: &str, token: &str) -> Result<(), Failure> {
    let said = match output.is_json() {
        true => output.json(&json!({ "url": url, "token": token })),
        false => output.data(&format!("{url}\n{TOKEN_VARIABLE}={token}\n")),
    };
    said.map_err(Failure::from)?;
    output.talk("serving /planning and /generating; Ctrl-C ends it\n");
    Ok(())
}

fn new_token() -> Result<String, String> {
    use ring::rand::SecureRandom as _;
    let mut bytes = [0; TOKEN_BYTES];
    let random = ring::rand::SystemRandom::new();
    random.fill(&mut bytes).map_err(|_| "could not get random bytes".to_owned())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
