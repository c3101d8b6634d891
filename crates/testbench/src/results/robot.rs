//! Robot Framework's `output.xml`. It is written as the tests go on, so one that was ended has no statistics.

use roxmltree::Node;

use super::{
    Parsed, Status,
    reading::{Reading, ms_of_seconds, place},
    xml,
};

/// How deeply suites are followed; the XML reader's own bound is below that times the elements per suite.
const DEPTH_MAX: usize = 64;

/// Reads the document.
pub(super) fn parse(text: &str) -> Parsed {
    let mut reading = Reading::default();
    match xml::Text::new(text, &["robot"]) {
        None => reading.doubt("there is no output of Robot Framework in it"),
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
    for node in children(root, "suite") {
        suite(reading, node, "", DEPTH_MAX);
    }
    let total = child(root, "statistics").and_then(|node| child(node, "total"));
    let all = total.and_then(|node| children(node, "stat").last());
    match all {
        Some(stat) => {
            let count = |name: &str| stat.attribute(name).and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
            reading.sum_up(count("pass") + count("fail") + count("skip"), count("fail"));
        }
        None => reading.doubt("there are no statistics: it ended in the middle"),
    }
}

fn suite(reading: &mut Reading, node: Node<'_, '_>, above: &str, depth: usize) {
    let own = node.attribute("name").unwrap_or_default();
    let name = if above.is_empty() { own.to_owned() } else { format!("{above}.{own}") };
    for test in children(node, "test") {
        case(reading, test, &name, node.attribute("source").unwrap_or_default());
    }
    if depth > 0 {
        for inner in children(node, "suite") {
            suite(reading, inner, &name, depth - 1);
        }
    }
    // A suite can fail in its own set-up or tear-down, with no case at all.
    if let Some((Status::Failed, ended)) = ended(node) {
        let message = xml::text_of(ended);
        if !message.trim().is_empty() {
            reading.end(0, "", &name, Status::Failed).message = message;
        }
    }
}

fn case(reading: &mut Reading, node: Node<'_, '_>, suite: &str, source: &str) {
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

/// How a suite or a case ended.
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
