//! Where a machine learns a seed. CoAP's tokens then follow from it, so others must not reach the machine.

use crate::crates;
use crate::tree::look_into;

#[test]
fn only_the_ends_of_emulated_runs_know_a_seed() {
    let mut found = Vec::new();
    for name in crates() {
        look_into(&name, &|code: &str| code.contains("machine.with_seed("), &mut found);
    }
    assert_eq!(found, ["lab/src/emulated/endpoint.rs"]);
}
