//! A measurement matches the schema of the firmware machine.

use std::{fs, path::Path};

use interlock_test_results::Measured;

use crate::corpus::all;

#[test]
fn measurements_match_the_schema_and_round_trip() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../machines/firmware/schemas/test_result.json");
    let schema: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for example in all() {
        let measured = example.measured();
        let value = serde_json::to_value(&measured).unwrap();
        let problems: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(problems, [""; 0], "{:?}", example.path);
        assert_eq!(serde_json::from_value::<Measured>(value).unwrap(), measured, "{:?}", example.path);
    }
}
