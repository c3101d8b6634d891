//! Commands: what the rules say about each effect that reading a command shows.

use interlock_shell_effects::{Effect, Risk, Surroundings, Witness, Work, read_shell, read_words};

use super::{Scene, strictest};
use crate::{
    Level, Permission, View, code,
    path::places,
    policy::{DefaultCase, Rule},
};

/// The longest piece of a command that is shown.
const SHOWN_MAX: usize = 160;

impl Scene<'_> {
    /// A text for `sh -c`.
    pub(super) fn shell(&mut self, text: &str) {
        let view = self.view;
        read_shell(text, &around(view, &|path, folder| is_inside(path, folder, view)), self);
    }

    /// A program and its arguments, without a shell.
    pub(super) fn words(&mut self, words: &[String]) {
        let view = self.view;
        read_words(words, &around(view, &|path, folder| is_inside(path, folder, view)), self);
    }

    /// A program is started: the rules for commands.
    fn run(&mut self, words: &[String], shown: &str) {
        let rules =
            self.policy.commands.iter().filter(|rule| rule.prefixes.iter().any(|prefix| is_prefix(words, prefix)));
        let matching: Vec<&Rule> = rules.map(|command| &command.rule).collect();
        let last = self.policy.last_word(DefaultCase::Exec);
        let (level, reason, rule) = strictest(matching.iter().copied(), last);
        let permission =
            matching.iter().find(|found| Some(found.name.as_str()) == rule).and_then(|rule| rule.permissions.first());
        let permission = permission.copied().unwrap_or(Permission::Exec);
        let named = rule.map(|rule| format!(" (rule {rule})")).unwrap_or_default();
        self.find(permission, shown, level, code::COMMAND_RULE, format!("`{}`: {reason}{named}", cut(shown)));
    }

    /// A program that is unknown here needs a person's yes, unless a rule names it.
    fn unknown(&mut self, words: &[String], command: &str) {
        let is_named = |prefix: &Vec<String>| is_prefix(words, prefix);
        if !self.policy.commands.iter().any(|rule| rule.prefixes.iter().any(is_named)) {
            self.unclear(command, "no rule names this program, so its effect is not known");
        }
    }

    fn unclear(&mut self, command: &str, why: &str) {
        let what = cut(command);
        self.otherwise(
            DefaultCase::NotUnderstood,
            Permission::Exec,
            &what,
            code::NOT_UNDERSTOOD,
            &format!("`{what}`: {why}"),
        );
    }

    fn loses(&mut self, work: Work, command: &str, why: &str) {
        let case = match work {
            Work::History => DefaultCase::DestroyHistory,
            Work::Changes | Work::ChangesAndIgnored if !self.view.has_snapshot => DefaultCase::DestroyLost,
            Work::ChangesAndIgnored => DefaultCase::DestroyPartly,
            Work::Changes => DefaultCase::DestroyKept,
        };
        let what = format!("`{}` {why}", cut(command));
        self.otherwise(case, Permission::Destroy, command, code::WOULD_LOSE_WORK, &what);
    }

    fn risky(&mut self, risk: Risk, command: &str, why: &str) {
        let (permission, code) = match risk {
            Risk::Network => (Permission::Connect, code::HOST_RULE),
            Risk::Ownership => (Permission::Write, code::COMMAND_RULE),
            Risk::Privilege => (Permission::Exec, code::COMMAND_RULE),
            Risk::Process => (Permission::Exec, code::NOT_UNDERSTOOD),
        };
        self.find(permission, command, Level::Confirm, code, format!("`{}`: {why}", cut(command)));
    }

    fn end_everything(&mut self) {
        let reason = "`kill -1`: it would end every process".to_owned();
        self.find(Permission::Exec, "kill -1", Level::Deny, code::COMMAND_RULE, reason);
    }
}

impl Witness for Scene<'_> {
    fn see(&mut self, effect: Effect<'_>) {
        match effect {
            Effect::Run { words, command } => self.run(words, command),
            Effect::Unknown { words, command } => self.unknown(words, command),
            Effect::Path { op, path, folder } => self.path(op, path, folder),
            Effect::Pattern { op, path, folder } => self.pattern(op, path, folder),
            Effect::PerhapsRead { path, folder, is_pattern } => self.perhaps_path(path, folder, is_pattern),
            Effect::Connect { host, port } => self.connect(host, port),
            Effect::ConnectSomewhere { command } => {
                self.otherwise(DefaultCase::Connect, Permission::Connect, command, code::HOST_RULE, "");
            }
            Effect::GitWrite { command } => {
                self.otherwise(DefaultCase::GitWrite, Permission::GitWrite, command, code::GIT_WRITE, "");
            }
            Effect::LoseWork { work, command, why } => self.loses(work, command, why),
            Effect::Risky { risk, command, why } => self.risky(risk, command, why),
            Effect::EndEverything => self.end_everything(),
            Effect::Unclear { command, why } => self.unclear(command, why),
        }
    }
}

/// The part of a view that reading a command needs.
fn around<'a>(view: &'a View<'a>, is_inside: &'a dyn Fn(&str, &str) -> bool) -> Surroundings<'a> {
    Surroundings { cwd: view.cwd, home: view.home, aliases: view.aliases, is_inside }
}

/// True if a path is inside the workspace, by its letters and by where links lead it.
fn is_inside(path: &str, folder: &str, view: &View<'_>) -> bool {
    let places = places(path, folder, view).unwrap_or_default();
    !places.is_empty() && places.iter().all(|place| place.inside.is_some())
}

/// Every command that a text starts.
#[derive(Default)]
struct Started(Vec<Vec<String>>);

impl Witness for Started {
    fn see(&mut self, effect: Effect<'_>) {
        if let Effect::Run { words, .. } = effect {
            self.0.push(words.to_vec());
        }
    }
}

/// Whether a text holds a command that begins with one of these lists of words. For the examples in policy files.
pub(crate) fn begins_with(text: &str, prefixes: &[Vec<String>]) -> bool {
    let view = View::plain("/workspace");
    let mut started = Started::default();
    read_shell(text, &around(&view, &|path, folder| is_inside(path, folder, &view)), &mut started);
    started.0.iter().any(|words| prefixes.iter().any(|prefix| is_prefix(words, prefix)))
}

/// Options and what follows one directly may stand between the words of a prefix.
fn is_prefix(words: &[String], prefix: &[String]) -> bool {
    let (mut wanted, mut after_option) = (prefix.iter().peekable(), false);
    for (at, word) in words.iter().enumerate() {
        let Some(next) = wanted.peek() else { return true };
        if word == *next {
            wanted.next();
            after_option = false;
        } else if at > 0 && word.starts_with('-') {
            after_option = !word.contains('=');
        } else if after_option {
            after_option = false;
        } else {
            return false;
        }
    }
    wanted.peek().is_none()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
