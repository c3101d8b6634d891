//! Real firmware in a real QEMU.

use std::{fs, time::Duration};

use expect_test::expect;
use interlock_testbench::{Reset, Start, Stop, Trouble};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{
    firmware::{Handler, Processor, counting_firmware, line_with, outside, sources},
    trial::{Seen, Trial, profile, start, until, wrong},
};

/// All processors that are tested.
const ALL: [Processor; 3] = [Processor::CortexM, Processor::CortexA, Processor::RiscV];

/// Creates a session with a firmware; `more` overrides fields of its configuration.
fn trial(processor: Processor, handler: Handler, more: serde_json::Value) -> Option<Trial> {
    let image = processor.firmware(handler)?;
    let mut config = processor.config();
    for (name, value) in more.as_object().unwrap() {
        config[name] = value.clone();
    }
    Some(Trial::new(profile("qemu", config), Some(&image)))
}

/// Runs a firmware with this argument on every processor and checks its end.
async fn check(told: &str, handler: Handler, more: serde_json::Value, mut look: impl FnMut(Processor, &Seen)) {
    for processor in ALL {
        let Some(trial) = trial(processor, handler, more.clone()) else { continue };
        let seen = trial.run(&[told]).await;
        look(processor, &seen);
        assert_eq!(trial.processes(), [] as [i32; 0], "{processor:?}: a process is left");
        assert!(!seen.folder.join("guest/qmp.sock").exists(), "{processor:?}: a socket is left");
    }
}

#[tokio::test]
async fn passing_firmware_exits_with_zero_and_logs_all_output() {
    check("pass", Handler::Reports, json!({}), |processor, seen| {
        assert_eq!(seen.ran.stop, Stop::Exited { code: 0 }, "{processor:?} {seen:?}");
        assert_eq!(seen.log(), "booted\nmain.c:1:test_add:PASS\n1 Tests 0 Failures 0 Ignored\nOK\n");
        assert!(seen.ran.faults.is_empty() && seen.ran.coverage.is_empty(), "{seen:?}");
    })
    .await;
}

#[tokio::test]
async fn failing_firmware_exits_with_its_code() {
    check("fail", Handler::Reports, json!({}), |processor, seen| {
        assert_eq!(seen.ran.stop, Stop::Exited { code: 1 }, "{processor:?} {seen:?}");
        assert!(seen.log().contains("test_add:FAIL"), "{seen:?}");
    })
    .await;
}

#[tokio::test]
async fn early_exit_reports_no_cases() {
    check("early", Handler::Reports, json!({}), |processor, seen| {
        assert_eq!(seen.ran.stop, Stop::Exited { code: 0 }, "{processor:?} {seen:?}");
        assert_eq!(seen.log(), "booted\n");
    })
    .await;
}

#[tokio::test]
async fn hang_is_located_with_a_backtrace() {
    check("hang", Handler::Reports, json!({ "hang_sec": 0.3 }), |processor, seen| {
        let line = line_with("main.c", "the hang");
        assert_eq!(seen.ran.stop, Stop::Hung { place: format!("wait_for_ever at {line}") }, "{processor:?} {seen:?}");
        let fault = &seen.ran.faults[0];
        assert!(fault.registers.contains_key("pc"), "{fault:?}");
        if crate::trial::has_parts(&["gdb-multiarch"]) {
            assert_eq!(fault.stack.first(), Some(&line), "{fault:?}");
            assert!(fault.stack[1].starts_with(&sources().join("main.c").display().to_string()), "{fault:?}");
            let shown = fs::read_to_string(seen.folder.join("debugger.txt")).unwrap();
            assert!(shown.contains("wait_for_ever"), "{shown}");
        }
    })
    .await;
}

#[tokio::test]
async fn fault_with_a_handler_is_located() {
    check("fault", Handler::Reports, json!({}), |processor, seen| {
        assert_eq!(seen.ran.stop, Stop::Exited { code: 139 }, "{processor:?} {seen:?}");
        let [fault] = &*seen.ran.faults else { panic!("{seen:?}") };
        assert_eq!(fault.stack[0], line_with(&processor.source(), "// the fault"), "{fault:?}");
        assert_eq!(fault.stack[1], line_with("main.c", "fault();"), "{fault:?}");
        assert!(fault.registers.len() >= 3, "{fault:?}");
    })
    .await;
}

