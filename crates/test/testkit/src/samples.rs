//! Generates data that a schema allows: a few values for each field, enough to make every guard true and false.
//!
//! The values include the constants that guards compare with, and their neighbours. Fields that no guard reads get only
//! one value.

use std::collections::{BTreeMap, BTreeSet};

use interlock_chart::{
    Value,
    expr::{Binary, Node},
    model::{Schema, Template},
};
use interlock_core::{FormulaId, Machine, Operation};
use serde_json::{Value as Json, json};

/// Maximum number of values that are generated from one schema.
const SAMPLES_MAX: usize = 4_096;

/// Maximum length of a generated list. It exceeds the limits that machines set on loops over items.
const ITEMS_MAX: usize = 64;

/// The fields and constants in the guards of a machine, by field name. Fields with the same name are treated as the
/// same everywhere.
#[derive(Debug, Default)]
pub struct Samples {
    asked: BTreeSet<String>,
    constants: BTreeMap<String, Vec<Json>>,
}

impl Samples {
    /// Collects the constants that the guards of a machine compare with.
    pub fn of(machine: &Machine) -> Self {
        let mut samples = Samples::default();
        let mut ids = Vec::new();
        for transition in &machine.chart().transitions {
            let plan = machine.plan(transition.id);
            ids.extend(plan.guard);
            ids.extend(plan.limits.iter().filter_map(|(_, _, max)| *max));
            conditions(&plan.operations, &mut ids);
        }
        for state in &machine.chart().states {
            machine.content(state.id).for_each(|block| conditions(block, &mut ids));
        }
        for id in ids {
            if let Template::Expr(expr) = &machine.formulas()[id.index()].template {
                samples.collect(&expr.node);
            }
        }
        // A guard may read an input under the name of a variable that is initialised with it.
        for variable in &machine.chart().context {
            if let Template::Expr(expr) = &variable.initial {
                samples.collect(&expr.node);
            }
        }
        samples
    }

    /// Returns possible inputs of a run. Only fields that guards or initial values read vary.
    pub fn input(&self, schema: &Schema) -> Vec<Value> {
        self.fitting(schema, false)
    }

    /// Returns possible data of an event. All fields with few values vary, because a guard may later read them under
    /// another name.
    pub fn event(&self, schema: &Schema) -> Vec<Value> {
        self.fitting(schema, true)
    }

    /// Returns possible data of a failed activity.
    pub fn error(&self) -> Vec<Value> {
        let codes = self.constants.get("code").cloned().unwrap_or_default();
        let codes = std::iter::once(json!("FAILED")).chain(codes);
        codes.map(|code| Value::from(json!({ "code": code, "message": "it failed" }))).collect()
    }

    fn fitting(&self, schema: &Schema, is_event: bool) -> Vec<Value> {
        let Ok(validator) = jsonschema::draft202012::new(schema) else { return Vec::new() };
        let made = self.object(schema, is_event).into_iter().filter(|value| validator.is_valid(value));
        made.map(Value::from).collect()
    }

    /// Returns every combination of the fields' values. The first field varies fastest.
    fn object(&self, schema: &Schema, is_event: bool) -> Vec<Json> {
        let no_fields = serde_json::Map::new();
        let fields = schema.get("properties").and_then(Json::as_object).unwrap_or(&no_fields);
        let required =
            |name: &str| (schema["required"].as_array()).is_some_and(|names| names.iter().any(|n| n == name));
        let mut made = vec![serde_json::Map::new()];
        for (name, field) in fields {
            let values = self.field(name, field, required(name), is_event);
            let more = values.iter().flat_map(|value| {
                made.iter().map(move |object| {
                    let mut object = object.clone();
                    object.extend(value.clone().map(|value| (name.clone(), value)));
                    object
                })
            });
            made = more.take(SAMPLES_MAX).collect();
        }
        made.into_iter().map(Json::Object).collect()
    }

