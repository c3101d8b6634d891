//! What is remembered between two maps.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use crate::{Folder, only_file};

/// Files that were last changed long enough ago for their time to be believed.
fn settled(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(files);
    files.iter().for_each(|(path, _)| settle(&folder, path));
    folder
}

fn settle(folder: &Folder, path: &str) {
    let file = fs::File::options().write(true).open(folder.root().join(path)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
}

const FILES: [(&str, &str); 2] =
    [("a.c", "int one(void) { return two(); }\n"), ("b.c", "int two(void) { return 2; }\n")];

#[test]
fn the_second_map_reads_no_file_and_says_the_same() {
    let folder = settled(&FILES);
    let cold = folder.survey();
    let warm = folder.survey();
    assert_eq!((cold.looked_into(), warm.looked_into()), (2, 0));
    let map = |survey: &interlock_map::Survey| survey.rank(&Default::default()).map(500);
    assert_eq!(map(&cold), map(&warm));
}

#[test]
fn what_has_changed_is_read_again_and_what_was_renamed_is_known() {
    let folder = settled(&FILES);
    folder.survey();
    folder.write("a.c", b"int changed(void) { return 1; }\n");
    fs::rename(folder.root().join("b.c"), folder.root().join("c.c")).unwrap();
    let survey = folder.survey();
    assert_eq!(survey.looked_into(), 2);
    let text = survey.rank(&Default::default()).map(500).to_text();
    assert!(text.contains("int changed(void)") && text.contains("c.c\n") && !text.contains("one"), "{text}");
}

#[test]
fn a_cache_that_is_damaged_cut_or_no_file_changes_nothing_but_time() {
    let folder = settled(&FILES);
    let expected = folder.map("");
    let cache = only_file(&folder.home().join("maps"));
    let whole = fs::read(&cache).unwrap();
    for damaged in [&b""[..], b"interlock map 1\n", &whole[..whole.len() / 2], &[0xff; 100]] {
        fs::write(&cache, damaged).unwrap();
        let survey = folder.survey();
        assert_eq!(survey.looked_into(), 2);
        assert_eq!(survey.rank(&Default::default()).map(1_000), expected);
        assert_eq!(fs::read(&cache).unwrap().len(), whole.len(), "it is written anew");
    }
    fs::remove_file(&cache).unwrap();
    fs::create_dir(&cache).unwrap();
    assert_eq!(folder.map(""), expected);
}

#[test]
fn maps_that_are_made_at_the_same_time_do_not_disturb_each_other() {
    let folder = settled(&FILES);
    let expected = folder.map("");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(folder.map(""), expected));
        }
    });
    only_file(&folder.home().join("maps"));
}

#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    let folder = settled(&FILES);
    fs::write(folder.home(), "no folder").unwrap();
    assert_eq!(folder.map("").files, 2);
}
