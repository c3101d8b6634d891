//! The outputs of a cell that is over: in the form of nbformat, with the large ones stored as evidence.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use interlock_journal::{Evidence, EvidenceStore};
use serde_json::{Map, Value as Json, json};

use super::{INLINE_BYTES_MAX, Item, Outputs, effect::joined};

/// The picture formats that are saved beside the notebook, with the ends of their file names.
const PICTURES: [(&str, &str); 5] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
];

/// The largest number of pictures of a cell that are saved.
const PICTURES_MAX: usize = 50;

/// The result of a cell.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// The outputs for the document.
    pub(crate) outputs: Vec<Json>,
    /// The large outputs and the pictures.
    pub(crate) evidence: Vec<Evidence>,
    /// The pictures, in the order of the outputs.
    pub(crate) pictures: Vec<Picture>,
    /// The beginning of the names of pictures.
    stem: String,
}

/// A picture that a cell has shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Its file name.
    pub(crate) name: String,
    /// The content of the file.
    pub(crate) content: Vec<u8>,
}

/// Returns the end of the file name for a type of picture.
pub(crate) fn extension(kind: &str) -> Option<&'static str> {
    PICTURES.iter().find(|(known, _)| *known == kind).map(|(_, extension)| *extension)
}

/// Returns the beginning of the file names of a cell. The id of a cell that somebody else wrote can be any text.
fn stem(cell: &str) -> String {
    cell.chars().map(|letter| if letter.is_alphanumeric() || letter == '-' { letter } else { '_' }).collect()
}

impl Outputs {
    /// Stores the large outputs and returns everything in its final form. Pictures are named after the cell. May block.
    pub(crate) fn finish(self, store: &EvidenceStore, cell: &str) -> Result<Finished, String> {
        let Outputs { items, spool, dropped, .. } = self;
        let mut finished = Finished { stem: stem(cell), ..Finished::default() };
        for item in items {
            let output = finished.output(item, store)?;
            finished.outputs.push(output);
        }
        if let Some(spool) = spool {
            let (evidence, text) = spool.finish(store)?;
            finished.evidence.push(evidence);
            finished.outputs.push(json!({ "name": "stdout", "output_type": "stream", "text": lines(&text) }));
        }
        if dropped > 0 {
            let text = format!("[Interlock: {dropped} more outputs are left out.]\n");
            finished.outputs.push(json!({ "name": "stderr", "output_type": "stream", "text": lines(&text) }));
        }
        Ok(finished)
    }
}

impl Finished {
    fn output(&mut self, item: Item, store: &EvidenceStore) -> Result<Json, String> {
        let Item { mut json, text, .. } = item;
        if let Some(text) = text {
            json.insert("text".to_owned(), lines(&text));
        }
        if let Some(Json::Object(bundle)) = json.get_mut("data") {
            self.bundle(bundle, store)?;
        }
        Ok(Json::Object(json))
    }

    fn bundle(&mut self, bundle: &mut Map<String, Json>, store: &EvidenceStore) -> Result<(), String> {
        let kinds: Vec<String> = bundle.keys().cloned().collect();
        for kind in kinds {
            let Some(value) = bundle.get_mut(&kind) else { continue };
            if let Some(extension) = extension(&kind).filter(|_| self.pictures.len() < PICTURES_MAX) {
                let content = content(&kind, value);
                let name = format!("{}-{}.{extension}", self.stem, self.pictures.len() + 1);
                self.evidence.push(store.put(&name, &kind, &content).map_err(|error| error.to_string())?);
                self.pictures.push(Picture { name, content });
            }
            let length = value.as_str().map_or_else(|| value.to_string().len(), str::len);
            if length > INLINE_BYTES_MAX {
                let content = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let kept = store.put("output", "text/plain", content.as_bytes()).map_err(|error| error.to_string())?;
                let note = format!("[Interlock: {kind} of {length} bytes is evidence {}.]", kept.hash);
                self.evidence.push(kept);
                bundle.remove(&kind);
                bundle.insert("text/plain".to_owned(), json!(note));
            } else if kind.starts_with("text/") || kind == "image/svg+xml" {
                *value = lines(&joined(value));
            }
        }
        Ok(())
    }
}

