//! Imports of SCXML documents from other tools.

use expect_test::{Expect, expect};
use interlock_chart::yaml;
use interlock_exchange::{Format, Imported, import, is_unsupported};

fn read(body: &str) -> Result<Imported, String> {
    let text = format!("<scxml xmlns='http://www.w3.org/2005/07/scxml' version='1.0' {body}</scxml>");
    import(&text, Some(Format::Scxml), "chart.scxml").map_err(|problems| {
        let line = |at: u32| text.get(..at as usize).map_or(0, |before| before.matches('\n').count() + 1);
        let texts = problems.iter().map(|p| format!("{} at line {}: {}\n", p.code, line(p.span.start), p.message));
        texts.collect()
    })
}

/// Checks the machine without its id and version, and the warnings after it. The imported machine must also be
/// readable.
fn check(body: &str, expect: Expect) {
    let shown = match read(body) {
        Ok(imported) => {
            let written = yaml::write(&imported.file);
            let reading = yaml::read(&written);
            assert!(reading.is_usable(), "{:#?}\n{written}", reading.diagnostics);
            let mut json = serde_json::to_value(&imported.file).unwrap();
            json.as_object_mut().unwrap().retain(|key, _| key != "machine" && key != "version");
            let warnings: String = imported.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
            format!("{}\n{warnings}", serde_json::to_string_pretty(&json).unwrap())
        }
        Err(problems) => problems,
    };
    expect.assert_eq(&shown);
}

