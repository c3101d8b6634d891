//! Tries every benchmark in a tiny size, so that none of them stops working unnoticed. `make bench` measures.

#![allow(clippy::disallowed_methods, reason = "tests start what they need")]

mod heavy {
    use std::process::Command;

    use interlock_testkit_activity::launcher;

    #[test]
    fn every_benchmark_runs_to_its_end() {
        let mut bench = Command::new(env!("CARGO_BIN_EXE_bench"));
        let output = bench.env("INTERLOCK_PROGRAM", launcher::program()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        for printed in
            ["ring", "explore", "load", "start", "record", "sandbox", "serve", "policy", "durable", "judge", "soak"]
        {
            assert!(text.contains(printed), "{printed} is missing:\n{text}");
        }
    }
}
