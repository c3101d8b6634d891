//! The cost of a map of a repository: the first time, and when nothing has changed since.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant, SystemTime},
};

use interlock_codemap::{Map, Survey, Wish};

use crate::{Result, size};

const FILES: usize = size(5_000, 100);

/// The number of files per directory.
const FOLDER_FILES: usize = 50;

/// Functions per file: about a hundred lines.
const FUNCTIONS: usize = 12;

const ROUNDS: usize = size(5, 1);

const TOKENS: usize = 2_000;

/// Measures a repository of 5,000 files in eight languages whose functions call those of other files.
pub(crate) fn report() -> Result<()> {
    let scratch = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
    let (folder, home) = (scratch.path().join("repository"), scratch.path().join("home"));
    let bytes = fill(&folder)?;
    let (map, cold) = timed(&folder, &home)?;
    if map.files != FILES || map.entries.is_empty() {
        return Err(format!("the map has {} files and {} entries", map.files, map.entries.len()).into());
    }
    let mut warm = Duration::MAX;
    for _ in 0..ROUNDS {
        let (again, took) = timed(&folder, &home)?;
        if again != map {
            return Err("the second map is another one".into());
        }
        warm = warm.min(took);
    }
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    println!(
        "map      {:>8.3} ms for {FILES} files of {:.1} MB, the first time (wanted 3000); {:.0} ms when nothing has changed (wanted 300)",
        ms(cold),
        bytes as f64 / 1e6,
        ms(warm)
    );
    Ok(())
}

fn timed(folder: &Path, home: &Path) -> Result<(Map, Duration)> {
    let begun = Instant::now();
    let survey = Survey::of(folder, Some(home))?;
    let map = survey.rank(&Wish::goal("the ring buffer of part 77 loses what is pushed")).map(TOKENS);
    Ok((map, begun.elapsed()))
}

fn fill(folder: &Path) -> Result<usize> {
    let mut bytes = 0;
    // Old enough for the modification time of a file to be trusted.
    let before = SystemTime::now() - Duration::from_secs(3_600);
    for number in 0..FILES {
        let (end, text) = text(number);
        let path = folder.join(format!("folder_{}/part_{number}.{end}", number / FOLDER_FILES));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        bytes += text.len();
        fs::write(&path, text)?;
        fs::File::options().write(true).open(&path)?.set_modified(before)?;
    }
    for arguments in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "-m", "all"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]).args(arguments).current_dir(folder);
        git.status()?.success().then_some(()).ok_or("`git` failed")?;
    }
    Ok(bytes)
}

fn text(number: usize) -> (&'static str, String) {
    let form = &FORMS[number % FORMS.len()];
    let mut text = String::new();
    for at in 0..FUNCTIONS {
        // A few functions are called by many others, most by few.
        let other = (number * 31 + at * 7) % if at == 0 { 50 } else { FILES };
        let function = form.function.replace("NAME", &format!("part_{number}_push_{at}"));
        let _ = writeln!(text, "{}", function.replace("OTHER", &format!("part_{other}_push_{}", at / 2)));
    }
    (form.end, form.file.replace("BODY", &text).replace("PART", &format!("Part{number}")))
}

/// The templates of a language: a file, and a function in it.
struct Form {
    end: &'static str,
    file: &'static str,
    function: &'static str,
}

const C: &str = "/* Moves what is waiting. */\nint NAME(struct buffer *ring, int value)\n{\n    int total = 0;\n    for (int i = 0; i < value; i++) {\n        total += ring->data[i] * OTHER(ring, i);\n    }\n    return total;\n}\n";
const SCRIPT: &str = "/** Moves what is waiting. */\nexport function NAME(ring, value) {\n  let total = 0;\n  for (let i = 0; i < value; i++) {\n    total += ring.data[i] * OTHER(ring, i);\n  }\n  return total;\n}\n";
const JAVA: &str = "  /** Moves what is waiting. */\n  int NAME(Buffer ring, int value) {\n    int total = 0;\n    for (int i = 0; i < value; i++) {\n      total += ring.data[i] * OTHER(ring, i);\n    }\n    return total;\n  }\n";

const FORMS: [Form; 8] = [
    Form { end: "c", file: "#include \"buffer.h\"\n\nBODY", function: C },
    Form { end: "cpp", file: "#include \"buffer.h\"\nnamespace parts {\nBODY}\n", function: C },
    Form {
        end: "rs",
        file: "use crate::buffer::Buffer;\n\nBODY",
        function: "/// Moves what is waiting.\npub fn NAME(ring: &Buffer, value: usize) -> usize {\n    let mut total = 0;\n    for i in 0..value {\n        total += ring.data[i] * OTHER(ring, i);\n    }\n    total\n}\n",
    },
    Form {
        end: "py",
        file: "from buffer import Buffer\n\nBODY",
        function: "def NAME(ring, value):\n    \"\"\"Moves what is waiting.\"\"\"\n    total = 0\n    for i in range(value):\n        total += ring.data[i] * OTHER(ring, i)\n    return total\n\n",
    },
    Form { end: "js", file: "import { Buffer } from './buffer.js';\n\nBODY", function: SCRIPT },
    Form { end: "ts", file: "import { Buffer } from './buffer';\n\nBODY", function: SCRIPT },
    Form {
        end: "go",
        file: "package parts\n\nBODY",
        function: "// Moves what is waiting.\nfunc NAME(ring *Buffer, value int) int {\n\ttotal := 0\n\tfor i := 0; i < value; i++ {\n\t\ttotal += ring.data[i] * OTHER(ring, i)\n\t}\n\treturn total\n}\n",
    },
    Form { end: "java", file: "package parts;\n\nclass PART {\nBODY}\n", function: JAVA },
];
