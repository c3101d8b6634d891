//! Collects the output of a cell: as nbformat outputs for the document, and as text for planners.
//!
//! Everything has a bound. Text over [`INLINE_BYTES_MAX`] goes to a temporary file and becomes evidence; the document
//! keeps its beginning and its end. Rich data of any MIME type is kept as the kernel sent it.

mod effect;
mod finish;
mod spool;

use serde_json::{Map, Value as Json, json};

pub(crate) use effect::{cut, effects, joined, one_line, plain};
pub(crate) use finish::{Finished, extension, lines};

use crate::kernel::Message;
use spool::Spool;

/// The number of bytes of text that the document keeps of one cell, and of one value of rich data.
pub(crate) const INLINE_BYTES_MAX: usize = 1_024 * 1_024;

/// The largest number of outputs of a cell; further ones are counted only.
const OUTPUTS_MAX: usize = 1_000;

/// The outputs of one cell while it runs.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    items: Vec<Item>,
    /// The outputs are removed when the next one arrives.
    is_clearing: bool,
    text_bytes: usize,
    spool: Option<Spool>,
    dropped: u64,
}

/// One output.
#[derive(Debug)]
struct Item {
    /// The output in the form of nbformat, except that the text of a stream is in `text`.
    json: Map<String, Json>,
    text: Option<String>,
    /// The name by which the kernel can replace this output.
    display_id: Option<String>,
}

impl Outputs {
    /// Takes a message of the kernel.
    pub(crate) fn take(&mut self, message: Message) {
        let Message { kind, content, .. } = message;
        match kind.as_str() {
            "stream" => self.stream(&content),
            "display_data" | "execute_result" => self.data(&kind, content),
            "update_display_data" => self.update(&content),
            "error" => self.error(&content),
            "clear_output" if content["wait"] == true => self.is_clearing = true,
            "clear_output" => self.clear(),
            _ => {}
        }
    }

    /// Returns the text of a message that watchers see while the cell runs.
    pub(crate) fn shown(message: &Message) -> Option<&str> {
        (message.kind == "stream").then(|| message.content["text"].as_str()).flatten()
    }

    /// Returns the name and the message of the error that ended the cell.
    pub(crate) fn failure(&self) -> Option<String> {
        let error = self.items.iter().rev().find(|item| item.json["output_type"] == "error")?;
        let text = |name: &str| error.json.get(name).and_then(Json::as_str).unwrap_or_default();
        Some(one_line(&format!("{}: {}", text("ename"), text("evalue"))))
    }

    fn clear(&mut self) {
        *self = Outputs { dropped: self.dropped, ..Outputs::default() };
    }

    fn stream(&mut self, content: &Json) {
        let name = content["name"].as_str().unwrap_or("stdout");
        let Some(text) = content["text"].as_str().filter(|text| !text.is_empty()) else { return };
        self.begin();
        if self.spool.is_none() && self.text_bytes + text.len() > INLINE_BYTES_MAX {
            self.spool = Some(Spool::new(self.items.iter().filter_map(|item| item.text.as_deref())));
        }
        if let Some(spool) = &mut self.spool {
            return spool.push(text);
        }
        self.text_bytes += text.len();
        match self.items.last_mut() {
            Some(Item { json, text: Some(before), .. }) if json["name"] == name => before.push_str(text),
            _ => {
                let json = object(json!({ "name": name, "output_type": "stream" }));
                self.push(Item { json, text: Some(text.to_owned()), display_id: None });
            }
        }
    }

    fn data(&mut self, kind: &str, content: Json) {
        self.begin();
        let mut json = object(json!({ "data": bundle(&content["data"]), "metadata": bundle(&content["metadata"]) }));
        if kind == "execute_result" {
            json.insert("execution_count".to_owned(), count(&content["execution_count"]));
        }
        json.insert("output_type".to_owned(), json!(kind));
        let display_id = content["transient"]["display_id"].as_str().map(str::to_owned);
        self.push(Item { json, text: None, display_id });
    }

    fn update(&mut self, content: &Json) {
        let Some(id) = content["transient"]["display_id"].as_str() else { return };
        for item in self.items.iter_mut().filter(|item| item.display_id.as_deref() == Some(id)) {
            item.json.insert("data".to_owned(), bundle(&content["data"]));
            item.json.insert("metadata".to_owned(), bundle(&content["metadata"]));
        }
    }

    fn error(&mut self, content: &Json) {
        self.begin();
        let text = |name: &str| content[name].as_str().unwrap_or_default().to_owned();
        let traceback: Vec<_> =
            content["traceback"].as_array().into_iter().flatten().filter(|line| line.is_string()).collect();
        let json =
            json!({ "ename": text("ename"), "evalue": text("evalue"), "output_type": "error", "traceback": traceback });
        self.push(Item { json: object(json), text: None, display_id: None });
    }

    fn begin(&mut self) {
        if std::mem::take(&mut self.is_clearing) {
            self.clear();
        }
    }

    fn push(&mut self, item: Item) {
        match self.items.len() < OUTPUTS_MAX {
            true => self.items.push(item),
            false => self.dropped += 1,
        }
    }
}

/// Returns the number of an execution, which nbformat requires to be a number from 0 or null.
pub(crate) fn count(value: &Json) -> Json {
    value.as_u64().map_or(Json::Null, Json::from)
}

fn bundle(value: &Json) -> Json {
    if value.is_object() { value.clone() } else { json!({}) }
}

fn object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(fields) => fields,
        _ => Map::new(),
    }
}
