//! Shell builtins: directories, variables, and code given as text.

use super::{Call, State, options::Line, shown, variables};
use crate::{
    Effect, Reader, Risk, lexical,
    shell::{Field, Simple, Vars, expand},
};

/// Builtins and programs without a relevant effect.
const HARMLESS: [&str; 34] = [
    ":", "true", "false", "echo", "test", "[", "exit", "return", "break", "continue", "wait", "jobs", "fg", "bg",
    "umask", "ulimit", "type", "hash", "pwd", "shift", "times", "let", "sleep", "disown", "which", "seq", "yes",
    "basename", "dirname", "expr", "uname", "date", "whoami", "shopt",
];

/// Reports if a program has no relevant effect, regardless of its arguments.
pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name == "printf"
}

impl Reader<'_> {
    /// Analyses a shell builtin. Returns true if the call was one.
    pub(super) fn builtin(&mut self, call: &Call<'_>, state: &mut State) -> bool {
        self.code_in_subscripts(call);
        match call.name {
            "cd" | "pushd" | "chdir" => self.cd(call, state),
            "popd" => state.folders = vec![None],
            "eval" => self.script_of(call.args, state),
            "source" | "." => self.unclear(&call.shown(), "the content of the file is not known"),
            "trap" => self.trap(call, state),
            "alias" => self.alias(call, state),
            "export" | "declare" | "local" | "readonly" | "typeset" | "set" | "unset" => self.declare(call, state),
            "read" | "getopts" | "mapfile" | "readarray" => {
                call.args
                    .iter()
                    .filter(|arg| !arg.text.starts_with('-'))
                    .for_each(|arg| state.vars.add(&arg.text, Field::unknown()));
            }
            "printf" => {
                let line = Line::of(call.args, &["-v"]);
                let names: Vec<String> = line.values(&["-v"]).map(str::to_owned).collect();
                names.iter().for_each(|name| state.vars.add(name, Field::unknown()));
            }
            "kill" => self.kill(call),
            "exec" if call.args.is_empty() => {}
            name if state.functions.iter().any(|function| function == name) => self.function_call(call, state),
            name => return HARMLESS.contains(&name),
        }
        true
    }

    /// These evaluate `a[$(code)]` even if it is quoted.
    fn code_in_subscripts(&mut self, call: &Call<'_>) {
        let has = |option: &str| call.args.iter().any(|arg| arg.text == option);
        let evaluates = match call.name {
            "let" | "declare" | "typeset" | "local" | "export" | "readonly" | "read" | "unset" | "mapfile"
            | "readarray" => true,
            "test" | "[" => has("-v"),
            "printf" | "wait" => has("-v") || has("-p"),
            _ => false,
        };
        let is_code = |arg: &Field| arg.text.contains('[') && (arg.text.contains("$(") || arg.text.contains('`'));
        if evaluates && call.args.iter().any(is_code) {
            self.unclear(&call.shown(), "a subscript is evaluated as code");
        }
    }

    /// Processes variable assignments: they are stored in the state, or checked if they change the behaviour of
    /// programs.
    pub(super) fn sets(&mut self, simple: &Simple, vars: &Vars, program: Option<&Field>, state: &mut State) {
        for (name, value) in &simple.sets {
            let value = super::joined(&expand(value, vars));
            match program {
                Some(_) => {
                    let value = if value.is_known { &value.text } else { "…" };
                    self.dangerous_set(&format!("{name}={value}"));
                }
                None => self.keep(name, value, state),
            }
        }
    }

    fn keep(&mut self, name: &str, value: Field, state: &mut State) {
        match name {
            "IFS" => self.unclear(&format!("IFS={}", value.text), "it changes how words are parted"),
            name => self.dangerous_set(&format!("{name}={}", value.text)),
        }
        state.vars.add(name, value);
    }

    /// Checks an assignment `NAME=value` that is passed to a program.
    pub(super) fn dangerous_set(&mut self, set: &str) {
        let Some((name, value)) = set.split_once('=') else { return };
        if variables::is_dangerous(name, value) {
            self.unclear(set, "it changes which code other programs run");
        }
    }

    fn cd(&mut self, call: &Call<'_>, state: &mut State) {
        let target = call.args.iter().find(|arg| !matches!(arg.text.as_str(), "-L" | "-P" | "-e" | "--"));
        let home = Field { is_known: self.around.home.is_some(), ..Field::known(self.around.home.unwrap_or_default()) };
        let target = target.unwrap_or(&home);
        let below_home =
            target.text.strip_prefix('~').filter(|rest| home.is_known && (rest.is_empty() || rest.starts_with('/')));
        match below_home {
            Some(rest) => state.enter(&Field { text: format!("{}{rest}", home.text), ..target.clone() }),
            None => state.enter(target),
        }
        let folder = match state.folders.as_slice() {
            [Some(folder)] => Field::known(folder.clone()),
            _ => Field::unknown(),
        };
        state.vars.add("PWD", folder);
    }

    /// Analyses the code if its text is known; otherwise its effect is unclear.
    fn script_of(&mut self, args: &[Field], state: &mut State) {
        let script = super::joined(args);
        match script.is_known {
            true => self.script(&script.text, state),
            false => self.unclear(&format!("eval {}", shown(args)), "the code is known only at run time"),
        }
    }

    fn trap(&mut self, call: &Call<'_>, state: &mut State) {
        let action = call.args.iter().find(|arg| arg.text != "--");
        if let Some(action) =
            action.filter(|action| call.args.len() > 1 && !matches!(action.text.as_str(), "" | "-" | "-l" | "-p"))
        {
            self.script_field(action, state);
        }
    }

    /// Analyses an alias when it is defined, because some shells use it at once.
    fn alias(&mut self, call: &Call<'_>, state: &mut State) {
        for arg in call.args {
            match arg.text.split_once('=') {
                Some((_, meaning)) if arg.is_known => self.script(meaning, &mut state.clone()),
                Some(_) => self.unclear(&arg.text, "the alias is known only at run time"),
                None => {}
            }
        }
    }

    fn declare(&mut self, call: &Call<'_>, state: &mut State) {
        for arg in call.args {
            match arg.text.split_once('=') {
                Some((name, value)) if call.name != "set" => {
                    let value = Field { text: value.to_owned(), ..arg.clone() };
                    self.keep(name.trim_end_matches('+'), value, state);
                }
                _ if call.name == "unset" => state.vars.add(&arg.text, Field::known("")),
                _ => {}
            }
        }
    }

    /// A run may signal its processes; the owner of a process with an explicit id is unknown, so a person must confirm.
    fn kill(&mut self, call: &Call<'_>) {
        let line = &call.args[usize::from(call.args.first().is_some_and(|arg| arg.text.starts_with('-')))..];
        let line = match call.args.first().map(|arg| arg.text.as_str()) {
            Some("-s" | "-n") => line.get(1..).unwrap_or_default(),
            _ => line,
        };
        for target in line.iter().filter(|target| target.is_known) {
            match target.text.trim_start_matches("--") {
                "-1" => self.see(Effect::EndEverything),
                "0" | "" => {}
                number if number.trim_start_matches('-').parse::<u32>().is_ok() => {
                    self.risky(Risk::Process, &call.shown(), "whose process that is is not known");
                }
                _ => {}
            }
        }
    }
}

impl State {
    /// Changes the directory, for every directory in which the command may run.
    pub(super) fn enter(&mut self, target: &Field) {
        let is_sure = target.sure().is_some() && target.text != "-";
        for folder in &mut self.folders {
            *folder = match (is_sure, folder.as_deref()) {
                (true, _) if target.text.starts_with('/') => Some(lexical(&target.text)),
                (true, Some(folder)) if !target.text.starts_with('~') => {
                    Some(lexical(&format!("{folder}/{}", target.text)))
                }
                _ => None,
            };
        }
        self.limit_folders();
    }
}
