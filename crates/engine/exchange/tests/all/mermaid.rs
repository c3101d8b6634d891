//! Mermaid diagrams and DOT graphs of charts, and machine files from diagrams.

use expect_test::{Expect, expect};
use interlock_chart::yaml;
use interlock_exchange::{self as exchange, Format, import, is_unsupported};

/// Checks the machine file and the warnings after it, or the errors. The imported machine must also be readable.
fn check(text: &str, expect: Expect) {
    let shown = match import(text, Some(Format::Mermaid), "diagram.mmd") {
        Ok(imported) => {
            let written = yaml::write(&imported.file);
            let reading = yaml::read(&written);
            assert!(reading.is_usable(), "{:#?}\n{written}", reading.diagnostics);
            let warnings: String = imported.warnings.iter().map(|warning| format!("# {warning}\n")).collect();
            format!("{written}{warnings}")
        }
        Err(problems) => {
            let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
            problems.iter().map(|p| format!("{} at line {}: {}\n", p.code, line(p.span.start), p.message)).collect()
        }
    };
    expect.assert_eq(&shown);
}

#[test]
fn a_flat_diagram_becomes_the_outline_of_a_machine() {
    check(
        "Some page.

```mermaid
flowchart TD
    a --> b
```

```mermaid
stateDiagram-v2
    [*] --> WAITING
    WAITING --> PREPARE: on job_arrived

    PREPARE --> CHANGE: notes ready
    PREPARE --> REPAIR: notes missing / broken
    CHANGE --> VERIFY: change ok
    VERIFY --> CHANGE: go on (next round)
    VERIFY --> GOOD: converged
    REPAIR --> CHANGE: repaired
    REPAIR --> BAD: beyond repair

    GOOD --> WAITING
    BAD --> WAITING
```
",
        expect![[r#"
            machine: diagram
            version: 1

            events:
              job_arrived: { from: any }
              notes_ready: { from: any }
              notes_missing_broken: { from: any }
              change_ok: { from: any }
              repaired: { from: any }
              beyond_repair: { from: any }
              go_on_next_round: { from: any }
              converged: { from: any }
            initial: WAITING

            states:
              WAITING: { on: { job_arrived: { target: PREPARE, reason: on job_arrived } } }
              PREPARE:
                on:
                  notes_ready: { target: CHANGE, reason: notes ready }
                  notes_missing_broken: { target: REPAIR, reason: notes missing / broken }
              CHANGE: { on: { change_ok: { target: VERIFY, reason: change ok } } }
              REPAIR: { on: { repaired: CHANGE, beyond_repair: { target: BAD, reason: beyond repair } } }
              VERIFY: { on: { go_on_next_round: { target: CHANGE, reason: go on (next round) }, converged: GOOD } }
              GOOD: { always: WAITING }
              BAD: { always: WAITING }
        "#]],
    );
}

#[test]
fn composites_regions_choices_notes_and_styles_are_imported() {
    check(
        "---
title: A kitchen
---
%%{init: {'theme': 'dark'}}%%
stateDiagram-v2
    direction LR
    classDef hot fill:#f00
    %% nothing to see
    state \"Not cooking\" as Off
    [*] --> Off
    Off --> Cooking:::hot : switch on
    state Cooking {
        [*] --> Heating
        Heating --> Ready : warm [above 80]
        Ready --> [*]
        --
        [*] --> Dark
        Dark --> Light : lamp
        Light --> [*]
    }
    Cooking --> Tasted
    Tasted : Somebody eats
    state good <<choice>>
    Tasted --> good : swallowed
    good --> Off : if it was bad
    good --> Done : else
    Done --> [*] : full
    Done --> Off : hungry
    note right of Done
        The end,
        for today.
    end note
    class Done hot
",
        expect![[r#"
            machine: diagram
            version: 1
            summary: A kitchen

            context: { above_80: false, if_it_was_bad: false }

            events:
              switch_on: { from: any }
              warm: { from: any }
              lamp: { from: any }
              swallowed: { from: any }
              full: { from: any }
              hungry: { from: any }
            initial: 'Off'

            states:
              Off: { summary: Not cooking, on: { switch_on: { target: Cooking, reason: switch on } } }
              Cooking:
                type: parallel
                on: { done.state.Cooking: Tasted }
                states:
                  Cooking_region_1:
                    initial: Heating
                    states:
                      Heating: { on: { warm: { target: Ready, guard: context.above_80, reason: 'warm [above 80]' } } }
                      Ready: { type: final }
                  Cooking_region_2:
                    initial: Dark
                    states:
                      Dark: { on: { lamp: Light } }
                      Light: { type: final }
              Tasted: { summary: Somebody eats, on: { swallowed: good } }
              good: { always: [{ target: 'Off', guard: context.if_it_was_bad, reason: if it was bad }, Done] }
              Done: { summary: 'The end, for today.', on: { full: end, hungry: 'Off' } }
              end: { type: final }
            # the condition `above 80` is `context.above_80`, false until something assigns it
            # the condition `if it was bad` is `context.if_it_was_bad`, false until something assigns it
        "#]],
    );
}

#[test]
fn unlabelled_arrows_wait_if_there_is_a_choice_or_a_cycle() {
    check(
        "stateDiagram-v2
    [*] --> Still
    Still --> Moving
    Still --> [*]
    Moving --> Still
    Moving --> Crash
    Crash --> [*]
",
        expect![[r#"
            machine: diagram
            version: 1

            events:
              to_Moving: { from: any }
              to_end: { from: any }
              to_Still: { from: any }
              to_Crash: { from: any }
            initial: Still

            states:
              Still: { on: { to_Moving: Moving, to_end: end } }
              Moving: { on: { to_Still: Still, to_Crash: Crash } }
              Crash: { type: final }
              end: { type: final }
            # an arrow from `Still` has no label; it waits for the event `to_Moving`
            # an arrow from `Still` has no label; it waits for the event `to_end`
            # an arrow from `Moving` has no label; it waits for the event `to_Still`
            # an arrow from `Moving` has no label; it waits for the event `to_Crash`
        "#]],
    );
    check(
        "stateDiagram-v2\n a --> b\n b --> a\n",
        expect![[r#"
        machine: diagram
        version: 1

        events:
          to_b: { from: any }
          to_a: { from: any }
        initial: a

        states:
          a: { on: { to_b: b } }
          b: { on: { to_a: a } }
        # an arrow from `a` has no label; it waits for the event `to_b`
        # an arrow from `b` has no label; it waits for the event `to_a`
    "#]],
    );
}

#[test]
fn broken_diagrams_are_errors_with_a_position() {
    let cases = [
        "flowchart TD\n a --> b",
        "",
        "stateDiagram-v2\n state a {\n b --> c",
        "stateDiagram-v2\n a --> b\n }",
        "stateDiagram-v2\n two words\n",
        "stateDiagram-v2\n a --> \n",
        "stateDiagram-v2\n state \"x\" a\n",
        "stateDiagram-v2\n state f <<fork>>\n",
        "stateDiagram-v2\n state f <<odd>>\n",
        "stateDiagram-v2\n state a {\n b --> x\n }\n state b {\n a --> y\n }\n",
        "stateDiagram-v2\n",
    ];
    let mut shown = String::new();
    for text in cases {
        let problems = import(text, Some(Format::Mermaid), "x").unwrap_err();
        let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
        shown.extend(problems.iter().map(|p| format!("{} at line {}: {}\n", p.code, line(p.span.start), p.message)));
    }
    expect![[r#"
        E0501 at line 1: a state diagram begins with `stateDiagram-v2`
        E0501 at line 1: there is no `stateDiagram-v2`
        E0501 at line 3: a `{` is never closed
        E0501 at line 3: this `}` closes nothing
        E0501 at line 2: `two words` is neither a state nor an arrow
        E0501 at line 2: `a -->` is neither a state nor an arrow
        E0501 at line 2: `state "words" as NAME` is expected
        E0510 at line 2: `f` is a fork or a join; write a parallel state with `--` instead
        E0503 at line 2: there is no kind of state `odd`
        E0503 at line 2: `a` and `a` are inside each other
        E0503 at line 1: the diagram has no state
    "#]]
    .assert_eq(&shown);
    assert!(is_unsupported(&import(cases[7], None, "x").unwrap_err()));
    let states: String = (0..200).map(|level| format!("state s{level} {{\n")).collect();
    let deep = format!("stateDiagram-v2\n{states}{}", "}\n".repeat(200));
    assert_eq!(import(&deep, None, "x").unwrap_err()[0].code, "E0502");
}

const SMALL: &str = r#"
machine: small
version: 1
events: { stop: { from: user }, go: { from: user } }
initial: a-1
on: { stop: end }
states:
  a-1:
    on:
      go: [{ target: both, limit: 2, guard: "state.both.visits < 5" }, end]
  both:
    type: parallel
    on: { go: { target: h } }
    states:
      left: { states: { l1: { on: { go: l2 } }, l2: { type: final }, h: { type: history, target: l2 } } }
      right: { on: { stop: { internal: true, target: r1 } }, states: { r1: {} } }
  end: { type: final, outcome: success }
"#;

#[test]
fn a_chart_is_exported_to_mermaid_and_dot() {
    let chart = yaml::read(SMALL).chart.unwrap();
    let mermaid = exchange::export(&chart, Format::Mermaid);
    expect![[r#"
        stateDiagram-v2
            [*] --> a_1
            state "a-1" as a_1
            state both {
                state left {
                    [*] --> l1
                    l1
                    l2
                    state "H" as h
                    l1 --> l2 : go
                    l2 --> [*]
                    h --> l2
                }
                --
                state right {
                    [*] --> r1
                    r1
                }
            }
            %% right -> r1 : stop
            end
            a_1 --> both : go [state.both.visits #lt; 5] / limit 2
            a_1 --> end : go
            %% both -> h : go
            end --> [*]
            %% from any state -> end : stop
        a diagram shows states and arrows; data, actions, activities, timeouts and properties are not in it
        1 transition from any state is a comment: Mermaid has no such arrow
        2 transitions that stay inside their state are comments: Mermaid has no such arrow"#]]
    .assert_eq(&format!("{}{}", mermaid.text, mermaid.warnings.join("\n")));
    expect![[r#"
        digraph "small" {
          compound=true; rankdir=TB; fontname="sans-serif";
          node [shape=box, style=rounded, fontname="sans-serif"];
          edge [fontname="sans-serif", fontsize=10];
          "small (start)" [shape=point, width=0.15];
          "small (start)" -> "a-1";
          "a-1";
          subgraph "cluster_both" {
            label="both"; style="rounded,dashed";
            subgraph "cluster_left" {
              label="left"; style=rounded;
              "left (start)" [shape=point, width=0.15];
              "left (start)" -> "l1";
              "l1";
              "l2" [peripheries=2];
              "h" [shape=circle, label="H"];
            }
            subgraph "cluster_right" {
              label="right"; style=rounded;
              "right (start)" [shape=point, width=0.15];
              "right (start)" -> "r1";
              "r1";
            }
          }
          "end" [peripheries=2];
          "(any state)" [shape=plaintext];
          "(any state)" -> "end" [label="stop"];
          "a-1" -> "l1" [label="go [state.both.visits < 5] / limit 2", lhead="cluster_both"];
          "a-1" -> "end" [label="go"];
          "l1" -> "h" [label="go"];
          "l1" -> "l2" [label="go"];
          "r1" -> "r1" [label="stop"];
        }
    "#]]
    .assert_eq(&exchange::export(&chart, Format::Dot).text);
}

#[test]
fn an_exported_diagram_can_be_imported_again() {
    let machines = [
        SMALL,
        include_str!("../exchange/everything.yaml"),
        include_str!("../../../../../machines/brain/machine.yaml"),
        include_str!("../../../../../machines/coder/machine.yaml"),
        include_str!("../../../../../machines/notebook/machine.yaml"),
    ];
    for text in machines {
        let chart = yaml::read(text).chart.unwrap();
        let diagram = exchange::export(&chart, Format::Mermaid).text;
        let imported = import(&diagram, None, "x").unwrap_or_else(|problems| panic!("{problems:#?}\n{diagram}"));
        let reading = yaml::read(&yaml::write(&imported.file));
        let again = reading.chart.unwrap_or_else(|| panic!("{:#?}\n{diagram}", reading.diagnostics));
        assert!(again.states.len() >= chart.states.len(), "{diagram}");
        for state in chart.states.iter().skip(1) {
            let plain = state.name.replace(['-', '.', ':'], "_");
            assert!(again.find_state(&plain).is_some(), "{}", state.name);
        }
    }
}

#[test]
fn trailing_comments_and_separate_braces_are_parsed() {
    check(
        "stateDiagram-v2
    [*] --> Off %% the lamp begins dark
    Off --> On : press 100%% hard %% who presses?
    state On
    {
        [*] --> Dim
        Dim --> Bright : turn
    }
    On --> Off : press %%
",
        expect![[r#"
            machine: diagram
            version: 1

            events:
              press_100_hard: { from: any }
              turn: { from: any }
              press: { from: any }
            initial: 'Off'

            states:
              Off: { on: { press_100_hard: { target: 'On', reason: press 100%% hard } } }
              On:
                initial: Dim
                on: { press: 'Off' }
                states:
                  Dim: { on: { turn: Bright } }
                  Bright: {}
        "#]],
    );
    check(
        "stateDiagram-v2\n    A --> B\n    {\n    }\n",
        expect![[r#"
        E0501 at line 3: no state is declared in the line above this `{`
        E0501 at line 4: this `}` closes nothing
    "#]],
    );
}
