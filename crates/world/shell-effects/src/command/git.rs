//! git: its global options, settings and aliases that run programs, and the effect of each verb on the user's work.

use super::{
    Call, State,
    git_verbs::{Does, does},
    options::Line,
};
use crate::{Effect, PathOp, Reader, Work, host_and_port, shell::Field};

/// Options of git itself that take a value.
const WITH_VALUE: [&str; 9] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--super-prefix",
    "--config-env",
    "--attr-source",
];

/// Settings whose value is a program, or a location of programs.
const RUNNING: [&str; 22] = [
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.hookspath",
    "core.askpass",
    "core.gitproxy",
    "core.attributesfile",
    "core.worktree",
    "diff.external",
    "sequence.editor",
    "gpg.program",
    "credential.helper",
    "http.proxy",
    "uploadpack.packobjectshook",
    "protocol.ext.allow",
    "include.path",
    "merge.tool",
    "difftool.prompt",
    "interactive.difffilter",
    "sendemail.smtpserver",
    "init.templatedir",
];

/// Parts of setting names whose value is a program.
const RUNNING_PARTS: [&str; 12] = [
    "pager.",
    "filter.",
    ".textconv",
    ".command",
    ".driver",
    ".cmd",
    "difftool.",
    "mergetool.",
    "gpg.",
    "credential.",
    "includeif.",
    "browser.",
];

