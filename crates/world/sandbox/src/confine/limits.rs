//! Applies the limits that the kernel enforces for each process. The first stage watches the limits for the whole tree.

use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};

use super::Refusal;
use crate::{Enforced, Limits};

/// Number of threads above the limit that a user may have in total before the kernel refuses new ones. The kernel
/// counts every thread of the user, including those of other programs, so this limit only keeps a fork bomb small until
/// it is stopped.
const THREADS_SPARE: u64 = 4_096;

const MIB: u64 = 1_024 * 1_024;

/// Applies the limits to this process, and so to all processes that it starts.
pub(crate) fn apply(limits: &Limits, enforced: &mut Enforced) -> Result<(), Refusal> {
    lower(Resource::Core, 0)?;
    lower(Resource::Fsize, limits.file_mib.saturating_mul(MIB))?;
    lower(Resource::Nofile, limits.open_files)?;
    // The kernel does not apply this limit to root.
    if !geteuid().is_root() {
        lower(Resource::Nproc, limits.threads().saturating_add(THREADS_SPARE))?;
        enforced.processes_by.push("rlimit".into());
    }
    Ok(())
}

/// Lowers a limit. A limit that is already lower is kept.
fn lower(resource: Resource, to: u64) -> rustix::io::Result<()> {
    let now = getrlimit(resource);
    let least = |limit: Option<u64>| Some(limit.map_or(to, |limit| limit.min(to)));
    setrlimit(resource, Rlimit { current: least(now.maximum), maximum: least(now.maximum) })
}
