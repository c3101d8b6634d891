use super::*;

#[test]
fn a_square_has_an_area() {
    assert_eq!(Shape::Square { side: 3.0 }.area(), 9.0);
}