impl Reader<'_> {
    /// Analyses a git command. Returns true if the call was one.
    pub(super) fn git(&mut self, call: &Call<'_>, state: &mut State) -> bool {
        if call.name != "git" {
            return false;
        }
        let mut inner = state.clone();
        let mut aliases: Vec<(String, String)> = Vec::new();
        let Some(rest) = self.git_options(call, &mut inner, &mut aliases) else {
            self.unclear(&call.shown(), "the git command is known only at run time");
            return true;
        };
        let Some((verb, args)) = rest.split_first() else { return true };
        let Some(verb) = verb.sure() else {
            self.unclear(&call.shown(), "the git command is known only at run time");
            return true;
        };
        let given = aliases.iter().chain(self.around.aliases).find(|(name, _)| name.eq_ignore_ascii_case(verb));
        let meaning = given.map(|(_, meaning)| meaning.clone());
        match (does(verb, args), meaning) {
            // An alias cannot override a git command.
            (Does::Unknown, Some(meaning)) => self.alias_of(&meaning, args, &mut inner),
            (does, _) => self.verb(call, verb, args, does, &mut inner),
        }
        true
    }

    /// Processes the options before the verb; returns the verb and its arguments.
    fn git_options<'f>(
        &mut self,
        call: &Call<'f>,
        state: &mut State,
        aliases: &mut Vec<(String, String)>,
    ) -> Option<&'f [Field]> {
        let mut args = call.args;
        while let Some((first, rest)) = args.split_first() {
            if !first.is_known {
                return None;
            }
            let text = first.text.as_str();
            if !text.starts_with('-')
                || matches!(text, "--version" | "--help" | "--exec-path" | "--html-path" | "--man-path")
            {
                break;
            }
            let (name, attached) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            let mut value = attached.map(Field::known);
            args = rest;
            if value.is_none() && WITH_VALUE.contains(&name) {
                value = args.first().cloned();
                args = args.get(1..).unwrap_or_default();
            }
            self.git_option(name, value.unwrap_or_default(), state, aliases);
        }
        Some(args)
    }

    fn git_option(&mut self, name: &str, value: Field, state: &mut State, aliases: &mut Vec<(String, String)>) {
        match name {
            "-C" => state.enter(&value),
            "-c" => match value.text.split_once('=') {
                Some((key, meaning)) if value.is_known => match key.to_ascii_lowercase().strip_prefix("alias.") {
                    Some(alias) => aliases.push((alias.to_owned(), meaning.to_owned())),
                    None => self.setting(key, meaning),
                },
                _ => self.unclear(&format!("git -c {}", value.text), "the setting is known only at run time"),
            },
            "--config-env" => self.unclear("git --config-env", "the setting is known only at run time"),
            "--git-dir" | "--work-tree" | "--exec-path" | "-p" | "--paginate"
                if name.len() > 2 && !value.text.is_empty() =>
            {
                self.unclear(&format!("git {name} {}", value.text), "git would work on something else");
            }
            _ => {}
        }
    }

    /// Checks a setting, passed or stored: some settings are programs to run.
    fn setting(&mut self, key: &str, value: &str) {
        let key = key.to_ascii_lowercase();
        let is_running = RUNNING.contains(&key.as_str())
            || RUNNING_PARTS.iter().any(|part| key.contains(part))
            || key.starts_with("url.");
        if is_running && !matches!(value, "cat" | "" | "true" | "false" | "less") {
            self.unclear(&format!("git -c {key}={value}"), "the setting names a program or changes where git works");
        }
    }

    /// Analyses an alias: `!` begins a shell script, any other text is expanded as git arguments.
    fn alias_of(&mut self, meaning: &str, args: &[Field], state: &mut State) {
        match meaning.strip_prefix('!') {
            Some(script) => {
                let args = super::joined(args);
                match args.is_known {
                    true => self.script(&format!("{script} {}", args.text), state),
                    false => self.unclear(script, "the arguments of the alias are known only at run time"),
                }
            }
            None => {
                if state.depth >= super::SCRIPTS_MAX {
                    return self.unclear(meaning, "aliases lead to each other");
                }
                state.depth += 1;
                let words = std::iter::once("git").chain(meaning.split_whitespace()).map(Field::known);
                let fields: Vec<Field> = words.chain(args.iter().cloned()).collect();
                self.call(&fields, None, state);
                state.depth -= 1;
            }
        }
    }

    fn verb(&mut self, call: &Call<'_>, verb: &str, args: &[Field], does: Does, state: &mut State) {
        let shown = call.shown();
        match does {
            Does::Read => self.files_named(args, state),
            Does::Files => self.git_files(args, state),
            Does::Write => {
                if verb == "config" {
                    self.kept_setting(args);
                }
                self.see(Effect::GitWrite { command: &shown });
            }
            Does::LoseChanges | Does::LoseIgnored => {
                let work = if does == Does::LoseIgnored { Work::ChangesAndIgnored } else { Work::Changes };
                self.loses(work, &shown, "throws away what is not committed");
                self.outside_of_workspace(&shown, state);
                self.see(Effect::GitWrite { command: &shown });
            }
            Does::LoseHistory => {
                self.loses(Work::History, &shown, "throws away commits, stashes or what leads to them")
            }
            Does::LoseRemote => {
                self.loses(Work::History, &shown, "discards history that others may have");
                self.remote(args, &shown);
            }
            Does::Fetch | Does::Push => {
                self.see(Effect::GitWrite { command: &shown });
                self.remote(args, &shown);
            }
            Does::Runs => self.unclear(&shown, "git would run another program"),
            Does::Unknown => self.unclear(&shown, "it is no command of git's own, so it may be an alias or a program"),
        }
    }

    /// Changes of another repository must not be discarded, so the directory must be writable for this run.
    fn outside_of_workspace(&mut self, shown: &str, state: &State) {
        for folder in state.folders.clone() {
            match folder {
                Some(folder) => self.path(PathOp::Write, &format!("{folder}/_"), "/"),
                None => self.unclear(shown, "the directory is known only at run time"),
            }
        }
    }

    fn git_files(&mut self, args: &[Field], state: &State) {
        let line = Line::of(args, &["-o", "--output", "--output-directory"]);
        let files: Vec<Field> = line.values(&["-o", "--output", "--output-directory"]).map(Field::known).collect();
        files.iter().for_each(|file| self.touch(PathOp::Write, file, state));
        if line.has(&["--unsafe-paths", "--directory"]) {
            self.unclear("git apply", "it may write outside of the workspace");
        }
        self.files_named(args, state);
    }

    fn kept_setting(&mut self, args: &[Field]) {
        let line = Line::of(args, &["-f", "--file", "--type"]);
        let words: Vec<&str> =
            line.operands.iter().map(|field| field.text.as_str()).filter(|word| *word != "set").collect();
        if let [key, value, ..] = words.as_slice() {
            let is_alias = key.to_ascii_lowercase().starts_with("alias.") && value.starts_with('!');
            match is_alias {
                true => self.unclear(&format!("git config {key}"), "the alias is a program to run later"),
                false => self.setting(key, value),
            }
        }
    }

    /// Checks the hosts that git connects to: an address in its arguments, or a remote whose address is unknown here.
    fn remote(&mut self, args: &[Field], shown: &str) {
        let addresses =
            args.iter().filter(|arg| arg.text.contains("://") || arg.text.contains('@') && arg.text.contains(':'));
        let addresses: Vec<&Field> = addresses.collect();
        if addresses.is_empty() {
            self.see(Effect::ConnectSomewhere { command: shown });
        }
        for address in addresses {
            match host_and_port(&address.text) {
                Some((host, port)) => self.connect(host, port),
                None => self.see(Effect::ConnectSomewhere { command: shown }),
            }
        }
    }
}
