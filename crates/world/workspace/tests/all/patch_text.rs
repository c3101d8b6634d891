//! Plans of patches, computed without a disk.

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf};

use expect_test::{Expect, expect};
use interlock_workspace::patch::{Kind, Node, Patch, plan};

type Files = BTreeMap<PathBuf, Node>;

fn files(files: &[(&str, &str)]) -> Files {
    let node = |content: &str| Node { kind: Kind::File, content: content.into() };
    files.iter().map(|(path, content)| (path.into(), node(content))).collect()
}

/// Plans a patch on the files and compares the new content or the problems with the expected text.
#[track_caller]
fn check(before: &[(&str, &str)], patch: &str, expected: Expect) {
    let outcome = match Patch::parse(patch.as_bytes()) {
        Ok(patch) => match plan(&patch, &files(before)) {
            Ok(plan) => plan.changes.iter().fold(String::new(), |mut text, change| {
                let after = match &change.after {
                    Some(node) => format!("{:?} {:?}", node.kind, String::from_utf8_lossy(&node.content)),
                    None => "gone".to_owned(),
                };
                let _ = writeln!(text, "{}: {after}", change.path.display());
                text
            }),
            Err(problems) => problems.iter().map(|problem| format!("{problem}\n")).collect(),
        },
        Err(problem) => format!("{problem}\n"),
    };
    expected.assert_eq(&outcome);
}

