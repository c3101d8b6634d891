//! Truncates data to a size: small exhibits stay whole, large ones share the remaining room evenly, and the cut is made
//! by record: whole lines of a text, whole elements of a list. The beginning and the end of each are kept, twice as
//! much of the end, because logs end with the failure.

use serde_json::{Map, Value};

use crate::Exhibit;

/// The approximate size of the note that marks an omission.
const NOTE_BYTES: usize = 48;

/// The maximum depth at which a value is cut element by element.
const DEPTH_MAX: usize = 16;

/// Truncates the exhibits to `room` bytes in total.
pub fn fit(exhibits: &[Exhibit], room: usize) -> Vec<Exhibit> {
    let whole: usize = exhibits.iter().map(|exhibit| exhibit.text.len()).sum();
    if whole <= room {
        return exhibits.to_vec();
    }
    let values: Vec<Value> = exhibits.iter().map(value).collect();
    let shares = shares(values.iter().map(size), room);
    let cut = exhibits.iter().zip(values.iter().zip(shares)).map(|(exhibit, (value, share))| {
        let text = if exhibit.text.len() <= share { exhibit.text.clone() } else { records(&cut(value, share, 0)) };
        Exhibit { text, ..exhibit.clone() }
    });
    cut.collect()
}

fn value(exhibit: &Exhibit) -> Value {
    let json = (exhibit.media_type == "application/json").then(|| serde_json::from_str(&exhibit.text).ok()).flatten();
    json.unwrap_or_else(|| Value::String(exhibit.text.clone()))
}

/// Formats a value as text with one record per line.
pub(crate) fn records(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if !items.is_empty() => {
            let lines: Vec<String> = items.iter().map(ToString::to_string).collect();
            format!("[\n{}\n]", lines.join(",\n"))
        }
        Value::Object(fields) if !fields.is_empty() => {
            let lines: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}: {value}", Value::from(name.as_str()))).collect();
            format!("{{\n{}\n}}", lines.join(",\n"))
        }
        other => other.to_string(),
    }
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

/// Distributes the room: small values get their size, the others get equal parts of the rest.
fn shares(sizes: impl Iterator<Item = usize>, room: usize) -> Vec<usize> {
    let mut order: Vec<(usize, usize)> = sizes.enumerate().map(|(at, size)| (size, at)).collect();
    let (mut shares, mut left, mut open) = (vec![0; order.len()], room, order.len());
    order.sort_unstable();
    for (size, at) in order {
        shares[at] = size.min(left / open.max(1));
        left -= shares[at];
        open -= 1;
    }
    shares
}

fn cut(value: &Value, room: usize, depth: usize) -> Value {
    if size(value) <= room {
        return value.clone();
    }
    match value {
        Value::String(text) => Value::String(cut_lines(text, room)),
        Value::Array(items) if depth < DEPTH_MAX => cut_list(items, room, depth),
        Value::Object(fields) if depth < DEPTH_MAX => {
            let names: usize = fields.keys().map(|name| name.len() + 4).sum();
            let shares = shares(fields.values().map(size), room.saturating_sub(names));
            let parts = fields.iter().zip(shares);
            Value::Object(
                parts.map(|((name, part), share)| (name.clone(), cut(part, share, depth + 1))).collect::<Map<_, _>>(),
            )
        }
        _ => Value::String(format!("[… {} bytes left out …]", size(value))),
    }
}

fn cut_list(items: &[Value], room: usize, depth: usize) -> Value {
    // One element must not take the room of all others.
    let most = (room / 2).max(NOTE_BYTES);
    let items: Vec<Value> = items.iter().map(|item| cut(item, most, depth + 1)).collect();
    let sizes: Vec<usize> = items.iter().map(|item| size(item) + 1).collect();
    let (head, tail) = ends(&sizes, room.saturating_sub(NOTE_BYTES));
    let note = Value::String(format!("[… {} of {} elements left out …]", tail - head, items.len()));
    let note = (tail > head).then_some(note);
    items[..head].iter().cloned().chain(note).chain(items[tail..].iter().cloned()).collect()
}

fn cut_lines(text: &str, room: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    // Within JSON, a line end takes two bytes.
    let sizes: Vec<usize> = lines.iter().map(|line| line.len() + 2).collect();
    let (head, tail) = ends(&sizes, room.saturating_sub(NOTE_BYTES));
    let note = format!("[… {} of {} lines left out …]", tail - head, lines.len());
    let kept: Vec<&str> =
        lines[..head].iter().copied().chain([note.as_str()]).chain(lines[tail..].iter().copied()).collect();
    kept.join("\n")
}

/// Returns the number of records kept at the beginning, and the index at which the kept end starts.
fn ends(sizes: &[usize], room: usize) -> (usize, usize) {
    let (mut head, mut tail) = (0, sizes.len());
    let mut left = room / 3;
    while head < tail && sizes[head] <= left {
        left -= sizes[head];
        head += 1;
    }
    left += room - room / 3;
    while tail > head && sizes[tail - 1] <= left {
        left -= sizes[tail - 1];
        tail -= 1;
    }
    // Room that the end did not need goes to the beginning.
    while head < tail && sizes[head] <= left {
        left -= sizes[head];
        head += 1;
    }
    (head, tail)
}
