//! The judge that gave the last verdict on an activity, as the run's records name it. A resumed run asks the same judge
//! as one that was never interrupted.

use interlock_activity::Attempt;
use serde_json::Value;

/// The name of the evidence that holds a judgement.
pub(crate) const JUDGEMENT: &str = "judgement";

/// The most judgements that are read.
const JUDGEMENTS_MAX: usize = 200;

/// Returns the judge that gave the last verdict on this activity in this run. May block.
pub(crate) fn last(attempt: &Attempt) -> Result<Option<String>, String> {
    for hash in attempt.host.recorded(&attempt.run, JUDGEMENT, JUDGEMENTS_MAX)? {
        let content = attempt.evidence.get(&hash).map_err(|error| error.to_string())?;
        let judgement: Value = serde_json::from_slice(&content).map_err(|error| error.to_string())?;
        if judgement["activity"].as_str() == Some(&attempt.invocation.name)
            && let Some(judge) = judgement["judge"].as_str()
        {
            return Ok(Some(judge.to_owned()));
        }
    }
    Ok(None)
}
