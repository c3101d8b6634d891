use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{Error, Git, program::Program, wait, walls, walls::Walls};

fn sh(folder: &Path, script: &str) {
    let done = Command::new("sh").arg("-ec").arg(script).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with one file, and the path of a file that no call may make.
fn scene() -> (TempDir, PathBuf, PathBuf) {
    let top = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(top.path()).unwrap();
    sh(
        &root,
        "git init -q -b main r; cd r; echo 1 > f; git add f; git -c user.name=a -c user.email=a@b commit -qm one",
    );
    let (folder, mark) = (root.join("r"), root.join("mark"));
    (top, folder, mark)
}

fn discover(folder: &Path) -> Git {
    Git::discover(folder)
}

#[test]
fn a_program_cannot_be_started_even_if_no_setting_turns_it_off() {
    let (_top, folder, mark) = scene();
    // These settings come last, so they override those of this crate.
    let evil = format!("touch {}", mark.display());
    let git =
        discover(&folder).setting(&format!("alias.evil=!{evil}")).setting(&format!("core.fsmonitor={evil}; true"));
    let Err(Error::Failed { said, .. }) = git.run(&["evil"]) else { unreachable!() };
    assert!(said.contains("fork"), "{said}");
    let _ = git.run(&["status"]);
    // A helper may be started, but nothing else may be executed.
    let _ = git.helped().run(&["evil"]);
    assert!(!mark.exists());
    sh(&folder, &format!("git -c alias.evil='!{evil}' evil"));
    assert!(mark.exists());
}

#[test]
fn a_call_changes_only_the_places_that_it_names() {
    let (top, folder, _) = scene();
    let head = discover(&folder).line(&["rev-parse", "HEAD"]).unwrap();
    let branch = ["update-ref", "refs/heads/new", &head];
    assert!(discover(&folder).run(&branch).is_err(), "reading is all that is allowed");
    let own = folder.join(".git");
    let git: Git = Git::of(&folder, &own, &own);
    git.run(&branch).unwrap();
    // A reference, the index and a whole directory that lead elsewhere.
    let precious = top.path().join("precious");
    fs::write(&precious, "precious\n").unwrap();
    sh(
        &own,
        &format!(
            "ln -sf {0} index; ln -s {1} objects/zz; rm -r refs/tags; ln -s {1} refs/tags",
            precious.display(),
            top.path().display()
        ),
    );
    for words in [&["read-tree", "HEAD"][..], &["update-ref", "refs/tags/t", &head]] {
        let _ = git.run(words);
    }
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious\n");
    assert!(!top.path().join("t").exists());
}

#[test]
fn a_call_that_stores_files_reads_no_other_place_of_people() {
    let (top, folder, _) = scene();
    fs::write(top.path().join("secret"), "theirs\n").unwrap();
    sh(&folder, "ln -s .. up");
    let store = |git: Git, path: &str| git.run(&["hash-object", path]);
    let narrow = || discover(&folder).reading_only([]);
    assert!(store(discover(&folder), "up/secret").is_ok(), "usually a call reads what the user can read");
    let Err(Error::Failed { said, .. }) = store(narrow(), "up/secret") else { unreachable!() };
    assert!(said.contains("Permission denied"), "{said}");
    // Every directory of the root in which no programs are is a place of people.
    let elsewhere = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let file = elsewhere.path().join("secret");
    fs::write(&file, "theirs\n").unwrap();
    assert!(store(discover(&folder), file.to_str().unwrap()).is_ok());
    assert!(store(narrow(), file.to_str().unwrap()).is_err());
    store(narrow(), "f").unwrap();
    store(discover(&folder).reading_only([top.path().to_owned()]), "up/secret").unwrap();
}

#[test]
fn a_link_in_place_of_the_git_directory_is_refused_by_name() {
    let (top, folder, _) = scene();
    let own = folder.join(".git");
    sh(top.path(), "git init -q other; mv r/.git old; ln -s ../other/.git r/.git");
    let git: Git = Git::of(&folder, &own, &own);
    let Err(Error::Stopped(why)) = git.run(&["rev-parse", "HEAD"]) else { unreachable!() };
    assert_eq!(
        why,
        format!(
            "git was not started: {} is a symbolic link; links are not followed here. Put the directory back and try again",
            own.display()
        )
    );
}

#[test]
fn endless_files_are_not_read() {
    let (_top, folder, _) = scene();
    let began = Instant::now();
    for name in ["packed-refs", "info/exclude", "objects/info/alternates", "HEAD", "config"] {
        let (_top, folder, _) = scene();
        sh(&folder, &format!("ln -sf /dev/zero .git/{name}"));
        let _ = discover(&folder).run(&["status"]);
    }
    let _ = discover(&folder).excluding(Path::new("/dev/zero")).run(&["status"]);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn a_call_that_waits_for_a_pipe_is_ended_and_names_it() {
    let (_top, folder, _) = scene();
    sh(&folder, "mkdir d; mkfifo d/.gitignore; touch d/x");
    let Err(Error::Stopped(why)) = discover(&folder).run(&["status"]) else { unreachable!() };
    let pipe = folder.join("d/.gitignore");
    assert!(why.ends_with(&format!("{} is a named pipe. Remove it and try again", pipe.display())), "{why}");
    assert_eq!(crate::clear(&folder).len(), 1);
    discover(&folder).run(&["status"]).unwrap();
}

/// Only what git could read counts, and not the files that it stores.
#[test]
fn any_number_of_files_hides_no_pipe() {
    let (_top, folder, _) = scene();
    sh(&folder, "seq 21000 | sed s/^/a/ | xargs touch; mkdir -p x/.git/refs x/.git/objects; mkfifo x/.git/HEAD");
    let pipe = folder.join("x/.git/HEAD");
    assert_eq!(crate::clear(&folder), [format!("{} is a named pipe; it was removed", pipe.display())]);
    discover(&folder).run(&["status"]).unwrap();
}

/// Git would read the whole file into memory, in every call.
#[test]
fn control_files_that_are_too_long_are_put_away() {
    let (_top, folder, _) = scene();
    let names = [".gitignore", "d/.gitattributes", ".mailmap", ".git/info/exclude", ".git/config"];
    sh(&folder, "mkdir d; truncate -s 3G large .git/objects/large .github");
    for name in names {
        sh(&folder, &format!("truncate -s 3G {name}"));
    }
    let said = crate::clear(&folder);
    assert_eq!(said.len(), names.len(), "{said:#?}");
    assert!(said.iter().all(|said| said.contains("is larger than 4 MiB")), "{said:#?}");
    assert!(names.iter().all(|name| !folder.join(name).exists()));
    assert!(["large", ".github", ".interlock-aside-odd-0"].iter().all(|name| folder.join(name).exists()));
}

/// A program took the permissions of the user's files away. A thread of its own is an ordinary user.
#[test]
fn what_the_user_owns_can_be_read_again() {
    let (top, folder, _) = scene();
    sh(&folder, "mkdir -p d/e .git/objects/ab; echo x > .gitignore; chmod 751 d");
    sh(&folder, "chmod 300 d/e; chmod 000 .gitignore .git/objects/ab .git/HEAD; chmod 444 .git; chmod 755 ..");
    let chown = |whose: &str| sh(top.path(), &format!("chown -R {whose} r"));
    if !rustix::process::geteuid().is_root() {
        return assert_eq!(crate::clear(&folder).len(), 5);
    }
    let clear = || {
        let nobody = rustix::process::Uid::from_raw(65_534);
        std::thread::scope(|scope| {
            let clear = || {
                rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
                crate::clear(&folder)
            };
            scope.spawn(clear).join().unwrap()
        })
    };
    assert_eq!(clear(), [] as [&str; 0], "the files of others stay as they are");
    chown("65534");
    assert_eq!(crate::clear(&folder), [] as [&str; 0], "root can read them");
    let said = clear();
    assert_eq!(said.len(), 5, "{said:#?}");
    let first = "could not be read, because its permissions were 444; now they are 744";
    assert!(said.iter().any(|said| said.ends_with(first)), "{said:#?}");
    assert_eq!(clear(), [] as [&str; 0]);
    sh(&folder, "test $(stat -c %a d d/e .gitignore .git/HEAD | tr '\\n' _) = 751_700_400_400_");
}

#[test]
fn a_long_output_and_a_long_input_pass_at_once() {
    let (_top, folder, _) = scene();
    let hash = discover(&folder).line(&["rev-parse", "HEAD:f"]).unwrap();
    let asked = (hash + "\n").repeat(40_000);
    let said = discover(&folder).run_with(&["cat-file", "--batch"], asked.as_bytes()).unwrap();
    assert!(said.len() > 40_000 * 40);
}

#[test]
fn a_program_that_says_nothing_and_works_is_not_idle() {
    let spin = |script: &str| {
        use std::os::unix::process::CommandExt as _;
        let mut shell = Command::new("sh");
        let child = shell.args(["-c", script]).process_group(0).spawn().unwrap();
        wait::wait(child, b"", Duration::from_millis(1_200))
    };
    assert!(spin("i=0; while [ $i -lt 3000000 ]; do i=$((i+1)); done").is_ok());
    assert!(matches!(spin("read x < /dev/null; exec sleep 60"), Err(wait::NotEnded::Idle)));
}

/// One wall is enough: without Landlock git cannot fork, and without the filter it can execute nothing else.
#[test]
fn the_loader_and_the_program_are_all_that_is_executed() {
    let program = Program::find(&[]).unwrap();
    assert!((1..=2).contains(&program.executes.len()), "{:?}", program.executes);
    let walls = Walls { executes: program.executes, helpers: Some("/nonexistent".into()), ..Walls::default() };
    assert!(walls::start(Command::new("/bin/true"), &walls).is_err());
}
