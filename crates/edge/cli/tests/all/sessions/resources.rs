//! Resources that only one run at a time may use.

use expect_test::expect;

use super::scene::{check_in, project};

#[test]
fn things_that_one_run_at_a_time_may_use_are_listed_with_who_has_them_and_who_waits() {
    let (_folder, session) = project();
    let home = session.folder().join("home");
    let session = session.with("INTERLOCK_HOME", home.display().to_string());
    check_in(
        &session,
        "resources",
        expect![[r#"
            | No run has used a shared resource yet
        "#]],
    );
    let resources = interlock_testbench::Resources::of_store(&home);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let hold = async |all: &[&str], run: &str| {
        let (_canceller, cancel) = interlock_activity::Canceller::new();
        resources.acquire(&names(all), run, cancel, |_| ()).await.unwrap()
    };
    runtime.block_on(async {
        let _held = hold(&["bench 1"], "fix-parser").await;
        drop(hold(&["bench 2"], "old").await);
        let look = async {
            while resources.list().await.unwrap().iter().all(|resource| resource.waiting.is_empty()) {
                tokio::task::yield_now().await;
            }
            let seen = session.run("resources").unwrap().to_string();
            let seen = seen.replace(&format!("{:<7}", std::process::id()), "PID    ");
            // On a slow computer the ages can be a few seconds.
            let seen = (1..10).fold(seen, |seen, age| seen.replace(&format!("{age}s"), "0s"));
            expect![[r#"
                resource  held by     process  for  waiting
                bench 1   fix-parser  PID      0s   fix-timer (0s)
                bench 2   -           -        -
            "#]]
            .assert_eq(&seen);
            let json: serde_json::Value =
                serde_json::from_str(&session.run("resources --json").unwrap().stdout).unwrap();
            assert_eq!(json[0]["name"], "bench 1");
            assert_eq!(json[0]["holder"]["run"], "fix-parser");
            assert_eq!(json[0]["holder"]["pid"], std::process::id());
            assert_eq!(json[0]["waiting"][0]["run"], "fix-timer");
            assert!(json[1]["holder"].is_null());
        };
        tokio::select! {
            _ = hold(&["bench 1"], "fix-timer") => panic!("two have it"),
            () = look => {}
        }
    });
}
