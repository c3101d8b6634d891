//! JUnit XML as CTest, GoogleTest, pytest, Twister and others write it. It has no one owner, so whatever is there is taken, and what its counts
//! say beyond that is a doubt.

use roxmltree::Node;

use super::{
    Case, Location, Parsed, Status, banner,
    reading::{Reading, first_place, form, ms_of_seconds, place},
    xml,
};

/// Reads the document.
pub(super) fn parse(text: &str) -> Parsed {
    let mut reading = Reading::default();
    match xml::Text::new(text, &["testsuites", "testsuite"]) {
        None => reading.doubt("there is no JUnit XML in it"),
        Some(text) => {
            if text.is_cut {
                reading.doubt("the XML ends in the middle");
            }
            match text.document() {
                Ok(document) => read(&mut reading, document.root_element()),
                Err(error) => reading.doubt(format!("the XML cannot be read: {error}")),
            }
        }
    }
    reading.close()
}

fn read(reading: &mut Reading, root: Node<'_, '_>) {
    for node in root.descendants().filter(|node| node.has_tag_name("testcase")) {
        case(reading, node);
    }
    for node in root.descendants().filter(|node| node.has_tag_name("system-out") || node.has_tag_name("system-err")) {
        let of_a_case = node.parent().is_some_and(|parent| parent.has_tag_name("testcase"));
        let is_ours = |line: &&str| {
            let kind = banner::kind(line);
            kind == Some(banner::Kind::Fault) || (kind.is_some() && !of_a_case)
        };
        let said = xml::text_of(node);
        reading.faults.extend(said.lines().filter(is_ours).map(|line| line.trim().to_owned()));
    }
    counts(reading, root);
}

fn case(reading: &mut Reading, node: Node<'_, '_>) {
    let attribute = |name: &str| node.attribute(name).unwrap_or_default().trim();
    let (class, name) = (attribute("classname"), attribute("name"));
    let id = if class.is_empty() || class == name || name.starts_with(&format!("{class}.")) {
        name.to_owned()
    } else {
        format!("{class}.{name}")
    };
    let suite = node.ancestors().find(|node| node.has_tag_name("testsuite"));
    let suite = suite.and_then(|suite| suite.attribute("name")).unwrap_or_default();
    if xml::is_cut(node) {
        return reading.begin(0, suite, &id);
    }
    let status = status(node);
    let case = reading.end(0, suite, &id, status);
    case.duration_ms = ms_of_seconds(attribute("time"));
    if status != Status::Passed {
        explain(case, node, place(attribute("file"), attribute("line")));
    }
    let attachments = form!(r"\[\[ATTACHMENT\|([^\]]+)\]\]");
    let said = node.children().filter(|node| node.has_tag_name("system-out")).map(xml::text_of).collect::<String>();
    case.artifacts
        .extend(attachments.into_iter().flat_map(|form| form.captures_iter(&said)).map(|found| found[1].to_owned()));
}

/// What a case says about itself, with the place it names or else where it is written.
fn explain(case: &mut Case, node: Node<'_, '_>, written: Option<Location>) {
    let Some(about) = node.children().find(|node| kind(*node).is_some()) else { return };
    let message = about.attribute("message").unwrap_or_default().trim();
    let body = xml::text_of(about);
    case.message = if message.is_empty() { body.trim().to_owned() } else { message.to_owned() };
    if case.message.is_empty() {
        let said = node.children().find(|node| node.has_tag_name("system-out"));
        case.message = said.map(xml::text_of).unwrap_or_default().trim().to_owned();
    }
    case.location = first_place(&body).or_else(|| first_place(&case.message)).or(written);
    // GoogleTest begins its messages with a line that is the place.
    let first = case.message.split_once('\n').filter(|(first, _)| first_place(first).is_some() && !first.contains(' '));
    if let Some((_, rest)) = first {
        case.message = rest.trim().to_owned();
    }
    let places = form!(r#"(?m)^\s*(?:at .*|File ".*", line \d+.*|\S+:\d+(?::\d+)?(?:: .*)?)$"#);
    let places = places.into_iter().flat_map(|form| form.find_iter(&body));
    case.stack = places.map(|line| line.as_str().trim().to_owned()).collect();
}

/// How a child of a case says that it ended.
fn kind(node: Node<'_, '_>) -> Option<Status> {
    match node.tag_name().name() {
        "failure" | "error" => Some(Status::Failed),
        "skipped" => Some(Status::Skipped),
        _ => None,
    }
}

fn status(node: Node<'_, '_>) -> Status {
    let children = || node.children().filter(Node::is_element);
    if let Some(bad) = children().find(|child| kind(*child) == Some(Status::Failed)) {
        return badly(bad);
    }
    if let Some(skipped) = children().find(|child| kind(*child) == Some(Status::Skipped)) {
        // CTest says so of a program that is not there.
        let is_absent =
            skipped.attribute("message").is_some_and(|message| message.contains("Unable to find executable"));
        return if is_absent { Status::Failed } else { Status::Skipped };
    }
    let attribute = |name: &str| node.attribute(name).unwrap_or_default();
    match (attribute("status"), attribute("result")) {
        ("fail" | "failed" | "error", _) => Status::Failed,
        ("notrun" | "disabled" | "skipped", _) | (_, "suppressed" | "skipped") => Status::Skipped,
        _ => Status::Passed,
    }
}

/// Failed, or more exactly.
fn badly(node: Node<'_, '_>) -> Status {
    let about =
        format!("{} {}", node.attribute("type").unwrap_or_default(), node.attribute("message").unwrap_or_default());
    let is = |form: Option<&'static regex::Regex>| form.is_some_and(|form| form.is_match(&about));
    if is(form!(r"(?i)^\s*\S*\s*(?:timeout|timed out)\b")) {
        Status::Timeout
    } else if is(form!(r"(?i)\b(?:crash(?:ed)?|segfault|segmentation fault|subprocess aborted)\b")) {
        Status::Crashed
    } else {
        Status::Failed
    }
}

/// What the suites count. They count differently (some leave out what is disabled, some count a failure twice), so only what they have beyond the
/// cases is doubtful.
fn counts(reading: &mut Reading, root: Node<'_, '_>) {
    let number =
        |node: Node<'_, '_>, name: &str| node.attribute(name).and_then(|text| text.trim().parse::<usize>().ok());
    let outermost: Vec<Node<'_, '_>> = match number(root, "tests") {
        Some(_) => vec![root],
        None => root.children().filter(|node| node.has_tag_name("testsuite")).collect(),
    };
    let sum = |name: &str| outermost.iter().filter_map(|node| number(*node, name)).fold(0, usize::saturating_add);
    let (tests, failed) = (sum("tests"), sum("failures").saturating_add(sum("errors")));
    let reported = reading.found.iter().filter(|found| found.case.status != Status::Missing).count();
    let bad = reading.found.iter().filter(|found| found.case.status.is_bad()).count();
    if outermost.iter().any(|node| number(*node, "tests").is_some()) {
        reading.summary = Some((tests.max(reported), failed.max(bad)));
    }
}
