//! Programs that run another program: the inner program is analysed.

use super::{
    Call, State,
    options::{Line, after_options},
    shown,
};
use crate::{PathOp, Reader, shell::Field};

/// Each wrapper with the options that take a value, and the number of operands before the program.
const WRAPPERS: [(&str, &[&str], usize); 34] = [
    ("nohup", &[], 0),
    ("setsid", &[], 0),
    ("nice", &["-n", "--adjustment"], 0),
    ("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    ("time", &["-f", "-o", "--format", "--output"], 0),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    ("gtimeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    ("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    ("builtin", &[], 0),
    ("exec", &["-a"], 0),
    ("chronic", &[], 0),
    ("unbuffer", &[], 0),
    ("busybox", &[], 0),
    ("toybox", &[], 0),
    ("fakeroot", &["-i", "-s", "-l"], 0),
    ("strace", &["-o", "-e", "-s", "-u", "-E", "-P", "-p"], 0),
    ("ltrace", &["-o", "-e", "-s", "-u", "-p"], 0),
    ("valgrind", &[], 0),
    ("taskset", &["-c", "-p"], 1),
    ("chrt", &["-T", "-P", "-D"], 1),
    ("numactl", &[], 0),
    ("prlimit", &[], 0),
    ("setarch", &[], 1),
    ("linux32", &[], 0),
    ("linux64", &[], 0),
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-T", "-r", "-t", "-U", "-D", "-R", "--user", "--group"], 0),
    ("doas", &["-u", "-C"], 0),
    ("pkexec", &["--user"], 0),
    ("chroot", &["--userspec", "--groups"], 1),
    ("unshare", &["-S", "-G", "-R", "-w", "--root", "--wd"], 0),
    ("nsenter", &["-t", "-S", "-G", "--target"], 0),
    ("xvfb-run", &["-n", "-s", "-e", "-f", "-p", "-w", "--server-num", "--server-args"], 0),
    ("dbus-run-session", &["--config-file"], 0),
    ("caffeinate", &["-t", "-w"], 0),
];

impl Reader<'_> {
    /// Analyses a program that runs another. Returns true if the call was one.
    pub(super) fn wrapped(&mut self, call: &Call<'_>, state: &mut State) -> bool {
        match call.name {
            "env" => self.env(call, state),
            "command" => match call.args.first().map(|arg| arg.text.as_str()) {
                Some("-v" | "-V") => {}
                _ => self.rest(call, after_options(call.args, &[], 0), state),
            },
            "xargs" => self.xargs(call, state),
            "flock" => self.flock(call, state),
            "watch" => self.joined_script(call, &["-n", "-d", "--interval"], state),
            "script" | "su" | "runuser" => self.script_option(call, state),
            "parallel" | "entr" | "nq" | "ts" => self.unclear(&call.shown(), "the command that it runs is not literal"),
            _ => {
                let Some((_, with_value, operands)) = WRAPPERS.iter().find(|(name, ..)| *name == call.name) else {
                    return false;
                };
                self.own_options(call, with_value, state);
                if matches!(call.name, "time" | "strace" | "ltrace") {
                    self.written_by_option(call, with_value, &["-o", "--output"], state);
                }
                let rest = after_options(call.args, with_value, *operands);
                let rest = rest.map(|rest| if call.name == "sudo" { without_sets(rest) } else { rest });
                self.rest(call, rest, state);
            }
        }
        true
    }

    /// Analyses the rest of a command line as a command.
    fn rest(&mut self, call: &Call<'_>, rest: Option<&[Field]>, state: &mut State) {
        match rest {
            Some(rest) => self.call(rest, call.fed, state),
            None => self.unclear(&call.shown(), "the program is known only at run time"),
        }
    }

    /// The options of a wrapper stay in the workspace, and start nothing: `strace -o '|program'` would.
    fn own_options(&mut self, call: &Call<'_>, with_value: &[&str], state: &State) {
        let inner = after_options(call.args, with_value, 0).map_or(0, <[Field]>::len);
        let own = Call { args: &call.args[..call.args.len() - inner], ..*call };
        self.options_lead_outside(&own, state);
        if own.args.iter().any(|arg| arg.text.trim_start_matches(['-', 'o']).starts_with(['|', '!'])) {
            self.unclear(&call.shown(), "an option starts another program");
        }
    }

    fn written_by_option(&mut self, call: &Call<'_>, with_value: &[&str], names: &[&str], state: &State) {
        // Only options before the inner program belong to this one.
        let own = call.args.len() - after_options(call.args, with_value, 0).map_or(0, <[Field]>::len);
        let line = Line::of(&call.args[..own], with_value);
        let files: Vec<Field> = line.values(names).map(Field::known).collect();
        files.iter().for_each(|file| self.touch(PathOp::Write, file, state));
    }

    fn env(&mut self, call: &Call<'_>, state: &mut State) {
        const WITH_VALUE: [&str; 6] = ["-u", "--unset", "-C", "--chdir", "-S", "--split-string"];
        let Some(rest) = after_options(call.args, &WITH_VALUE, 0) else { return self.rest(call, None, state) };
        let own = &call.args[..call.args.len() - rest.len()];
        let line = Line::of(own, &WITH_VALUE);
        let scripts: Vec<String> = line.values(&["-S", "--split-string"]).map(str::to_owned).collect();
        let folders: Vec<String> = line.values(&["-C", "--chdir"]).map(str::to_owned).collect();
        let mut inner = state.clone();
        for folder in folders {
            inner.enter(&Field::known(folder));
        }
        let sets = rest.len() - without_sets(rest).len();
        for set in &rest[..sets] {
            self.dangerous_set(&set.text);
        }
        for script in scripts {
            let words: Vec<&str> = rest.iter().map(|field| field.text.as_str()).collect();
            self.script(&format!("{script} {}", words.join(" ")), &mut inner);
        }
        self.rest(call, Some(without_sets(rest)), &mut inner);
    }

    /// Analyses `xargs`, which takes arguments from its input. They are known only if the command before it lists files
    /// of the workspace.
    fn xargs(&mut self, call: &Call<'_>, state: &mut State) {
        const WITH_VALUE: [&str; 16] = [
            "-I",
            "-i",
            "-n",
            "-P",
            "-d",
            "-L",
            "-l",
            "-a",
            "-s",
            "-E",
            "-e",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--replace",
            "--arg-file",
        ];
        let Some(rest) = after_options(call.args, &WITH_VALUE, 0) else { return self.rest(call, None, state) };
        let line = Line::of(&call.args[..call.args.len() - rest.len()], &WITH_VALUE);
        let marker: Option<String> = line.values(&["-I", "-i", "--replace"]).last().map(str::to_owned);
        let marker = marker.or_else(|| line.has(&["-i", "--replace"]).then(|| "{}".to_owned()));
        let mut fields: Vec<Field> = match rest {
            [] => vec![Field::known("echo")],
            rest => rest.to_vec(),
        };
        let is_harmless = fields.first().is_some_and(|program| super::builtins::is_harmless(&program.text));
        if !state.reads_names && !is_harmless {
            self.unclear(&call.shown(), "it takes arguments from its input, and that is not known");
        }
        match marker {
            Some(marker) => fields
                .iter_mut()
                .filter(|field| field.text.contains(&marker))
                .for_each(|field| *field = Field::unknown()),
            None => fields.push(Field::unknown()),
        }
        self.call(&fields, None, state);
    }

    fn flock(&mut self, call: &Call<'_>, state: &mut State) {
        const WITH_VALUE: [&str; 4] = ["-w", "-E", "--timeout", "--conflict-exit-code"];
        let script = call.args.iter().position(|arg| matches!(arg.text.as_str(), "-c" | "--command"));
        match script.and_then(|at| call.args.get(at + 1)) {
            Some(script) => self.script_field(&script.clone(), state),
            None => self.rest(call, after_options(call.args, &WITH_VALUE, 1), state),
        }
    }

    fn joined_script(&mut self, call: &Call<'_>, with_value: &[&str], state: &mut State) {
        match after_options(call.args, with_value, 0) {
            Some(rest) => self.script_field(&super::joined(rest), state),
            None => self.rest(call, None, state),
        }
    }

    /// Analyses the script in `su -c 'script'`.
    fn script_option(&mut self, call: &Call<'_>, state: &mut State) {
        let line = Line::of(call.args, &["-c", "--command", "-s", "-g", "-G"]);
        let scripts: Vec<Field> = line.values(&["-c", "--command"]).map(Field::known).collect();
        if scripts.is_empty() {
            self.unclear(&call.shown(), "the command that it runs is not literal");
        }
        scripts.iter().for_each(|script| self.script_field(script, state));
    }

    /// Analyses a field that a shell will execute as a script.
    pub(super) fn script_field(&mut self, script: &Field, state: &mut State) {
        match script.is_known {
            true => self.script(&script.text, &mut state.clone()),
            false => self.unclear(&shown(std::slice::from_ref(script)), "the script is known only at run time"),
        }
    }
}

impl Call<'_> {
    /// Formats the call for people.
    pub(super) fn shown(&self) -> String {
        let name = [Field::known(self.name)];
        shown(&[&name, self.args].concat())
    }
}

/// Returns the fields without the leading `NAME=value` assignments.
fn without_sets(fields: &[Field]) -> &[Field] {
    let is_set =
        |field: &Field| field.text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'));
    let sets = fields.iter().take_while(|field| is_set(field)).count();
    &fields[sets..]
}
