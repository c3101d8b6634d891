//! The built-in machines' directories: every file that a machine names exists, and every edge of the specifications is
//! in the machine.

use std::{fs, path::PathBuf};

use interlock_chart::{Chart, model::EffectClass, yaml};

const MACHINES: [&str; 5] = ["brain", "coder", "firmware", "notebook", "prd"];

fn folder(machine: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../machines").join(machine)
}

fn source(machine: &str) -> String {
    fs::read_to_string(folder(machine).join("machine.yaml")).unwrap()
}

fn chart(machine: &str) -> Chart {
    yaml::read(&source(machine)).chart.unwrap()
}

#[test]
fn every_named_prompt_and_schema_exists() {
    for machine in MACHINES {
        let source = source(machine);
        let named = source
            .split([' ', '"', ',', '}', '\n'])
            .filter(|word| word.starts_with("prompts/") || word.starts_with("schemas/"));
        for file in named {
            assert!(folder(machine).join(file).is_file(), "{machine}: {file} is missing");
        }
    }
}

#[test]
fn every_schema_of_a_machine_is_json() {
    for machine in MACHINES {
        let Ok(schemas) = fs::read_dir(folder(machine).join("schemas")) else { continue };
        for entry in schemas {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", path.display());
        }
    }
}

#[test]
fn every_edge_of_the_firmware_diagram_exists() {
    let firmware = "IDLE>INIT INIT>CODE_ANALYSIS CODE_ANALYSIS>PATCH_GENERATION CODE_ANALYSIS>ERROR_RECOVERY \
        PATCH_GENERATION>PATCH_APPLY PATCH_GENERATION>ERROR_RECOVERY PATCH_APPLY>BUILD_SETUP PATCH_APPLY>ERROR_RECOVERY \
        BUILD_SETUP>BUILD_RUN BUILD_SETUP>ERROR_RECOVERY BUILD_RUN>TEST_SETUP BUILD_RUN>ERROR_RECOVERY TEST_SETUP>TEST_RUN \
        TEST_SETUP>ERROR_RECOVERY TEST_RUN>RESULT_COLLECTION TEST_RUN>ERROR_RECOVERY RESULT_COLLECTION>RESULT_ANALYSIS \
        RESULT_COLLECTION>ERROR_RECOVERY RESULT_ANALYSIS>CONVERGENCE_CHECK RESULT_ANALYSIS>ERROR_RECOVERY \
        CONVERGENCE_CHECK>CODE_ANALYSIS CONVERGENCE_CHECK>SUCCESS CONVERGENCE_CHECK>FAILURE CONVERGENCE_CHECK>ABORTED \
        ERROR_RECOVERY>CODE_ANALYSIS ERROR_RECOVERY>BUILD_RUN ERROR_RECOVERY>TEST_SETUP ERROR_RECOVERY>RESULT_COLLECTION \
        ERROR_RECOVERY>FAILURE";
    let chart = chart("firmware");
    for edge in firmware.split_whitespace() {
        let (source, target) = edge.split_once('>').unwrap();
        assert!(has_edge(&chart, source, None, target), "firmware: {edge}");
    }
}

#[test]
fn every_row_of_the_prd_trigger_table_exists() {
    let rows = [
        ("USER_INPUT_REQUIREMENT", "IDLE", "PLANNING"),
        ("PRD_GENERATED", "PLANNING", "CONFIRMING"),
        ("USER_CONFIRM", "CONFIRMING", "EXECUTING"),
        ("USER_CANCEL", "CONFIRMING", "IDLE"),
        ("USER_CANCEL", "PLANNING", "IDLE"),
        ("ERROR_DETECTED", "EXECUTING", "AUTO_FIX"),
        ("FIX_SUCCESS", "AUTO_FIX", "EXECUTING"),
        ("FIX_FAILED_3X", "AUTO_FIX", "BLOCKED"),
        ("HUMAN_INTERVENTION", "BLOCKED", "EXECUTING"),
        ("ROLLBACK", "BLOCKED", "IDLE"),
        ("ALL_TASKS_DONE", "EXECUTING", "ARCHIVING"),
        ("ARCHIVE_COMPLETE", "ARCHIVING", "IDLE"),
        ("SKIP_TASK", "BLOCKED", "EXECUTING"),
        ("FORCE_STOP", "AUTO_FIX", "BLOCKED"),
    ];
    let chart = chart("prd");
    for (event, source, target) in rows {
        assert!(has_edge(&chart, source, Some(event), target), "{source} {event} {target}");
    }
}

#[test]
fn every_firmware_state_that_changes_the_world_is_tagged_write() {
    let chart = chart("firmware");
    for invoke in &chart.invokes {
        let changes = matches!(invoke.effect, Some(EffectClass::Write | EffectClass::External));
        let state = chart.state(invoke.state);
        assert_eq!(state.tags.iter().any(|tag| tag == "write"), changes, "{} starts {}", state.name, invoke.activity);
    }
}

fn has_edge(chart: &Chart, source: &str, event: Option<&str>, target: &str) -> bool {
    chart.transitions.iter().any(|transition| {
        chart.state(transition.source).name == source
            && transition.targets.iter().any(|&id| chart.state(id).name == target)
            && event.is_none_or(|event| transition.events.iter().any(|descriptor| descriptor.text == event))
    })
}
