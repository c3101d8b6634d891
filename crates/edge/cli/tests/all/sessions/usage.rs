//! The syntax of commands, their help and their output.

use std::{
    io::Read as _,
    process::{Command, Stdio},
};

use expect_test::expect;

use super::scene::{check, project};

#[test]
fn bad_usage_is_exit_code_2() {
    check(
        "drow door",
        expect![[r#"
        | error: unrecognized subcommand 'drow'
        |
        |   tip: a similar subcommand exists: 'draw'
        |
        | Usage: interlock [OPTIONS] <COMMAND>
        |
        | For more information, try '--help'.
        [exit 2]
    "#]],
    );
    check(
        "draw door --format png",
        expect![[r#"
        | error: invalid value 'png' for '--format <FORMAT>'
        |   [possible values: svg, mermaid, dot, scxml, xstate, promela]
        |
        | For more information, try '--help'.
        [exit 2]
    "#]],
    );
}

#[test]
fn help_shows_commands_and_examples() {
    check(
        "--help",
        expect![[r#"
            Agents as statecharts: proved before they run

            Usage: interlock [OPTIONS] <COMMAND>

            Write:
              machines         List machines: built-in ones and the project's own
              describe         Show the states, events and transitions of a machine
              new              Create a small commented machine with a test in the project
              init             Copy a built-in machine into the project, to change it
              check            Prove the properties of machines and the bounds on their work
              test             Run the scenarios of machines, in virtual time and without starting any activity
              draw             Draw a machine, or convert it to another format
              import           Convert a machine from another format
              conform          Run SCXML conformance cases: each NAME.scxml with its NAME.json
              schema           Print the JSON Schema of machine files
              activities       List the available activities, or show the arguments and signals of one
              explain          Explain an error code, such as E0211

            Run:
              run              Start a run and follow it until it ends or waits
              coder            Talk with the coding agent: the machine `coder` on a terminal
              resume           Continue a paused run, or a run that no process is running
              pause            Pause a run
              abort            Abort a run: send the event that leads to its machine's aborted end
              watch            Follow a run that another process is running

            Look:
              runs             List runs
              show             Show the state of a run, its data, and the events that it accepts
              trace            Show each transition of a run, with its reason and evidence
              diff             Show all files that a run has changed, with their counts of lines and their
                               patches
              report           Write a report about a run: Markdown, JSON, or an HTML page with a picture
              evidence         List the evidence files of a run, or print one
              snapshots        List the workspace snapshots of a run, or copy one
              replay           Show the state of a run after one of its records
              verify           Verify that no record was changed or lost
              anchor           Print a signed anchor of the store, to be kept on another computer
              sql              Query the store with SQL, read-only
              resources        List shared resources such as boards: the run that holds each, and the runs that
                               wait
              kb               Search, show and export the knowledge base of earlier runs
              map              Show a map of a repository: its files, and the symbols that matter for a goal

            Act:
              send             Send an event to a run, then follow it
              grant            Grant a permission that policy asks about
              context          Show the queue of a `prd` run, or change the status of a task
              undo             Undo the file changes of a run
              apply            Bring the result of a run's worktree into the checkout
              fork             Create a new run from the first records of another

            Serve:
              serve            Keep runs moving, fire timers, and show everything in a browser
              token            List, add and remove the tokens with which programs use the server
              mcp              Let a coding agent or an editor use Interlock: the Model Context Protocol on
                               stdin and stdout
              acp              Serve the coding agent to an editor: the Agent Client Protocol on stdin and
                               stdout
              notebook-server  Serve /planning and /generating for clients of the Planning/Generating protocol

            Set up:
              doctor           Check that the programs, settings and kernel features that runs need are
                               available
              agents           List the coding agents of agents.toml
              gc               Remove stored files that no run refers to
              completions      Print the completion script of a shell
              man              Print the manual page of the program or of one command
              help             Print this message or the help of the given subcommand(s)

            Options:
                  --json     Print JSON instead of text
              -h, --help     Print help
              -V, --version  Print version

            Examples:
              interlock machines                       list the machines
              interlock describe coder                 show a machine's states, events and transitions
              interlock new ship                       create a machine of your own, with comments and a test
              interlock check                          prove all machines, built-in and the project's own
              interlock check ./my-machine             prove the machine in a directory
              interlock draw brain -o brain.svg        draw a machine
              interlock draw brain --format mermaid    draw it for a Markdown file
              interlock import door.scxml -o door/     convert a machine from SCXML, XState JSON or Mermaid
              interlock coder 'fix the failing test'   talk with the coding agent
              interlock run brain -s task='fix it'     start a run and follow it until it ends or waits
              interlock send R USER_CONFIRM            send an event to a waiting run
              interlock trace R                        show each transition of a run and its reason

            M is the name of a built-in machine or of one under .interlock/machines/, or the path of a directory
            or file.
            R is the name of a run, or a prefix that no other run's name has. Runs are stored in
            $INTERLOCK_HOME.

            Exit codes: 0 success, 1 the run or the check failed, 2 bad usage or bad input, 3 the run was
            aborted, 4 the run waits for a person (or was left before its end), 5 the run ended incomplete, 70 a
            bug in Interlock.
        "#]],
    );
}

#[test]
fn colours_are_only_for_terminals() {
    let (_folder, session) = project();
    for arguments in ["machines", "describe dor", "describe door"] {
        let transcript = session.run(arguments).unwrap();
        assert!(!(transcript.stdout + &transcript.stderr).contains('\u{1b}'), "{arguments}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let (_folder, session) = project();
    let mut command: Command = session.command("schema");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}
