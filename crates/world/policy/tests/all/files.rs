//! Policy files: the supported settings, and the messages for invalid files.

use expect_test::{Expect, expect};
use interlock_policy::{Command, Decision, Level, Patch, PathOp, Policy, Request, View, decide, risk};
use proptest::prelude::*;

fn command(text: &str) -> Request {
    Request::Command(Command::Shell(text.to_owned()))
}

fn write(path: &str) -> Request {
    Request::Path { op: PathOp::Write, path: path.to_owned() }
}

fn level(policy: &Policy, request: &Request) -> Level {
    decide(request, &View { has_snapshot: true, ..View::plain("/w") }, policy).level()
}

fn project(text: &str) -> Policy {
    Policy::builtin().with_project(&format!("version = 1\n{text}"), "policy.toml").unwrap()
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    let problems = Policy::builtin().with_project(text, ".interlock/policy.toml").unwrap_err();
    expected.assert_eq(&problems.to_string());
}

#[test]
fn default_files_have_no_problems() {
    Policy::read_default(Policy::builtin_text(), "default.toml").unwrap();
    risk::Table::builtin().with_project(risk::Table::builtin_text(), "risk.toml", None).unwrap();
    assert_eq!(level(Policy::builtin(), &command("make")), Level::Allow, "the default could be read");
}

#[test]
fn project_can_be_stricter_in_everything() {
    let policy = project(
        r#"
        [otherwise]
        exec = "confirm"
        write_inside = { decision = "deny", reason = "only look" }
        [limits]
        files = 0
        [[path]]
        name = "generated"
        permissions = ["fs.read"]
        globs = ["gen/"]
        decision = "deny"
        reason = "generated files say nothing"
        [[command]]
        name = "no-make"
        prefix = ["make"]
        decision = "deny"
        reason = "we use ninja"
        match = ["make -j4", "cd x && make"]
        not_match = ["cmake ."]
        [[host]]
        name = "no-localhost"
        hosts = ["localhost:9999"]
        decision = "deny"
        reason = "somebody else's"
        "#,
    );
    let read = |path: &str| Request::Path { op: PathOp::Read, path: path.to_owned() };
    let connect = |port| Request::Connect { host: "localhost".to_owned(), port: Some(port) };
    let cases = [
        (command("ls"), Level::Confirm),
        (command("make"), Level::Deny),
        (write("src/a.c"), Level::Deny),
        (read("gen/a.c"), Level::Deny),
        (read("src/a.c"), Level::Allow),
        (connect(9999), Level::Deny),
        (connect(80), Level::Allow),
        (Request::Patch(Patch { files: vec![] }), Level::Allow),
    ];
    for (request, expected) in cases {
        assert_eq!(level(&policy, &request), expected, "{request:?}");
    }
}

#[test]
fn project_can_loosen_only_as_far_as_the_default_permits() {
    let policy = project(
        r#"
        [otherwise]
        git_write = "allow"
        connect = "allow"
        [loosen]
        install = "allow"
        sensitive = "allow"
        publish = "confirm"
        [[path]]
        name = "sibling"
        permissions = ["fs.read", "fs.write"]
        globs = ["/srv/shared/**"]
        decision = "allow"
        reason = "shared with us"
        "#,
    );
    let cases = [
        (command("git commit -m x"), Level::Allow),
        (command("curl https://example.com"), Level::Allow),
        (command("npm install"), Level::Allow),
        (command("npm publish"), Level::Confirm),
        (write("infra/a"), Level::Allow),
        (command("cat /srv/shared/x"), Level::Allow),
        // A project may loosen writing outside only down to confirm.
        (command("echo x > /srv/shared/x"), Level::Confirm),
        (command("git push --force"), Level::Deny),
    ];
    for (request, expected) in cases {
        assert_eq!(level(&policy, &request), expected, "{request:?}");
    }
}

