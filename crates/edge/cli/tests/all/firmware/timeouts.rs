//! Every state times out once: the run takes the transition that the machine defines, and the sources are unchanged or
//! fixed.
//!
//! The machine is a copy in which one state has a timeout of zero; everything else is real.

use std::{fs, path::Path, thread};

use super::scene::{Scene, bad, good, parts_are_missing};

/// A timeout of zero: it fires as soon as the activity has started.
const NO_TIME: &str = "0ms";

/// A test case: the states that time out, the patches of the model, and the expected result.
struct Late {
    states: &'static [&'static str],
    patches: fn() -> Vec<String>,
    /// Text replacements in the task.
    task: &'static [(&'static str, &'static str)],
    /// Text that the trace must contain.
    says: &'static str,
    ends: End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// The run ends in `FAILURE`, and the sources are unchanged.
    Untouched,
    /// The run ends in `SUCCESS`.
    Fixed,
    /// The run ends in `FAILURE` while a good fix was being delivered: the sources contain all of it or none of it.
    Whole,
}

fn one() -> Vec<String> {
    vec![good()]
}

fn broken() -> Vec<String> {
    vec![bad(super::scene::BUG, "    if (decoder->cuont >= FRAME_BODY_MAX) {"), good()]
}

fn worse() -> Vec<String> {
    vec![bad("    decoder->frame.command = body[1];", "    decoder->frame.command = body[0];"), good()]
}

/// Returns a patch that policy always refuses.
fn forbidden() -> Vec<String> {
    vec![bad(super::scene::BUG, "    system(\"rm -rf /\");\n    if (decoder->count >= FRAME_BODY_MAX) {")]
}

const fn late(states: &'static [&'static str], says: &'static str, ends: End) -> Late {
    Late { states, patches: one, task: &[], says, ends }
}

