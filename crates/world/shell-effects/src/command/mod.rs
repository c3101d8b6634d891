//! Static analysis of commands. Nothing is guessed: if the effect of a command is unknown, the finding states that, and
//! a person must confirm.
//!
//! `shell/` parses a text; this module follows its commands one by one, with their working directory and variables.
//! `wrap.rs` handles programs that run others, `shells.rs` those that take code, `git.rs` git, `files.rs` the effect of
//! common programs on files, and `net.rs` programs that connect to other hosts.

mod build;
mod builtins;
mod code_words;
mod files;
mod find;
mod git;
mod git_verbs;
mod net;
mod options;
mod shells;
mod tools;
mod variables;
mod wrap;

use crate::{
    Effect, PathOp, Reader, Risk, Work, quoted,
    shell::{Field, Item, Link, Simple, Vars, Way, expand, parse},
};

/// The maximum nesting of scripts in scripts: `sh -c "sh -c '…'"`.
const SCRIPTS_MAX: usize = 8;
/// The maximum number of candidate working directories of a command.
const FOLDERS_MAX: usize = 4;
/// The maximum number of variable combinations that are tried for one command.
const CHOICES_MAX: usize = 16;
/// A placeholder for the private temporary directory of a confined program, whose real name is unknown before it
/// starts.
const PRIVATE_TEMPORARY: &str = "/tmp/interlock-private";
/// The state of the shell after the commands read so far.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The candidate working directories; `None` is an unknown directory.
    folders: Vec<Option<String>>,
    vars: Vars,
    functions: Vec<String>,
    depth: usize,
    /// True if the next command of a pipe reads only names of files in the workspace.
    reads_names: bool,
}

/// One command with its variables expanded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'c> {
    /// The program's name without its directory.
    name: &'c str,
    /// The arguments of the program.
    args: &'c [Field],
    /// The standard input, if the text defines it.
    fed: Option<&'c Field>,
}

