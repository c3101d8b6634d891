//! Reads only the records that have evidence, and finds the child runs of a run.

use interlock_journal::{Engine, Entry, Head, Record, Result};

/// The number of records that are read at a time.
const CHUNK: usize = 500;

/// Calls a function for each record after number `after` that refers to evidence, oldest first.
pub fn with_evidence(engine: &dyn Engine, head: &Head, after: u64, mut see: impl FnMut(&Record, &Entry)) -> Result<()> {
    let numbers = engine.evidence_index(head.key)?.into_iter().map(|(seq, _)| seq);
    let mut wanted = numbers.filter(|seq| *seq > after && *seq <= head.seq).peekable();
    while let Some(&from) = wanted.peek() {
        for record in engine.records(head.key, from, CHUNK)? {
            if wanted.peek() == Some(&record.seq) {
                while wanted.next_if_eq(&record.seq).is_some() {}
                see(&record, &engine.entry(&record)?);
            }
        }
        // A record that the index names and the store lacks is skipped.
        while wanted.next_if_eq(&from).is_some() {}
    }
    Ok(())
}

/// Returns the runs that a run has started, directly or through others, oldest first. `named` are the runs whose names
/// begin with its name, newest first; a person can start a run with such a name too.
pub fn descendants<'h>(run: &str, named: &'h [Head]) -> Vec<&'h Head> {
    let mut found: Vec<&Head> = Vec::new();
    // A run is created after its parent.
    for head in named.iter().rev() {
        let is_known = |parent: &str| parent == run || found.iter().any(|known| known.name == parent);
        if head.parent.as_deref().is_some_and(is_known) {
            found.push(head);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use interlock_journal::{Hash, Phase, RunKey};

    use super::*;

    fn head(name: &str, parent: Option<&str>) -> Head {
        Head {
            key: RunKey(0),
            name: name.to_owned(),
            machine: "m".to_owned(),
            definition: Hash::of(b"").to_string(),
            parent: parent.map(str::to_owned),
            created_ms: 0,
            updated_ms: 0,
            seq: 1,
            hash: Hash::of(b""),
            phase: Phase::Active,
            place: "here".to_owned(),
            epoch: 0,
            due_ms: None,
        }
    }

    #[test]
    fn child_runs_of_child_runs_count_and_runs_that_only_have_such_a_name_do_not() {
        let newest_first = [
            head("a.1.2.3", Some("a.1.2")),
            head("a.own.1", Some("a.own")),
            head("a.own", None),
            head("a.1.2", Some("a.1")),
            head("a.1", Some("a")),
        ];
        let names: Vec<_> = descendants("a", &newest_first).into_iter().map(|head| head.name.as_str()).collect();
        assert_eq!(names, ["a.1", "a.1.2", "a.1.2.3"]);
    }
}