/// Every state with an activity or a wait.
const ALL: [Late; 35] = [
    late(&["LOAD_CONFIG"], "no baseline, nothing to go back to", End::Untouched),
    late(&["BASELINE_SNAPSHOT"], "no baseline, nothing to go back to", End::Untouched),
    late(&["BASELINE_RUN"], "no baseline, nothing to go back to", End::Untouched),
    late(&["LOG_TRIAGE"], "TIMEOUT in LOG_TRIAGE, as ANALYSIS_FAILURE", End::Untouched),
    late(&["SIMILAR_CASES"], "similar cases could not be looked for in time", End::Fixed),
    late(&["SOURCES"], "TIMEOUT in SOURCES, as ANALYSIS_FAILURE", End::Untouched),
    late(&["ROOT_CAUSE_HYPOTHESIS"], "TIMEOUT in ROOT_CAUSE_HYPOTHESIS, as ANALYSIS_FAILURE", End::Untouched),
    late(&["CHANGE_IMPACT_ESTIMATE"], "TIMEOUT in CHANGE_IMPACT_ESTIMATE, as ANALYSIS_FAILURE", End::Untouched),
    late(&["GENERATE_PATCH"], "TIMEOUT in GENERATE_PATCH, as ANALYSIS_FAILURE", End::Untouched),
    Late {
        patches: Vec::new,
        ..late(&["TEMPLATE_SEARCH"], "TIMEOUT in TEMPLATE_SEARCH, as ANALYSIS_FAILURE", End::Untouched)
    },
    late(&["POLICY_CHECK"], "TIMEOUT in POLICY_CHECK, as ANALYSIS_FAILURE", End::Untouched),
    Late {
        task: &[("max_iterations: 5", "max_iterations: 5, human_review: true")],
        ..late(&["HUMAN_REVIEW"], "nobody looked at the patch", End::Untouched)
    },
    Late {
        patches: forbidden,
        // Templates find nothing in this file, so that a person is asked in the end.
        task: &[
            ("max_iterations: 5", "max_iterations: 5, allow_human: true"),
            ("allowed_paths: [\"src/**\"]", "allowed_paths: [\"src/crc16.h\"]"),
        ],
        ..late(&["HUMAN_DECISION"], "nobody decided", End::Untouched)
    },
    late(&["ROLLBACK_POINT"], "TIMEOUT in ROLLBACK_POINT, as ANALYSIS_FAILURE", End::Untouched),
    late(&["APPLY_DIFF"], "TIMEOUT in APPLY_DIFF, as ANALYSIS_FAILURE", End::Untouched),
    late(&["BUILD_SETUP"], "TIMEOUT in BUILD_SETUP, as BUILD_FAILURE", End::Fixed),
    late(&["BUILD_RUN"], "TIMEOUT in BUILD_RUN, as BUILD_FAILURE", End::Untouched),
    late(&["RESOURCE_ALLOC"], "TIMEOUT in RESOURCE_ALLOC, as TEST_ENV_FAILURE", End::Untouched),
    late(&["FLASH_OR_DEPLOY"], "TIMEOUT in FLASH_OR_DEPLOY, as TEST_ENV_FAILURE", End::Untouched),
    late(&["HEALTH_CHECK"], "TIMEOUT in HEALTH_CHECK, as TEST_ENV_FAILURE", End::Untouched),
    late(&["TEST_RUN"], "TIMEOUT in TEST_RUN, as TEST_ENV_FAILURE", End::Untouched),
    late(&["FETCH_LOGS"], "TIMEOUT in FETCH_LOGS, as ARTIFACT_MISSING", End::Untouched),
    late(&["NORMALIZE"], "TIMEOUT in NORMALIZE, as ARTIFACT_MISSING", End::Untouched),
    late(&["ATTACH_ARTIFACTS"], "TIMEOUT in ATTACH_ARTIFACTS, as ARTIFACT_MISSING", End::Untouched),
    late(&["RESULT_ANALYSIS"], "TIMEOUT in RESULT_ANALYSIS, as ANALYSIS_FAILURE", End::Untouched),
    late(&["MEASURE_ROUND"], "TIMEOUT in MEASURE_ROUND, as ANALYSIS_FAILURE", End::Untouched),
    late(&["CONTROL_RUNS"], "the controls took too long, so the patch is not delivered", End::Untouched),
    Late {
        patches: Vec::new,
        // With this argument every start runs all cases, so that no patch reaches the needed certainty.
        task: &[("--test={case}", "--only={case}"), ("max_iterations: 5", "max_iterations: 5, allow_human: true")],
        ..late(&["PLAUSIBLE_FIX"], "nobody said whether it is the fix", End::Untouched)
    },
    late(&["DELIVER"], "could not be brought into the sources in time", End::Whole),
    Late {
        task: &[("max_iterations: 5", "max_iterations: 5, commit_branch: fix/length")],
        ..late(&["COMMIT_FIX"], "whether it is committed to fix/length is not known: it took too long", End::Fixed)
    },
    Late {
        patches: worse,
        ..late(&["ROLLBACK_TO_GOOD"], "TIMEOUT in ROLLBACK_TO_GOOD, as ANALYSIS_FAILURE", End::Untouched)
    },
    Late { patches: worse, ..late(&["RECORD_ROUND"], "the round could not be recorded in time", End::Fixed) },
    Late { patches: broken, ..late(&["COLLECT_EVIDENCE"], "not all evidence could be collected in time", End::Fixed) },
    Late { patches: broken, ..late(&["CLEAN_BUILD"], "not recovered: cleaning took too long", End::Fixed) },
    Late { patches: broken, ..late(&["ROLL_BACK"], "cannot roll back: it took too long", End::Untouched) },
];

/// States whose activities can end before the timeout fires: these activities are replaced with a wait of an hour.
const QUICK: [&str; 22] = [
    "ROLL_BACK",
    "ROLLBACK_TO_GOOD",
    "CLEAN_BUILD",
    "RESET_ENVIRONMENT",
    "ROLLBACK_POINT",
    "LOAD_CONFIG",
    "LOG_TRIAGE",
    "SIMILAR_CASES",
    "SOURCES",
    "ROOT_CAUSE_HYPOTHESIS",
    "CHANGE_IMPACT_ESTIMATE",
    "POLICY_CHECK",
    "BUILD_SETUP",
    "RESOURCE_ALLOC",
    "FLASH_OR_DEPLOY",
    "FETCH_LOGS",
    "NORMALIZE",
    "ATTACH_ARTIFACTS",
    "RESULT_ANALYSIS",
    "MEASURE_ROUND",
    "RECORD_ROUND",
    "COLLECT_EVIDENCE",
];