impl Reader<'_> {
    /// A text for `sh -c`.
    pub(crate) fn shell(&mut self, text: &str) {
        let mut state = self.state();
        self.script(text, &mut state);
    }

    /// A program and its arguments, without a shell.
    pub(crate) fn fields(&mut self, fields: &[Field]) {
        let mut state = self.state();
        self.call(fields, None, &mut state);
    }

    fn state(&self) -> State {
        let mut vars = Vars::default();
        vars.fix("PWD", Field::known(self.around.cwd));
        vars.fix("TMPDIR", Field::known(PRIVATE_TEMPORARY));
        if let Some(home) = self.around.home {
            vars.fix("HOME", Field::known(home));
        }
        State {
            folders: vec![Some(self.around.cwd.to_owned())],
            vars,
            functions: Vec::new(),
            depth: 0,
            reads_names: false,
        }
    }

    /// Follows a script from its first command to its last.
    fn script(&mut self, text: &str, state: &mut State) {
        if state.depth >= SCRIPTS_MAX {
            return self.unclear(text, "scripts are nested too deeply");
        }
        state.depth += 1;
        let script = parse(text);
        for why in &script.unclear {
            self.unclear(text, why);
        }
        if script.calls_itself() {
            self.unclear(text, "a function calls itself");
        }
        state.functions.extend(script.functions);
        let mut outer = Vec::new();
        let mut before: Vec<Option<String>> = Vec::new();
        for item in &script.items {
            match item {
                Item::Open => outer.push((state.clone(), before.clone())),
                Item::Close => {
                    if let Some((state_before, folders)) = outer.pop() {
                        (*state, before) = (state_before, folders);
                    }
                }
                Item::Bind { name, values } => {
                    let values = values.iter().flat_map(|value| expand(value, &state.vars)).collect::<Vec<_>>();
                    values.into_iter().for_each(|value| state.vars.add(name, value));
                }
                Item::Simple(simple) => {
                    let folders = state.folders.clone();
                    self.simple(simple, state);
                    // A change of directory is certain only for commands that follow it with `&&`.
                    if state.folders != folders {
                        before.extend(folders);
                    }
                    if simple.then != Link::And {
                        state.folders.append(&mut before);
                        state.limit_folders();
                    }
                }
            }
        }
        state.depth -= 1;
    }

    fn simple(&mut self, simple: &Simple, state: &mut State) {
        for choice in choices(simple, &state.vars) {
            if self.budget == 0 {
                return self.unclear("…", "there are too many commands to look at");
            }
            self.budget -= 1;
            let fields: Vec<Field> = simple.words.iter().flat_map(|word| expand(word, &choice)).collect();
            self.sets(simple, &choice, fields.first(), state);
            self.redirects(simple, &choice, &fields, state);
            let fed = simple.fed.as_ref().map(|word| joined(&expand(word, &choice)));
            self.call(&fields, fed.as_ref(), state);
            state.reads_names = simple.then == Link::Pipe && lists_names(&fields, state.reads_names);
        }
    }

    fn redirects(&mut self, simple: &Simple, vars: &Vars, fields: &[Field], state: &State) {
        let is_empty = match fields {
            [] => simple.sets.is_empty() && !simple.is_tail,
            [only] => matches!(only.text.as_str(), ":" | "true"),
            _ => false,
        };
        for redirect in &simple.redirects {
            let op = match redirect.way {
                Way::Read => PathOp::Read,
                Way::Append => PathOp::Write,
                Way::Overwrite if is_empty => PathOp::Destroy,
                Way::Overwrite => PathOp::Write,
            };
            for target in expand(&redirect.target, vars) {
                match target.text.strip_prefix("/dev/tcp/").or_else(|| target.text.strip_prefix("/dev/udp/")) {
                    Some(rest) => self.connect(rest.split('/').next().unwrap_or(rest), None),
                    None => {
                        self.touch(op, &target, state);
                        if op != PathOp::Read {
                            self.note_written(&target, state);
                        }
                    }
                }
            }
        }
    }

    /// Records an operation on a file, in every directory in which the command may run.
    fn touch(&mut self, op: PathOp, field: &Field, state: &State) {
        if !field.is_known {
            // A read can be checked by the name alone; a change needs the exact file.
            if op != PathOp::Read || field.text.starts_with(['/', '~']) {
                self.unclear(&shown(std::slice::from_ref(field)), "the file is known only at run time");
            } else {
                self.files_named(std::slice::from_ref(field), state);
            }
            return;
        }
        let is_absolute = field.text.starts_with(['/', '~']);
        for folder in &state.folders {
            match (folder, field.is_pattern) {
                (None, _) if !is_absolute => {
                    if op != PathOp::Read {
                        self.unclear(&field.text, "the directory is known only at run time");
                    }
                }
                (folder, true) => {
                    let folder = folder.as_deref().unwrap_or("/");
                    self.see(Effect::Pattern { op, path: &field.text, folder });
                }
                (folder, false) => self.path(op, &field.text, folder.as_deref().unwrap_or("/")),
            }
        }
    }

    /// Analyses one command: first the rules for it, then its known effect.
    fn call(&mut self, fields: &[Field], fed: Option<&Field>, state: &mut State) {
        let Some((first, args)) = fields.split_first() else { return };
        let Some(path) = first.sure() else {
            return self.unclear(&shown(fields), "the program is known only at run time");
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let name = name.strip_suffix(".exe").unwrap_or(name);
        if path.contains('/') {
            self.touch(PathOp::Read, first, state);
        }
        self.run(name, fields);
        let call = Call { name, args, fed };
        if !self.is_at_home(path, state) {
            self.unclear(&shown(fields), "the program is neither one of the system nor of the workspace");
        }
        if path.contains('/') && self.has_written(path, state) {
            self.unclear(&shown(fields), "the program was written just before");
        }
        let is_own = path.contains('/') && !self.is_system_program(path);
        self.understand(&call, is_own, state);
    }

    fn run(&mut self, name: &str, fields: &[Field]) {
        let words: Vec<String> =
            std::iter::once(name.to_owned()).chain(fields.iter().skip(1).map(|field| field.text.clone())).collect();
        self.see(Effect::Run { words: &words, command: &shown(fields) });
    }

    /// Analyses the known effect of a command. Of the project's own programs only the files that they name are checked.
    fn understand(&mut self, call: &Call<'_>, is_own: bool, state: &mut State) {
        self.code_in_options(call, state);
        if !is_own {
            self.options_lead_outside(call, state);
        }
        let is_known = self.builtin(call, state)
            || self.wrapped(call, state)
            || self.shell_program(call, state)
            || self.find_program(call, state)
            || self.git(call, state)
            || self.build_tool(call, state)
            || self.talks(call, state)
            || self.files(call, state)
            || self.tool(call, state);
        if !is_known {
            self.files_named(call.args, state);
        }
        if !is_known && !is_own {
            let words = [&[Field::known(call.name)], call.args].concat();
            let words: Vec<String> = words.into_iter().map(|field| field.text).collect();
            self.unknown(&words, &call.shown());
        }
    }

    /// Checks words that may be file names: only rules that forbid them count.
    fn files_named(&mut self, args: &[Field], state: &State) {
        for arg in args {
            let value = arg.text.split_once('=').map_or(arg.text.as_str(), |(_, value)| value).trim_start_matches('@');
            let is_option = value.starts_with('-') || value.is_empty();
            for folder in state.folders.iter().filter(|_| !is_option) {
                let (folder, is_pattern) = (folder.as_deref().unwrap_or("/"), arg.is_pattern || !arg.is_known);
                self.see(Effect::PerhapsRead { path: value, folder, is_pattern });
            }
        }
    }

    /// It does away with work, whichever files hold it.
    fn loses(&mut self, work: Work, command: &str, why: &str) {
        self.see(Effect::LoseWork { work, command, why });
    }

    fn risky(&mut self, risk: Risk, command: &str, why: &str) {
        self.see(Effect::Risky { risk, command, why });
    }
}

