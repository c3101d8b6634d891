fn main() {
    println!("cargo:rustc-check-cfg=cfg(quick)");
    println!("cargo:rustc-cfg=quick");
}
