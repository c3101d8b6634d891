//! The cache between two maps.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use crate::{Folder, only_file};

/// Creates files that are old enough for their times to be trusted.
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
fn the_second_map_is_equal_and_reads_no_file() {
    let folder = settled(&FILES);
    let cold = folder.survey();
    let warm = folder.survey();
    assert_eq!((cold.looked_into(), warm.looked_into()), (2, 0));
    let map = |survey: &interlock_codemap::Survey| survey.rank(&Default::default()).map(500);
    assert_eq!(map(&cold), map(&warm));
}

#[test]
fn changed_files_are_read_again_and_renamed_files_are_not() {
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
fn a_damaged_cache_changes_only_the_time() {
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
fn concurrent_maps_do_not_interfere() {
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
fn an_unwritable_cache_is_ignored() {
    let folder = settled(&FILES);
    fs::write(folder.home(), "not a directory").unwrap();
    assert_eq!(folder.map("").files, 2);
}
