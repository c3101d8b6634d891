//! From a request to a decision: one line per kind of request. The file named after each kind does the work; commands
//! are analysed in `command/`.

mod command;
mod connect;
mod patch;
mod path;

pub(crate) use command::begins_with;

use crate::{
    Command, Decision, Finding, Freedom, Level, Permission, Policy, Request, View, Weighed, code, exact,
    policy::{DefaultCase, LastWord, Rule},
};

/// Decides a request. The strictest finding counts, and its reason is given.
pub fn decide(request: &Request, view: &View<'_>, policy: &Policy) -> Decision {
    weigh(request, view, policy).decision()
}

/// Returns all findings about a request.
pub fn weigh(request: &Request, view: &View<'_>, policy: &Policy) -> Weighed {
    let mut scene = Scene::new(view, policy);
    scene.whole = exact::subject(request);
    match request {
        Request::Path { op, path } => scene.path(*op, path, view.root),
        Request::Command(Command::Shell(text)) => scene.shell(text),
        Request::Command(Command::Words(words)) => scene.words(words),
        Request::Connect { host, port } => scene.connect(host, *port),
        Request::Patch(patch) => scene.patch(patch),
        Request::Unconfined { freedom, command } => scene.unconfined(*freedom, command),
        Request::Git(words) => {
            let words: Vec<String> = std::iter::once("git".to_owned()).chain(words.iter().cloned()).collect();
            scene.words(&words);
        }
    }
    Weighed { findings: scene.findings }
}

/// The analysis of one request.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) view: &'a View<'a>,
    pub(crate) policy: &'a Policy,
    pub(crate) findings: Vec<Finding>,
    /// The name of the whole request, for what is not known piece by piece.
    whole: Option<String>,
}

/// The most findings that one request can have; what is more is not taken to be harmless.
const FINDINGS_MAX: usize = 2_000;

impl<'a> Scene<'a> {
    pub(crate) fn new(view: &'a View<'a>, policy: &'a Policy) -> Self {
        Scene { view, policy, findings: Vec::new(), whole: None }
    }

    pub(crate) fn find(
        &mut self,
        permission: Permission,
        subject: &str,
        level: Level,
        code: &'static str,
        reason: String,
    ) {
        // A subject with an unknown part would match many commands, so the whole text is used instead.
        let whole = self.whole.as_ref().filter(|_| code == code::NOT_UNDERSTOOD || subject.contains('…'));
        let subject = whole.map_or_else(|| subject.to_owned(), Clone::clone);
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(Finding { permission, subject, level, code, reason });
        } else if let Some(last) = self.findings.last_mut() {
            last.level = last.level.max(Level::Confirm);
            last.reason = format!("there are more than {FINDINGS_MAX} findings");
        }
    }

    /// Records a command that is to run with less confinement.
    fn unconfined(&mut self, freedom: Freedom, command: &str) {
        let (case, permission, how) = match freedom {
            Freedom::AnyHost => (DefaultCase::AnyHost, Permission::Connect, "with the network on"),
            Freedom::NoSandbox => (DefaultCase::NoSandbox, Permission::Unconfined, "without a sandbox"),
        };
        self.otherwise(case, permission, command, code::CONFINEMENT, &format!("`{command}` {how}"));
    }

    /// Applies the policy's default for a case.
    pub(crate) fn otherwise(
        &mut self,
        case: DefaultCase,
        permission: Permission,
        subject: &str,
        code: &'static str,
        what: &str,
    ) {
        let LastWord { level, reason, .. } = self.policy.last_word(case);
        let reason = if what.is_empty() { format!("`{subject}`: {reason}") } else { format!("{what}: {reason}") };
        self.find(permission, subject, *level, code, reason);
    }
}

/// Returns the strictest of the matching rules and the default. A rule that permits replaces the default; a rule of the
/// project does so only as far as the default may be loosened.
pub(crate) fn strictest<'r>(
    rules: impl Iterator<Item = &'r Rule>,
    last: &'r LastWord,
) -> (Level, &'r str, Option<&'r str>) {
    let mut is_permitted = false;
    let mut found: Option<(Level, &Rule)> = None;
    for rule in rules {
        is_permitted |= rule.level == Level::Allow;
        let least = if rule.is_projects { last.loosen_to } else { Level::Allow };
        let level = rule.level.max(least);
        if found.is_none_or(|(before, _)| level > before) {
            found = Some((level, rule));
        }
    }
    match found {
        Some((level, rule)) if is_permitted || level >= last.level => (level, &rule.reason, Some(&rule.name)),
        _ => (last.level, &last.reason, None),
    }
}
