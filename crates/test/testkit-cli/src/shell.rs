//! Runs the commands of a document: the binary itself, shell commands, and one background process that a later command
//! kills.
//!
//! `interlock … &` starts a background process and returns as soon as it has printed the lines that the document shows.
//! `kill -9 %1` kills it. Every other command ends before the next one starts.

use std::{
    io::{BufRead, BufReader, PipeReader},
    process::Child,
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use crate::session::Session;

/// The command that kills the background process.
const KILL: &str = "kill -9 %1";

/// Marks a background command.
const BACKGROUND: &str = " &";

/// Characters that only a shell understands.
const SHELL_SIGNS: [char; 6] = ['|', '>', '<', ';', '&', '$'];

/// Longest wait for one line of a background process.
const LINE_WAIT_MAX: Duration = Duration::from_secs(60);

/// Runs commands of one document, one after the other.
pub(crate) struct Shell<'s> {
    program: &'s str,
    session: &'s Session,
    background: Option<Child>,
}

impl<'s> Shell<'s> {
    /// Creates a shell in which `program` stands for the session's binary.
    pub(crate) fn new(program: &'s str, session: &'s Session) -> Self {
        Shell { program, session, background: None }
    }

    /// Runs a command and returns its output. `lines_shown` is the number of lines that a background command prints
    /// before the next command may run.
    pub(crate) fn run(&mut self, command: &str, lines_shown: usize) -> Result<String, String> {
        let result = match (command, command.strip_suffix(BACKGROUND)) {
            (KILL, _) => self.kill(),
            (_, Some(command)) => self.start(command, lines_shown),
            (_, None) => self.finish(command),
        };
        result.map_err(|error| format!("`{command}`: {error}"))
    }

    fn arguments<'c>(&self, command: &'c str) -> Option<&'c str> {
        command.strip_prefix(self.program).filter(|rest| rest.is_empty() || rest.starts_with(' '))
    }

    fn finish(&self, command: &str) -> std::io::Result<String> {
        let is_plain = !command.contains(SHELL_SIGNS);
        let transcript = match self.arguments(command).filter(|_| is_plain) {
            Some(arguments) => self.session.run(arguments)?,
            None => self.session.run_shell(command)?,
        };
        Ok(transcript.stdout + &transcript.stderr)
    }

    fn start(&mut self, command: &str, lines_shown: usize) -> std::io::Result<String> {
        let Some(arguments) = self.arguments(command) else {
            return Err(std::io::Error::other(format!("only {} commands can run in the background", self.program)));
        };
        let (reader, writer) = std::io::pipe()?;
        let mut process = self.session.command(arguments);
        process.stdout(writer.try_clone()?).stderr(writer);
        self.background = Some(process.spawn()?);
        drop(process); // It holds the writing end; the reader sees the end of the output only after the drop.
        let lines = lines_of(reader);
        let printed = (0..lines_shown).map_while(|_| lines.recv_timeout(LINE_WAIT_MAX).ok());
        Ok(printed.map(|line| line + "\n").collect())
    }

    fn kill(&mut self) -> std::io::Result<String> {
        let mut process = self.background.take().ok_or_else(|| std::io::Error::other("no background process"))?;
        process.kill()?;
        process.wait()?;
        Ok(String::new())
    }
}

impl Drop for Shell<'_> {
    fn drop(&mut self) {
        let _ = self.kill(); // Without a background process there is nothing to kill.
    }
}

/// Reads lines in a separate thread, so that a wait for a line can time out.
fn lines_of(reader: PipeReader) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(reader).lines().map_while(Result::ok);
        lines.take_while(|line| sender.send(line.clone()).is_ok()).for_each(drop);
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::Shell;
    use crate::session::Session;

    fn session() -> Session {
        Session::new("/bin/sh", std::env::temp_dir())
    }

    #[test]
    fn program_and_shell_commands_return_their_output() {
        let session = session();
        let mut shell = Shell::new("sh", &session);
        assert_eq!(shell.run("sh -c 'echo a b'", 0).unwrap(), "a b\n");
        assert_eq!(shell.run("printf 'b\\na\\n' | sort", 0).unwrap(), "a\nb\n");
    }

    #[test]
    fn background_process_runs_until_it_is_killed() {
        let session = session();
        let mut shell = Shell::new("sh", &session);
        assert_eq!(shell.run("sh -c 'echo begun; exec cat /dev/zero > /dev/null' &", 1).unwrap(), "begun\n");
        assert_eq!(shell.run("kill -9 %1", 0).unwrap(), "");
        assert!(shell.run("kill -9 %1", 0).unwrap_err().contains("no background process"));
    }

    #[test]
    fn other_programs_do_not_run_in_the_background() {
        let session = session();
        assert!(Shell::new("sh", &session).run("make &", 0).is_err());
    }
}