/// The bytes of a picture, which is in base64 unless it is text.
fn content(kind: &str, value: &Json) -> Vec<u8> {
    let text = joined(value);
    match kind {
        "image/svg+xml" => text.into_bytes(),
        _ => {
            let packed: String = text.split_whitespace().collect();
            STANDARD.decode(packed).unwrap_or_default()
        }
    }
}

/// Returns a text as nbformat stores it: a list of lines, each with its line break.
pub(crate) fn lines(text: &str) -> Json {
    text.split_inclusive('\n').map(Json::from).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Message;

    fn collected(messages: &[(&str, Json)]) -> (Finished, EvidenceStore, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let store = EvidenceStore::open(folder.path().join("evidence")).unwrap();
        let mut outputs = Outputs::default();
        for (kind, content) in messages {
            outputs.take(Message { kind: (*kind).to_owned(), parent: String::new(), content: content.clone() });
        }
        (outputs.finish(&store, "c/1").unwrap(), store, folder)
    }

    fn print(text: &str) -> (&'static str, Json) {
        ("stream", json!({ "name": "stdout", "text": text }))
    }

    #[test]
    fn parts_of_a_stream_are_one_output() {
        let err = ("stream", json!({ "name": "stderr", "text": "oops" }));
        let (finished, ..) = collected(&[print("a\nb"), print("c\n"), err, print("d")]);
        let expected = json!([
            { "name": "stdout", "output_type": "stream", "text": ["a\n", "bc\n"] },
            { "name": "stderr", "output_type": "stream", "text": ["oops"] },
            { "name": "stdout", "output_type": "stream", "text": ["d"] },
        ]);
        assert_eq!(Json::from(finished.outputs), expected);
    }

    #[test]
    fn text_over_the_bound_is_evidence_and_cut() {
        let line = format!("{}\n", "x".repeat(999));
        let messages: Vec<_> = (0..3_000).map(|_| print(&line)).collect();
        let (finished, store, _folder) = collected(&messages);
        assert_eq!(finished.evidence.len(), 1);
        assert_eq!(store.get(&finished.evidence[0].hash).unwrap().len(), 3_000_000);
        let shown = serde_json::to_string(&finished.outputs).unwrap();
        assert!(shown.len() < 1_300_000, "{}", shown.len());
        assert!(shown.contains("bytes are left out here. The output of 3000000 bytes is evidence"));
    }

    #[test]
    fn a_picture_is_decoded_and_kept() {
        let data = json!({ "data": { "image/png": "aGFs\nbG8=\n", "text/plain": "<Figure>" }, "metadata": {} });
        let (finished, store, _folder) = collected(&[("display_data", data)]);
        assert_eq!(finished.pictures, [Picture { name: "c_1-1.png".into(), content: b"hallo".to_vec() }]);
        assert_eq!(store.get(&finished.evidence[0].hash).unwrap(), b"hallo");
        assert_eq!(finished.outputs[0]["data"]["image/png"], "aGFs\nbG8=\n");
    }

    #[test]
    fn an_output_is_replaced_by_its_id_and_removed_on_request() {
        let shown = |text: &str| json!({ "data": { "text/plain": text }, "transient": { "display_id": "d" } });
        let (finished, ..) = collected(&[("display_data", shown("old")), ("update_display_data", shown("new"))]);
        assert_eq!(finished.outputs[0]["data"]["text/plain"], json!(["new"]));
        let wait = ("clear_output", json!({ "wait": true }));
        let (finished, ..) = collected(&[print("old"), wait.clone(), print("new")]);
        assert_eq!(finished.outputs[0]["text"], json!(["new"]));
        let (finished, ..) = collected(&[print("kept"), wait]);
        assert_eq!(finished.outputs[0]["text"], json!(["kept"]));
    }
}
