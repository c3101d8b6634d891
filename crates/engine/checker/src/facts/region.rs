//! Regions: sets of values that no guard can distinguish.

use std::{cmp::Ordering, collections::BTreeSet};

use interlock_chart::{Value, expr::Binary};

use super::atom::Test;

/// A set of values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Region {
    /// The field does not exist.
    Absent,
    /// One value: null, a bool or a string.
    Is(Value),
    /// Exactly one number, whole or not.
    Point(f64),
    /// The numbers strictly between two; the ends may be infinite.
    Between(f64, f64),
    /// All values that no other region contains.
    Other,
}

impl Region {
    /// Returns true if the value is in the region.
    pub(crate) fn contains(&self, value: &Value) -> bool {
        match (self, number(value)) {
            (Region::Is(one), _) => one == value,
            (Region::Point(point), Some(number)) => number == *point,
            (Region::Between(low, high), Some(number)) => *low < number && number < *high,
            // `Other` comes last: its values are in no other region.
            (Region::Other, _) => true,
            (Region::Absent | Region::Point(_) | Region::Between(..), _) => false,
        }
    }

    /// Returns true if the region's values compare this way with a constant that the regions were made for.
    pub(crate) fn compare(&self, operator: Binary, constant: &Value) -> bool {
        let is_equal = self.is(constant);
        match operator {
            Binary::Equal => is_equal,
            Binary::NotEqual => !is_equal,
            _ => self.order(constant).is_some_and(|order| match operator {
                Binary::Less => order.is_lt(),
                Binary::LessEqual => order.is_le(),
                Binary::Greater => order.is_gt(),
                _ => order.is_ge(),
            }),
        }
    }

    fn is(&self, constant: &Value) -> bool {
        match (self, number(constant)) {
            (Region::Is(value), _) => value == constant,
            (Region::Point(point), Some(number)) => *point == number,
            _ => false,
        }
    }

    fn order(&self, constant: &Value) -> Option<Ordering> {
        let number = number(constant)?;
        match self {
            Region::Point(point) => point.partial_cmp(&number),
            Region::Between(low, _) if *low >= number => Some(Ordering::Greater),
            Region::Between(..) => Some(Ordering::Less),
            Region::Absent | Region::Is(_) | Region::Other => None,
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

/// The constants that a path is compared with.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    has: bool,
    null: bool,
    bools: bool,
    texts: BTreeSet<String>,
    numbers: Vec<f64>,
    /// True if values of other kinds are possible too.
    pub(super) is_open: bool,
}

impl Constants {
    pub(super) fn add(&mut self, test: &Test) {
        match test {
            Test::IsTrue => self.bools = true,
            Test::Has => self.has = true,
            Test::Compare(_, value) => self.add_value(value),
            Test::OneOf(values) => values.iter().for_each(|value| self.add_value(value)),
        }
    }

    fn add_value(&mut self, value: &Value) {
        match value {
            Value::Null => self.null = true,
            Value::Bool(_) => self.bools = true,
            Value::Str(text) => _ = self.texts.insert(text.to_string()),
            _ => self.numbers.extend(number(value)),
        }
    }

    pub(super) fn merge(&mut self, other: &Constants) {
        self.has |= other.has;
        self.null |= other.null;
        self.bools |= other.bools;
        self.texts.extend(other.texts.iter().cloned());
        self.numbers.extend(&other.numbers);
    }

    pub(super) fn is_only_bool(&self) -> bool {
        self.texts.is_empty() && self.numbers.is_empty()
    }

    pub(super) fn is_only_numbers(&self) -> bool {
        self.texts.is_empty() && !self.bools
    }

    pub(super) fn covers(&self, values: &[&str]) -> bool {
        values.iter().all(|value| self.texts.contains(*value))
    }

    /// The regions, with `Other` last.
    pub(super) fn regions(&self) -> Vec<Region> {
        let mut regions = Vec::new();
        regions.extend(self.has.then_some(Region::Absent));
        regions.extend(self.null.then_some(Region::Is(Value::Null)));
        if self.bools {
            regions.extend([true, false].map(|value| Region::Is(Value::Bool(value))));
        }
        regions.extend(self.texts.iter().map(|text| Region::Is(text.as_str().into())));
        let mut numbers = self.numbers.clone();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        let mut low = f64::NEG_INFINITY;
        for &number in &numbers {
            regions.extend([Region::Between(low, number), Region::Point(number)]);
            low = number;
        }
        if !numbers.is_empty() {
            regions.push(Region::Between(low, f64::INFINITY));
        }
        if self.is_open || regions.is_empty() {
            regions.push(Region::Other);
        }
        regions
    }
}
