//! Names of workers: this engine names a worker after its process, because all workers of a store are on one machine.

use interlock_journal::WorkerName;

/// The text before the process id in a name.
const PREFIX: &str = "process ";

/// Returns the name of the worker in a process.
pub(crate) fn worker_name(pid: u32) -> WorkerName {
    WorkerName(format!("{PREFIX}{pid}"))
}

/// Returns the process id of a worker of this engine; `None` if another engine has named the worker.
pub fn process_id(worker: &WorkerName) -> Option<u32> {
    worker.0.strip_prefix(PREFIX)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_process() {
        assert_eq!(worker_name(4711).to_string(), "process 4711");
        assert_eq!(process_id(&worker_name(4711)), Some(4711));
        assert_eq!(process_id(&WorkerName("board-7".into())), None);
    }
}
