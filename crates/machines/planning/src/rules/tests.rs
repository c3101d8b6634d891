//! The rules, asked with requests as the client makes them.

use super::*;

fn request(state: &str, step: &str, iteration: u64, variables: Json, effects: &[&str]) -> Json {
    let mut request = json!({ "observation": {
        "location": {
            "current": { "stage_id": "data", "step_id": step, "behavior_id": null, "behavior_iteration": iteration },
            "progress": { "stages": { "remaining": [] }, "steps": { "completed": [], "remaining": ["x"] } },
            "goals": { "stage": "Get it", "step": "Do it" },
        },
        "context": { "variables": variables, "effects": { "current": effects, "history": [] },
            "notebook": { "title": "" }, "FSM": { "state": state } },
    } });
    if iteration > 0 {
        request["behavior_feedback"] = json!({ "behavior_id": "behavior_001" });
    }
    request
}

fn flags(reply: &Json) -> (bool, bool) {
    (reply["targetAchieved"].as_bool().unwrap(), reply["transition"]["continue_behaviors"].as_bool().unwrap())
}

#[test]
fn a_step_is_achieved_when_its_variable_exists() {
    let plan =
        |iteration, variables| flags(&planning(&request("behavior_completed", "load", iteration, variables, &[])));
    assert_eq!(plan(1, json!({})), (false, true));
    assert_eq!(plan(1, json!({ "data": "DataFrame(3×2)" })), (true, false));
    assert_eq!(plan(BEHAVIORS_MAX, json!({})), (false, false), "the rules give up");
    assert_eq!(flags(&planning(&request("step_running", "load", 0, json!({}), &[]))), (false, false));
}

#[test]
fn stages_and_workflow_are_achieved_when_nothing_remains() {
    let plan = |state| flags(&planning(&request(state, "load", 0, json!({}), &[]))).0;
    assert_eq!([plan("stage_running"), plan("step_completed"), plan("stage_completed")], [false, false, true]);
}

