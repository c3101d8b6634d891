//! The published JSON Schema and the reader accept the same machine files.

use interlock_chart::{library, schema, yaml};
use serde_json::Value as Json;
use std::{fs, path::Path};

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&schema::machine_schema()).unwrap()
}

/// Converts a file to JSON by the reader's rules for YAML.
fn json(source: &str) -> Json {
    yaml::to_json(source).unwrap()
}

#[test]
fn the_checked_in_schema_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/schema/machine.schema.json");
    let made = schema::machine_schema_text();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &made).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "docs/schema/machine.schema.json is stale: UPDATE_EXPECT=1 cargo test -p interlock-chart --test all schema"
    );
}

#[test]
fn every_built_in_machine_fits_the_schema() {
    let validator = validator();
    for name in library::builtin_names() {
        let source = library::load(name, Path::new("/")).unwrap();
        let errors: Vec<String> = validator.iter_errors(&json(&source.text)).map(|error| format!("{error}")).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

#[test]
fn the_schema_and_the_reader_agree_on_shapes() {
    let validator = validator();
    let cases = [
        (true, "a: { on: { go: b } }"),
        (true, "a: { on: { go: { target: b, guard: true } } }"),
        (true, "a: { on: { go: [{ target: a, limit: { max: 3 } }, b] } }"),
        (true, "a: { on: [{ event: go, target: b }] }"),
        (true, "a: { initial: { target: c }, states: { c: }, on: { go: b } }"),
        (true, "a: { entry: [[{ log: x }], [{ log: y }]], timeout: none, on: { go: b } }"),
        (true, "a: { entry: { raise: { event: x } }, on: { go: b, x: b } }"),
        (false, "a: { on: { go: { traget: b } } }"),
        (false, "a: { on: { go: { target: b, limit: 0 } } }"),
        (false, "a: { on: { go: { target: b, limit: three } } }"),
        (false, "a: { on: { go: { target: b, internal: maybe } } }"),
        (false, "a: { on: { go: b }, timeout: soon }"),
        (false, "a: { on: { go: b }, tags: idle }"),
        (false, "a: { on: { go: b }, type: finale }"),
        (false, "a: { on: { go: b }, entry: { log: x, raise: y } }"),
        (false, "a: { on: { go: b }, entry: { logg: x } }"),
        (false, "a: { on: { go: b }, invoke: { with: {} } }"),
        (false, "a: { on: { go: b }, colour: red }"),
        (false, "a: [b]"),
    ];
    for (good, state) in cases {
        let source = format!(
            "machine: m\nversion: 1\ninitial: a\nevents: {{ go: {{ from: user }} }}\nstates:\n  {state}\n  b: {{ type: final, outcome: success }}\n"
        );
        let shape = |problem: &interlock_chart::Diagnostic| problem.is_error() && problem.code.starts_with("E01");
        let problems = yaml::read(&source).diagnostics;
        assert_eq!(!problems.iter().any(shape), good, "the reader on {state}: {problems:?}");
        assert_eq!(validator.is_valid(&json(&source)), good, "the schema on {state}");
    }
}
