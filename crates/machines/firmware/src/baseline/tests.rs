//! The baseline in a scripted environment: passing, failing, flaky and broken ones.

use interlock_testbench::{Environment, Session};
use interlock_testkit_activity::{Recorder, attempt};
use tempfile::TempDir;

use super::*;
use crate::scripted::Scripted;

const GOOD: &str = "1..2\nok 1 - parses\nok 2 - wraps\n";
const BAD: &str = "1..2\nok 1 - parses\nnot ok 2 - wraps\n";

struct Scene {
    home: TempDir,
    place: Arc<Scripted>,
    with: With,
}

impl Scene {
    fn of(place: Scripted) -> Self {
        let profile = json!({ "env_type": "local", "format": "tap", "cases": ["parses", "wraps"], "config": {} });
        let with = serde_json::from_value(json!({ "tree": "", "test_profile": profile })).unwrap();
        Scene { home: tempfile::tempdir().unwrap(), place: Arc::new(place), with }
    }

    async fn test(&self) -> Result<Tested, Trouble> {
        let path = self.home.path();
        let settings = Arc::new(Settings { home: Some(path.to_owned()), ..Settings::default() });
        let (attempt, _canceller) = attempt(path, path, Arc::new(Recorder::default()));
        let session = Session::create(path.join("session"), "s", path, self.with.test_profile.clone()).unwrap();
        let open = Open { session, environment: Arc::clone(&self.place) as Arc<dyn Environment> };
        let tested = tested(&settings, &attempt, &self.with, open, "").await;
        crate::area::remove(&settings, &attempt.run);
        tested.unwrap_or_else(|outcome| panic!("{outcome:?}"))
    }

    /// Returns the baseline of a tree that builds.
    async fn baseline(&self) -> Baseline {
        let image = Ok("image".to_owned());
        let mut baseline = Baseline { image, tested: None, evidence: Vec::new(), programs: Duration::ZERO };
        baseline.add(self.test().await.unwrap());
        baseline
    }
}

#[tokio::test]
async fn passing_tree_runs_once() {
    let scene = Scene::of(Scripted::printing(&[GOOD]));
    let baseline = scene.baseline().await;
    assert!(baseline.is_passing() && !baseline.is_only_flaky());
    assert_eq!(baseline.summary(&[], ""), "2 of 2 cases pass on the untouched tree");
    assert_eq!((scene.place.starts(), scene.place.done()), (1, vec!["deploy".into(), "run".into(), "teardown".into()]));
}

#[tokio::test]
async fn failing_case_is_confirmed_by_controls() {
    let scene = Scene::of(Scripted::printing(&[BAD]));
    let baseline = scene.baseline().await;
    assert!(!baseline.is_passing() && !baseline.is_only_flaky());
    assert_eq!(baseline.counts(), (1, 2));
    assert!(scene.place.starts() > 3, "{} starts", scene.place.starts());
    assert!(baseline.measured().unwrap().flaky.is_empty());
}

#[tokio::test]
async fn case_that_passes_in_a_control_is_flaky() {
    let scene = Scene::of(Scripted::printing(&[BAD, BAD, BAD, GOOD, BAD, GOOD]));
    let baseline = scene.baseline().await;
    assert!(baseline.is_only_flaky());
    assert_eq!(baseline.measured().unwrap().flaky[0].case_id, "wraps");
    assert!(baseline.summary(&[], "").contains("runs of the same tree"), "{}", baseline.summary(&[], ""));
}

#[tokio::test]
async fn failing_environment_is_no_test_failure() {
    let scene = Scene::of(Scripted::printing(&[GOOD]).failing("deploy", "no power"));
    let trouble = scene.test().await.err().unwrap();
    assert!(matches!(&trouble, Trouble::Environment(why) if why == "no power"), "{trouble}");
    assert_eq!(scene.place.starts(), 0);
}

#[tokio::test]
async fn requested_reset_is_a_restart_before_the_deployment() {
    let mut scene = Scene::of(Scripted::printing(&[GOOD]));
    scene.with.reset = true;
    scene.test().await.unwrap();
    assert_eq!(scene.place.done()[..2], ["restart", "deploy"]);
}

#[tokio::test]
async fn misspelled_case_is_a_mistake_of_the_task() {
    let mut scene = Scene::of(Scripted::printing(&[GOOD]));
    scene.with.test_profile.cases = vec!["parses".into(), "wrap".into()];
    let baseline = scene.baseline().await;
    let slips = baseline.slips(&scene.with.test_profile.cases);
    assert_eq!(slips.len(), 1);
    assert!(slips[0].contains("did you mean `wraps`?"), "{slips:?}");
}
