//! Repeated failures open the circuit breaker: the run stops, reports the reason, and leaves the sources unchanged.

use std::fs;

use super::{
    bench::{Bench, FIRMWARE},
    scene::{Scene, git, is_missing, parts_are_missing, patch, sample},
};

/// A header in which no template finds anything to change, so that they do not repair the firmware in between.
const HEADER: &str = "parser/src/crc16.h";
const LINE: &str = "#include <stdint.h>";
const ONLY_HEADER: (&str, &str) = ("allowed_paths: [\"src/**\"]", "allowed_paths: [\"src/crc16.h\"]");

fn changed(line: &str) -> String {
    patch(&sample(HEADER), HEADER, LINE, &format!("{LINE}\n{line}"))
}

/// Returns a patch that does not build, different for each number.
fn broken(number: usize) -> String {
    changed(&format!("extern unknown_{number} nothing;"))
}

/// Returns a patch that builds and improves nothing, different for each number.
fn harmless(number: usize) -> String {
    changed(&format!("#define CRC16_UNUSED {number}"))
}

#[test]
fn more_than_five_rollbacks_open_the_breaker() {
    if parts_are_missing() {
        return;
    }
    // Broken builds are rolled back, and so are rounds without progress. Three of either in a row would end the run for
    // another reason.
    let patches = [broken(1), broken(2), harmless(1), broken(3), broken(4), broken(5)];
    let scene = Scene::with_patches(&patches);
    scene.task("max_iterations: 5", "max_iterations: 50").task(ONLY_HEADER.0, ONLY_HEADER.1);
    let ran = scene.run();
    let trace = scene.trace();
    assert_eq!(ran.code, Some(1), "{ran}\n{trace}");
    assert!(trace.contains("breaker open: more than 5 rollbacks"), "{trace}");
    assert!(trace.contains("roll back, the templates write the next patch"), "they had their turn before: {trace}");
    assert_eq!(scene.story()["final_status"], "FAILURE");
    scene.is_untouched();
    assert_eq!(scene.session.run("verify r").unwrap().code, Some(0));
}

#[test]
fn patches_whose_risks_sum_up_open_the_breaker() {
    if parts_are_missing() {
        return;
    }
    let patches = [broken(1), broken(2), harmless(1), broken(3), broken(4), harmless(2)];
    let scene = Scene::with_patches(&patches);
    // A cautious project: every line counts as much as four hundred do elsewhere, but no patch is refused because of that.
    fs::create_dir_all(scene.root().join(".interlock")).unwrap();
    let table = "version = 1\n[weights]\nsize = 0.6\n[full]\nlines = 3\n";
    fs::write(scene.root().join(".interlock/risk.toml"), table).unwrap();
    git(&scene.root(), &["add", "--all"]);
    scene.task("max_iterations: 5", "max_iterations: 50").task(ONLY_HEADER.0, ONLY_HEADER.1);
    let ran = scene.run();
    let trace = scene.trace();
    assert_eq!(ran.code, Some(1), "{ran}\n{trace}");
    assert!(trace.contains("breaker open: summed patch risk"), "{trace}");
    scene.is_untouched();
}

/// The number of wrong values in a firmware that needs one round per value.
const VALUES: usize = 9;

/// Returns a firmware in which the first `values` values are right.
fn with_right(values: usize) -> String {
    let value = |at: usize| format!("V{at}={}\n", if at < values { 2 } else { 1 });
    let check = |at: usize| format!("check case{at} \"$V{at}\"\n");
    let (values, checks): (String, String) = ((0..VALUES).map(value).collect(), (0..VALUES).map(check).collect());
    let text = FIRMWARE.replace("A=1\nB=1\n", &values).replace("check one \"$A\"\ncheck two \"$B\"\n", &checks);
    text.replace("2 Tests", &format!("{VALUES} Tests"))
}

#[test]
fn more_than_twenty_recoveries_open_the_breaker() {
    if is_missing(&["python3", "git"]) {
        return;
    }
    // Every round makes one more case pass, so that no other limit ends the run. In every round the board answers only
    // the fourth request.
    let one_more = |round: usize| patch(&with_right(round), "fw.sh", &format!("V{round}=1"), &format!("V{round}=2"));
    let patches: Vec<String> = (0..VALUES).map(one_more).collect();
    let bench = Bench::with_board("nothing", &patches);
    fs::write(bench.root().join("fw.sh"), with_right(0)).unwrap();
    bench.commit();
    let board = bench.folder.path().join("board.sh");
    let program = fs::read_to_string(&board).unwrap();
    let silent = "[ $operation = health_check ] && [ $(($(grep -c '^health_check$' LOG) % 4)) != 0 ] && exit 1\nprintf";
    let log = bench.folder.path().join("board/told.log");
    fs::write(
        &board,
        program.replace(
            "printf %s \"$asked\" | python3",
            &format!("{} %s \"$asked\" | python3", silent.replace("LOG", &log.display().to_string())),
        ),
    )
    .unwrap();
    let ran = bench.run();
    let trace = bench.trace();
    assert_eq!(ran.code, Some(1), "{ran}\n{trace}");
    assert!(trace.contains("breaker open: more than 20 recoveries"), "{trace}");
    assert_eq!(bench.told().iter().filter(|told| *told == "reset").count(), 20, "{trace}");
    assert_eq!(bench.story()["final_status"], "FAILURE");
    bench.is_untouched();
    assert_eq!(bench.session.run("verify r").unwrap().code, Some(0));
}
