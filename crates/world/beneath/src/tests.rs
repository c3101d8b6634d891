//! What a confined program can prepare, and what becomes of it.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use rustix::fs::{CWD, FileType, Mode, RenameFlags};

use crate::{Error, Folder, read, read_text, whole};

fn said(folder: &Path, path: &str) -> String {
    let said = match read(folder, Path::new(path), 10) {
        Ok(content) => format!("{content:?}"),
        Err(error) => error.to_string(),
    };
    said.replace(&*folder.to_string_lossy(), "F")
}

#[test]
fn only_regular_files_within_the_folder_are_read() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let here = folder.path();
    fs::create_dir(here.join("in")).unwrap();
    fs::write(here.join("in/file"), "ab").unwrap();
    fs::write(here.join("in/long"), "12345678901").unwrap();
    fs::write(elsewhere.path().join("file"), "secret").unwrap();
    symlink(elsewhere.path(), here.join("out")).unwrap();
    symlink(elsewhere.path().join("file"), here.join("in/link")).unwrap();
    symlink("/dev/zero", here.join("zero")).unwrap();
    rustix::fs::mknodat(CWD, here.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(here.join("socket")).unwrap();

    assert_eq!(said(here, "in/file"), "[97, 98]");
    assert_eq!(said(here, "./in/file"), "[97, 98]");
    assert_eq!(said(here, "in/long"), "F/in/long is longer than 10 bytes");
    assert_eq!(said(here, "in/link"), "F/in/link is a symbolic link; links are not followed here");
    assert_eq!(said(here, "out/file"), "F/out is a symbolic link; links are not followed here");
    assert_eq!(said(here, "zero"), "F/zero is a symbolic link; links are not followed here");
    assert_eq!(said(here, "pipe"), "F/pipe is a named pipe, not a regular file");
    assert_eq!(said(here, "socket"), "F/socket is a socket, not a regular file");
    assert_eq!(said(here, "in"), "F/in is a folder, not a regular file");
    assert_eq!(said(here, "../file"), "../file is outside the directory F");
    assert_eq!(said(here, "/dev/zero"), "/dev/zero is outside the directory F");
    assert_eq!(said(here, "none"), "F/none: No such file or directory (os error 2)");
}

#[test]
fn a_directory_is_reached_by_a_link_only_on_request_and_a_missing_text_is_none() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("real")).unwrap();
    fs::write(folder.path().join("real/a"), "text").unwrap();
    fs::write(folder.path().join("real/b"), [0xff]).unwrap();
    symlink("real", folder.path().join("link")).unwrap();
    let link = folder.path().join("link");
    let here = Folder::open_through_links(&link).unwrap();
    assert_eq!(here.read_text(Path::new("a"), 10).unwrap().as_deref(), Some("text"));
    assert_eq!(here.read_text(Path::new("none/none"), 10).unwrap(), None);
    assert!(matches!(here.read_text(Path::new("b"), 10), Err(Error::NotText { .. })));
    fs::create_dir(folder.path().join("real/sub")).unwrap();
    for path in [link.clone(), link.join("sub"), link.join("none")] {
        let error = read_text(&path, Path::new("a"), 10).unwrap_err();
        assert_eq!(error.to_string(), format!("{} is a symbolic link; links are not followed here", link.display()));
    }
}

#[test]
fn a_place_is_opened_only_if_no_part_of_its_path_is_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    fs::create_dir_all(top.join("a/b")).unwrap();
    fs::write(top.join("a/b/file"), "").unwrap();
    symlink("a", top.join("link")).unwrap();
    for path in ["a/b", "a/b/file"] {
        whole::open_place(top.join(path)).unwrap();
    }
    for path in ["link", "link/b", "link/b/file"] {
        assert!(matches!(whole::open_place(top.join(path)), Err(Error::Link { .. })), "{path}");
    }
    whole::open_place("/").unwrap();
}

#[test]
fn a_deep_chain_of_directories_is_listed_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut here = Folder::open(folder.path()).unwrap();
    // Deeper than a path can say.
    for _ in 0..5_000 {
        here.make_folder(Path::new("d")).unwrap();
        here = here.folder(Path::new("d")).unwrap();
    }
    let top = Folder::open(folder.path()).unwrap();
    assert!(matches!(top.list(Path::new(""), 100_000, |_| true), Err(Error::TooDeep { .. })));
    assert_eq!(top.list_some(Path::new(""), 100_000, |_| true).len(), 501);
    assert_eq!(top.list(Path::new(""), 100_000, |entry| entry.path.components().count() < 9).unwrap().len(), 9);
    top.remove_all(Path::new("d")).unwrap();
}

