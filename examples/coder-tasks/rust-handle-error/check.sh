! grep -q unwrap lib.rs
