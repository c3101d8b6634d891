//! JUnit XML as CTest, GoogleTest, pytest, Surefire, Twister and others write it. The format has no single
//! specification: a failure counts at any place of a document, and a count above the number of cases is a doubt.
//! `status.rs` reads one case.

mod status;

use roxmltree::Node;

use super::{
    CaseResult, Location, Parsed, Status, banner,
    reading::{ParserState, first_place, form, ms_of_seconds, place},
    xml,
};

/// The root elements of a document.
pub(super) const ROOTS: [&str; 2] = ["testsuites", "testsuite"];

/// Parses all documents of a text.
pub(super) fn parse(text: &str) -> Parsed {
    let mut reading = ParserState::default();
    let texts = xml::texts(text, &ROOTS);
    texts.tell(&mut reading, "JUnit XML", read);
    reading.close()
}

fn read(reading: &mut ParserState, root: Node<'_, '_>) {
    let first = reading.found.len();
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
    counts(reading, root, first);
    if root.descendants().any(status::says_failed) {
        reading.fail("the document has an element that says that something failed, and no case did");
    }
    root.descendants().filter(is_suite).for_each(|node| suite(reading, node));
}

fn is_suite(node: &Node<'_, '_>) -> bool {
    ROOTS.iter().any(|name| node.has_tag_name(*name))
}

fn case(reading: &mut ParserState, node: Node<'_, '_>) {
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
    let status = status::of(node);
    if let Some(word) = status::unknown(node) {
        reading.doubt(format!("the status of {id} is `{word}`, which says neither that it passed nor that it failed"));
    }
    let case = reading.end(0, suite, &id, status);
    case.duration_ms = ms_of_seconds(attribute("time"));
    if status != Status::Passed {
        explain(case, node, place(attribute("file"), attribute("line")));
    }
    let attachments = form!(r"\[\[ATTACHMENT\|([^\]]+)\]\]");
    let said = node.children().filter(|node| node.has_tag_name("system-out")).map(xml::text_of).collect::<String>();
    case.artifacts
        .extend(attachments.into_iter().flat_map(|form| form.captures_iter(&said)).map(|found| found[1].to_owned()));
    for _ in node.children().filter(|child| status::is_flaky(*child)) {
        reading.earlier(suite, &id, Status::Failed);
    }
}

/// Adds the message and the location of a case: the location in the message, or else the place of its definition.
fn explain(case: &mut CaseResult, node: Node<'_, '_>, written: Option<Location>) {
    let is_about = |node: &Node<'_, '_>| status::of_child(*node).is_some() || status::is_repeated(*node);
    let Some(about) = node.children().find(is_about) else { return };
    let message = about.attribute("message").unwrap_or_default().trim();
    let body = xml::text_of(about);
    case.message = if message.is_empty() { body.trim().to_owned() } else { message.to_owned() };
    if case.message.is_empty() {
        let said = node.children().find(|node| node.has_tag_name("system-out"));
        case.message = said.map(xml::text_of).unwrap_or_default().trim().to_owned();
    }
    case.location = first_place(&body).or_else(|| first_place(&case.message)).or(written);
    // GoogleTest begins its messages with a line that is the location.
    let first = case.message.split_once('\n').filter(|(first, _)| first_place(first).is_some() && !first.contains(' '));
    if let Some((_, rest)) = first {
        case.message = rest.trim().to_owned();
    }
    let places = form!(r#"(?m)^\s*(?:at .*|File ".*", line \d+.*|\S+:\d+(?::\d+)?(?:: .*)?)$"#);
    let places = places.into_iter().flat_map(|form| form.find_iter(&body));
    case.stack = places.map(|line| line.as_str().trim().to_owned()).collect();
}

fn number(node: Node<'_, '_>, name: &str) -> Option<usize> {
    node.attribute(name).and_then(|text| text.trim().parse::<usize>().ok())
}

/// Reads a suite apart from its cases: its own failures, its own status, and its counts.
fn suite(reading: &mut ParserState, node: Node<'_, '_>) {
    let name = node.attribute("name").unwrap_or("testsuite").to_owned();
    for child in node.children().filter(|child| status::of_child(*child).is_some_and(Status::is_bad)) {
        let message = child.attribute("message").map_or_else(|| xml::text_of(child), str::to_owned);
        let case = reading.end_uncounted(0, &name, Status::Failed);
        case.location = first_place(&message);
        case.message = message;
    }
    if status::of_attributes(node).is_some_and(Status::is_bad) {
        reading.fail(format!("the suite {name} says that it failed"));
    }
    let cases = || node.descendants().filter(|node| node.has_tag_name("testcase") && !xml::is_cut(*node));
    let bad = cases().filter(|case| status::of(*case).is_bad()).count();
    let said = number(node, "failures").unwrap_or(0).saturating_add(number(node, "errors").unwrap_or(0));
    if said > 0 && bad == 0 {
        reading.fail(format!("the suite {name} counts {said} that failed, and none of its cases did"));
    }
    let (tests, reported) = (number(node, "tests").unwrap_or(0), cases().count());
    if tests > reported {
        reading.doubt(format!("cases that the suite {name} counts: {tests}, reported: {reported}"));
    }
}

/// Compares the counts of a document with its cases. Frameworks count differently (some omit disabled cases, some
/// count a failure twice), so only a count above the number of cases is doubtful.
fn counts(reading: &mut ParserState, root: Node<'_, '_>, first: usize) {
    let outermost: Vec<Node<'_, '_>> = match number(root, "tests") {
        Some(_) => vec![root],
        None => root.children().filter(|node| node.has_tag_name("testsuite")).collect(),
    };
    let sum = |name: &str| outermost.iter().filter_map(|node| number(*node, name)).fold(0, usize::saturating_add);
    let (tests, failed) = (sum("tests"), sum("failures").saturating_add(sum("errors")));
    let own = || reading.found[first..].iter();
    let reported = own().filter(|found| found.case.status != Status::Missing).count();
    let bad = own().filter(|found| found.case.status.is_bad()).count();
    let is_counted = outermost.iter().any(|node| number(*node, "tests").is_some());
    match (is_counted, reading.summary) {
        (true, _) => reading.sum_up(tests.max(reported), failed.max(bad)),
        // Another document has counts and this one has none: its cases are counted instead.
        (false, Some(_)) => reading.sum_up(reported, bad),
        (false, None) => {}
    }
}
