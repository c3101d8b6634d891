grep -q 'side \* side\|side.powi(2)' lib.rs