    /// Returns the values of a field, with `None` for a missing field. A default value is always included.
    fn field(&self, name: &str, schema: &Schema, is_required: bool, is_event: bool) -> Vec<Option<Json>> {
        let default = schema.get("default");
        let is_missing = !is_required && default.is_none();
        let mut values: Vec<Option<Json>> = is_missing.then_some(None).into_iter().collect();
        values.extend(default.filter(|default| !default.is_object()).cloned().map(Some));
        for value in self.values(name, schema, is_event).into_iter().map(Some) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let has_few = schema.get("enum").is_some()
            || ["boolean", "integer", "number"].iter().any(|kind| schema["type"] == **kind);
        let varies = self.asked.contains(name) || (is_event && has_few) || schema.get("properties").is_some();
        values.truncate(if varies { SAMPLES_MAX } else { 1 });
        values
    }

    fn values(&self, name: &str, schema: &Schema, is_event: bool) -> Vec<Json> {
        if let Some(values) = schema.get("enum").and_then(Json::as_array) {
            return values.clone();
        }
        let constants = self.constants.get(name).cloned().unwrap_or_default();
        match schema["type"].as_str() {
            Some("boolean") => vec![json!(false), json!(true)],
            Some(kind @ ("integer" | "number")) => numbers(schema, kind == "integer", &constants),
            Some("string") => {
                let constants = constants.into_iter().filter(|value| value.is_string() && value != "");
                std::iter::once(json!("x")).chain(constants).collect()
            }
            Some("array") => {
                let item = self.values(name, &schema["items"], is_event).into_iter().next().unwrap_or_default();
                [1, 0, 2, ITEMS_MAX].map(|count| Json::Array(vec![item.clone(); count])).into()
            }
            _ if schema.get("properties").is_some() => self.object(schema, is_event),
            _ => vec![json!({})],
        }
    }

    fn collect(&mut self, node: &Node) {
        match node {
            Node::Literal(_) | Node::Visits(_) | Node::Active(_) | Node::Count(_) => {}
            Node::Path(_, path) | Node::Has(_, path) => self.asked.extend(path.iter().cloned()),
            Node::Opaque(paths) => self.asked.extend(paths.iter().flat_map(|(_, path)| path.iter().cloned())),
            Node::Unary(_, operand) | Node::Size(operand) | Node::Field(operand, _) => self.collect(operand),
            Node::Binary(operator, left, right) => {
                self.compared(*operator, left, right);
                self.compared(*operator, right, left);
                [left, right].iter().for_each(|node| self.collect(node));
            }
            Node::Index(left, right) => [left, right].iter().for_each(|node| self.collect(node)),
            Node::If(cond, then, otherwise) => [cond, then, otherwise].iter().for_each(|node| self.collect(node)),
            Node::List(items) => items.iter().for_each(|item| self.collect(item)),
            Node::Map(entries) => entries.iter().for_each(|(_, value)| self.collect(value)),
        }
    }

    fn compared(&mut self, operator: Binary, path: &Node, with: &Node) {
        let Node::Path(_, path) = path else { return };
        let values = match (operator, with) {
            (Binary::In, Node::Literal(Value::List(items))) => items.iter().map(Json::from).collect(),
            (_, Node::Literal(value)) => vec![Json::from(value)],
            _ => return,
        };
        let known = self.constants.entry(path.last().cloned().unwrap_or_default()).or_default();
        values.into_iter().for_each(|value| {
            if !known.contains(&value) {
                known.push(value);
            }
        });
    }
}

/// Returns the bounds of the allowed range and each constant with its neighbours, in ascending order.
fn numbers(schema: &Schema, is_whole: bool, constants: &[Json]) -> Vec<Json> {
    let bounds = ["minimum", "maximum"].map(|bound| schema.get(bound).and_then(Json::as_f64));
    let beside = constants.iter().filter_map(Json::as_f64).flat_map(|at| [at - 1.0, at, at + 1.0]);
    let mut numbers: Vec<f64> = bounds.into_iter().flatten().chain([0.0, 1.0]).chain(beside).collect();
    numbers.retain(|number| bounds[0].is_none_or(|min| *number >= min) && bounds[1].is_none_or(|max| *number <= max));
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    numbers.into_iter().map(|number| if is_whole { json!(number as i64) } else { json!(number) }).collect()
}

fn conditions(block: &[Operation], into: &mut Vec<FormulaId>) {
    for operation in block {
        if let Operation::If { branches } = operation {
            into.extend(branches.iter().filter_map(|(condition, _)| *condition));
            branches.iter().for_each(|(_, block)| conditions(block, into));
        }
    }
}
