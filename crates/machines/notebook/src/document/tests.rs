//! Documents are edited without touching the cells of others.

use super::*;

/// A notebook in a layout that nobody would choose, with content that no library reads.
const FOREIGN: &str = "{\"nbformat\":4,\r\n\t\"nbformat_minor\":5, \"metadata\" : {\"x\":NaN},\n\"cells\" :[ {\"id\":\"a\",\"cell_type\":\"markdown\",\n\"metadata\":{},\"source\":\"\\ud800 lone\"}  ,\n   {\"cell_type\":\"code\",\"id\":\"b\",\"source\":[\"1\\n\",\"2\"],\"outputs\":[ ],\"metadata\":{\"z\":1e400},\"execution_count\":null}\t]\n, \"extra\":[1,2]}";

fn code(source: &str) -> Json {
    json!({ "cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": [source] })
}

fn ids(document: &Document) -> Vec<&str> {
    document.cells().iter().map(|cell| &*cell.id).collect()
}

/// Checks that the index fits the text.
fn check(document: &Document) {
    let again = Document::read(document.text().to_owned()).unwrap();
    assert_eq!((&again.cells, &again.list), (&document.cells, &document.list), "{}", document.text());
}

#[test]
fn every_edit_leaves_other_bytes_as_they_are() {
    let mut document = Document::read(FOREIGN.to_owned()).unwrap();
    let own: Vec<_> = document.cells.iter().map(|cell| document.text[cell.range.clone()].to_owned()).collect();
    let (head, tail) = (FOREIGN.split_once('[').unwrap().0, "\t]\n, \"extra\":[1,2]}");
    document.insert(2, "end", code("x"));
    check(&document);
    document.insert(0, "top", code("y"));
    check(&document);
    document.insert(2, "middle", code("z"));
    check(&document);
    assert_eq!(ids(&document), ["top", "a", "middle", "b", "end"]);
    document.replace(2, &json!({ "cell_type": "code", "id": "middle", "source": "longer than before" }));
    check(&document);
    for foreign in &own {
        assert!(document.text().contains(foreign.as_str()), "{}", document.text());
    }
    assert!(document.text().starts_with(head) && document.text().ends_with(tail), "{}", document.text());
    for id in ["middle", "top", "end"] {
        document.remove(document.find(id).unwrap());
        check(&document);
    }
    assert_eq!(document.text(), FOREIGN, "removed cells leave no trace");
}

#[test]
fn a_new_notebook_is_written_as_jupyter_does() {
    let mut document = Document::new(&json!({ "language_info": { "name": "python" } })).unwrap();
    let id = document.free_id(None);
    document.insert(0, &id, json!({ "cell_type": "markdown", "metadata": {}, "source": ["# T"] }));
    let expected = "{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"cell-1\",\n   \"metadata\": {},\n   \"source\": [\n    \"# T\"\n   ]\n  }\n ],\n \"metadata\": {\n  \"language_info\": {\n   \"name\": \"python\"\n  }\n },\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";
    assert_eq!(document.text(), expected);
    document.remove(0);
    check(&document);
    assert!(document.text().contains("\"cells\": [],"), "{}", document.text());
}

#[test]
fn ids_are_unique_and_valid() {
    let mut document = Document::new(&json!({})).unwrap();
    document.insert(0, "cell-2", code("x"));
    assert_eq!(document.free_id(Some("wanted_1")), "wanted_1");
    assert_eq!(document.free_id(Some("cell-2")), "cell-3", "taken");
    assert_eq!(document.free_id(Some("no spaces")), "cell-3");
    assert_eq!(document.free_id(Some("")), "cell-3");
}

#[test]
fn an_older_notebook_gets_no_ids() {
    let text = FOREIGN.replace("\"nbformat_minor\":5", "\"nbformat_minor\":2");
    let mut document = Document::read(text).unwrap();
    document.insert(9, "mine", code("x"));
    let cell = document.cell(2).unwrap();
    assert_eq!((&cell["id"], &cell["metadata"]["interlock"]["id"]), (&Json::Null, &json!("mine")));
    assert_eq!(document.find("mine"), Some(2));
}

#[test]
fn other_files_are_refused_with_the_reason() {
    for (text, why) in [
        ("[]", "it is not a JSON object"),
        ("{}", "it has no `nbformat`, so it is not a notebook"),
        ("{\"nbformat\": 3}", "its format is nbformat 3; convert it with `jupyter nbconvert --to notebook --inplace`"),
        ("{\"nbformat\": 4}", "it has no `cells`"),
        ("{\"nbformat\": 4, \"cells\": {}}", "its `cells` are not a list"),
    ] {
        assert_eq!(Document::read(text.to_owned()).unwrap_err(), why);
    }
}

#[test]
fn the_edit_of_another_program_is_described() {
    let mut before = Document::new(&json!({})).unwrap();
    ["one", "two", "three"].into_iter().for_each(|id| before.insert(9, id, code(id)));
    let mut after = Document::read(before.text().replace("\n", "\n ")).unwrap();
    assert_eq!(before.changes(&after), Changes::default(), "another layout is no change");
    let mut cell = after.cell(1).unwrap();
    cell["source"] = json!("edited");
    after.replace(1, &cell);
    after.remove(2);
    after.insert(0, "new", code("n"));
    let changes = before.changes(&after);
    let expected = "[The notebook was edited outside of this run: changed: two; 1 added; 1 removed. The edit is kept.]";
    assert_eq!(changes.describe(), expected);
}

#[test]
fn a_mark_is_read_as_it_was_written() {
    let mark = Mark {
        run: "r".into(),
        role: Some(Role::Chapter),
        stage_id: "s".into(),
        step_id: "t".into(),
        behavior: 2,
        number: 3,
        added: 4,
        executed: 5,
        extra: Some(json!({ "a": 1 })),
    };
    let mut cell = code("x");
    mark.write(&mut cell);
    let mut document = Document::new(&json!({})).unwrap();
    document.insert(0, "a", cell);
    assert_eq!(document.cells()[0].mark.as_ref(), Some(&mark));
    assert!(document.cells()[0].is("r", Role::Chapter) && !document.cells()[0].is("other", Role::Chapter));
}