#[test]
fn the_first_behavior_writes_headings_and_a_cell() {
    let actions = generating(
        &request("behavior_running", "load", 1, json!({ "problem_description": "Why?" }), &[]),
        Some("a.csv"),
    );
    let kinds: Vec<&str> = actions.iter().map(|action| action["action"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["update_title", "new_chapter", "new_section", "add", "exec"]);
    let code = actions[3]["content"].as_str().unwrap();
    assert!(code.contains("path = \"a.csv\"") && code.contains("import pandas as pd"), "{code}");
}

#[test]
fn cells_that_a_step_needs_come_first() {
    let first = |variables: Json| {
        let cells = cells("forecast", 1, variables, &[]);
        cells.iter().map(|cell| cell.lines().next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let loaded = first(json!({}));
    assert_eq!(loaded.len(), 1, "whether there is a table decides about the rest: {loaded:?}");
    let listed = first(json!({ "data": "DataFrame(3×2)" }));
    assert_eq!(listed.len(), 1, "the columns decide what the problem asks: {listed:?}");
    let rest =
        first(json!({ "data": "DataFrame(3×2)", "columns": "dict(2)", "table_columns": "day: date\ncups: number\n" }));
    assert_eq!(rest.len(), 4, "question, series, trend, forecast: {rest:?}");
}

#[test]
fn without_a_table_only_the_conclusion_has_a_cell() {
    let variables = json!({ "no_table": "x.csv: the file is empty. So nothing is analysed." });
    let plan = |step: &str| planning(&request("behavior_completed", step, 1, variables.clone(), &[]));
    assert_eq!(plan("look")["transition"]["on_unachieved"], "complete_step");
    assert_eq!(plan("load")["transition"]["on_unachieved"], "complete_step");
    assert_eq!(cells("look", 1, variables.clone(), &[]), Vec::<String>::new());
    let concluded = cells("conclude", 1, variables, &[]);
    assert_eq!(concluded.len(), 1);
    assert!(concluded[0].starts_with("conclusions = [no_table]"), "{concluded:?}");
}

#[test]
fn a_cell_that_would_fail_again_is_not_repeated() {
    let effects = ["Traceback\nKeyError: 'x'"];
    let reply = planning(&request("behavior_completed", "describe", 1, json!({ "data": "list(3)" }), &effects));
    assert_eq!(flags(&reply), (false, false));
    assert_eq!(reply["transition"].get("on_unachieved"), None, "an error is not hidden");
    let failed = &reply["context_update"]["variables"]["steps_failed"];
    assert_eq!(failed, &json!({ "describe": "KeyError: 'x'" }));
    let known = json!({ "data": "list(3)", "columns": "dict(1)", "question": "drivers", "answers": "list(1)",
        "answered": true, "problem_answer": "It is 7.", "steps_failed": failed });
    let concluded = cells("conclude", 1, known, &[]);
    assert!(concluded[0].contains("{\"describe\":\"KeyError: 'x'\"}.items()"), "{concluded:?}");
    let answer = planning(&request("behavior_completed", "answer", 1, json!({ "data": "list(3)" }), &effects));
    assert_eq!(flags(&answer), (false, true), "the table is described instead");
}

#[test]
fn the_planner_remembers_the_columns() {
    let reply = planning(&request("behavior_completed", "look", 1, json!({}), &["price: number\ncups: number\n"]));
    assert_eq!(reply["context_update"]["variables"]["table_columns"], "price: number\ncups: number\n");
    let variables = json!({
        "data": "list(3)", "columns": "dict(2)", "table_columns": "price: number\ncups: number\n",
        "problem_description": "What affects the cups?",
    });
    let asked = cells("question", 1, variables, &[]);
    assert_eq!(asked.len(), 1);
    assert!(asked[0].contains("target = \"cups\""), "{asked:?}");
}

#[test]
fn a_workflow_is_proposed_for_the_step_that_designs_one() {
    let id = "chapter_0_planning_section_1_design_workflow";
    let mut first = request("step_running", id, 0, json!({}), &[]);
    first.as_object_mut().unwrap().remove("behavior_feedback");
    assert!(wants_workflow(&first));
    let reply = planning(&first);
    let update = &reply["context_update"]["workflow_update"];
    assert_eq!((flags(&reply), &update["nextStageId"]), ((false, false), &json!("data")));
    assert_eq!(update["workflowTemplate"], workflow());
    let actions = generating(&request("behavior_running", id, 1, json!({}), &[]), None);
    assert_eq!(actions.last().unwrap()["content"], PROPOSED);
    assert_eq!(flags(&planning(&request("behavior_completed", id, 1, json!({}), &[]))), (true, false));
}

#[test]
fn the_built_in_workflow_is_a_template_whose_steps_are_all_known() {
    let workflow = crate::Workflow::parse(&workflow()).unwrap();
    for step in workflow.stages.iter().flat_map(|stage| &stage.steps) {
        assert_eq!(Recipe::of(&step.id, &step.goal).kind, step.id);
    }
}

/// Returns the code cells of a behavior.
fn cells(step: &str, iteration: u64, variables: Json, effects: &[&str]) -> Vec<String> {
    let actions = generating(&request("behavior_running", step, iteration, variables, effects), None);
    let cells = actions.iter().filter(|action| action["shot_type"] == "action");
    cells.map(|cell| cell["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_columns_are_listed_before_the_question_is_read() {
    let known = |problem: &str| json!({ "data": "DataFrame(3×2)", "problem_description": problem });
    let first = cells("question", 1, known("Compare cups by city"), &[]);
    assert_eq!(first.len(), 1);
    assert!(first[0].contains("columns = {"), "{first:?}");
    let mut variables = known("Compare cups by city");
    variables["columns"] = json!("dict(2)");
    let second = cells("question", 2, variables, &["city: group [\"Lyon\", \"Rome\"]\ncups: number\n"]);
    assert_eq!(second.len(), 1);
    assert!(second[0].contains("target = \"cups\"") && second[0].contains("group_column = \"city\""), "{second:?}");
}

#[test]
fn the_kind_of_the_question_decides_how_it_is_answered() {
    let answer = |question: &str, effects: &[&str], iteration| {
        cells(
            "answer",
            iteration,
            json!({ "data": "DataFrame(3×2)", "columns": "dict(2)", "question": question }),
            effects,
        )
    };
    assert!(answer("groups", &[], 1)[0].contains("standard errors"));
    assert!(answer("relation", &[], 1)[0].contains("linear relation"));
    let models = answer("models", &[], 1);
    assert_eq!(models.len(), 4, "split, models, compare, answer: {models:?}");
    assert!(models[3].contains("is predicted best by"));
    assert_eq!(answer("forecast", &[], 1).len(), 4, "series, trend, forecast, answer");
    assert!(answer("unheard of", &[], 1)[0].contains("As a description"));
    let failed = answer("forecast", &["ValueError: no column of dates"], 2);
    assert_eq!(failed.len(), 1);
    assert!(failed[0].contains("As a description"), "after an error the table is described: {failed:?}");
}

#[test]
fn a_workflow_without_a_question_gets_one_before_its_conclusion() {
    let first = cells("conclude", 1, json!({ "data": "DataFrame(3×2)" }), &[]);
    assert_eq!(first.len(), 1);
    assert!(first[0].contains("columns = {"));
    let listed = ["price: number\ncups: number\n"];
    let variables =
        json!({ "data": "DataFrame(3×2)", "columns": "dict(2)", "problem_description": "What affects the cups?" });
    let second = cells("conclude", 2, variables, &listed);
    assert_eq!(second.len(), 3, "question, answer, conclude");
    assert!(second[0].contains("question = \"drivers\"") && second[1].contains("of the variation of"));
    assert!(second[2].contains("conclusions = "));
    let known = cells("conclude", 1, json!({ "data": "list(3)", "columns": "dict(3)", "scores": "dict(3)" }), &[]);
    assert_eq!(known.len(), 1, "a comparison of models is an answer");
}

#[test]
fn another_problem_in_the_same_kernel_is_asked_anew() {
    let problem = "What affects the cups?";
    let plan = |variables: Json| flags(&planning(&request("step_running", "question", 0, variables, &[]))).0;
    let mut known =
        json!({ "data": "DataFrame(3×2)", "columns": "dict(2)", "question": "groups", "problem_description": problem });
    assert!(plan(known.clone()), "a question of this problem is achieved");
    known["problem_id"] = json!("0000dead");
    assert!(!plan(known.clone()));
    let listed = cells("question", 1, known.clone(), &[]);
    assert!(listed[0].contains("columns = {"), "the columns are listed again: {listed:?}");
    let asked = cells("question", 2, known.clone(), &["price: number\ncups: number\n"]);
    assert!(asked[0].contains("question = \"drivers\""), "{asked:?}");
    known["problem_id"] = json!(Hash::of(problem.as_bytes()).to_string()[..ID_CHARS]);
    assert!(plan(known));
}

#[test]
fn a_step_that_no_rule_knows_is_not_claimed_to_be_achieved() {
    let actions = generating(&request("behavior_running", "dishes", 1, json!({}), &[]), None);
    let content = |at: usize| actions[at]["content"].as_str().unwrap();
    let kinds: Vec<&str> = actions.iter().map(|action| action["action"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["new_chapter", "new_section", "add", "add", "exec"], "no table is loaded");
    assert!(content(2).starts_with("**Not done.**") && content(2).contains("`dishes`"), "{}", content(2));
    assert!(content(3).contains("\"dishes\": \"Do it\""), "{}", content(3));
    let plan = |iteration, variables| planning(&request("behavior_completed", "dishes", iteration, variables, &[]));
    let given_up = plan(1, json!({ "steps_not_done": "dict(1)" }));
    assert_eq!((flags(&given_up), &given_up["transition"]["on_unachieved"]), ((false, false), &json!("complete_step")));
    let begun = planning(&request("step_running", "dishes", 0, json!({ "steps_not_done": "dict(1)" }), &[]));
    assert_eq!(begun["transition"].get("on_unachieved"), None, "nothing was tried yet");
    assert_eq!(flags(&plan(1, json!({}))), (false, true), "a judge writes the cells");
    assert_eq!(flags(&plan(2, json!({ "step_dishes": "dict(1)" }))), (true, false));
}

#[test]
fn an_answer_is_known_only_if_a_cell_has_given_one() {
    let asked = |state: &str, step: &str, variables: Json, effects: &[&str]| {
        planning(&request(state, step, 1, variables, effects))
    };
    let known = |answered: bool| json!({ "data": "list(3)", "answers": "list(1)", "answered": answered });
    let printed = ["rows\nAnswer:\nThe mean is 7.\nIt is of 3 rows.\n"];
    let told = asked("behavior_completed", "answer", known(true), &printed);
    assert_eq!(flags(&told), (true, false));
    assert_eq!(told["context_update"]["variables"]["problem_answer"], "The mean is 7.\nIt is of 3 rows.");
    let unknown = asked("step_running", "answer", known(true), &[]);
    assert!(!flags(&unknown).0, "the answer of an earlier workflow is forgotten");
    let declined = ["Not answered: no rule uses the word `nice`\nAs a description: 3 rows.\n"];
    let told = asked("behavior_completed", "answer", known(false), &declined);
    assert_eq!(flags(&told), (false, false));
    assert_eq!(told["transition"]["on_unachieved"], "complete_step");
    assert_eq!(told["transition"]["reason"], "not answered: no rule uses the word `nice`");
    let end = |variables: Json| asked("stage_completed", "conclude", variables, &[]);
    let mut answered = known(true);
    answered["problem_answer"] = json!("It is 7.");
    assert_eq!(end(answered.clone())["answer"], "It is 7.");
    answered["answered"] = json!(false);
    answered["problem_unanswered"] = json!("its figures failed");
    assert_eq!(end(answered)["not_answered"], "its figures failed", "the kernel decides");
    assert_eq!(end(json!({}))["not_answered"], "no step of the workflow has answered it");
    assert_eq!(end(json!({ "no_table": "There is no table." }))["not_answered"], "There is no table.");
}

#[test]
fn the_path_of_the_table_is_part_of_a_sentence_only_at_its_ends() {
    let asked = |problem: &str| {
        let known = json!({ "data": "list(3)", "columns": "dict(1)", "table_columns": "cups: number\n", "problem_description": problem });
        cells("question", 1, known, &[])[0].contains("question = \"summary\"")
    };
    assert!(asked("What is the mean cups of the file \"data/my.csv\"?"));
    assert!(asked("In data/my.csv, what is the mean cups?"));
    assert!(!asked("What is the mean cups without data/my.csv?"));
    assert!(!asked("What is the my.csv mean cups?"));
}
