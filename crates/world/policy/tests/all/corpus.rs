//! Decides every case of the corpus with the default policy. A failing case is named.

use std::collections::{BTreeMap, BTreeSet};

use interlock_policy::{Command, Decision, FileChange, Level, Patch, PathOp, Policy, Request, View, decide, risk};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    #[serde(default)]
    group: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    about: String,
    op: Option<String>,
    #[serde(default = "yes")]
    snapshot: bool,
    #[serde(default)]
    around: bool,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    confirm: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Patches {
    case: Vec<PatchCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatchCase {
    name: String,
    #[serde(default)]
    around: bool,
    expect: Level,
    /// Risk factors that must be raised.
    #[serde(default)]
    raises: Vec<String>,
    /// Risk factors that must not be raised.
    #[serde(default)]
    not: Vec<String>,
    files: Vec<FileChange>,
}

fn yes() -> bool {
    true
}

struct Case {
    kind: &'static str,
    name: String,
    around: bool,
    snapshot: bool,
    request: Request,
    expected: Level,
}

const ROOT: &str = "/home/ada/project";

fn resolve(path: &str) -> Option<String> {
    let links = [("out", "/etc"), ("hooks", "/home/ada/project/.git/hooks"), ("linked", "/home/ada/project/src")];
    let inside = path.strip_prefix(ROOT)?.strip_prefix('/')?;
    let (first, rest) = inside.split_once('/').unwrap_or((inside, ""));
    let (_, to) = links.into_iter().find(|(link, _)| *link == first)?;
    Some(format!("{to}/{rest}"))
}

fn decision(case: &Case) -> Decision {
    let ignored: Vec<String> = ["target", "node_modules", "local.db", "notes"].map(str::to_owned).into();
    let alias = |name: &str, meaning: &str| (name.to_owned(), meaning.to_owned());
    let aliases = [alias("st", "status"), alias("nuke", "!rm -rf ."), alias("wipe", "reset --hard")];
    let view = View {
        home: Some("/home/ada"),
        has_snapshot: case.snapshot,
        links: &resolve,
        ignored: &ignored,
        aliases: &aliases,
        ..View::plain(ROOT)
    };
    decide(&case.request, &view, Policy::builtin())
}

fn lists(kind: &'static str, text: &str, request: impl Fn(&Group, &str) -> Request) -> Vec<Case> {
    let lists: Lists = toml::from_str(text).unwrap();
    let mut cases = Vec::new();
    for group in &lists.group {
        for (expected, texts) in
            [(Level::Allow, &group.allow), (Level::Confirm, &group.confirm), (Level::Deny, &group.deny)]
        {
            cases.extend(texts.iter().map(|text| Case {
                kind,
                name: format!(
                    "{}: {}{text:?}",
                    group.about,
                    group.op.as_deref().map(|op| format!("{op} ")).unwrap_or_default()
                ),
                around: group.around,
                snapshot: group.snapshot,
                request: request(group, text),
                expected,
            }));
        }
    }
    cases
}

fn path_request(group: &Group, text: &str) -> Request {
    let op = match group.op.as_deref().unwrap() {
        "read" => PathOp::Read,
        "write" => PathOp::Write,
        "write_below" => PathOp::WriteBelow,
        "delete" => PathOp::Delete,
        "destroy" => PathOp::Destroy,
        "connect" => {
            let port = text.rsplit_once(':').filter(|(host, _)| !host.contains(':') || host.ends_with(']'));
            let (host, port) = port
                .and_then(|(host, port)| Some((host, port.parse().ok()?)))
                .map_or((text, None), |(host, port)| (host, Some(port)));
            return Request::Connect { host: host.to_owned(), port };
        }
        other => panic!("no such op: {other}"),
    };
    Request::Path { op, path: text.to_owned() }
}

fn patches() -> Vec<PatchCase> {
    toml::from_str::<Patches>(include_str!("../../corpus/patches.toml")).unwrap().case
}

fn all() -> Vec<Case> {
    let mut cases = lists("commands", include_str!("../../corpus/commands.toml"), |_, text| {
        Request::Command(Command::Shell(text.to_owned()))
    });
    cases.extend(lists("paths", include_str!("../../corpus/paths.toml"), path_request));
    cases.extend(patches().into_iter().map(|case| Case {
        kind: "patches",
        name: case.name,
        around: case.around,
        snapshot: true,
        request: Request::Patch(Patch { files: case.files }),
        expected: case.expect,
    }));
    cases
}

#[test]
fn every_case_is_decided_as_expected() {
    let wrong: Vec<String> = all()
        .iter()
        .filter_map(|case| {
            let found = decision(case);
            (found.level() != case.expected)
                .then(|| format!("{} / {}\n    expected {}, found {found:?}", case.kind, case.name, case.expected))
        })
        .collect();
    assert!(wrong.is_empty(), "{} cases are decided otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

/// Decides on each line of a list. Returns the lines whose decision is not as expected.
fn wrong(list: &str, is_expected: impl Fn(Level) -> bool) -> Vec<String> {
    let lines = list.lines().filter_map(|line| {
        let case = Case {
            kind: "lines",
            name: line.to_owned(),
            around: true,
            snapshot: true,
            request: Request::Command(Command::Shell(line.to_owned())),
            expected: Level::Confirm,
        };
        let found = decision(&case);
        (!is_expected(found.level())).then(|| format!("{line}\n    {found:?}"))
    });
    lines.collect()
}

#[test]
fn what_nobody_has_named_is_not_done_without_asking() {
    let list = include_str!("../../corpus/asks.txt");
    assert!(list.lines().count() >= 150);
    let wrong = wrong(list, |level| level != Level::Allow);
    assert!(wrong.is_empty(), "{} lines are allowed:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn everyday_commands_are_done_without_asking() {
    let wrong = wrong(include_str!("../../corpus/everyday.txt"), |level| level == Level::Allow);
    assert!(wrong.is_empty(), "{} lines are asked about:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn corpus_is_large_and_half_of_it_tries_to_bypass_the_policy() {
    let cases = all();
    let around = cases.iter().filter(|case| case.around).count();
    let mut kinds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for case in &cases {
        kinds.entry(case.kind).or_default().insert(case.expected.word());
    }
    assert!(cases.len() >= 600, "only {} cases", cases.len());
    assert!(2 * around >= cases.len(), "only {around} of {} try to bypass the policy", cases.len());
    assert_eq!(kinds.len(), 3);
    assert!(kinds.values().all(|decisions| decisions.len() == 3), "{kinds:?}");
    let names: BTreeSet<(&str, &str, bool)> =
        cases.iter().map(|case| (case.kind, case.name.as_str(), case.snapshot)).collect();
    assert_eq!(names.len(), cases.len(), "a case is there twice");
}

#[test]
fn risk_raises_the_named_factors_and_not_the_excluded_ones() {
    let mut wrong = Vec::new();
    for case in patches() {
        let found = risk::score(&Patch { files: case.files }, risk::Evidence { count: 1 }, risk::Table::builtin());
        let counts = |name: &str| found.factor(name).unwrap_or_else(|| panic!("there is no factor {name}")).counts;
        wrong.extend(
            case.raises
                .iter()
                .filter(|name| counts(name) == 0.0)
                .map(|name| format!("{}: {name} counts nothing", case.name)),
        );
        wrong.extend(
            case.not
                .iter()
                .filter(|name| counts(name) > 0.0)
                .map(|name| format!("{}: {}", case.name, found.factor(name).unwrap().found)),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn patch_beyond_the_limits_is_denied() {
    let view = View { has_snapshot: true, ..View::plain(ROOT) };
    let file =
        |path: String, added: Vec<String>| FileChange { path, kind: Default::default(), added, removed: Vec::new() };
    let many: Vec<FileChange> = (0..101).map(|at| file(format!("src/{at}.c"), vec!["x".into()])).collect();
    let long = vec![file("src/a.c".into(), vec!["x".into(); 5_001])];
    let wide = vec![file("src/a.c".into(), vec!["x".repeat(1_048_576)])];
    for (files, what) in [(many, "101 files"), (long, "5001 lines"), (wide, "1048577 bytes")] {
        let Decision::Deny { code, reason } = decide(&Request::Patch(Patch { files }), &view, Policy::builtin()) else {
            panic!("{what}")
        };
        assert_eq!(code, "TOO_BIG");
        assert!(reason.contains(what), "{reason}");
    }
}

#[test]
fn every_denial_and_confirmation_has_a_reason() {
    for case in all() {
        match decision(&case) {
            Decision::Allow => {}
            Decision::Deny { code, reason } => {
                assert!(!code.is_empty() && reason.len() > 10, "{}: {reason}", case.name)
            }
            Decision::Confirm { scope, reason } => {
                assert!(!scope.is_empty() && reason.len() > 10, "{}: {reason}", case.name)
            }
        }
    }
}

#[test]
fn words_are_decided_like_the_equivalent_text() {
    let cases: [(&[&str], Level); 6] = [
        (&["make", "test"], Level::Allow),
        (&["rm", "-rf", "/"], Level::Deny),
        (&["sh", "-c", "rm -rf /"], Level::Deny),
        (&["echo", "$(rm -rf /)", "; rm -rf /", "`x`"], Level::Allow),
        (&["git", "push", "--force"], Level::Deny),
        (&["python3", "-c", "x"], Level::Confirm),
    ];
    let view = View { has_snapshot: true, ..View::plain(ROOT) };
    for (words, expected) in cases {
        let request = Request::Command(Command::Words(words.iter().map(ToString::to_string).collect()));
        assert_eq!(decide(&request, &view, Policy::builtin()).level(), expected, "{words:?}");
    }
    let git = Request::Git(["reset", "--hard"].map(str::to_owned).into());
    assert_eq!(decide(&git, &view, Policy::builtin()).level(), Level::Confirm);
}
