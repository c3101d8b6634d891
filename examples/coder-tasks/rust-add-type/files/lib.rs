pub enum Shape {
    Circle { radius: f64 },
}

impl Shape {
    pub fn area(&self) -> f64 {
        match self {
            Shape::Circle { radius } => std::f64::consts::PI * radius * radius,
        }
    }
}

#[cfg(test)]
mod tests;