#[test]
fn writing_replaces_a_link_and_leaves_its_target() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let target = elsewhere.path().join("file");
    fs::write(&target, "theirs").unwrap();
    symlink(&target, folder.path().join("file")).unwrap();
    symlink(elsewhere.path(), folder.path().join("out")).unwrap();
    let here = Folder::open(folder.path()).unwrap();
    here.write(Path::new("file"), b"ours").unwrap();
    assert!(matches!(here.write(Path::new("out/file"), b"ours"), Err(Error::Link { .. })));
    assert!(matches!(here.make_folders(Path::new("out/new")), Err(Error::Link { .. })));
    assert_eq!(fs::read_to_string(&target).unwrap(), "theirs");
    assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), "ours");
    assert!(!folder.path().join("file").is_symlink());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}

#[test]
fn a_written_file_keeps_its_permissions() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run.sh"), "a").unwrap();
    fs::set_permissions(folder.path().join("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    Folder::open(folder.path()).unwrap().write(Path::new("run.sh"), b"b").unwrap();
    assert_eq!(fs::metadata(folder.path().join("run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn directories_of_any_depth_and_mode_are_removed_and_links_in_them_are_not_followed() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(elsewhere.path().join("file"), "theirs").unwrap();
    // Deeper than a path may be long.
    let here = Folder::open(folder.path()).unwrap();
    let mut deep = here.folder(Path::new("")).unwrap();
    for _ in 0..1_500 {
        deep.make_folders(Path::new("deep")).unwrap();
        deep = deep.folder(Path::new("deep")).unwrap();
    }
    symlink(elsewhere.path(), folder.path().join("deep/link")).unwrap();
    fs::create_dir(folder.path().join("deep/closed")).unwrap();
    fs::write(folder.path().join("deep/closed/file"), "a").unwrap();
    fs::set_permissions(folder.path().join("deep/closed"), fs::Permissions::from_mode(0o000)).unwrap();
    here.remove_all(Path::new("deep")).unwrap();
    here.remove_all(Path::new("deep")).unwrap();
    assert_eq!(here.names(Path::new("")).unwrap(), Vec::<std::ffi::OsString>::new());
    assert!(elsewhere.path().join("file").exists());
}

#[test]
fn lists_and_copies_follow_no_link() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir_all(folder.path().join("a/b")).unwrap();
    fs::write(folder.path().join("a/b/file"), "text").unwrap();
    symlink("/etc", folder.path().join("a/link")).unwrap();
    let (here, there) = (Folder::open(folder.path()).unwrap(), Folder::open(other.path()).unwrap());
    let paths = |folder: &Folder| {
        let listed = folder.list(Path::new(""), 10, |_| true).unwrap();
        listed.into_iter().map(|entry| entry.path.display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&here), ["a", "a/b", "a/link", "a/b/file"]);
    here.copy_to(&there, (10, 100), |_| true).unwrap();
    assert_eq!(paths(&there), paths(&here));
    assert_eq!(there.read_link(Path::new("a/link")).unwrap(), Path::new("/etc"));
    assert!(matches!(here.list(Path::new(""), 3, |_| true), Err(Error::TooMany { .. })));
}

/// A second program exchanges a directory for a link as fast as it can. Whatever is written and removed meanwhile,
/// nothing changes behind the link.
#[test]
fn a_directory_that_is_exchanged_during_an_access_leads_nowhere() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let theirs = elsewhere.path().join("file");
    fs::write(&theirs, "theirs").unwrap();
    fs::create_dir(folder.path().join("dir")).unwrap();
    symlink(elsewhere.path(), folder.path().join("link")).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (dir, link) = (folder.path().join("dir"), folder.path().join("link"));
            while !done.load(Ordering::Relaxed) {
                let _ = rustix::fs::renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE);
            }
        });
        let here = Folder::open(folder.path()).unwrap();
        let file = Path::new("dir/file");
        let (mut written, mut refused) = (0, 0);
        for _ in 0..20_000 {
            match here.write(file, b"ours") {
                Ok(()) => written += 1,
                Err(_) => refused += 1,
            }
            let _ = here.remove_file(file);
            let _ = here.set_mode(file, Mode::from_raw_mode(0o700));
            if written > 200 && refused > 200 {
                break;
            }
        }
        for _ in 0..500 {
            let _ = here.make_folders(Path::new("dir/sub/sub"));
            let _ = here.remove_all(Path::new("dir/sub"));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}