#[test]
fn run_can_be_restricted_further() {
    let globs = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    let policy = Policy::builtin().restricted(&globs(&["src/**"]), &globs(&["src/secret.c"])).unwrap();
    let cases = [
        ("src/a.c", Level::Allow),
        ("docs/a.md", Level::Deny),
        ("src/secret.c", Level::Deny),
        ("src/../docs/x", Level::Deny),
    ];
    for (path, expected) in cases {
        assert_eq!(level(&policy, &write(path)), expected, "{path}");
    }
    assert!(Policy::builtin().restricted(&globs(&["a[", "b"]), &[]).is_err());
    let hosts = Policy::builtin().with_hosts(&globs(&["example.com:443"]));
    let connect = |port| Request::Connect { host: "example.com".to_owned(), port };
    assert_eq!(level(&hosts, &connect(Some(443))), Level::Allow);
    assert_eq!(level(&hosts, &connect(Some(80))), Level::Confirm);
}

#[test]
fn all_problems_are_reported_at_once() {
    check(
        r#"version = 2
colour = "red"
[otherwise]
exec = "alow"
write_outside = "allow"
[limits]
files = -1
lines = 100_000_000
[loosen]
credentials = "allow"
instal = "allow"
[[path]]
name = "a"
permissions = ["fs.reed"]
globs = ["a[", 3]
decision = "deny"
[[command]]
name = "b"
prefix = ["npm test"]
decision = "deny"
reason = "x"
match = ["npm install"]
not_match = ["sh -c 'npm test'"]
[[host]]
name = "c"
hosts = ["https://example.com/"]
decision = "deny"
reason = "x"
"#,
        expect![[r#"
            .interlock/policy.toml:1: version 2 is not known
              Hint: this is version 1
            .interlock/policy.toml:2: `colour` is not known
              Hint: the keys are command, host, limits, loosen, otherwise, path, paths, version
            .interlock/policy.toml:4: `alow` is not a decision
              Hint: did you mean `allow`?
            .interlock/policy.toml:5: `write_outside` cannot be allow: the least that a project can choose is confirm
            .interlock/policy.toml:7: `files` must be a whole number from 0
            .interlock/policy.toml:8: `lines` cannot be more than 50000
            .interlock/policy.toml:10: the rule `credentials` cannot be allow: the least that a project can choose is deny
            .interlock/policy.toml:11: there is no rule called `instal`
              Hint: did you mean `install`?
            .interlock/policy.toml:12: `permissions` is missing or empty
              Hint: for example `permissions = ["fs.write"]`
            .interlock/policy.toml:12: `globs` is missing or empty
            .interlock/policy.toml:12: `reason` is missing
            .interlock/policy.toml:14: `fs.reed` is not a permission for paths
              Hint: did you mean `fs.read`?
            .interlock/policy.toml:15: `globs` must be a string, not a integer
            .interlock/policy.toml:15: `a[` is not a glob: unclosed character class; missing ']'
            .interlock/policy.toml:22: the example `npm install` does not match
              Hint: the prefixes are: npm test
            .interlock/policy.toml:23: the example `sh -c 'npm test'` matches, and should not
              Hint: the prefixes are: npm test
            .interlock/policy.toml:24: `hosts` is missing or empty
            .interlock/policy.toml:26: `https://example.com/` is not a host
              Hint: write a name or an address, with or without a port: `example.com:443`"#]],
    );
}

#[test]
fn invalid_toml_is_reported_with_its_line() {
    check(
        "version = 1\n[path\n",
        expect![[r#"
        .interlock/policy.toml:2: unclosed table, expected `]`
        .interlock/policy.toml:2: `path` must be a list of tables
          Hint: write `[[path]]`"#]],
    );
}

#[test]
fn weights_can_be_changed_for_one_machine() {
    let text = "version = 1\n[weights]\nsize = 0.5\n[machine.firmware.weights]\nboot_files = 1.0\n";
    let table = |machine| risk::Table::builtin().with_project(text, "risk.toml", machine).unwrap();
    let patch = Patch {
        files: vec![interlock_policy::FileChange {
            path: "app.ld".into(),
            kind: Default::default(),
            added: vec!["x".into(); 40],
            removed: vec![],
        }],
    };
    let score = |table: &risk::Table| risk::score(&patch, risk::Evidence { count: 1 }, table).score;
    assert_eq!(score(risk::Table::builtin()), 0.37);
    assert_eq!(score(&table(None)), 0.4);
    assert_eq!(score(&table(Some("firmware"))), 1.0);
    let wrong = risk::Table::builtin()
        .with_project("version = 1\n[weights]\nsize = 3\nsise = 1\n", "risk.toml", None)
        .unwrap_err();
    expect![[r#"
        risk.toml:3: `size` must be between 0 and 1
        risk.toml:4: `sise` is not known
          Hint: did you mean `size`?"#]]
    .assert_eq(&wrong.to_string());
}

#[test]
fn risk_of_a_size_grows_beyond_the_full_value_of_the_table() {
    let of_lines = |lines: usize| {
        let (half, path) = (lines / 2, "src/main.c".into());
        let (added, removed) = (vec!["x".into(); half], vec!["y".into(); lines - half]);
        let patch =
            Patch { files: vec![interlock_policy::FileChange { path, kind: Default::default(), added, removed }] };
        risk::score(&patch, risk::Evidence { count: 1 }, risk::Table::builtin()).score
    };
    let scores = [2, 400, 800, 1_200, 2_002].map(of_lines);
    assert!(scores.is_sorted_by(|one, next| one < next), "{scores:?}");
    // Twice the size counts twice: a rewritten file is not as harmless as a long patch.
    assert!(scores[4] >= 4.0 * scores[1] && scores[0] < 0.01, "{scores:?}");
}

#[test]
fn every_factor_is_in_the_result() {
    let risk = risk::score(&Patch::default(), risk::Evidence::default(), risk::Table::builtin());
    let names: Vec<_> = risk.factors.iter().map(|factor| factor.name).collect();
    expect!["size, files, sensitive_paths, dangerous_calls, tests_deleted, tests_weakened, boot_files, no_evidence, binary_files"].assert_eq(&names.join(", "));
    assert_eq!(risk.summary(), "0.15: no_evidence 0.15 (no evidence supports the change)");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_command_causes_a_panic(text in "[a-z \\-/.$(){}'\"`\\\\;&|<>*?~=!#\n0-9\\[\\]]{0,80}") {
        let view = View { has_snapshot: true, ..View::plain("/w") };
        let _ = decide(&command(&text), &view, Policy::builtin());
    }

    #[test]
    fn no_path_causes_a_panic(text in "\\PC{0,60}") {
        let _ = level(Policy::builtin(), &write(&text));
        let _ = level(Policy::builtin(), &Request::Connect { host: text, port: None });
    }

    #[test]
    fn no_file_causes_a_panic(text in "[a-z_\\[\\]={}\", 0-9\n.\\-]{0,200}") {
        let _ = Policy::builtin().with_project(&text, "x");
        let _ = risk::Table::builtin().with_project(&text, "x", None);
    }

    /// A command behind a harmless one is decided as if it stood alone, or more strictly.
    #[test]
    fn harmful_command_cannot_hide_behind_another(at in 0usize..6, how in 0usize..9) {
        let harmful = ["rm -rf /", "git push --force", "sudo id", "cat /etc/shadow", "npm publish", "echo x > /etc/hosts"][at];
        let text = match how {
            0 => format!("true; {harmful}"),
            1 => format!("true && {harmful}"),
            2 => format!("echo $({harmful})"),
            3 => format!("sh -c '{harmful}'"),
            4 => format!("if true; then {harmful}; fi"),
            5 => format!("f() {{ {harmful}; }}; f"),
            6 => format!("cat <<E\n`{harmful}`\nE"),
            7 => format!("X=$({harmful}) make"),
            _ => format!("({harmful}) | cat"),
        };
        let Decision::Deny { .. } = decide(&command(&text), &View::plain("/w"), Policy::builtin()) else {
            panic!("{text}");
        };
    }
}