impl State {
    fn limit_folders(&mut self) {
        let mut kept: Vec<Option<String>> = Vec::new();
        for folder in std::mem::take(&mut self.folders) {
            if !kept.contains(&folder) {
                kept.push(folder);
            }
        }
        if kept.len() > FOLDERS_MAX {
            kept = vec![None];
        }
        self.folders = kept;
    }
}

/// Reports if a command prints only names of files in the workspace: a program that lists them, or one that filters
/// such a list.
fn lists_names(fields: &[Field], reads_names: bool) -> bool {
    let Some((program, args)) = fields.split_first() else { return false };
    let has = |names: &[&str]| args.iter().any(|arg| names.contains(&arg.text.as_str()));
    let is_inside = |arg: &Field| arg.is_known && !arg.text.starts_with(['/', '~']) && !arg.text.contains("..");
    let lists = match program.text.as_str() {
        "find" | "fd" | "ls" => true,
        "git" => args.first().is_some_and(|verb| verb.text == "ls-files"),
        "rg" => has(&["-l", "--files", "--files-with-matches"]),
        "grep" if !reads_names => has(&["-l", "-rl", "-lr", "-Rl", "--files-with-matches"]),
        "grep" | "sort" | "uniq" | "head" | "tail" => reads_names,
        _ => false,
    };
    lists && args.iter().all(is_inside)
}

/// Returns the variable combinations of a command, with one value per variable. Variables with too many values stay
/// unknown.
fn choices(simple: &Simple, vars: &Vars) -> Vec<Vars> {
    let mut choices = vec![vars.clone()];
    for name in names(simple) {
        let values = vars.values(name);
        if values.len() < 2 {
            continue;
        }
        if choices.len() * values.len() > CHOICES_MAX {
            choices.iter_mut().for_each(|choice| choice.fix(name, Field::unknown()));
            continue;
        }
        let with = |choice: &Vars, value: &Field| {
            let mut choice = choice.clone();
            choice.fix(name, value.clone());
            choice
        };
        choices = choices.iter().flat_map(|choice| values.iter().map(move |value| with(choice, value))).collect();
    }
    choices
}

fn names(simple: &Simple) -> Vec<&str> {
    let words = simple.words.iter().chain(simple.redirects.iter().map(|redirect| &redirect.target));
    let words = words.chain(&simple.fed).chain(simple.sets.iter().map(|(_, value)| value));
    let mut names: Vec<&str> = words
        .flat_map(|word| &word.parts)
        .filter_map(|part| match part {
            crate::shell::Part::Var { name, .. } => Some(name.as_str()),
            _ => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Joins fields to one text; it is unknown if one of the fields is.
fn joined(fields: &[Field]) -> Field {
    let texts: Vec<&str> = fields.iter().map(|field| field.text.as_str()).collect();
    Field { text: texts.join(" "), is_known: fields.iter().all(|field| field.is_known), is_pattern: false }
}

/// Formats a command for people, in full: a grant for it must not match another command. Unknown parts are shown as
/// `…`.
fn shown(fields: &[Field]) -> String {
    let word = |field: &Field| match field.is_known {
        false => format!("{}…", field.text),
        true => quoted(&field.text),
    };
    fields.iter().map(word).collect::<Vec<_>>().join(" ")
}
