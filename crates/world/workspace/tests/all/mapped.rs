//! Writes through a mapping that was there before a snapshot.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use interlock_workspace::Workspace;
use tempfile::TempDir;

/// Maps a file and writes each line that it reads through the mapping.
const WRITER: &str = "
import mmap, sys
file = open(sys.argv[1], 'r+b')
mapping = mmap.mmap(file.fileno(), 4096)
for line in sys.stdin:
    mapping[0:1] = line[0:1].encode()
    print('done', flush=True)
";

struct Mapping {
    program: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Mapping {
    fn of(path: &Path) -> Self {
        let mut command = Command::new("python3");
        command.arg("-c").arg(WRITER).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = command.spawn().unwrap();
        let (orders, answers) = (program.stdin.take().unwrap(), BufReader::new(program.stdout.take().unwrap()));
        Mapping { program, orders, answers }
    }

    fn write(&mut self, letter: char) {
        writeln!(self.orders, "{letter}").unwrap();
        self.answers.read_line(&mut String::new()).unwrap();
    }

    fn end(mut self) {
        drop(self.orders);
        self.program.wait().unwrap();
    }
}

/// The folder for temporary files, and a file system in memory.
fn places() -> Vec<TempDir> {
    [Some(TempDir::new().unwrap()), TempDir::new_in("/dev/shm").ok()].into_iter().flatten().collect()
}

#[test]
fn writes_through_a_mapping_are_noticed_at_every_snapshot() {
    for place in places() {
        for kept_in_memory in [true, false] {
            let folder = place.path().join(format!("folder-{kept_in_memory}"));
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("file"), [b'0'; 4096]).unwrap();
            fs::write(folder.join("other"), "1").unwrap();
            let workspace = Workspace::new(place.path().join("home"));
            let mut mapping = Mapping::of(&folder.join("file"));
            workspace.take(&folder, "run-1").unwrap();
            for (letter, is_last) in [('a', false), ('b', false), ('c', false), ('d', true)] {
                let before = workspace.take(&folder, "run-1").unwrap();
                if !kept_in_memory {
                    // A new rule needs `git`.
                    fs::write(folder.join(".gitignore"), format!("{letter}\n")).unwrap();
                }
                mapping.write(letter);
                let changes = workspace.changes_since(&folder, "run-1", &before).unwrap();
                let files = changes.map(|changes| changes.files).unwrap_or_default();
                let is_there = files.iter().any(|change| change.path == Path::new("file"));
                assert!(is_there, "{letter} in {} {kept_in_memory}: {files:?}", folder.display());
                if is_last {
                    let before = workspace.take(&folder, "run-1").unwrap();
                    mapping.write('z');
                    mapping.end();
                    let changes = workspace.changes_since(&folder, "run-1", &before).unwrap().unwrap();
                    let undo = workspace.plan_undo(&folder, &[&changes], &|_| true).unwrap();
                    workspace.carry_out(&undo).unwrap();
                    assert_eq!(fs::read(folder.join("file")).unwrap()[0], b'd');
                    break;
                }
            }
        }
    }
}