#[test]
fn states_transitions_and_history_are_imported() {
    check(
        "initial='b'>
  <state id='a'><transition event='go' target='b'/></state>
  <state id='b' initial='b2'>
    <history id='h' type='deep'><transition target='b1'/></history>
    <state id='b1'/>
    <state id='b2'><transition event='back.* again' cond=\"In('b')\" type='internal' target='h'/></state>
    <transition event='*' target='a'/>
    <transition target='p' cond='false'/>
  </state>
  <parallel id='p'><state id='r1'/><state id='r2'/><transition event='done.state.p' target='end'/></parallel>
  <final id='end'/>",
        expect![[r#"
            {
              "semantics": "scxml",
              "events": {
                "go": {
                  "from": "any"
                },
                "back": {
                  "from": "any"
                },
                "again": {
                  "from": "any"
                },
                "done.state.p": {
                  "from": "any"
                }
              },
              "initial": "b",
              "states": {
                "a": {
                  "on": {
                    "go": "b"
                  }
                },
                "b": {
                  "initial": "b2",
                  "on": {
                    "*": "a"
                  },
                  "always": {
                    "target": "p",
                    "guard": "false"
                  },
                  "states": {
                    "h": {
                      "type": "history",
                      "history": "deep",
                      "target": "b1"
                    },
                    "b1": {},
                    "b2": {
                      "on": [
                        {
                          "event": "back.* again",
                          "target": "h",
                          "guard": "In('b')",
                          "internal": true
                        }
                      ]
                    }
                  }
                },
                "p": {
                  "type": "parallel",
                  "on": {
                    "done.state.p": "end"
                  },
                  "states": {
                    "r1": {},
                    "r2": {}
                  }
                },
                "end": {
                  "type": "final"
                }
              }
            }
        "#]],
    );
}

#[test]
fn executable_content_is_imported_in_order() {
    check(
        "datamodel='ecmascript'>
  <datamodel><data id='x' expr='1'/><data id='y' expr='x + 1'/><data id='list'>[1, 2]</data><data id='none'/></datamodel>
  <state id='a'>
    <onentry><log label='in' expr='x'/><raise event='r'/></onentry>
    <onentry><assign location='x' expr='x + 1'/><assign location='none' expr=\"'text'\"/></onentry>
    <onexit><cancel sendid='t'/></onexit>
    <initial><transition target='b'><send event='e' delay='1.5s' id='t' namelist='x'><param name='p' expr='y'/></send></transition></initial>
    <state id='b'>
      <transition event='e' target='c'>
        <if cond='x == 1'><raise event='one'/><elseif cond='x == 2'/><raise event='two'/><else/><raise event='many'/></if>
        <send eventexpr=\"'e' + 'f'\" delayexpr=\"'10ms'\"><content>plain words</content></send>
      </transition>
    </state>
    <final id='c'><donedata><param name='x' location='x'/></donedata></final>
  </state>",
        expect![[r#"
            {
              "semantics": "scxml",
              "context": {
                "x": 1,
                "y": null,
                "list": [
                  1,
                  2
                ],
                "none": null
              },
              "events": {
                "e": {
                  "from": "any"
                }
              },
              "initial": "a",
              "entry": {
                "assign": {
                  "y": "${context.x + 1}"
                }
              },
              "states": {
                "a": {
                  "initial": {
                    "target": "b",
                    "actions": {
                      "send": {
                        "event": "e",
                        "data": {
                          "x": "${context.x}",
                          "p": "${context.y}"
                        },
                        "delay": "1500ms",
                        "id": "t"
                      }
                    }
                  },
                  "entry": [
                    [
                      {
                        "log": "in: ${context.x}"
                      },
                      {
                        "raise": "r"
                      }
                    ],
                    [
                      {
                        "assign": {
                          "x": "${context.x + 1}"
                        }
                      },
                      {
                        "assign": {
                          "none": "text"
                        }
                      }
                    ]
                  ],
                  "exit": {
                    "cancel": "t"
                  },
                  "states": {
                    "b": {
                      "on": {
                        "e": {
                          "target": "c",
                          "actions": [
                            {
                              "if": "context.x == 1",
                              "then": [
                                {
                                  "raise": "one"
                                }
                              ],
                              "else": [
                                {
                                  "if": "context.x == 2",
                                  "then": [
                                    {
                                      "raise": "two"
                                    }
                                  ],
                                  "else": [
                                    {
                                      "raise": "many"
                                    }
                                  ]
                                }
                              ]
                            },
                            {
                              "send": {
                                "event": "${'e' + 'f'}",
                                "data": "${\"plain words\"}",
                                "delay": "10ms"
                              }
                            }
                          ]
                        }
                      }
                    },
                    "c": {
                      "type": "final",
                      "data": {
                        "x": "${context.x}"
                      }
                    }
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn unsupported_features_are_reported_with_a_position() {
    let cases = [
        "><state id='a'>\n<onentry><script>f()</script></onentry></state>",
        "><state id='a'><onentry>\n<foreach array='f(x)' item='y'/></onentry></state>",
        "><state id='a'>\n<invoke src='other.scxml'/></state>",
        "><datamodel>\n<data id='x' src='file:x'/></datamodel><state id='a'/>",
        "><state id='a'>\n<transition cond='x === 1'/></state>",
        "><state id='a'>\n<transition cond='typeof x'/></state>",
        "><state id='a'>\n<transition cond='unknown == 1'/></state>",
        "><state id='a'><onentry>\n<send event='e' target='#_parent'/></onentry></state>",
        "><state id='a'><onentry>\n<send event='e' type='http'/></onentry></state>",
        "><state id='a'><onentry>\n<x:do xmlns:x='urn:x'/></onentry></state>",
        "\ndatamodel='xpath'><state id='a'/>",
        "datamodel='ecmascript'><state id='a'>\n<transition cond='7 / 2 == 3.5'/></state>",
        "><datamodel><data id='x' expr='[1]'/></datamodel><state id='a'><onentry>\n<script src='x.js'/></onentry></state>",
    ];
    let mut shown = String::new();
    for case in cases {
        let text = format!("<scxml {case}</scxml>");
        let problems = import(&text, Some(Format::Scxml), "x").unwrap_err();
        assert!(is_unsupported(&problems), "{case}");
        shown.push_str(&read(case).unwrap_err());
    }
    expect![[r#"
        E0510 at line 2: line 2: `<script>` needs a script engine
        E0510 at line 2: line 2: `<foreach>` has the expression `f(x)`: there is no function `f`
        E0510 at line 2: line 2: `<invoke>` starts a service, which machines do by activities
        E0510 at line 2: line 2: `<data>` reads another file
        E0510 at line 2: line 2: `<transition>` has the expression `x === 1`: there is no variable `x`
        E0510 at line 2: line 2: `<transition>` has the expression `typeof x`: `x` cannot stand here
        E0510 at line 2: line 2: `<transition>` has the expression `unknown == 1`: there is no variable `unknown`
        E0510 at line 2: line 2: `<send>` goes to another target (`#_parent`)
        E0510 at line 2: line 2: `<send>` goes to another kind of service (`http`)
        E0510 at line 2: line 2: `<do>` is an action of another namespace
        E0510 at line 2: line 1: `<scxml>` has the data model `xpath`; expressions are CEL here
        E0510 at line 2: line 2: `<transition>` divides in `7 / 2 == 3.5`, and CEL leaves the fraction out
        E0510 at line 2: line 2: `<script>` needs a script engine
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_loop_is_unrolled() {
    check(
        "><datamodel><data id='list' expr='[7]'/></datamodel>
  <state id='a'><onentry><foreach array='list' item='x' index='i'><raise event='e'/></foreach></onentry></state>",
        expect![[r#"
            {
              "semantics": "scxml",
              "context": {
                "list": [
                  7
                ],
                "x": null,
                "i": null,
                "foreach_1": null
              },
              "initial": "a",
              "states": {
                "a": {
                  "entry": [
                    {
                      "assign": {
                        "foreach_1": "${context.list}"
                      }
                    },
                    {
                      "if": "type(dyn(context.foreach_1)) != list",
                      "then": [
                        {
                          "log": "${int('the loop has no list')}"
                        }
                      ]
                    },
                    {
                      "if": "size(context.foreach_1) > 0",
                      "then": [
                        {
                          "assign": {
                            "x": "${context.foreach_1[0]}"
                          }
                        },
                        {
                          "assign": {
                            "i": 0
                          }
                        },
                        {
                          "raise": "e"
                        }
                      ]
                    }
                  ]
                }
              }
            }
        "#]],
    );
}

#[test]
fn broken_documents_are_errors_with_a_position() {
    let cases = [
        "><state id='a'>",
        "><state id='a'/>\n<state id='a'/>",
        "><state id='a'>\n<transition event='e' target='b'/></state>",
        "initial='zz'><state id='a'/>",
        ">",
        "><state id='a'>\n<nonsense/></state>",
        "><state id='a'><onentry>\n<raise/></onentry></state>",
        "><state id='a'><onentry>\n<send event='e' delay='soon'/></onentry></state>",
        "><state id='a'>\n<history id='h' type='wide'/></state>",
        "><datamodel><data id='x'/>\n<data id='x'/></datamodel><state id='a'/>",
    ];
    let shown: String = cases.iter().map(|case| read(case).unwrap_err()).collect();
    expect![[r#"
        E0501 at line 1: expected 'state' tag, not 'scxml' at 1:77
        E0505 at line 2: two states have the id `a`
        E0504 at line 2: there is no state `b`
        E0504 at line 1: there is no state `zz`
        E0503 at line 1: the document has no state
        E0503 at line 2: `<nonsense>` does not belong into `<state>`
        E0503 at line 2: `<raise>` needs `event`
        E0503 at line 2: `soon` is not a duration such as `1.5s` or `200ms`
        E0503 at line 2: a history is `shallow` or `deep`, not `wide`
        E0505 at line 2: `x` is declared twice
    "#]]
    .assert_eq(&shown);
}

#[test]
fn illegal_names_are_changed_with_a_warning() {
    check(
        "><state id='a.'><transition event='done.state.a.' cond=\"In('a.')\" target='c:d'/><state><final/></state></state><state id='c:d'/>",
        expect![[r#"
            {
              "semantics": "scxml",
              "events": {
                "done.state.a": {
                  "from": "any"
                }
              },
              "initial": "a",
              "states": {
                "a": {
                  "on": {
                    "done.state.a": {
                      "target": "c:d",
                      "guard": "In('a')"
                    }
                  },
                  "states": {
                    "state_1": {
                      "states": {
                        "final_1": {
                          "type": "final"
                        }
                      }
                    }
                  }
                },
                "c:d": {}
              }
            }
            warning: state `a.` is called `a`: names have letters, digits, `_`, `-`, and dots inside
        "#]],
    );
    let renamed = read("><state id='a.'/>").unwrap().renamed;
    assert_eq!(renamed.into_iter().collect::<Vec<_>>(), [("a".to_owned(), "a.".to_owned())]);
}

#[test]
fn an_assignment_to_an_undeclared_variable_raises_an_error_at_run_time() {
    check(
        "><state id='a'><onentry><assign location='x' expr='1'/></onentry></state>",
        expect![[r#"
            {
              "semantics": "scxml",
              "initial": "a",
              "states": {
                "a": {
                  "entry": {
                    "log": "${int('nothing declares x')}"
                  }
                }
              }
            }
            warning: an assignment to `x`, which nothing declares, only raises error.execution
        "#]],
    );
}

#[test]
fn a_variable_that_changes_its_type_starts_as_null() {
    check(
        "><datamodel><data id='x' expr='1'/></datamodel><state id='a'><onentry><assign location='x' expr=\"'a'\"/></onentry></state>",
        expect![[r#"
            {
              "semantics": "scxml",
              "context": {
                "x": null
              },
              "initial": "a",
              "entry": {
                "assign": {
                  "x": 1
                }
              },
              "states": {
                "a": {
                  "entry": {
                    "assign": {
                      "x": "a"
                    }
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn documents_that_exceed_bounds_are_refused() {
    let deep = format!("><state id='a'>{}{}</state>", "<state>".repeat(200), "</state>".repeat(200));
    let very_deep = format!("><state id='a'>{}{}</state>", "<state>".repeat(100_000), "</state>".repeat(100_000));
    let wide = format!(
        "><state id='a'><onentry><if cond='true'>{}</if></onentry></state>",
        "<elseif cond='true'/>".repeat(999)
    );
    for text in [deep, very_deep, wide] {
        let problems = read(&text).unwrap_err();
        assert!(problems.starts_with("E0502"), "{problems}");
    }
    let entities = "<!DOCTYPE scxml [<!ENTITY a 'b'>]><scxml/>";
    assert_eq!(import(entities, None, "x.scxml").unwrap_err()[0].code, "E0501");
    assert_eq!(import(&" ".repeat(10_000_000), None, "x.scxml").unwrap_err()[0].code, "E0502");
}
