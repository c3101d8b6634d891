//! Robot Framework's `output.xml`. It is written while the tests run, so an interrupted one has no statistics.

use roxmltree::Node;

use super::{
    Parsed, Status,
    reading::{ParserState, ms_of_seconds, place},
    xml,
};

/// The greatest depth of nested suites; the XML parser's limit is below that times the elements per suite.
const DEPTH_MAX: usize = 64;

/// The root elements of a document.
const ROOTS: [&str; 1] = ["robot"];

/// Parses all documents of a text.
pub(super) fn parse(text: &str) -> Parsed {
    let mut reading = ParserState::default();
    xml::texts(text, &ROOTS).tell(&mut reading, "output of Robot Framework", read);
    reading.close()
}

fn read(reading: &mut ParserState, root: Node<'_, '_>) {
    for node in children(root, "suite") {
        suite(reading, node, "", DEPTH_MAX);
    }
    let total = child(root, "statistics").and_then(|node| child(node, "total"));
    let all = total.and_then(|node| children(node, "stat").last());
    match all {
        Some(stat) => {
            let count = |name: &str| stat.attribute(name).and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
            let (passed, failed, skipped) = (count("pass"), count("fail"), count("skip"));
            reading.sum_up(passed.saturating_add(failed).saturating_add(skipped), failed);
        }
        None => reading.doubt("there are no statistics: it ended in the middle"),
    }
    let is_bad =
        |node: &Node<'_, '_>| node.has_tag_name("stat") && node.attribute("fail").is_some_and(|count| count != "0");
    if root.descendants().any(|node| is_bad(&node)) {
        reading.fail("its statistics count something that failed");
    }
}

fn suite(reading: &mut ParserState, node: Node<'_, '_>, above: &str, depth: usize) {
    let own = node.attribute("name").unwrap_or_default();
    let name = if above.is_empty() { own.to_owned() } else { format!("{above}.{own}") };
    let first = reading.found.len();
    for test in children(node, "test") {
        case(reading, test, &name, node.attribute("source").unwrap_or_default());
    }
    if depth > 0 {
        for inner in children(node, "suite") {
            suite(reading, inner, &name, depth - 1);
        }
    }
    if let Some(why) = failed_teardown(node) {
        fail_all(reading, first, &why);
    }
    // A suite can fail in its setup or teardown without any case.
    let Some((Status::Failed, ended)) = ended(node) else { return };
    let message = xml::text_of(ended);
    let is_told = reading.found[first..].iter().any(|found| found.case.status.is_bad());
    if !is_told || !message.trim().is_empty() {
        reading.end_uncounted(0, &name, Status::Failed).message = message;
    }
}

/// Returns the message of a suite's failed teardown, if it failed.
fn failed_teardown(suite: Node<'_, '_>) -> Option<String> {
    let mut keywords = children(suite, "kw");
    let teardown =
        keywords.find(|node| node.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("teardown")))?;
    let (status, ended) = ended(teardown)?;
    (status == Status::Failed).then(|| xml::text_of(ended).trim().to_owned())
}

/// Fails all cases of a suite whose teardown failed: Robot writes their results before the teardown, but counts them
/// as failed.
fn fail_all(reading: &mut ParserState, first: usize, why: &str) {
    let cases = reading.found[first..].iter_mut().map(|found| &mut found.case);
    for case in cases.filter(|case| matches!(case.status, Status::Passed | Status::Failed)) {
        case.status = Status::Failed;
        let before = if case.message.is_empty() { String::new() } else { format!("{}\n", case.message) };
        case.message = format!("{before}the tear-down of its suite failed: {why}");
    }
}

fn case(reading: &mut ParserState, node: Node<'_, '_>, suite: &str, source: &str) {
    let id = format!("{suite}.{}", node.attribute("name").unwrap_or_default());
    let Some((status, ended)) = ended(node).filter(|_| !xml::is_cut(node)) else {
        return reading.begin(0, "", &id);
    };
    let case = reading.end(0, "", &id, status);
    case.duration_ms = ended.attribute("elapsed").and_then(ms_of_seconds);
    case.message = xml::text_of(ended);
    if status != Status::Passed {
        case.location = place(source, node.attribute("line").unwrap_or_default());
    }
}

/// Returns the status of a suite or a case.
fn ended<'a, 'b>(node: Node<'a, 'b>) -> Option<(Status, Node<'a, 'b>)> {
    let ended = children(node, "status").last()?;
    let status = match ended.attribute("status")? {
        "PASS" => Status::Passed,
        "SKIP" | "NOT RUN" => Status::Skipped,
        _ => Status::Failed,
    };
    Some((status, ended))
}

fn children<'a, 'b>(node: Node<'a, 'b>, name: &'static str) -> impl Iterator<Item = Node<'a, 'b>> {
    node.children().filter(move |node| node.has_tag_name(name))
}

fn child<'a, 'b>(node: Node<'a, 'b>, name: &'static str) -> Option<Node<'a, 'b>> {
    children(node, name).next()
}
