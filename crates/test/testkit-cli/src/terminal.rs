//! A real terminal for a command, made by `script`.

use std::{
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
};

use crate::session::Session;

/// A command on a terminal.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    seen: String,
}

impl Terminal {
    /// Runs a program with these arguments on a terminal, for a minute at most. Its store is `home` in the session's
    /// directory, unless the session has another one.
    ///
    /// # Panics
    /// Panics if the terminal cannot be made.
    pub fn new(program: &str, session: &Session, arguments: &str) -> Self {
        let inner = format!("stty cols 100 rows 40; exec {program} {arguments}");
        let mut command = Command::new("timeout");
        command.args(["60", "script", "-qefc", &inner, "/dev/null"]).current_dir(session.folder());
        command.env("TERM", "xterm").env("INTERLOCK_HOME", session.folder().join("home"));
        command.env_remove("VISUAL").env("EDITOR", "./edit.sh");
        command.envs(session.settings());
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Terminal { child, seen: String::new() }
    }

    /// Waits until the terminal shows this text, then types the keys.
    ///
    /// # Panics
    /// Panics if the command ends before.
    pub fn answer(&mut self, shown: &str, keys: &str) {
        let mut bytes = Vec::new();
        while !bytes.ends_with(shown.as_bytes()) {
            let mut next = [0; 1];
            let read = self.child.stdout.as_mut().unwrap().read(&mut next).unwrap();
            assert_eq!(read, 1, "`{shown}` was not shown after\n{}{}", self.seen, String::from_utf8_lossy(&bytes));
            bytes.extend(next);
        }
        self.seen.push_str(&String::from_utf8_lossy(&bytes));
        self.child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end of the command. Returns its exit code and everything that the terminal showed.
    ///
    /// # Panics
    /// Panics if the terminal cannot be read.
    pub fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.child.stdout.as_mut().unwrap().read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), self.seen + &rest)
    }
}
