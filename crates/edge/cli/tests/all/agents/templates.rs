//! Prompt templates of a machine: their variables are the fields of `with`.

use super::scene::Scene;

/// Writes a machine that prompts an agent with these fields and this template.
fn machine(scene: &Scene, with: &str, template: &str) {
    let text = format!(
        "machine: ask\nversion: 1\nsummary: Prompts once.\ninitial: asking\nstates:\n  asking:\n    \
         invoke: {{ activity: agent.prompt, with: {{ prompt: prompts/p.md, {with} }}, signals: [turn_ended] }}\n    \
         on: {{ turn_ended: done, error: {{ target: bad, reason: \"${{event.message}}\" }} }}\n  \
         done: {{ type: final, outcome: success }}\n  bad: {{ type: final, outcome: failure }}\n"
    );
    scene.write(".interlock/machines/ask/machine.yaml", &text);
    scene.write(".interlock/machines/ask/prompts/p.md", template);
}

/// An agent that keeps its prompt, and a repository.
fn scene() -> Scene {
    Scene::with_script(
        &[],
        "read -r prompt\nprintf %s \"$prompt\" > prompt.json\necho '{\"type\":\"end\",\"reason\":\"done\"}'\n",
    )
}

fn prompted(scene: &Scene) -> String {
    let text = std::fs::read_to_string(scene.path("prompt.json")).unwrap();
    let prompt: serde_json::Value = serde_json::from_str(&text).unwrap();
    prompt["text"].as_str().unwrap().to_owned()
}

#[test]
fn template_is_rendered_with_the_fields_of_with() {
    let scene = scene();
    machine(
        &scene,
        "text: paint it, color: blue, parts: [door, roof]",
        "Use {{ color }}.{% for part in parts %}\n- {{ part }}{% endfor %}\n",
    );
    let done = scene.run("run ask --name r1");
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(prompted(&scene), "Use blue.\n- door\n- roof\n\n## Instruction\n\npaint it");
    machine(&scene, "text: paint it", "Please {{ text }} now.");
    let done = scene.run("run ask --name r2");
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(prompted(&scene), "Please paint it now.");
}

#[test]
fn field_that_nothing_uses_is_refused() {
    let scene = scene();
    machine(&scene, "text: paint it, colour: blue", "Use what you like.");
    let refused = scene.run("run ask --name r1");
    let why = "`with.colour` is no field of agent.prompt and no variable of the prompt";
    assert!(refused.code == Some(1) && refused.stderr.contains(why), "{refused}");
}
