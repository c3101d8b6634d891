//! Executable content: the actions that a machine performs while it moves.

use std::sync::Arc;

use interlock_chart::model::{StateId, TransitionId};

use super::Interpreter;
use crate::{
    Data, Effect, Event, EventKey, Fault, FormulaId, Observer, Operation, Pending, TimerId, bounds::DELAY_MS_MAX,
    fault::Place,
};

impl<D: Data, O: Observer> Interpreter<'_, D, O> {
    pub(super) fn tell_reasons(&mut self, enabled: &[TransitionId]) {
        for &transition in enabled {
            // Strict runs always evaluate the reason, because a reason that fails stops the step.
            let is_needed = O::WORDS || self.is_strict;
            let reason = if is_needed { self.machine.plan(transition).reason } else { None };
            let reason = reason.map(|reason| self.with_data(|data, scope| data.text(reason, scope)));
            if let (true, Some(Err(fault))) = (self.is_strict, &reason) {
                let source = self.machine.plan(transition).source;
                return self.raise_fault(source, Place::Reason(transition), (**fault).clone());
            }
            let (reason, fault) = match reason {
                Some(Err(fault)) => (None, Some(fault)),
                Some(Ok(reason)) => (Some(reason), None),
                None => (None, None),
            };
            self.observer.taken(transition, reason);
            if let Some(fault) = fault {
                self.observer.faulted(&fault);
            }
        }
    }

    pub(super) fn execute_transition_content(&mut self, enabled: &[TransitionId]) {
        let machine = self.machine;
        for &transition in enabled {
            let plan = machine.plan(transition);
            for (counter, _, _) in &plan.limits {
                let count = &mut self.state.counters[counter.index()];
                *count = count.saturating_add(1);
                self.state.data.counted(*counter);
            }
            for counter in &plan.resets {
                self.state.counters[counter.index()] = 0;
                self.state.data.counted(*counter);
            }
            self.execute_content(&plan.operations, plan.source, Place::Action(transition));
        }
    }

    /// Performs the operations of a block in order. The first operation that fails ends the block and raises
    /// `error.execution`. After a fault that stops the step, nothing else is performed.
    pub(super) fn execute_content(&mut self, block: &[Operation], state: StateId, place: Place) {
        if self.fault.is_some() {
            return;
        }
        if let Err(fault) = self.execute_block(block) {
            self.raise_fault(state, place, *fault);
        }
    }

    fn execute_block(&mut self, block: &[Operation]) -> Result<(), Box<Fault>> {
        block.iter().try_for_each(|operation| self.execute(operation))
    }

    fn execute(&mut self, operation: &Operation) -> Result<(), Box<Fault>> {
        match operation {
            Operation::Assign { var, value } => self.with_data(|data, scope| data.assign(*var, *value, scope)),
            Operation::Raise { event, data } => {
                let data = self.with_data(|model, scope| model.payload(*data, scope))?;
                self.internal_queue.push_back((Event { key: EventKey::Known(*event), data }, None));
                Ok(())
            }
            Operation::Send { event, data, delay, id } => self.send(*event, *data, *delay, id.clone()),
            Operation::Cancel { id } => {
                let id = self.text(*id)?;
                self.cancel(&id);
                Ok(())
            }
            Operation::Log { text } => {
                let line = self.text(*text)?;
                if O::WORDS {
                    self.observer.logged(line);
                }
                Ok(())
            }
            Operation::If { branches } => self.execute_branch(branches),
        }
    }

    fn execute_branch(&mut self, branches: &[(Option<FormulaId>, Vec<Operation>)]) -> Result<(), Box<Fault>> {
        for (cond, block) in branches {
            let holds = match cond {
                Some(cond) => self.with_data(|data, scope| data.holds(*cond, scope))?,
                None => true,
            };
            if holds {
                return self.execute_block(block);
            }
        }
        Ok(())
    }

    fn text(&mut self, text: FormulaId) -> Result<String, Box<Fault>> {
        self.with_data(|data, scope| data.text(text, scope))
    }

    fn send(
        &mut self,
        event: FormulaId,
        data: FormulaId,
        delay: Option<FormulaId>,
        name: Option<Arc<str>>,
    ) -> Result<(), Box<Fault>> {
        let event = self.text(event)?;
        let data = self.with_data(|model, scope| model.payload(data, scope))?;
        let after_ms = match delay {
            Some(delay) => delay_ms(&self.text(delay)?)?,
            None => 0,
        };
        let key = self.machine.event(&event).map_or_else(|| EventKey::Other(event.into()), EventKey::Known);
        let event = Event { key, data };
        if after_ms == 0 {
            self.external_queue.push_back(event);
        } else {
            let id = TimerId(self.state.fresh_id());
            self.state.pending.push(Pending { id, state: None, name, event });
            self.effects.push(Effect::SetTimer { id, after_ms });
        }
        Ok(())
    }

    fn cancel(&mut self, name: &str) {
        let effects = &mut *self.effects;
        self.state.pending.retain(|pending| {
            let stays = pending.name.as_deref() != Some(name);
            if !stays {
                effects.push(Effect::ClearTimer { id: pending.id });
            }
            stays
        });
    }
}

/// Parses a delay into milliseconds: `500ms`, `1.5s`, `2m`, `1h`, `7d`, or a bare number of milliseconds.
fn delay_ms(text: &str) -> Result<u64, Box<Fault>> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let factor = match unit {
        "" | "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return Err(Box::new(Fault::new(format!("`{text}` is not a delay such as 500ms, 1.5s or 2m")))),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number >= 0.0 && number * factor <= DELAY_MS_MAX as f64 => Ok((number * factor).ceil() as u64),
        _ => Err(Box::new(Fault::new(format!("`{text}` is not a delay such as 500ms, 1.5s or 2m")))),
    }
}