#[tokio::test]
async fn nested_fault_locks_up_and_is_located() {
    let Some(trial) = trial(Processor::CortexM, Handler::Faults, json!({})) else { return };
    let seen = trial.run(&["fault"]).await;
    assert_eq!(seen.ran.stop, Stop::Exited { code: 134 }, "{seen:?}");
    let [fault] = &*seen.ran.faults else { panic!("{seen:?}") };
    assert!(fault.banner.starts_with("qemu: fatal: Lockup"), "{fault:?}");
    assert_eq!(fault.stack[0], line_with("cortex_m.c", "a fault within a fault"), "{fault:?}");
}

#[tokio::test]
async fn unhandled_fault_is_a_hang_outside_of_the_code() {
    for processor in [Processor::CortexA, Processor::RiscV] {
        let Some(trial) = trial(processor, Handler::Faults, json!({ "hang_sec": 0.3 })) else { continue };
        let seen = trial.run(&["fault"]).await;
        assert!(matches!(&seen.ran.stop, Stop::Hung { place } if place.starts_with("0x0")), "{processor:?} {seen:?}");
        assert!(seen.ran.faults[0].registers.contains_key("pc"), "{seen:?}");
    }
}

#[tokio::test]
async fn repeated_boots_are_a_boot_loop() {
    for more in [json!({}), json!({ "boot_banner": "^booted$" }), json!({ "boots_max": 7 })] {
        check("loop", Handler::Reports, more.clone(), |processor, seen| {
            let least = more["boots_max"].as_u64().unwrap_or(3) as u32;
            assert!(matches!(seen.ran.stop, Stop::BootLoop { boots } if boots > least), "{processor:?} {seen:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn endless_output_times_out() {
    let Some(trial) = trial(Processor::CortexM, Handler::Reports, json!({})) else { return };
    let start = Start { timeout: Duration::from_millis(400), ..start(&["chatter"]) };
    let (ran, _) = trial.try_run(&start).await;
    assert_eq!(ran.unwrap().stop, Stop::TimedOut);
}

#[tokio::test]
async fn console_dialogue_is_followed() {
    let steps = json!([{ "expect": "name> $", "send": "ada\n" }, { "expect": "ready> $", "send": "q" }]);
    check("talk", Handler::Reports, json!({ "steps": steps }), |processor, seen| {
        assert_eq!(seen.ran.stop, Stop::Exited { code: 0 }, "{processor:?} {seen:?}");
        assert_eq!(seen.log(), "booted\nname> hello ada\nready> ");
    })
    .await;
}

#[tokio::test]
async fn missing_dialogue_step_is_a_hang_that_names_it() {
    let steps = json!([{ "expect": "never> $", "send": "ada\n", "timeout_sec": 0.2 }]);
    let Some(trial) = trial(Processor::CortexM, Handler::Reports, json!({ "steps": steps })) else { return };
    let seen = trial.run(&["chatter"]).await;
    assert!(
        matches!(&seen.ran.stop, Stop::Hung { place } if place.ends_with("`never> $`") || place.starts_with("put at")),
        "{seen:?}"
    );
}

#[tokio::test]
async fn end_pattern_ends_firmware_without_an_exit_code() {
    for (end, code) in [("^still here$", 0), ("b(?P<code>)ooted", 0)] {
        let Some(trial) = trial(Processor::CortexM, Handler::Reports, json!({ "end": end })) else { return };
        let seen = trial.run(&["chatter"]).await;
        assert_eq!(seen.ran.stop, Stop::Exited { code }, "{end}");
    }
}

#[tokio::test]
async fn qemu_ended_from_outside_is_lost() {
    for signal in [Signal::KILL, Signal::TERM] {
        let Some(trial) = trial(Processor::CortexM, Handler::Reports, json!({})) else { return };
        let start = start(&["chatter"]);
        let kill = async {
            let log = trial.session.run_folder(&start).unwrap().join("serial.log");
            until(|| fs::read_to_string(&log).ok().filter(|text| text.contains("still"))).await;
            let qemu = qemu_of(&trial).unwrap();
            kill_process(Pid::from_raw(qemu).unwrap(), signal).unwrap();
        };
        let ((ran, _), ()) = tokio::join!(trial.try_run(&start), kill);
        let ran = ran.unwrap();
        assert!(matches!(ran.stop, Stop::Lost { .. }), "{signal:?} {:?}", ran.stop);
        assert_eq!(trial.processes(), [] as [i32; 0]);
    }
}

/// Returns the process that is QEMU itself.
fn qemu_of(trial: &Trial) -> Option<i32> {
    let is_qemu = |pid: &i32| {
        fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.windows(12).any(|part| part == b"qemu-system-"))
    };
    trial.processes().into_iter().find(is_qemu)
}

#[tokio::test]
async fn cancelled_start_leaves_no_process() {
    let Some(trial) = trial(Processor::CortexM, Handler::Reports, json!({})) else { return };
    let start = start(&["chatter"]);
    let cancel = async {
        let log = trial.session.run_folder(&start).unwrap().join("serial.log");
        until(|| fs::read_to_string(&log).ok().filter(|text| text.contains("still"))).await;
        assert!(qemu_of(&trial).is_some());
        trial.canceller.cancel();
    };
    let ((ran, _), ()) = tokio::join!(trial.try_run(&start), cancel);
    assert_eq!(ran, Err(Trouble::Cancelled));
    assert_eq!(trial.processes(), [] as [i32; 0]);
}

#[tokio::test]
async fn dropped_start_leaves_no_process() {
    let Some(trial) = trial(Processor::CortexM, Handler::Reports, json!({})) else { return };
    let start = start(&["chatter"]);
    let log = trial.session.run_folder(&start).unwrap().join("serial.log");
    tokio::select! {
        ended = trial.try_run(&start) => panic!("{ended:?}"),
        _ = until(|| fs::read_to_string(&log).ok().filter(|text| text.contains("still"))) => {}
    }
    until(|| trial.processes().is_empty().then_some(())).await;
}

#[tokio::test]
async fn firmware_cannot_act_outside_of_its_directory() {
    let _ = fs::remove_dir_all(outside());
    outside();
    check("escape", Handler::Reports, json!({}), |processor, seen| {
        assert_eq!(seen.ran.stop, Stop::Exited { code: 0 }, "{processor:?} {seen:?}");
        assert_eq!(seen.log(), "booted\nopen refused\nopen allowed\ntried\n");
        let left: Vec<_> = fs::read_dir(outside()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(seen.ran.artifacts, [std::path::PathBuf::from("guest/inside.txt")]);
        let links = fs::read_dir(&seen.folder)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_type().unwrap().is_symlink());
        assert_eq!(links.count(), 0);
    })
    .await;
}

#[tokio::test]
async fn coverage_contains_exactly_the_executed_lines() {
    for processor in ALL {
        let Some(trial) = trial(processor, Handler::Reports, json!({})) else { continue };
        let start = Start { coverage: true, ..start(&["fault"]) };
        let (ran, _) = trial.try_run(&start).await;
        let ran = ran.unwrap();
        let executed = |file: &str, text: &str| {
            let place = line_with(file, text);
            let (file, line) = place.rsplit_once(':').unwrap();
            ran.coverage.get(file).is_some_and(|lines| lines.contains(&line.parse().unwrap()))
        };
        assert!(executed("main.c", "say(\"booted\\n\")"), "{processor:?} {:?}", ran.coverage);
        assert!(executed(&processor.source(), "// the fault"), "{:?}", ran.coverage);
        assert!(executed(&processor.source(), "finish(139)"), "{:?}", ran.coverage);
        assert!(!executed("main.c", "return one + other"), "{:?}", ran.coverage);
        assert!(!executed("main.c", "never reached"), "{:?}", ran.coverage);
    }
}

#[tokio::test]
async fn gcov_counters_of_the_firmware_are_used() {
    if !crate::trial::has_parts(&["arm-none-eabi-gcc", "arm-none-eabi-gcov", "qemu-system-arm"]) {
        return;
    }
    for told in ["file", "text", "thrice"] {
        let mut config = Processor::CortexM.config();
        config["coverage"] = json!("gcov");
        let mut trial = Trial::new(profile("qemu", config), None);
        trial.session.image = Some(counting_firmware(&trial.session.sources));
        let start = Start { coverage: true, ..start(&[told]) };
        let (ran, _) = trial.try_run(&start).await;
        let ran = ran.unwrap();
        let lines = &ran.coverage[&sources().join("gcov.c").display().to_string()];
        let executed = |text: &str| {
            let place = line_with("gcov.c", text);
            lines.contains(&place.rsplit_once(':').unwrap().1.parse().unwrap())
        };
        assert_eq!(executed("// counted"), told != "thrice", "{told} {lines:?}");
        assert_eq!(executed("// not counted"), told == "thrice", "{told} {lines:?}");
    }
}

#[tokio::test]
async fn case_name_is_passed_to_the_firmware() {
    let Some(image) = Processor::CortexM.firmware(Handler::Reports) else { return };
    let mut config = Processor::CortexM.config();
    config["case_arg"] = json!("--case {case}");
    let mut profile = profile("qemu", config);
    profile.cases = vec!["fail".to_owned(), "a,b".to_owned()];
    let trial = Trial::new(profile, Some(&image));
    for (case, code) in [("fail", 1), ("a,b", 0), ("not-a-case", 0)] {
        let start = Start { id: case.to_owned(), args: Vec::new(), ..start(&[]) };
        let (ran, _) = trial.try_run(&start).await;
        assert_eq!(ran.unwrap().stop, Stop::Exited { code }, "{case}");
    }
}

#[tokio::test]
async fn results_are_read_from_the_active_console() {
    // QEMU itself may also have a log.
    let seen_on = |seen: &Seen| seen.ran.logs.iter().take(2).map(|log| log.display().to_string()).collect::<Vec<_>>();
    for (more, logs) in [
        (json!({}), ["serial.log", "semihosting.log"]),
        (json!({ "console": "semihosting", "end": "^said by semihosting$" }), ["semihosting.log", "serial.log"]),
    ] {
        check("semihosting", Handler::Reports, more, |processor, seen| {
            assert_eq!(seen.ran.stop, Stop::Exited { code: 0 }, "{processor:?} {seen:?}");
            assert_eq!(seen_on(seen), logs, "{processor:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn instruction_counting_makes_time_reproducible() {
    let Some(trial) = trial(Processor::CortexM, Handler::Reports, json!({ "icount": 5 })) else { return };
    let mut seen = Vec::new();
    for repetition in 1..=3 {
        let start = Start { repetition, ..start(&["time"]) };
        let (ran, folder) = trial.try_run(&start).await;
        assert_eq!(ran.unwrap().stop, Stop::Exited { code: 0 });
        seen.push(fs::read_to_string(folder.join("serial.log")).unwrap());
    }
    assert!(seen[0].contains("ticks=0x") && !seen[0].contains("ticks=0x00000000"), "{seen:?}");
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
}

#[tokio::test]
async fn heartbeat_decides_the_health_check() {
    for processor in ALL {
        let cases = [
            (json!({}), Ok("it prints")),
            (json!({ "heartbeat": "^boo" }), Ok("it printed `boo`")),
            // Output on the serial port also shows that it is alive.
            (json!({ "console": "semihosting" }), Ok("it prints")),
            (json!({ "heartbeat": "^never", "heartbeat_sec": 0.3 }), Err("it did not boot: ")),
            (json!({ "machine": "no-such-machine" }), Err("QEMU could not be started: ")),
        ];
        for (more, expected) in cases {
            let Some(trial) = trial(processor, Handler::Reports, more.clone()) else { continue };
            trial.environment.setup(trial.bench()).await.unwrap();
            trial.environment.deploy(trial.bench()).await.unwrap();
            let said = trial.environment.health_check(trial.bench()).await.map_err(|trouble| trouble.to_string());
            match (&said, expected) {
                (Ok(said), Ok(expected)) => assert_eq!(said, expected),
                (Err(said), Err(expected)) => assert!(said.starts_with(expected), "{said}"),
                _ => panic!("{more} {said:?}"),
            }
            assert_eq!(trial.processes(), [] as [i32; 0]);
        }
    }
}

#[tokio::test]
async fn concurrent_starts_are_independent() {
    let Some(trial) = trial(Processor::CortexM, Handler::Reports, json!({})) else { return };
    let (pass, fail, early) = (start(&["pass"]), start(&["fail"]), start(&["early"]));
    let (one, two, three) = tokio::join!(trial.try_run(&pass), trial.try_run(&fail), trial.try_run(&early));
    let stops = [one, two, three].map(|(ran, _)| ran.unwrap().stop);
    assert_eq!(stops, [0, 1, 0].map(|code| Stop::Exited { code }));
}

#[tokio::test]
async fn reset_removes_leftovers_of_a_crash() {
    let Some(trial) = trial(Processor::CortexM, Handler::Reports, json!({})) else { return };
    let folder = trial.session.run_folder(&start(&["crashed"])).unwrap();
    fs::create_dir(folder.join("guest")).unwrap();
    fs::write(folder.join("guest/image"), "x").unwrap();
    fs::write(folder.join("serial.log"), "half a li").unwrap();
    let logs = trial.environment.fetch_logs(trial.bench()).await.unwrap();
    assert_eq!(logs.iter().map(|log| &*log.name).collect::<Vec<_>>(), ["crashed-1/serial.log"]);
    let mut left = std::process::Command::new("sleep");
    left.arg("60").env("INTERLOCK_SESSION", &trial.session.folder);
    let mut left = left.spawn().unwrap();
    let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    // A process that has just started has no environment yet.
    let environment = format!("/proc/{}/environ", left.id());
    let began = std::time::Instant::now();
    while fs::read(&environment).unwrap().is_empty() {
        assert!(began.elapsed().as_secs() < 20, "it has no environment");
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    let said = trial.environment.reset(trial.bench(), Reset::Reset).await.unwrap();
    assert_eq!(said, "ended 1 leftover programs and removed 1 of their directories");
    assert!(!left.wait().unwrap().success());
    assert!(other.try_wait().unwrap().is_none(), "a process outside of the session was ended too");
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(!folder.join("guest").exists() && folder.join("serial.log").exists());
    assert!(trial.home().exists());
}

#[test]
fn all_configuration_problems_are_reported() {
    let config = json!({
        "machine": 3, "semihosting": "yes", "case_arg": "--all", "heartbeat": "(", "hang_sec": -1, "icount": 99,
        "steps": [{ "expect": "a" }, { "expcet": "b", "send": 1 }], "coverage": "some", "imgae": "x",
    });
    expect![[r#"
        `test_profile.config.program` is missing;
        `test_profile.config.machine` must be a text, not 3;
        `test_profile.config.semihosting` must be true or false, not "yes";
        `test_profile.config.heartbeat` is not a pattern: unclosed group;
        `test_profile.config.steps[1].expect` is missing;
        `test_profile.config.steps[1].send` must be a text, not 1;
        `test_profile.config.steps[1].expcet` is not known;
        the fields are expect, send, timeout_sec;
        `test_profile.config.hang_sec` must be a number of seconds, not -1;
        `test_profile.config.icount` must be `off` or a shift from 0 to 10, not 99;
        `test_profile.config.coverage` must be one of off, trace, gcov, not "some";
        `test_profile.config.case_arg` has no {case};
        `test_profile.config.case_arg` needs `semihosting: true`;
        without it use {case} in `args`;
        `test_profile.config.imgae` is not known;
        the fields are program, machine, cpu, args, image, symbols, semihosting, console, case_arg, heartbeat, heartbeat_sec, steps, end, hang_sec, boot_banner, boots_max, icount, coverage, gcov, memory_mb, faults"#]].assert_eq(&wrong("qemu", config));
}

#[tokio::test]
async fn missing_qemu_is_reported_with_its_package() {
    let config = json!({ "program": "qemu-system-hppa-not-here", "machine": "any" });
    let trial = Trial::new(profile("qemu", config), None);
    let trouble = trial.environment.setup(trial.bench()).await.unwrap_err();
    let (program, package) = ("qemu-system-hppa-not-here".to_owned(), "qemu-system-misc".to_owned());
    assert_eq!(trouble, Trouble::Missing { program, package });
    let said = trial.environment.deploy(trial.bench()).await.unwrap_err().to_string();
    assert_eq!(said, "there is no image to run");
}

/// A busy computer gives QEMU little of its time, and that which it does not give does not count against the firmware.
#[tokio::test]
async fn firmware_on_a_busy_computer_is_not_taken_for_slow() {
    let Some(trial) = trial(Processor::CortexM, Handler::Reports, json!({})) else { return };
    let begun = std::time::Instant::now();
    assert_eq!(trial.run(&["work"]).await.ran.stop, Stop::Exited { code: 0 });
    let alone = begun.elapsed();
    let spinning: Vec<_> = (0..8)
        .map(|_| {
            // The loop has an end of its own, whatever becomes of the test.
            std::process::Command::new("sh")
                .args(["-c", "i=0; while [ $i -lt 9000000 ]; do i=$((i+1)); done"])
                .spawn()
                .unwrap()
        })
        .collect();
    // With eight others on two cores it takes five times as long, and ten times if the cores share their units.
    let start = Start { timeout: alone * 3, ..start(&["work"]) };
    let (ran, _) = trial.try_run(&start).await;
    for mut process in spinning {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert_eq!(ran.unwrap().stop, Stop::Exited { code: 0 });
}
