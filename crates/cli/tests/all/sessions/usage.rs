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

            Commands:
              machines     List machines: built-in ones and the project's own
              describe     Say what a machine consists of: states, events, transitions
              check        Prove what machines promise, and how much they can do at most
              draw         Draw a machine, or write it in another format
              import       Make a machine file from another format
              conform      Run SCXML cases: each NAME.scxml with its NAME.json
              schema       Print the JSON Schema of machine files
              run          Start a run and follow it until it ends or waits
              runs         List runs
              show         Show where a run stands, what it holds and what it takes
              trace        Say what a run did, and why
              watch        Follow a run that another process moves
              report       Write down what a run did: Markdown, JSON, or a page with the machine's picture
              send         Send an event to a run, then follow it
              abort        Send the event by which a run's machine is aborted
              pause        Make a run stand still
              resume       Let a paused run go on, or take up one that was left
              grant        Grant a permission that policy asks about
              replay       Show a run as it was after one of its records
              fork         Make a new run from the first records of another
              undo         Take back what a run wrote
              snapshots    List the snapshots of a run, or copy one
              verify       Check that runs are what was written
              anchor       Print the signed end of the store's chain, to be kept elsewhere
              evidence     List the files a run left behind, or print one
              gc           Remove files that no run refers to
              map          Show what matters in a repository: files, and the symbols that a goal is about
              activities   List what machines can have done
              resources    List boards and other things that one run at a time may use: who has them, and who
                           waits
              kb           Find, show and write out what runs have learned
              init         Copy a built-in machine into the project, to be changed
              doctor       Say whether everything that runs need is there
              completions  Print the completions of a shell
              man          Print the manual page
              help         Print this message or the help of the given subcommand(s)

            Options:
                  --json     Print JSON for programs instead of text for people
              -h, --help     Print help
              -V, --version  Print version

            Examples:
              interlock machines                       what there is
              interlock describe coder                 its states, events and transitions
              interlock check                          prove every machine, built-in and the project's own
              interlock check ./my-machine             prove one folder's machine
              interlock draw brain -o brain.svg        a picture
              interlock draw brain --format mermaid    the same for a Markdown file
              interlock import door.scxml -o door/     a machine from SCXML, XState JSON or Mermaid
              interlock run coder -s goal='fix it'     start a run and follow it until it ends or waits
              interlock send R USER_CONFIRM            tell a run what it waits for
              interlock trace R                        what it did, and why

            A machine M is the name of a built-in one, of one under .interlock/machines/, or a path to a folder
            or file.
            A run R is its name, or as much of its beginning as is unlike any other's. Runs are kept in
            $INTERLOCK_HOME.
            Exit codes: 0 good, 1 the thing itself failed, 2 bad usage or bad input, 3 a run was aborted, 4 a
            run waits for a person (or was left before its end), 70 a bug in Interlock.
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
