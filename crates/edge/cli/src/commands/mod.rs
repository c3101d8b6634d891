//! The commands: one line each here, one file each beside this one.

mod abort;
mod acp;
mod activities;
pub(crate) mod agents;
mod anchor;
mod apply;
pub(crate) mod check;
mod coder;
mod compare;
mod completions;
mod conform;
mod context;
mod describe;
mod diff;
mod doctor;
mod draw;
pub(crate) mod evidence;
pub(crate) mod explain;
mod fork;
mod gc;
mod grant;
mod import;
mod init;
mod kb;
pub(crate) mod machines;
mod man;
mod map;
mod mcp;
mod new;
mod notebook_server;
mod pause;
mod replay;
pub(crate) mod report;
mod resources;
mod resume;
pub(crate) mod run;
mod runs;
mod schema;
mod send;
mod serve;
pub(crate) mod show;
mod snapshots;
mod sql;
mod test;
mod token;
mod trace;
pub(crate) mod undo;
mod verify;
mod watch;

use crate::{Exit, args::Command, failure::Failure, output::Output};

/// The exit code of a command, or its failure.
type Outcome = Result<Exit, Failure>;

/// Runs the given command.
pub(crate) fn run(command: Command, output: &Output) -> Outcome {
    match command {
        Command::Machines => machines::run(output),
        Command::Describe { machine } => describe::run(&machine, output),
        Command::Check(args) => check::run(&args, output),
        Command::Draw(args) => draw::run(&args, output),
        Command::Import(args) => import::run(&args, output),
        Command::Conform { folder } => conform::run(&folder, output),
        Command::Schema => schema::run(output),
        Command::Run(args) => run::run(&args, output),
        Command::Coder(args) => coder::run(&args, output),
        Command::Acp => acp::run(output),
        Command::Runs(args) => runs::run(&args, output),
        Command::Show(args) => show::run(&args.run, output),
        Command::Trace(args) => trace::run(&args.run, output),
        Command::Watch(args) => watch::run(&args.run, output),
        Command::Diff(args) => diff::run(&args, output),
        Command::Report(args) => report::run(&args, output),
        Command::Send(args) => send::run(&args, output),
        Command::Abort(args) => abort::run(&args, output),
        Command::Pause(args) => pause::run(&args.run, output),
        Command::Resume(args) => resume::run(&args, output),
        Command::Context(args) => context::run(&args, output),
        Command::Grant(args) => grant::run(&args, output),
        Command::Replay(args) => replay::run(&args, output),
        Command::Fork(args) => fork::run(&args, output),
        Command::Map(args) => map::run(&args, output),
        Command::Snapshots(args) => snapshots::run(&args, output),
        Command::Apply(args) => apply::run(&args.run, output),
        Command::Undo(args) => undo::run(&args, output),
        Command::Verify(args) => verify::run(&args, output),
        Command::Anchor(args) => anchor::run(&args, output),
        Command::Evidence(args) => evidence::run(&args, output),
        Command::Sql(args) => sql::run(&args, output),
        Command::Gc(args) => gc::run(&args, output),
        Command::Agents => agents::run(output),
        Command::Activities { name } => activities::run(name.as_deref(), output),
        Command::Resources => resources::run(output),
        Command::Kb(args) => kb::run(&args, output),
        Command::Init(args) => init::run(&args, output),
        Command::New { name } => new::run(&name, output),
        Command::NotebookServer(args) => notebook_server::run(&args, output),
        Command::Test { machines } => test::run(&machines, output),
        Command::Explain { code } => explain::run(code.as_deref(), output),
        Command::Doctor => doctor::run(output),
        Command::Completions { shell } => completions::run(shell, output),
        Command::Serve(args) => serve::run(&args, output),
        Command::Mcp(args) => mcp::run(&args, output),
        Command::Token(args) => token::run(&args, output),
        Command::Man(args) => man::run(&args, output),
    }
}