const NUMBERS: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[test]
fn a_hunk_is_applied_at_its_stated_line() {
    check(
        &[("a", NUMBERS)],
        "--- a/a\n+++ b/a\n@@ -2,3 +2,4 @@\n 2\n-3\n+three\n+and a half\n 4\n",
        expect![[r#"
            a: File "1\n2\nthree\nand a half\n4\n5\n6\n7\n8\n9\n"
        "#]],
    );
}

#[test]
fn text_around_a_patch_is_skipped() {
    check(
        &[("a", "x\n")],
        "Here it is:\n```diff\n--- a\t2026-01-01\n+++ a\t2026-01-02\n@@ -1 +1 @@ fn main\n-x\n+y\n```\nDone.\n-- \n2.47\n",
        expect![[r#"
            a: File "y\n"
        "#]],
    );
}

#[test]
fn moved_context_is_found_nearest_first() {
    let moved = format!("new\nnew\n{NUMBERS}4\n5\n");
    check(
        &[("a", &moved)],
        "--- a/a\n+++ b/a\n@@ -3,3 +3,3 @@\n 3\n-4\n+four\n 5\n@@ -7,2 +7,2 @@\n 7\n-8\n+eight\n",
        expect![[r#"
            a: File "new\nnew\n1\n2\n3\nfour\n5\n6\n7\neight\n9\n4\n5\n"
        "#]],
    );
}

#[test]
fn trailing_white_space_is_ignored_and_stays() {
    check(
        &[("a", "one  \ntwo\t\nthree\n")],
        "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three   \n",
        expect![[r#"
            a: File "one  \nzwei\nthree\n"
        "#]],
    );
}

#[test]
fn a_file_keeps_its_line_endings() {
    let patch = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n";
    check(
        &[("a", "one\r\ntwo\r\nthree\r\n")],
        patch,
        expect![[r#"
            a: File "one\r\nzwei\r\nthree\r\n"
        "#]],
    );
    check(
        &[("a", "one\ntwo\nthree\n")],
        &patch.replace('\n', "\r\n"),
        expect![[r#"
            a: File "one\nzwei\nthree\n"
        "#]],
    );
    check(
        &[("a", "one\r\ntwo\r\n")],
        "*** Begin Patch\n*** Update File: a\n@@\n one\n+and a half\n*** End Patch\n",
        expect![[r#"
            a: File "one\r\nand a half\r\ntwo\r\n"
        "#]],
    );
}

#[test]
fn the_last_line_feed_may_be_missing_on_either_side() {
    check(
        &[("a", "x\ny")],
        "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+z\n",
        expect![[r#"
            a: File "x\nz\n"
        "#]],
    );
    check(
        &[("a", "x\ny\n")],
        "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n\\ No newline at end of file\n",
        expect![[r#"
            a: File "x\nz"
        "#]],
    );
}

#[test]
fn git_headers_create_delete_rename_copy_and_change_modes() {
    check(
        &[("gone", "x\n"), ("old name", "1\n2\n"), ("mode", "m\n"), ("copied", "c\n")],
        "diff --git a/new b/new\nnew file mode 100755\nindex 0000000..0000001\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n\
         diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n\
         diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
         diff --git a/old name b/new name\nsimilarity index 50%\nrename from old name\nrename to new name\n--- a/old name\t\n+++ b/new name\t\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n\
         diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n\
         diff --git a/copied b/copy\nsimilarity index 100%\ncopy from copied\ncopy to copy\n\
         diff --git \"a/\\303\\274 \\\"q\\\"\" \"b/\\303\\274 \\\"q\\\"\"\nnew file mode 120000\n--- /dev/null\n+++ \"b/\\303\\274 \\\"q\\\"\"\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n",
        expect![[r#"
            copy: File "c\n"
            empty: File ""
            gone: gone
            mode: Executable "m\n"
            new: Executable "n\n"
            new name: File "1\ntwo\n"
            old name: gone
            ü "q": Link "new"
        "#]],
    );
}

#[test]
fn hunks_without_line_numbers_are_located_by_text() {
    check(
        &[
            ("a.py", "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n"),
            ("gone", "x\n"),
            ("old", "o\n"),
        ],
        "*** Begin Patch\n*** Update File: a.py\n@@ class B:\n@@ def f(self):\n-        return 1\n+        return 2\n*** End of File\n\
         *** Add File: dir/new\n+first\n+\n+third\n*** Delete File: gone\n*** Update File: old\n*** Move to: moved\n@@\n-o\n+O\n*** End Patch\n",
        expect![[r#"
            a.py: File "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 2\n"
            dir/new: File "first\n\nthird\n"
            gone: gone
            moved: File "O\n"
            old: gone
        "#]],
    );
}

#[test]
fn lines_are_added_after_their_anchor_or_at_the_end() {
    check(
        &[("a", "use x;\n\nfn main() {\n}")],
        "*** Begin Patch\n*** Update File: a\n@@ use x;\n+use y;\n@@\n+// the end\n*** End Patch",
        expect![[r#"
            a: File "use x;\nuse y;\n\nfn main() {\n}\n// the end\n"
        "#]],
    );
}

#[test]
fn a_hunk_that_fits_nowhere_is_reported_with_the_nearest_text() {
    check(
        &[("src/a.c", "int f(void)\n{\n\tint x = 1;\n\treturn y;\n}\n"), ("b", "one\n")],
        "--- a/src/a.c\n+++ b/src/a.c\n@@ -1,4 +1,4 @@\n int f(void)\n {\n \tint x = 2;\n-\treturn y;\n+\treturn x;\n\
         --- a/b\n+++ b/b\n@@ -1 +1 @@\n-zwei\n+drei\n",
        expect![[r#"
            src/a.c: hunk 1 (line 3 of the patch) matches nowhere; the nearest text is at line 1:
                     1 | int f(void)
                     2 | {
              expected | 	int x = 2;
                     3 | 	int x = 1;
                     4 | 	return y;

            b: hunk 1 (line 11 of the patch) matches nowhere, and none of its lines is in the file
        "#]],
    );
}

#[test]
fn an_applied_hunk_and_a_missing_anchor_are_reported() {
    check(
        &[("a", "1\ntwo\n3\n")],
        "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n",
        expect![[r#"
            a: hunk 1 (line 3 of the patch) seems to be already applied; the nearest text is at line 1:
                     1 | 1
                     2 | two
                     3 | 3

        "#]],
    );
    check(
        &[("a", "x\n")],
        "*** Begin Patch\n*** Update File: a\n@@ fn gone()\n-x\n+y\n*** End Patch\n",
        expect![[r#"
            a: hunk 1 (line 3 of the patch) follows a line that does not exist: `fn gone()`
        "#]],
    );
}

#[test]
fn two_files_can_swap_their_names() {
    check(
        &[("a", "A\n"), ("b", "B\n")],
        "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\ndiff --git a/b b/a\nsimilarity index 100%\nrename from b\nrename to a\n",
        expect![[r#"
            a: File "B\n"
            b: File "A\n"
        "#]],
    );
}

#[test]
fn two_patches_of_one_file_are_applied_in_order() {
    check(
        &[("a", "1\n2\n")],
        "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-2\n+two\n",
        expect![[r#"
            a: File "one\ntwo\n"
        "#]],
    );
}

#[test]
fn all_missing_and_existing_files_are_reported() {
    check(
        &[("there", "x\n"), ("more", "1\n2\n")],
        "*** Begin Patch\n*** Add File: there\n+y\n*** Update File: nowhere\n@@\n-a\n+b\n*** Delete File: lost\n*** End Patch\n",
        expect![[r#"
            there: it already exists
            nowhere: there is no such file
            lost: there is no such file
        "#]],
    );
    check(
        &[("more", "1\n2\n")],
        "diff --git a/more b/more\ndeleted file mode 100644\n--- a/more\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n",
        expect![[r#"
            more: the patch deletes it, but does not remove all of its lines
        "#]],
    );
    check(
        &[],
        "*** Begin Patch\n*** Add File: a\n+x\n*** Add File: a/b\n+y\n*** End Patch\n",
        expect![[r#"
            a: it would be both a file and a directory
        "#]],
    );
}

#[test]
fn paths_outside_the_workspace_are_rejected() {
    for path in ["/etc/passwd", "../x", "a/../../x", ".git/config", "sub/.GIT/hooks/x", ""] {
        for patch in [
            format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n"),
            format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"),
            format!("diff --git a/x b/y\nrename from x\nrename to {path}\n"),
        ] {
            let refused = Patch::parse(patch.as_bytes()).unwrap_err().to_string();
            assert!(refused.contains("is refused") || path.is_empty(), "{patch}: {refused}");
        }
    }
    check(
        &[],
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../outside\n\\ No newline at end of file\n",
        expect![[r#"
            l: it would be a link that leads out of the workspace, to ../outside
        "#]],
    );
}

#[test]
fn syntax_errors_name_their_line() {
    let cases = [
        ("no patch at all", expect!["it contains no patch: neither a unified diff nor `*** Begin Patch`"]),
        (
            "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n",
            expect![
                "line 6 of the patch: the hunk has fewer lines than its header says (3 before, 3 after); was it cut off?"
            ],
        ),
        (
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n+3\n",
            expect![
                "line 6 of the patch: the hunk has more lines than its header says (1 before, 1 after); was it cut off?"
            ],
        ),
        (
            "--- a/a\n+++ b/a\n@@ somewhere @@\n-1\n",
            expect!["line 3 of the patch: a hunk begins with `@@ -LINE,COUNT +LINE,COUNT @@`"],
        ),
        ("--- a/a\n+++ b/a\n", expect!["line 3 of the patch: a hunk should follow the names of the file"]),
        (
            "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\n",
            expect![
                "line 3 of the patch: it changes a binary file, but only text can be patched; use a command to write that file"
            ],
        ),
        (
            "diff --git a/x b/x\nBinary files a/x and b/x differ\n",
            expect![
                "line 2 of the patch: it changes a binary file, but only text can be patched; use a command to write that file"
            ],
        ),
        (
            "diff --git a/x b/x\nnew file mode 160000\n",
            expect!["line 2 of the patch: it changes a nested repository, which is not supported"],
        ),
        (
            "diff --cc x\n@@@ -1,1 -1,1 +1,1 @@@\n",
            expect!["line 1 of the patch: a combined diff of a merge cannot be applied"],
        ),
        (
            "*** Begin Patch\n*** Add File: a\n+x\n",
            expect!["line 3 of the patch: the patch ends without `*** End Patch`"],
        ),
        (
            "*** Begin Patch\n*** Add File: a\nx\n*** End Patch\n",
            expect!["line 3 of the patch: every line of a new file begins with `+`"],
        ),
        (
            "*** Begin Patch\n*** Update File: a\n*** End Patch\n",
            expect!["line 3 of the patch: the update of the file contains no change"],
        ),
        (
            "*** Begin Patch\nhello\n*** End Patch\n",
            expect![
                "line 2 of the patch: `*** Add File: `, `*** Update File: ` or `*** Delete File: ` and a path should be here"
            ],
        ),
    ];
    for (patch, expected) in cases {
        expected.assert_eq(&Patch::parse(patch.as_bytes()).unwrap_err().to_string());
    }
}

#[test]
fn no_input_makes_the_parser_panic() {
    let mut chance = crate::chance::Chance(7);
    let pieces: [&[u8]; 20] = [
        b"diff --git ",
        b"\"a/\\30",
        b"a/x b/x",
        b"--- ",
        b"+++ ",
        b"@@ -1,2 +1 @@",
        b"@@ -0,0 +4294967295,1 @@",
        b"@@",
        b"\n",
        b"\n",
        b" x",
        b"-x",
        b"+y",
        b"\\ No",
        b"*** Begin Patch\n",
        b"*** End Patch\n",
        b"*** Update File: a\n",
        b"*** End of File\n",
        b"\xff\0\r",
        b"rename from ",
    ];
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..chance.below(30)).flat_map(|_| chance.pick(&pieces).to_vec()).collect();
        if let Ok(patch) = Patch::parse(&bytes) {
            let _ = plan(&patch, &files(&[("a", "x\ny\n"), ("x", "1\n")]));
        }
    }
}
