//! The catalogue: the tools as a model sees them, and the file of the machine that carries them.

use std::{collections::BTreeSet, path::Path};

use interlock_tools::{Effect, catalogue, find};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../machines/coder/schemas/tools.json");

#[test]
fn every_tool_is_described_and_its_schema_is_a_schema() {
    let tools = catalogue();
    let names: BTreeSet<_> = tools.iter().map(|tool| tool.name).collect();
    assert_eq!(names.len(), 11);
    for tool in &tools {
        jsonschema::meta::validate(&tool.args_schema).unwrap();
        assert_eq!(tool.args_schema["additionalProperties"], false, "{}", tool.name);
        assert!(!tool.description.is_empty() && !tool.result.is_empty(), "{}", tool.name);
        assert_eq!(tool.idempotent, tool.effect == Effect::Read, "{}", tool.name);
        assert_eq!(find(tool.name).map(|tool| tool.name), Some(tool.name));
    }
}

/// The machine `coder` gives the tools to the model as data. `UPDATE_DOCS=1` writes the file.
#[test]
fn the_tools_of_the_machine_are_those_of_the_catalogue() {
    let text = serde_json::to_string_pretty(&catalogue()).unwrap() + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(FILE, &text).unwrap();
    }
    let found = std::fs::read_to_string(Path::new(FILE)).unwrap_or_default();
    assert!(found == text, "machines/coder/schemas/tools.json is out of date: run `make docs`");
}