/// Writes a copy of the machine in which these states have a timeout of zero.
fn cut(to: &Path, states: &[&str]) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../machines/firmware");
    let copied = std::process::Command::new("cp").arg("-r").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
    let file = to.join("machine.yaml");
    let text = states.iter().fold(fs::read_to_string(&file).unwrap(), |text, state| without_time(&text, state));
    fs::write(file, text).unwrap();
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn without_time(text: &str, state: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_it = |line: &&str| line.trim() == format!("{state}:");
    let at = lines.iter().position(is_it).unwrap_or_else(|| panic!("there is no state {state}")) + 1;
    let own = depth(lines[at]);
    let end = at + lines[at..].iter().take_while(|line| line.is_empty() || depth(line) >= own).count();
    let indent = " ".repeat(own);
    let mut new: Vec<String> = lines[..at].iter().map(|line| (*line).to_owned()).collect();
    new.push(format!("{indent}timeout: {NO_TIME}"));
    let its_own = |line: &&&str| depth(line) > own || !line.trim_start().starts_with("timeout:");
    let block: Vec<&str> = lines[at..end].iter().filter(its_own).copied().collect();
    match QUICK.contains(&state) {
        true => new.extend(slowed(&block, own)),
        false => new.extend(block.iter().map(|line| (*line).to_owned())),
    }
    new.extend(lines[end..].iter().map(|line| (*line).to_owned()));
    new.join("\n") + "\n"
}

/// Returns the lines of a state with its activity replaced by a wait of an hour.
fn slowed(block: &[&str], own: usize) -> Vec<String> {
    let (mut new, mut is_given) = (Vec::new(), false);
    for line in block {
        let (field, is_its_field) = (line.trim_start(), depth(line) == own + 2);
        is_given = if is_its_field { field.starts_with("with:") } else { is_given && depth(line) > own + 2 };
        match is_its_field && field.starts_with("activity:") {
            true => {
                let indent = " ".repeat(own + 2);
                new.push(format!("{indent}activity: timer.wait\n{indent}with: {{ seconds: 3600 }}"));
            }
            false if is_given => {}
            false => new.push((*line).to_owned()),
        }
    }
    new
}

fn check(late: &Late) {
    let patches = (late.patches)();
    let scene = if patches.is_empty() { Scene::without_model() } else { Scene::with_patches(&patches) };
    for (from, to) in late.task {
        scene.task(from, to);
    }
    let machine = scene.folder.path().join("machine");
    cut(&machine, late.states);
    // A wait never raises the signals of the activity that it replaces. `check` refuses that, and it is intended here.
    let command = format!("run {} --input task.yaml --name r --unproved", machine.display());
    let ran = scene.session.run(&command).unwrap();
    let (states, trace) = (late.states, scene.trace());
    assert!(trace.contains(late.says), "{states:?}: no `{}` in\n{trace}\n{ran}", late.says);
    let expected = if late.ends == End::Fixed { (Some(0), "SUCCESS") } else { (Some(1), "FAILURE") };
    let story = scene.story();
    assert_eq!((ran.code, story["final_status"].as_str().unwrap()), expected, "{states:?}: {ran}\n{trace}");
    match late.ends {
        End::Untouched => scene.is_untouched(),
        End::Whole if scene.difference().is_empty() => {}
        End::Whole | End::Fixed => scene.is_fixed(),
    }
    assert_eq!(scene.session.run("verify r").unwrap().code, Some(0), "{states:?}");
}

/// Checks one of so many cases, two at once.
fn check_one_of(step: usize) {
    if parts_are_missing() {
        return;
    }
    let some: Vec<&Late> = ALL.iter().step_by(step).collect();
    thread::scope(|scope| {
        for some in some.chunks(some.len().div_ceil(2)) {
            scope.spawn(move || some.iter().for_each(|late| check(late)));
        }
    });
}

#[test]
fn time_that_runs_out_in_some_states_leads_where_the_machine_says() {
    check_one_of(5);
}

mod heavy {
    #[test]
    fn time_that_runs_out_in_any_state_leads_where_the_machine_says() {
        super::check_one_of(1);
    }
}

#[test]
fn an_environment_whose_reset_takes_too_long_is_not_waited_for() {
    if parts_are_missing() {
        return;
    }
    check(&late(&["HEALTH_CHECK", "RESET_ENVIRONMENT"], "not recovered: the reset took too long", End::Untouched));
}
