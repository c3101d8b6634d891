//! Shows three versions of a file: before, ours and now. Lines at the beginning and the end that all versions share are
//! omitted.

use std::fmt::Write as _;

use crate::patch::Node;

/// Maximum number of lines shown of each version.
const SHOWN_MAX: usize = 20;

pub(crate) fn view(before: Option<&Node>, ours: Option<&Node>, now: Option<&Node>) -> String {
    let all = [before, ours, now];
    let is_text = |node: &Node| !node.content.contains(&0) && std::str::from_utf8(&node.content).is_ok();
    let mut view = String::new();
    if !all.iter().flatten().all(|node| is_text(node)) {
        for (name, node) in ["before", "ours", "now"].iter().zip(all) {
            let what = node.map_or("not there".to_owned(), |node| format!("{} bytes", node.content.len()));
            let _ = writeln!(view, "{name}: {what}");
        }
        return view;
    }
    let lines: Vec<Option<Vec<&str>>> = all.iter().map(|node| node.map(|node| lines(node))).collect();
    let there: Vec<&Vec<&str>> = lines.iter().flatten().collect();
    let shortest = there.iter().map(|lines| lines.len()).min().unwrap_or(0);
    let same = |at: &dyn Fn(&Vec<&str>) -> Option<usize>| {
        let mut each = there.iter().map(|lines| at(lines).and_then(|at| lines.get(at).copied()));
        let first = each.next().flatten();
        first.is_some() && each.all(|line| line == first)
    };
    let top = (0..shortest).take_while(|at| same(&|_| Some(*at))).count();
    let end = (0..shortest - top).take_while(|at| same(&|lines| lines.len().checked_sub(at + 1))).count();
    let marks = ["<<<<<<< before", "||||||| ours", "======= now"];
    for (mark, lines) in marks.iter().zip(&lines) {
        match lines {
            None => drop(writeln!(view, "{mark} (not there)")),
            Some(lines) => {
                let _ = writeln!(view, "{mark} (from line {})", top + 1);
                show(&lines[top..lines.len() - end], &mut view);
            }
        }
    }
    view.push_str(">>>>>>>\n");
    view
}

fn lines(node: &Node) -> Vec<&str> {
    std::str::from_utf8(&node.content).unwrap_or_default().lines().collect()
}

fn show(lines: &[&str], view: &mut String) {
    for line in lines.iter().take(SHOWN_MAX) {
        let _ = writeln!(view, "{line}");
    }
    if lines.len() > SHOWN_MAX {
        let _ = writeln!(view, "… and {} more lines", lines.len() - SHOWN_MAX);
    }
}
