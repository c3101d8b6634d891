//! Failure markers: words that a test framework prints only if something failed.
//!
//! This is the oracle of the property that no text with a marker is read as passed. It is independent of the readers
//! and uses the simplest means. Texts with colours or other control characters are left out, because a terminal would
//! show something else than their letters.

/// Returns true if a text has a failure marker of the format with this name.
pub fn has_marker(format: &str, text: &str) -> bool {
    let is_plain = text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'));
    is_plain
        && match format {
            "junit" => {
                is_bare_xml(text)
                    && ["<failure/>", "<failure>", "<error/>", "<error>"].iter().any(|tag| text.contains(tag))
            }
            "robot" => is_bare_xml(text) && text.contains("<stat pass=\"0\" fail=\"1\""),
            "twister" => text.contains("\"status\":\"failed\"") || text.contains("\"status\": \"failed\""),
            _ => text.split(['\n', '\r']).any(|line| is_marker(format, line)),
        }
}

/// Returns true if tags in a text are really tags: in comments, sections and entities they are words.
fn is_bare_xml(text: &str) -> bool {
    !["<!", "<?", "]]>", "-->", "&"].iter().any(|mark| text.contains(mark))
}

fn is_marker(format: &str, line: &str) -> bool {
    let words = line.trim();
    if words.starts_with("make: *** [") && words.ends_with("] Error 1") {
        return true;
    }
    match format {
        "tap" | "ktap" => {
            let result = words.trim_start_matches(['#', ' ', '\t']);
            let is_bad = result.strip_prefix("not ok").is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
            is_bad && !result.contains('#') || line.starts_with("Bail out!") || line.starts_with("Result: FAIL")
        }
        "unity" => words == "FAIL" || words.ends_with(":FAIL") || words.contains(":FAIL:") || has_failures(words),
        "gtest" => words.contains("[  FAILED  ]") || words.ends_with(": Failure"),
        "ztest" => words.contains("PROJECT EXECUTION FAILED") || line.starts_with(" FAIL - t"),
        "ctest" => words.contains("***Failed") || words == "Errors while running CTest",
        "pytest" => {
            words.starts_with("INTERNALERROR> ") && line == words
                || words.starts_with("!!!!! ") && words.ends_with(" !!!!!") && line == words
                || line.contains("::") && line.ends_with(" FAILED") && !line.starts_with([' ', '\t'])
        }
        "cargo" => {
            let is_case = line.starts_with("test ") && line.ends_with(" ... FAILED");
            is_case
                || ["error: test failed", "error: could not compile", "test result: FAILED"]
                    .iter()
                    .any(|start| line.starts_with(start))
        }
        "patterns" => {
            line.strip_prefix("#TEST ").and_then(|rest| rest.split_once(" -> BAD (")).is_some_and(|(name, rest)| {
                let digits = rest.strip_suffix(" ms)").unwrap_or_default();
                let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
                is_number && !name.is_empty() && !name.contains(char::is_whitespace)
            })
        }
        _ => false,
    }
}

/// Matches lines such as `3 Tests 1 Failures 0 Ignored`.
fn has_failures(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_count = words.len() == 6 && words[1] == "Tests" && words[3] == "Failures" && words[5] == "Ignored";
    let number = |index: usize| words.get(index).and_then(|word| word.parse::<u32>().ok());
    is_count && number(0).is_some() && number(4).is_some() && number(2).is_some_and(|failed| failed > 0)
}

/// Lines, or pieces of documents, that are markers. Tests insert them into good texts.
pub fn examples(format: &str) -> &'static [&'static str] {
    match format {
        "junit" => &["<failure/>", "<error/>", "<failure>no</failure>", "<testcase name=\"x\"><error/></testcase>"],
        "robot" => &["<stat pass=\"0\" fail=\"1\" skip=\"0\">All Tests</stat>"],
        "twister" => &["\"status\": \"failed\","],
        "tap" | "ktap" => &[
            "not ok",
            "not ok 1",
            "    not ok 2 - x",
            "\tnot ok 1 x",
            "# not ok 3 y",
            "Bail out!",
            "Result: FAIL",
            "make: *** [all] Error 1",
        ],
        "unity" => &[
            "FAIL",
            "t.c:1:test_x:FAIL",
            "t.c:1:test_x:FAIL: Expected 1",
            "3 Tests 1 Failures 0 Ignored",
            "make: *** [all] Error 1",
        ],
        "gtest" => &[
            "[  FAILED  ] A.B (0 ms)",
            "[  FAILED  ] 1 test, listed below:",
            "[  FAILED  ] A: SetUpTestSuite or TearDownTestSuite",
            "a.cc:1: Failure",
            "make: *** [all] Error 1",
        ],
        "ztest" => &["PROJECT EXECUTION FAILED", " FAIL - test_x in 0.001 seconds", "make: *** [all] Error 1"],
        "ctest" => &[
            "1/1 Test #1: x ....***Failed    0.01 sec",
            "    Test #1: x ....***Failed    0.01 sec",
            "Errors while running CTest",
            "make: *** [all] Error 1",
        ],
        "pytest" => &[
            "INTERNALERROR> KeyError",
            "!!!!! KeyboardInterrupt !!!!!",
            "t.py::test_x FAILED",
            "make: *** [all] Error 1",
        ],
        "cargo" => &[
            "test x ... FAILED",
            "error: test failed, to rerun pass `--lib`",
            "error: could not compile `x`",
            "test result: FAILED. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ],
        "patterns" => &["#TEST x -> BAD (1 ms)"],
        _ => &[],
    }
}
